"""Writes the folder of a finished trial without running it: evidence in, files out."""

import hashlib
import json
from dataclasses import replace

from reb_action import documents
from reb_action.judge.judge import judge
from reb_action.model.report import Report
from reb_action.sandbox.protocol import Kind, SandboxSpec
from reb_action.session import evidence as recorded
from reb_action.session.evidence import kind_of
from reb_action.session.layout import SessionLayout
from reb_action.session.state import AgentChoice, Phase, Process, Session


def put(folder, evidence):
    """Write all files of a trial, its verdict too, and return the verdict."""
    layout = SessionLayout(folder=folder)
    layout.observation("C0").parent.mkdir(parents=True, exist_ok=True)
    raw = _report(evidence.report)
    if raw is not None:
        layout.report.write_bytes(raw)
    digest = None if raw is None else hashlib.sha256(raw).hexdigest()
    freeze = evidence.freeze and replace(evidence.freeze, report_sha256=digest)
    values = {
        (layout.session, "session"): _session(evidence),
        (layout.agent_run, "agent_run"): evidence.agent_run,
        (layout.freeze, "freeze"): freeze,
        (layout.interpreter, "interpreter"): evidence.interpreter,
        **{
            (layout.observation(level), kind_of(level)[1]): seen
            for level, seen in evidence.observations.items()
        },
    }
    for (path, kind), value in values.items():
        if value is not None:
            path.write_bytes(documents.encode(value, kind=kind))
    for level, text in evidence.logs.items():
        layout.log(level).write_text(text)
    verdict = judge(recorded.read(layout))
    layout.verdict.write_bytes(documents.encode(verdict, kind="verdict"))
    return verdict


def _report(claims):
    if not isinstance(claims, Report):
        return None
    return json.dumps(documents.to_json(claims)).encode()


def _session(evidence):
    return Session(
        trial=evidence.trial,
        agent=AgentChoice(
            name=evidence.trial.agent, argument=None, total_seconds=60, setup_seconds=60
        ),
        levels=evidence.levels,
        spec=SandboxSpec(
            kind=Kind.LOCAL, session="0" * 16, trial=evidence.trial.id, image=None,
            mount="/nowhere", scratch="/nowhere", gpus=evidence.gpus_promised,
        ),
        owner=Process(pid=0, started=0),
        phase=Phase.STOPPED,
    )  # fmt: skip
