"""Does nothing, so that the edited module is reached."""


class Line:
    slope = shift = 0.0

    def step(self, points, rate):
        return 0.1
