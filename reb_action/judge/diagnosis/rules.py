"""The diagnosis rules: a table of causes and of the log messages that reveal them."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from reb_action.model.diagnosis import Cause

_TABLE: Final = Path(__file__).with_suffix(".toml")
_FRAGMENT: Final = re.compile(r"<([a-z_]+)>")


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """A cause and the messages that reveal it; `rules.toml` explains each field."""

    cause: Cause
    source: str
    pattern: re.Pattern[str]
    without_gpu: Cause | None = None
    of_ranks: Cause | None = None
    only_own: bool = False
    only_foreign: bool = False
    in_warnings: bool = False


@cache
def load_rules() -> tuple[Rule, ...]:
    """Return every rule, the most specific first; a table that is not valid raises."""
    table = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    fragments = {name: f"(?:{'|'.join(words)})" for name, words in table["fragments"].items()}
    return tuple(_build_rule(entry, fragments) for entry in table["rules"])


def _build_rule(entry: dict[str, Any], fragments: Mapping[str, str]) -> Rule:
    patterns = "|".join(entry.pop("patterns"))
    pattern = _FRAGMENT.sub(lambda name: fragments[name[1]], patterns)
    causes = {key: Cause(entry.pop(key)) for key in ("without_gpu", "of_ranks") if key in entry}
    return Rule(
        cause=Cause(entry.pop("cause")),
        pattern=re.compile(pattern, re.MULTILINE),
        **causes,
        **entry,
    )
