"""YAML as people write it for us: one way to say a thing, and nothing but what JSON knows."""

import math
from collections.abc import Hashable, Iterator
from typing import Final, cast

import yaml

from reb_action.documents import Json, NotJsonError, dump_json, parse_json, show
from reb_action.errors import DocumentError

_DEPTH: Final = 32


class _Loader(yaml.CSafeLoader):
    """Refuses what YAML would silently accept: keys that occur twice or are not text, NaN."""

    def construct_mapping(
        self, node: yaml.MappingNode, deep: bool = False
    ) -> dict[Hashable, object]:
        seen = set[str]()
        for key, _ in node.value:
            if key.tag != "tag:yaml.org,2002:str":
                said = f" {show(key.value)}" if isinstance(key, yaml.ScalarNode) else ""
                raise _fault(key, f"the key{said} is not text")
            if key.value in seen:
                raise _fault(key, f"the key {show(key.value)} occurs twice")
            seen.add(key.value)
        return cast(dict[Hashable, object], super().construct_mapping(node, deep=deep))

    def construct_written(self, node: yaml.ScalarNode) -> int:
        try:
            value = self.construct_yaml_int(node)
            str(value)
        except ValueError:
            # YAML takes 0x_ for a number, and Python writes no number of more than 4300 digits.
            clause = f"{show(node.value)} is no number, or has too many digits; quote a text"
            raise _fault(node, clause) from None
        return value

    def construct_finite(self, node: yaml.ScalarNode) -> float:
        value = self.construct_yaml_float(node)
        if not math.isfinite(value):
            raise _fault(node, f"{show(node.value)} is not a finite number")
        return value


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_written)
_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.construct_finite)
# A date has no counterpart in JSON; it stays the text that it is.
_Loader.add_constructor("tag:yaml.org,2002:timestamp", _Loader.construct_scalar)


def _fault(node: yaml.Node, clause: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=clause, problem_mark=node.start_mark)


def parse_yaml(data: bytes, name: str) -> Json:
    """Return what YAML says as JSON; raises DocumentError that names the file and the line."""
    try:
        fault = next(_too_clever(data), None)
        if fault is not None:
            raise DocumentError(f"{name}: {fault}")
        return parse_json(dump_json(yaml.load(data, Loader=_Loader)))  # noqa: S506
    except NotJsonError as error:
        raise DocumentError(f"{name}: {error}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise DocumentError(f"{name}: not valid YAML: {_yaml_clause(error)}") from None


def find_lines(data: bytes) -> dict[tuple[str | int, ...], int]:
    """Return the line, counted from 1, of each key and list item, by the steps that lead to it."""
    lines: dict[tuple[str | int, ...], int] = {}
    # Composed only, never constructed: the loader would do no more than the safe one.
    root = yaml.compose(data, Loader=_Loader)
    if root is not None:
        _add_lines(root, (), lines)
    return lines


def _add_lines(
    node: yaml.Node, at: tuple[str | int, ...], lines: dict[tuple[str | int, ...], int]
) -> None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            lines[*at, key.value] = key.start_mark.line + 1
            _add_lines(value, (*at, key.value), lines)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            lines[*at, index] = item.start_mark.line + 1
            _add_lines(item, (*at, index), lines)


def _too_clever(data: bytes) -> Iterator[str]:
    """Yield the features of YAML that files of reb may not use; stops at the first one."""
    depth = 0
    for event in yaml.parse(data, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        tag = cast(str | None, getattr(event, "tag", None))
        if isinstance(event, yaml.AliasEvent):
            yield "aliases are not allowed; write the value out"
        if tag is not None:
            yield f"the tag {show(tag)} is not allowed"
        if depth > _DEPTH:
            yield f"it is nested more than {_DEPTH} levels deep"


def _yaml_clause(error: Exception) -> str:
    clause = getattr(error, "problem", None) or getattr(error, "reason", None)
    mark = getattr(error, "problem_mark", None)
    told = clause or str(error)
    return f"{told} (line {mark.line + 1})" if mark is not None else told
