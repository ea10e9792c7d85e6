"""Shadows the standard library's module, and waits until it is called."""

import stage


def ArgumentParser():
    stage.stage_if_asked()
