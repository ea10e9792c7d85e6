"""One hidden layer, trained by gradient descent."""

import numpy as np


class Network:
    """Weights of a network with one hidden layer."""

    def __init__(self, inputs, hidden, outputs, seed):
        source = np.random.default_rng(seed)
        self.first = source.normal(0, 1.0, (inputs, hidden))
        self.shift = np.zeros(hidden)
        self.second = source.normal(0, 0.3, (hidden, outputs))
        self.bias = np.zeros(outputs)

    def forward(self, points):
        """Return hidden activations and class probabilities."""
        hidden = np.tanh(points @ self.first + self.shift)
        scores = hidden @ self.second + self.bias
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        return hidden, scores / scores.sum(axis=1, keepdims=True)

    def step(self, points, labels, rate):
        """Take one step down the cross-entropy and return it."""
        hidden, chances = self.forward(points)
        rows = np.arange(len(labels))
        loss = -np.log(chances[rows, labels] + 1e-12).mean()
        error = chances.copy()
        error[rows, labels] -= 1
        error /= len(labels)
        back = (error @ self.second.T) * (1 - hidden**2)
        self.second -= rate * hidden.T @ error
        self.bias -= rate * error.sum(axis=0)
        self.first -= rate * points.T @ back
        self.shift -= rate * back.sum(axis=0)
        return loss
