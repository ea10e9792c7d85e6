"""Reads one diagnosis out of a log and the facts: facts first, then the most specific rule."""

import re
from collections.abc import Iterable

from reb_action.judge.diagnosis.excerpt import Excerpt, excerpt
from reb_action.judge.diagnosis.facts import Facts
from reb_action.judge.diagnosis.rules import RULES, Rule
from reb_action.model.diagnosis import Cause, Diagnosis

PROOF_CHARACTERS = 300

_MODULE = re.compile(r"\b(?:from|module|named) '(\w{1,80})")

# What ninja and PyTorch's extension builder say while they compile.
_BUILDING = re.compile(
    r"\[\d{1,5}/\d{1,5}\] \S{0,200}(?:nvcc|[cg]\+\+|gcc|clang)|Building extension module "
    r"|Emitting ninja build file "
)

# A rank that died leaves the others waiting: these outrank the deadline that then ends the run.
_OUTRANK_THE_DEADLINE = frozenset({Cause.NCCL, Cause.OUT_OF_MEMORY_GPU, Cause.OUT_OF_MEMORY_HOST})


def diagnose(log: str, facts: Facts) -> Diagnosis | None:
    """Return why the run that left this log failed, or None when nothing names a cause.

    Only the head and the tail of the log are searched, so time does not grow with its length.
    """
    certain = _told_by_facts(facts)
    if certain is not None:
        return Diagnosis(cause=certain)
    if facts.hung:
        return _why_hung(excerpt(log), facts)
    found = _told_by_log(excerpt(log), facts)
    if facts.timed_out and (found is None or found.cause not in _OUTRANK_THE_DEADLINE):
        return Diagnosis(cause=Cause.TIMED_OUT)
    return found


def _told_by_facts(facts: Facts) -> Cause | None:
    if facts.harness_failed:
        return Cause.HARNESS_FAULT
    if facts.oom_killed:
        return Cause.OUT_OF_MEMORY_HOST
    if facts.agent_gave_up:
        return Cause.AGENT_GAVE_UP
    return None


def _why_hung(log: Excerpt, facts: Facts) -> Diagnosis:
    """Tell why a rank kept the others waiting; where nothing does, they could not talk."""
    if _BUILDING.match(log.end):
        return Diagnosis(cause=Cause.TIMED_OUT, line=log.end.strip()[:PROOF_CHARACTERS])
    return _first(RULES, log.last_failure, facts) or Diagnosis(cause=Cause.NCCL)


def _told_by_log(log: Excerpt, facts: Facts) -> Diagnosis | None:
    """Search the last traceback, then every error, then, if it did fail, the warnings.

    An error of the program's own logic does not follow from what went wrong and was caught before.
    """
    searched = (log.last_failure,) if log.is_own else (log.last_failure, log.errors)
    for text in dict.fromkeys(searched):
        found = _first(RULES, text, facts)
        if found is not None:
            return found
    failed = log.failed or facts.exit_code not in (None, 0) or facts.signal is not None
    suspects = (rule for rule in RULES if rule.in_warnings)
    return _first(suspects, log.warnings, facts) if failed else None


def _first(rules: Iterable[Rule], text: str, facts: Facts) -> Diagnosis | None:
    for rule in rules:
        line = _proof(rule, text)
        if line is not None and (not rule.only_own or _names_own_module(line, facts)):
            return Diagnosis(cause=_cause(rule, facts), line=line)
    return None


def _cause(rule: Rule, facts: Facts) -> Cause:
    if not facts.has_gpu:
        return rule.without_gpu or rule.cause
    return rule.of_ranks or rule.cause if facts.ranks > 1 else rule.cause


def _names_own_module(line: str, facts: Facts) -> bool:
    module = _MODULE.search(line)
    return module is not None and module[1] in facts.own_modules


def _proof(rule: Rule, text: str) -> str | None:
    """Return the last line that the rule matches, cut to a bounded length."""
    end = -1
    for match in rule.pattern.finditer(text):
        end = match.end()
    if end < 0:
        return None
    line = text[text.rfind("\n", 0, end) + 1 :].partition("\n")[0]
    return line.strip()[:PROOF_CHARACTERS]
