"""Writes random Python programs: nested control flow with one import at every other turn."""

import random
from collections.abc import Sequence

_CONDITIONS = (
    "x|x.y|f(x)|x[0]|True|False|None|0|1|2.5|0j|-1|''|'a'|b''|f''|f'a{x}'|...|[]|[1]|[*x]|()"
    "|(1, 2)|{}|{1: 2}|{**x}|{1}|(lambda: 0)|x is None|isinstance(x, int)|x == 1|len(x) > 0"
    "|3 > 2|__debug__|x if True else y|x if y else False|(z := 0)|(z := 1)|TYPE_CHECKING"
    "|typing.TYPE_CHECKING|t.TYPE_CHECKING|x.y.TYPE_CHECKING|sys.version_info >= (3, 8)"
    "|sys.version_info < (3,)|sys.version_info[0] == 2|sys.version_info[0] >= 3"
    "|sys.version_info[1] >= 3|sys.version_info.major == 2|sys.version_info[:2] < (3, 8)"
    "|(2,) < sys.version_info|1 < sys.version_info[0] < 3|sys.platform == 'win32'"
    "|sys.platform == 'linux'|sys.platform != 'linux'|'linux' == sys.platform"
    "|sys.platform.startswith('win')|s.platform == 'win32'|os.name == 'nt'|os.name == 'posix'"
    "|x.name == 'y'"
)
_ITERABLES = "x|[1]|(1, 2)|[]|[*x]|[*x, 1]|range(3)|{1}|''|(y for y in x)|[y for y in x]"
_MANAGERS = "x|f(x)|f(x) as y|a, b|suppress(E)"
_SUBJECTS = (
    "x|f(x)|f()|(x, y)|x.y|x[0]|x[i]|x[-1]|1|a + b|f().y|x == 1|not x|(1,)|[x]|x, 1|(w := 1)"
)
_REFUTABLE = "1|'a'|A()|[a, b]|{'k': v}|A.B|A() as k|[a, *_]|None"
_LAST = f"{_REFUTABLE}|_|other|(_)|_ as k|x"
_PLAIN = (
    "x = 1|f(x)|sys.exit()|pass|del q|x: int = 3|'''text'''|y = x and exit()"
    "|[i for i in x if False]|x if False else y|z = lambda: 0"
)
_HEADERS = (
    "import sys, os, typing, typing as t, sys as s",
    "from typing import TYPE_CHECKING",
    "from contextlib import suppress",
)


def program(seed: int) -> str:
    """Return the source of a module; its imports that cannot be resolved are `m1`, `m2`, …"""
    writer = _Writer(random.Random(seed))
    header = writer.random.sample(_HEADERS, writer.random.randint(1, 3))
    return "\n".join((*header, *writer.block(depth=0), *writer.block(depth=0), ""))


class _Writer:
    def __init__(self, source: random.Random) -> None:
        self.random = source
        self._imports = 0

    def block(self, *, depth: int, inside: str = "") -> list[str]:
        count = self.random.randint(1, 3)
        return [line for _ in range(count) for line in self._statement(depth, inside)]

    def _statement(self, depth: int, inside: str) -> list[str]:
        plain = (self._import, self._plain, self._leave, self._assert)
        nested = (self._if, self._loop, self._with, self._try, self._match, self._scope)
        if depth > 2 or self.random.random() < 0.5:
            return self.random.choices(plain, (6, 2, 1, 1))[0](depth, inside)
        return self.random.choices(nested, (4, 3, 2, 4, 2, 1))[0](depth, inside)

    def _import(self, _depth: int, _inside: str) -> list[str]:
        self._imports += 1
        form = self._one_of(
            "import M|import M.a.b as q|from M import a, b as c|from M.z import a|import os, M"
            "|from M import (\n\n   a, # b\n b)|from .M import x|import os; import M; x = 1"
            "|import M  # type: ignore|import M  # pyright: ignore"
        )
        return form.replace("M", f"m{self._imports}").split("\n")

    def _plain(self, _depth: int, _inside: str) -> list[str]:
        return [self._one_of(_PLAIN)]

    def _leave(self, _depth: int, inside: str) -> list[str]:
        loop = "|break|continue" if "loop" in inside else ""
        function = "|return|return x" if "function" in inside else ""
        return [self._one_of(f"raise|raise E(x){loop}{function}")]

    def _assert(self, _depth: int, _inside: str) -> list[str]:
        return [f"assert {self._condition()}" + self.random.choice(("", ", 'why'"))]

    def _if(self, depth: int, inside: str) -> list[str]:
        lines = self._suite(f"if {self._condition()}:", depth, inside)
        while self._happens(0.3):
            lines += self._suite(f"elif {self._condition()}:", depth, inside)
        return lines + self._else(0.5, depth, inside)

    def _loop(self, depth: int, inside: str) -> list[str]:
        head = self.random.choice(
            (f"while {self._condition()}:", f"for i in {self._one_of(_ITERABLES)}:")
        )
        return self._suite(head, depth, f"{inside} loop") + self._else(0.3, depth, inside)

    def _with(self, depth: int, inside: str) -> list[str]:
        return self._suite(f"with {self._one_of(_MANAGERS)}:", depth, inside)

    def _try(self, depth: int, inside: str) -> list[str]:
        heads = ["except E:", "except E as e:", "except (A, B):"]
        heads = self.random.sample(heads, self.random.randint(0, 2))
        heads += ["except:"] if self._happens(0.3) else []
        lines = self._suite("try:", depth, inside)
        for head in heads:
            lines += self._suite(head, depth, inside)
        lines += self._else(0.3, depth, inside) if heads else []
        if not heads or self._happens(0.4):
            lines += self._suite("finally:", depth, inside)
        return lines

    def _match(self, depth: int, inside: str) -> list[str]:
        lines = [f"match {self._one_of(_SUBJECTS)}:"]
        count = self.random.randint(1, 3)
        for number in range(count):
            pattern = self._one_of(_LAST if number == count - 1 else _REFUTABLE)
            guard = f" if {self._condition()}" if self._happens(0.3) else ""
            lines += _indented(self._suite(f"case {pattern}{guard}:", depth, inside))
        return lines

    def _scope(self, depth: int, _inside: str) -> list[str]:
        head = self._one_of("def f(x):|async def g(x):|class K(B):")
        return self._suite(head, depth, "" if head.startswith("class") else "function")

    def _suite(self, head: str, depth: int, inside: str) -> list[str]:
        return [head, *_indented(self.block(depth=depth + 1, inside=inside))]

    def _else(self, chance: float, depth: int, inside: str) -> list[str]:
        return self._suite("else:", depth, inside) if self._happens(chance) else []

    def _condition(self, depth: int = 0) -> str:
        if depth < 2 and self._happens(0.25):
            operator = self.random.choice(("and", "or"))
            return f"({self._condition(depth + 1)} {operator} {self._condition(depth + 1)})"
        if depth < 2 and self._happens(0.1):
            return f"not ({self._condition(depth + 1)})"
        return self._one_of(_CONDITIONS)

    def _one_of(self, choices: str) -> str:
        return self.random.choice(choices.split("|"))

    def _happens(self, chance: float) -> bool:
        return self.random.random() < chance


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]
