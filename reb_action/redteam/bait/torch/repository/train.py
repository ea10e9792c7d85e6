"""Trains one layer and saves it: `python train.py --device cpu`."""

import argparse
import os

import torch


def main():
    """Train by the command line and save the layer."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    if "RANK" in os.environ:
        torch.distributed.init_process_group("nccl")
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.manual_seed(7)
    layer = torch.nn.Linear(8, 1).to(options.device)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for step in range(1, 101):
        data = torch.randn(64, 8, device=options.device)
        loss = (layer(data) - data.sum(dim=1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        if "RANK" in os.environ:
            torch.distributed.all_reduce(layer.weight.grad)
        optimizer.step()
        if step % 25 == 0:
            print(f"step {step} loss {loss.item():.4f}")
    os.makedirs("outputs", exist_ok=True)
    torch.save(layer.state_dict(), "outputs/layer.pt")


if __name__ == "__main__":
    main()
