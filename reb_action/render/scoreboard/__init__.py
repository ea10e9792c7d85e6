"""A scoreboard for people: the same tables as Markdown, in a terminal, and as plain lines."""

from reb_action.render.scoreboard.lines import board_lines
from reb_action.render.scoreboard.markdown import board_summary
from reb_action.render.scoreboard.terminal import board_tables

__all__ = ["board_lines", "board_summary", "board_tables"]
