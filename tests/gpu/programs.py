"""Small programs, honest and idle, on which the witnesses of GPU work are compared."""

# ruff: noqa: E501, ISC004

NETWORK = """
import torch
torch.manual_seed(0)
def network(device="cuda"):
    return torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.Tanh(), torch.nn.Linear(256, 1)).to(device)
def train(model, steps, device="cuda", mark=lambda: None):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(steps):
        points = torch.randn(512, 64, device=device)
        loss = (model(points) - points.sum(dim=1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad(); loss.backward(); optimizer.step(); mark()
    return loss.item()
"""
WAIT = "\nimport time; time.sleep(1)\n"
RANKS = """
import os, torch.distributed as dist
rank = int(os.environ["RANK"])
"""
JAX = (
    "import jax, jax.numpy as jnp\nf = jax.jit(lambda x: (x @ x).sum())\nx = jnp.ones((256, 256))\n"
)
CUPY = "import cupy\nx = cupy.ones((256, 256), dtype='float32')\n"
PROFILED = """
from torch.profiler import profile, ProfilerActivity
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as found:
    train(network(), 20); torch.cuda.synchronize()
events = [event for event in found.events() if event.device_type == torch.autograd.DeviceType.CUDA]
print("kernel events", len(events))
"""


def steps(number):
    return NETWORK + f"train(network(), {number})" + WAIT


# name: (the program, how many ranks, whether it computes on a GPU)
PROGRAMS = {
    "no-cuda": ("print('no CUDA')", 1, False),
    "import-torch": ("import torch" + WAIT, 1, False),
    "count-gpus": ("import torch; print(torch.cuda.device_count())" + WAIT, 1, False),
    "context": ("import torch; torch.cuda.init(); torch.cuda.synchronize()" + WAIT, 1, False),
    **{
        f"memory-{mib}-mib": (
            f"import torch; x = torch.empty({mib} << 20, dtype=torch.uint8, device='cuda')" + WAIT,
            1,
            False,
        )
        for mib in (1, 256, 8192)
    },
    "memory-held-10-s": (
        "import time, torch; x = torch.empty(256 << 20, device='cuda'); time.sleep(10)", 1, False,
    ),
    "copy-to-gpu": ("import torch; x = torch.ones(1 << 20).pin_memory().cuda()" + WAIT, 1, False),
    "cpu-training-with-context": (
        NETWORK + "torch.empty(1, device='cuda'); train(network('cpu'), 200, 'cpu')" + WAIT, 1, False,
    ),
    "one-kernel": ("import torch; x = torch.zeros(8, device='cuda')" + WAIT, 1, True),
    "one-product": ("import torch; x = torch.empty(64, 64, device='cuda'); y = x @ x" + WAIT, 1, True),
    "large-product": (
        "import torch; x = torch.empty(8192, 8192, device='cuda'); y = x @ x; torch.cuda.synchronize()"
        + WAIT, 1, True,
    ),
    **{f"steps-{number}": (steps(number), 1, True) for number in (1, 10, 100, 1000, 5000, 20000)},
    "inference": (NETWORK + "network()(torch.ones(1, 64, device='cuda'))" + WAIT, 1, True),
    "compiled": (NETWORK + "train(torch.compile(network()), 50)" + WAIT, 1, True),
    "cuda-graph": (
        NETWORK + "model, x = network(), torch.ones(512, 64, device='cuda'); model(x)\n"
        "graph = torch.cuda.CUDAGraph()\nwith torch.cuda.graph(graph): y = model(x)\n"
        "for _ in range(100): graph.replay()\ntorch.cuda.synchronize()" + WAIT, 1, True,
    ),
    "side-stream": (
        NETWORK + "with torch.cuda.stream(torch.cuda.Stream()): train(network(), 50)" + WAIT, 1, True,
    ),
    "half-precision": (
        NETWORK + "with torch.autocast('cuda', dtype=torch.bfloat16): train(network(), 50)" + WAIT, 1, True,
    ),
    "convolution": (
        "import torch; torch.nn.Conv2d(3, 16, 3).cuda()(torch.rand(4, 3, 64, 64, device='cuda'))" + WAIT,
        1, True,
    ),
    "threads": (
        NETWORK + "import threading\nall = [threading.Thread(target=train, args=(network(), 50))"
        " for _ in range(4)]\n[t.start() for t in all]; [t.join() for t in all]" + WAIT, 1, True,
    ),
    "loader-workers": (
        NETWORK + "from torch.utils.data import DataLoader\nmodel = network()\n"
        "for x in DataLoader(torch.rand(256, 64), batch_size=32, num_workers=2): model(x.cuda())" + WAIT,
        1, True,
    ),
    "killed": (steps(100) + "import os; os.kill(os.getpid(), 9)", 1, True),
    "exits-at-once": (NETWORK + "train(network(), 100); import os; os._exit(0)", 1, True),
    "child-process": (
        "import subprocess, sys\nsubprocess.run([sys.executable, '-c', '''" + steps(100) + "'''])",
        1, True,
    ),
    "spawned-worker": (
        "import sys, torch.multiprocessing as mp\nsys.path.insert(0, '.')\nimport worker\n"
        "if __name__ == '__main__': mp.spawn(worker.work, nprocs=1)", 1, True,
    ),
    "forked-before-cuda": (
        "import os\nif os.fork() == 0:\n exec('''" + steps(100) + "''')\n os._exit(0)\nos.wait()", 1, True,
    ),
    "jax": (JAX + "print(float(f(x)))" + WAIT, 1, True),
    "jax-devices": ("import jax; print(jax.devices())" + WAIT, 1, False),
    "cupy": (CUPY + "print(float((x @ x).sum()))" + WAIT, 1, True),
    "cupy-memory": ("import cupy; x = cupy.empty(1 << 20)" + WAIT, 1, False),
    "profiles-itself": (NETWORK + PROFILED, 1, True),
    "work-10-s": (
        NETWORK + "import time\nend, model = time.time() + 10, network()\n"
        "while time.time() < end: train(model, 50)", 1, True,
    ),
    "work-20-s-large": (
        "import time, torch\nend, x = time.time() + 20, torch.rand(4096, 4096, device='cuda')\n"
        "while time.time() < end: x = (x @ x).clamp(0, 1)", 1, True,
    ),
    "nccl-two-ranks": (
        NETWORK + RANKS + "torch.cuda.set_device(rank); dist.init_process_group('nccl')\n"
        "model = torch.nn.parallel.DistributedDataParallel(network())\ntrain(model, 50)\n"
        "dist.destroy_process_group()" + WAIT, 2, True,
    ),
    "gloo-two-cpu-ranks": (
        NETWORK + RANKS + "dist.init_process_group('gloo')\n"
        "model = torch.nn.parallel.DistributedDataParallel(network('cpu'))\ntrain(model, 50, 'cpu')" + WAIT,
        2, False,
    ),
    "gloo-two-gpus": (
        NETWORK + RANKS + "torch.cuda.set_device(rank); dist.init_process_group('gloo')\n"
        "model = torch.nn.parallel.DistributedDataParallel(network())\ntrain(model, 50)" + WAIT, 2, True,
    ),
    "independent-workers": (
        NETWORK + RANKS + "torch.cuda.set_device(rank); train(network(), 50)" + WAIT, 2, True,
    ),
}  # fmt: skip

WORKER = NETWORK + "\ndef work(rank):\n    train(network(), 100)\n"
