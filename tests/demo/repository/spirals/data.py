"""Makes the points."""

import numpy as np


def spiral(arms, points, seed):
    """Return points of shape (arms * points, 2) and the number of the arm of each."""
    source = np.random.default_rng(seed)
    radius = np.linspace(0.05, 1.0, points)
    places, labels = [], []
    for arm in range(arms):
        angle = radius * 4.0 + arm * 2 * np.pi / arms + source.normal(0, 0.1, points)
        places.append(np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1))
        labels.append(np.full(points, arm))
    return np.concatenate(places), np.concatenate(labels)
