"""Trains and saves a network: `python train.py --config configs/small.yaml --output runs/small`."""

import argparse
import pathlib

import numpy as np
import yaml
from tqdm import tqdm

from spirals.data import spiral
from spirals.network import Network


def main():
    """Train by the configuration and save the weights."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", required=True)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    options = parser.parse_args()
    with open(options.config) as stream:
        config = yaml.safe_load(stream)
    points, labels = spiral(config["arms"], config["points"], config["seed"])
    network = Network(2, config["hidden"], config["arms"], config["seed"])
    for epoch in tqdm(range(config["epochs"]), disable=None):
        loss = network.step(points, labels, config["rate"])
        if epoch % 100 == 99:
            print(f"epoch {epoch + 1} loss {loss:.4f}")
    _, chances = network.forward(points)
    print(f"accuracy {(chances.argmax(axis=1) == labels).mean():.3f}")
    options.output.mkdir(parents=True, exist_ok=True)
    np.savez(options.output / "weights.npz", first=network.first, second=network.second)


if __name__ == "__main__":
    main()
