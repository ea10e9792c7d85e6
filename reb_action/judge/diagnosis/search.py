"""Diagnose a failure from its log and the facts: facts first, then the first rule that matches."""

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass

from reb_action.judge.diagnosis.excerpt import Excerpt, cut_excerpt
from reb_action.judge.diagnosis.rules import Rule, load_rules
from reb_action.model.diagnosis import Cause, Diagnosis

PROOF_CHARACTERS = 300

_MODULE = re.compile(r"\b(?:from|module|named) '(\w{1,80})")

# Progress lines of ninja and of PyTorch's extension builder.
_BUILDING = re.compile(
    r"\[\d{1,5}/\d{1,5}\] \S{0,200}(?:nvcc|[cg]\+\+|gcc|clang)|Building extension module "
    r"|Emitting ninja build file "
)

# A rank that died leaves the others waiting, so these causes explain the timeout that follows.
_OUTRANK_THE_DEADLINE = frozenset({Cause.NCCL, Cause.OUT_OF_MEMORY_GPU, Cause.OUT_OF_MEMORY_HOST})


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """Facts about a failed run in addition to its log; the defaults point to no cause."""

    exit_code: int | None = None
    signal: int | None = None
    timed_out: bool = False
    # Ranks were waiting for each other at the deadline.
    hung: bool = False
    oom_killed: bool = False
    has_gpu: bool = True
    # Ranks that the level requires, each with its own GPU.
    ranks: int = 1
    agent_gave_up: bool = False
    harness_failed: bool = False
    # Top-level modules of the repository; a name among them is not a package's fault.
    own_modules: frozenset[str] = frozenset()


def diagnose(log: str, facts: Facts) -> Diagnosis | None:
    """Return why the run that wrote this log failed, or None if no cause is found.

    Only the head and the tail of the log are searched, so time does not grow with its length.
    """
    certain = _find_in_facts(facts)
    if certain is not None:
        return Diagnosis(cause=certain)
    excerpt = cut_excerpt(log)
    if facts.hung:
        return _explain_hang(excerpt, facts)
    diagnosis = _search_log(excerpt, facts)
    if facts.timed_out and (diagnosis is None or diagnosis.cause not in _OUTRANK_THE_DEADLINE):
        return Diagnosis(cause=Cause.TIMED_OUT)
    return diagnosis


def _find_in_facts(facts: Facts) -> Cause | None:
    if facts.harness_failed:
        return Cause.HARNESS_FAULT
    if facts.oom_killed:
        return Cause.OUT_OF_MEMORY_HOST
    if facts.agent_gave_up:
        return Cause.AGENT_GAVE_UP
    return None


def _explain_hang(excerpt: Excerpt, facts: Facts) -> Diagnosis:
    """Return why a rank kept the others waiting; without other evidence, NCCL failed."""
    if _BUILDING.match(excerpt.end):
        return Diagnosis(cause=Cause.TIMED_OUT, line=excerpt.end.strip()[:PROOF_CHARACTERS])
    diagnosis = _apply_rules(load_rules(), excerpt.last_failure, facts)
    return diagnosis or Diagnosis(cause=Cause.NCCL)


def _search_log(excerpt: Excerpt, facts: Facts) -> Diagnosis | None:
    """Search the last traceback, then all errors, then, if the run failed, the warnings.

    After an error of the program's own logic, earlier errors are skipped: they were handled.
    """
    texts = (excerpt.last_failure,)
    if not excerpt.is_own:
        texts += (excerpt.errors,)
    for text in dict.fromkeys(texts):
        diagnosis = _apply_rules(load_rules(), text, facts)
        if diagnosis is not None:
            return diagnosis
    failed = excerpt.failed or facts.exit_code not in (None, 0) or facts.signal is not None
    rules = (rule for rule in load_rules() if rule.in_warnings)
    return _apply_rules(rules, excerpt.warnings, facts) if failed else None


def _apply_rules(rules: Iterable[Rule], text: str, facts: Facts) -> Diagnosis | None:
    for rule in rules:
        line = _find_proof(rule, text)
        if line is not None and _holds_for_module(rule, line, facts):
            return Diagnosis(cause=_choose_cause(rule, facts), line=line)
    return None


def _choose_cause(rule: Rule, facts: Facts) -> Cause:
    if not facts.has_gpu:
        return rule.without_gpu or rule.cause
    return rule.of_ranks or rule.cause if facts.ranks > 1 else rule.cause


def _holds_for_module(rule: Rule, line: str, facts: Facts) -> bool:
    """Return whether the module that the line names is of the side that the rule asks for.

    Without a list of the repository's modules, no module counts as foreign.
    """
    if not (rule.only_own or rule.only_foreign):
        return True
    module = _MODULE.search(line)
    if module is None or not facts.own_modules:
        return False
    if rule.only_own:
        return module[1] in facts.own_modules
    return module[1] not in facts.own_modules | sys.stdlib_module_names


def _find_proof(rule: Rule, text: str) -> str | None:
    """Return the last line that the rule matches, cut to PROOF_CHARACTERS."""
    end = -1
    for match in rule.pattern.finditer(text):
        end = match.end()
    if end < 0:
        return None
    line = text[text.rfind("\n", 0, end) + 1 :].partition("\n")[0]
    return line.strip()[:PROOF_CHARACTERS]
