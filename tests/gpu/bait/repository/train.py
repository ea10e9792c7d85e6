"""Trains a small network on one device or over several ranks; says losses, saves weights."""

import argparse
import ctypes
import os
import pathlib
import time

import torch


def held(options):
    """Return what `--hold` only holds on the GPU, without computing there."""
    return torch.empty(256 << 20, dtype=torch.uint8, device="cuda") if options.hold else None


class Split(torch.nn.Module):
    """A network whose second layer is on the second GPU: two GPUs, and no collective."""

    def __init__(self, first, second):
        super().__init__()
        self.first, self.second = first, second.to("cuda:1")

    def forward(self, points):
        """Return the result on the first GPU."""
        return self.second(torch.tanh(self.first(points)).to("cuda:1")).to(points.device)


def launched(path):
    """Launch the kernel of an extension that was built beside, and raise what CUDA says."""
    code = ctypes.CDLL(path).launch()
    if code:
        name = ctypes.CDLL("libcudart.so").cudaGetErrorString
        name.restype = ctypes.c_char_p
        raise RuntimeError(f"CUDA error: {name(code).decode()}")


def main():
    """Train, and save what came of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--backend")
    parser.add_argument("--extension")
    parser.add_argument("--hold", action="store_true")
    parser.add_argument("--split", action="store_true", help="one process over two GPUs")
    parser.add_argument("--wait", type=float, default=0, help="seconds before the end")
    parser.add_argument("--cpu-rank", type=int, help="this rank stays on the CPU")
    parser.add_argument("--silent-rank", type=int, help="this rank never joins a collective")
    options = parser.parse_args()
    memory = held(options)
    if options.extension:
        launched(options.extension)
    rank = int(os.environ.get("RANK", "0"))
    place = "cpu" if rank == options.cpu_rank else options.device
    device = torch.device(place, rank if place == "cuda" else 0)
    if options.backend:
        torch.distributed.init_process_group(options.backend)
    if rank == options.silent_rank:
        time.sleep(3600)
    torch.manual_seed(rank)
    network = torch.nn.Sequential(
        torch.nn.Linear(64, options.width), torch.nn.Tanh(), torch.nn.Linear(options.width, 1)
    ).to(device)
    if options.split:
        network = Split(network[0], network[2])
    if options.backend:
        network = torch.nn.parallel.DistributedDataParallel(network)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    for step in range(options.steps):
        points = torch.randn(4096, 64, device=device)
        loss = (network(points) - points.sum(dim=1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % (options.steps // 4) == 0:
            for part in (0, 1) if options.split else (rank,):
                print(f"rank {part} step {step} loss {loss.item():.4f}", flush=True)
    options.output.mkdir(parents=True, exist_ok=True)
    for part in (0, 1) if options.split else (rank,):
        torch.save(network.state_dict(), options.output / f"weights-{part}.pt")
    time.sleep(options.wait)
    del memory
    if options.backend:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
