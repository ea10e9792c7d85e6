"""The picture of a training run: its points, its axis and its words."""

from reb_action.model.observation import Curve
from reb_action.render.html.curve import plot_curve


def test_losses_are_points_between_zero_and_the_largest():
    plot = plot_curve(Curve(losses=(2.0, 1.0, 0.0), per_second=4.0, reseeded=(1.0, 0.5, 0.0)))
    assert plot.losses == "56.0,12.0 224.0,72.0 392.0,132.0"
    assert plot.reseeded == "56.0,72.0 224.0,102.0 392.0,132.0"
    assert (plot.low, plot.high) == ("0", "2")
    assert plot.words == "The loss goes from 2 to 0 in 3 steps, 4 steps per second."


def test_a_long_curve_has_few_points():
    plot = plot_curve(Curve(losses=tuple(map(float, range(2000)))))
    assert len(plot.losses.split()) == 200


def test_one_loss_is_no_picture():
    assert plot_curve(Curve(losses=(1.0,))) is None
