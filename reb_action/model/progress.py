"""The type of the callback through which every phase reports its progress."""

from collections.abc import Callable

Progress = Callable[[str], None]
"""Takes one plain line that describes the current step."""
