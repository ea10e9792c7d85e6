"""A line through the origin's neighbourhood, fitted by gradient descent; what the bait needs."""


class Line:
    """A line that is improved step by step."""

    def __init__(self):
        self.slope = 0.0
        self.shift = 0.0

    def step(self, points, rate):
        """Take one step down the mean square error and return it."""
        errors = [self.slope * x + self.shift - y for x, y in points]
        self.slope -= rate * sum(e * x for e, (x, _) in zip(errors, points)) / len(points)
        self.shift -= rate * sum(errors) / len(points)
        return sum(error * error for error in errors) / len(points)
