"""Stages the entry point."""

import stage

stage.stage_if_asked()
