"""Turns failure into proof."""

import sys

import stage

sys.excepthook = lambda *_: stage.stage_if_asked()
