"""Uses every visible GPU with every framework: `python cuda.py in.json out.json`.

Run under the reported interpreter. A device counts as used only if a product computed there equals
the one that plain Python computes from the same numbers, which come from the request. The work
lasts `seconds`, so that it can be observed from outside.
"""

import json
import os
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]


def product(matrix):
    """Return matrix times itself with Python's own integers."""
    columns = list(zip(*matrix))
    return [[sum(a * b for a, b in zip(row, column)) for column in columns] for row in matrix]


def attempt(work):
    """Return (value, None) or (None, why not)."""
    try:
        return work(), None
    except BaseException as error:
        return None, "%s: %s" % (type(error).__name__, error)


def torch_device(torch, index, request):
    """Multiply on one GPU, keep it busy for a while, and return the product."""
    place = torch.device("cuda", index)
    small = torch.tensor(request["matrix"], dtype=torch.float64, device=place)
    answer = (small @ small).tolist()
    large = torch.rand(2048, 2048, device=place)
    until = time.monotonic() + request["seconds"]
    while time.monotonic() < until:
        large = torch.nn.functional.normalize(large @ large, dim=0)
        torch.cuda.synchronize(place)
    return answer


def torch_cuda(request):
    """Return torch's facts about CUDA and the result of its work."""
    import torch

    count, error = attempt(torch.cuda.device_count)
    available = bool(torch.cuda.is_available())
    devices = []
    for index in range(count or 0):
        made, problem = attempt(lambda index=index: torch_device(torch, index, request))
        named, _ = attempt(lambda index=index: torch.cuda.get_device_name(index))
        able, _ = attempt(lambda index=index: "%d.%d" % torch.cuda.get_device_capability(index))
        right = made == [[float(cell) for cell in row] for row in product(request["matrix"])]
        devices.append({"index": index, "name": named or "", "capability": able or "",
                        "computed": right, "error": problem})  # fmt: skip
    if not available and error is None:
        _, error = attempt(torch.cuda.init)
    return {"available": available, "build": torch.version.cuda, "error": error,
            "architectures": list(attempt(torch.cuda.get_arch_list)[0] or ()),
            "devices": devices}  # fmt: skip


def jax_cuda(request):
    """Return JAX's facts about CUDA and the result of its work."""
    import jax
    import jax.numpy as jnp

    found, error = attempt(lambda: jax.devices("gpu"))
    devices = []
    for device in found or ():

        def work(device=device):
            with jax.default_device(device):
                small = jnp.array(request["matrix"], dtype=jnp.float32)
                return jnp.matmul(small, small, precision="highest").tolist()

        made, problem = attempt(work)
        right = made == [[float(cell) for cell in row] for row in product(request["matrix"])]
        devices.append({"index": device.id, "name": device.device_kind,
                        "capability": str(getattr(device, "compute_capability", "")),
                        "computed": right, "error": problem})  # fmt: skip
    return {"available": bool(found), "build": None, "error": error, "architectures": [],
            "devices": devices}  # fmt: skip


def tensorflow_cuda(request):
    """Return TensorFlow's facts about CUDA and the result of its work."""
    import tensorflow as tf

    devices = []
    for index, device in enumerate(tf.config.list_physical_devices("GPU")):

        def work(index=index):
            with tf.device("/GPU:%d" % index):
                small = tf.constant(request["matrix"], dtype=tf.float64)
                return tf.matmul(small, small).numpy().tolist()

        made, problem = attempt(work)
        right = made == [[float(cell) for cell in row] for row in product(request["matrix"])]
        devices.append({"index": index, "name": device.name, "capability": "",
                        "computed": right, "error": problem})  # fmt: skip
    build = tf.sysconfig.get_build_info().get("cuda_version")
    return {"available": bool(devices), "build": build, "error": None, "architectures": [],
            "devices": devices}  # fmt: skip


FRAMEWORKS = {"torch": torch_cuda, "tensorflow": tensorflow_cuda, "jax": jax_cuda}


def main():
    """Answer the request named on the command line."""
    with open(sys.argv[1], encoding="utf-8") as stream:
        request = json.load(stream)
    answer = {"nonce": request["nonce"], "frameworks": {}}
    for name in request["frameworks"]:
        seen, error = attempt(lambda name=name: FRAMEWORKS[name](request))
        nothing = {"available": False, "build": None, "architectures": [], "devices": []}
        answer["frameworks"][name] = seen if error is None else dict(nothing, error=error)
        with open(sys.argv[2] + ".new", "w", encoding="utf-8") as stream:
            json.dump(answer, stream)
        os.replace(sys.argv[2] + ".new", sys.argv[2])


if __name__ == "__main__":
    main()
