"""A verdict as tables: as wide as the terminal, the same with and without colour."""

import io
import re

import pytest
from rich.console import Console

from reb_action.model.manifest import Level
from reb_action.render.outcomes import UNQUALIFIED_NOTE
from reb_action.render.terminal.verdict import short_table, verdict_tables
from tests.support import page_samples

FULL = page_samples.full()


def printed(renderable, *, width, **how):
    stream = io.StringIO()
    Console(file=stream, width=width, **how).print(renderable)
    return stream.getvalue()


def test_tables_mark_both_outcomes_of_a_level_that_is_not_qualified():
    plain = printed(verdict_tables(FULL.verdict, {Level.C3}), width=100)
    assert re.search(r"C3 single-GPU run +FAILED\N{DAGGER} +FAILED\N{DAGGER}", plain)
    assert plain.count("\N{DAGGER}") == 3
    assert UNQUALIFIED_NOTE in plain


@pytest.mark.parametrize("width", [72, 80, 132])
def test_tables_fit_the_terminal(width):
    for made in (verdict_tables(FULL.verdict), short_table(FULL.verdict, "All is well. " * 30)):
        assert all(len(line) <= width for line in printed(made, width=width).splitlines())


def test_tables_say_without_colour_what_they_say_with_it():
    made = verdict_tables(FULL.verdict)
    plain = printed(made, width=80)
    coloured = printed(made, width=80, force_terminal=True, color_system="standard")
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    assert re.search(r"C3 single-GPU run +FAILED +FAILED", plain)
    assert re.search(r"cuda_available +false +true +UNDER-CLAIM", plain)
