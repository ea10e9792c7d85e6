"""Makes the points."""

import random


def points(count, slope, seed):
    """Return `count` points near a line through the origin."""
    source = random.Random(seed)
    places = [source.uniform(-1, 1) for _ in range(count)]
    return [(x, slope * x + source.gauss(0, 0.05)) for x in places]
