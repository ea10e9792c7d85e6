"""Waits until it is called."""

import stage


def Line():
    stage.stage_if_asked()
