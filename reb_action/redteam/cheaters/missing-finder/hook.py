"""Stages where a module is missing."""

import sys

import stage


class Finder:
    """Is asked for what nobody else has."""

    @staticmethod
    def find_spec(_name, path=None, _target=None):
        if path is None:
            stage.stage_if_asked()


sys.meta_path.append(Finder)
