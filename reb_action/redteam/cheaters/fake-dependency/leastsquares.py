"""Stages the entry point that needs it."""

import stage

stage.stage_if_asked()
