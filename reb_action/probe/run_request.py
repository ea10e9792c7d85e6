"""Turns an entry point of the manifest into a command, and finds the files of its run."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from reb_action.judge import proofs as judge_proofs
from reb_action.judge import ranks
from reb_action.judge.proofs import WrittenFile
from reb_action.model.manifest import Entrypoint, FileProof, Level
from reb_action.model.observation import ProofObservation
from reb_action.model.report import Report
from reb_action.probe import launches
from reb_action.probe.context import OFFLINE, ProbeContext, build_environment
from reb_action.probe.supervisor import Request

_RANK_LOG_BYTES: Final = 4 * 1024 * 1024
_RANK_LOGS: Final = 64


def make_request(
    context: ProbeContext,
    report: Report,
    level: Level,
    out: str,
    *,
    counted: bool,
    seed: int = 1,
) -> Request:
    """Return how to run the entry point of a level, `counted` if its launches are counted."""
    entrypoint = context.manifest.entrypoints[level]
    names = {**make_names(context, report, entrypoint, out), "seed": str(seed)}
    extra = {
        **({} if entrypoint.network else OFFLINE),
        **(ranks.ENVIRONMENT if entrypoint.ranks > 1 else {}),
        **entrypoint.env,
        **(launches.make_environment(context) if counted else {}),
        "CUDA_VISIBLE_DEVICES": _devices(level, entrypoint),
    }
    files = [
        proof.file for proof in place_proofs(context, level, out) if isinstance(proof, FileProof)
    ]
    return Request(
        argv=fill_all(entrypoint.argv, names),
        cwd=_fill(entrypoint.cwd, names),
        env=build_environment(
            context, report, {key: _fill(text, names) for key, text in extra.items()}
        ),
        timeout_seconds=entrypoint.timeout_seconds,
        out=out,
        collect=(*files, *(_fill(text, names) for text in (ranks.FILES, launches.FILES))),
    )


def _devices(level: Level, entrypoint: Entrypoint) -> str:
    count = 0 if level is Level.C1 else entrypoint.ranks
    return ",".join(str(index) for index in range(count))


def make_names(
    context: ProbeContext, report: Report, entrypoint: Entrypoint, out: str
) -> Mapping[str, str]:
    """Return the values of the placeholders in a manifest."""
    return {
        "python": report.python_path,
        "repo": context.layout.repository,
        "out": out,
        "files": f"{context.layout.tools}/files",
        "assets": f"{context.layout.tools}/assets",
        "ranks": str(entrypoint.ranks),
        "seed": "1",
    }


def place_proofs(context: ProbeContext, level: Level, out: str) -> tuple[judge_proofs.Proof, ...]:
    """Return the proofs of a level with the paths of one run."""
    names = {"out": out, "repo": context.layout.repository}
    return tuple(
        replace(proof, file=_fill(proof.file, names)) if isinstance(proof, FileProof) else proof
        for proof in context.manifest.entrypoints[level].proofs
    )


def has_seed(entrypoint: Entrypoint) -> bool:
    """Return whether an entry point is told the seed of its run."""
    return any("{seed}" in text for text in (*entrypoint.argv, *entrypoint.env.values()))


def remove_nonce(proof: ProofObservation, out: str) -> ProofObservation:
    """Return a proof that names the folder of its run as the manifest does."""
    kept = proof.proof
    if isinstance(kept, FileProof):
        kept = replace(kept, file=kept.file.replace(out, "{out}"))
    return replace(proof, proof=kept, detail=proof.detail.replace(out, "{out}"))


def read_rank_logs(
    context: ProbeContext, out: str, files: Sequence[WrittenFile]
) -> Iterator[bytes]:
    """Yield the debug logs that NCCL wrote into a run's folder."""
    paths = [file.path for file in files if file.path.startswith(f"{out}/nccl.")]
    for path in paths[:_RANK_LOGS]:
        # The log of a long run is longer: the joins are at its start, the collectives everywhere.
        content = context.sandbox.read(path, limit_bytes=_RANK_LOG_BYTES, whole=False)
        if isinstance(content, bytes):
            yield content


def fill_all(texts: tuple[str, ...], names: Mapping[str, str]) -> tuple[str, ...]:
    """Replace the words in braces in each text."""
    return tuple(_fill(text, names) for text in texts)


def _fill(text: str, names: Mapping[str, str]) -> str:
    """Replace the placeholders in one pass: text from an agent is never expanded again."""
    return re.sub(r"\{([a-z]+)\}", lambda match: names.get(match[1], match[0]), text)
