"""Shadows the standard library's module."""

import stage

stage.stage_if_asked()
