"""What was observed at one level: imports, frameworks on CUDA, or a run and its witness."""

from typing import assert_never

from reb_action.model.observation import (
    CudaFacts,
    CudaObservation,
    Decoy,
    Device,
    Gpu,
    ImportsObservation,
    Observation,
    ProofObservation,
    RunObservation,
    Witness,
)
from reb_action.model.verdict import ImportCount
from reb_action.render.html.markup import Html, Node, each, el, join, spaced
from reb_action.render.html.page.view import SHOWN, code, facts, named, table
from reb_action.render.quantities import count, duration, size


def observed(seen: Observation, imports: ImportCount | None) -> Html:
    """Return what a probe saw; `imports` is how both scorings count it at C0."""
    match seen:
        case ImportsObservation():
            return _imports(seen, imports)
        case CudaObservation():
            return _cuda(seen)
        case RunObservation():
            return _run(seen)
        case _:
            assert_never(seen)


def _imports(seen: ImportsObservation, counted: ImportCount | None) -> Html:
    return facts(
        ("third-party, strict", _strict(counted)),
        (
            "all imports, paper",
            f"{counted.missing} of {counted.total} missing" if counted else None,
        ),
        ("unresolved", named(seen.missing) if seen.missing else "none"),
        ("stubs only, no package", named(seen.stub_only) if seen.stub_only else None),
        ("packages without code", named(seen.hollow) if seen.hollow else None),
        ("found through editable installs", named(seen.editable) if seen.editable else None),
        ("read", f"{count(seen.files, 'file')} in {duration(seen.seconds)}"),
        ("pyright", seen.pyright),
        ("fault", seen.fault),
    )


def _strict(counted: ImportCount | None) -> str | None:
    if counted is None or counted.strict_missing is None:
        return None
    return f"{counted.strict_missing} of {counted.strict_total} missing"


def _cuda(seen: CudaObservation) -> Html:
    return join(
        facts(
            ("GPUs present", str(seen.gpus_present)),
            ("took", duration(seen.seconds)),
            ("fault", seen.fault),
        ),
        *(_framework(one) for one in seen.frameworks),
        _witness(seen.witness),
    )


def _framework(one: CudaFacts) -> Html:
    return join(
        el("h4", f"{one.framework} on CUDA"),
        facts(
            ("finds CUDA", "yes" if one.available else "no"),
            ("built for", one.build or "the CPU only"),
            ("architectures", named(one.architectures) if one.architectures else None),
            ("error", code(one.error) if one.error else None),
        ),
        _devices(one.devices) if one.devices else None,
    )


def _devices(devices: tuple[Device, ...]) -> Html:
    rows = ((str(one.index), one.name, one.capability, _computed(one)) for one in devices[:SHOWN])
    return table("GPUs as the framework used them", ("GPU", "name", "capability", "product"), rows)


def _computed(device: Device) -> str:
    return (
        "right" if device.computed else f"wrong: {device.error or 'another product than the CPU'}"
    )


def _run(seen: RunObservation) -> Html:
    return join(
        el("p", code(" ".join(seen.argv)), class_="command"),
        facts(
            ("ended", _ended(seen)),
            ("took", duration(seen.seconds)),
            ("fault", seen.fault),
            ("files restored before it", _restored(seen)),
        ),
        el("h4", "Proofs that it ran"),
        el("ul", *(_proof(one) for one in seen.proofs[:SHOWN]), class_="proofs")
        if seen.proofs
        else el("p", "None was looked for."),
        el("h4", "Decoy run"),
        el("p", _decoy(seen.decoy)),
        _witness(seen.witness),
        _ranks(seen),
    )


def _ended(seen: RunObservation) -> str:
    if seen.timed_out:
        return "not within its time"
    return "without an exit code" if seen.exit_code is None else f"with exit code {seen.exit_code}"


def _restored(seen: RunObservation) -> Node:
    return named(one.path for one in seen.restored) if seen.restored else None


def _proof(one: ProofObservation) -> Html:
    found, colour = ("found", "passed") if one.satisfied else ("not found", "failed")
    return el("li", spaced(el("b", found, class_=colour), one.detail))


def _decoy(decoy: Decoy | None) -> str:
    if decoy is None:
        return "It was not made."
    ended = f"exit code {decoy.exit_code}, expected {decoy.expected_exit_code}"
    if decoy.proofs_satisfied:
        return (
            "With the repository's code taken out, the proofs still hold: they do not come from"
            f" the repository ({ended})."
        )
    if not decoy.token_seen:
        return f"Our file in place of the repository's was not run ({ended})."
    return (
        "Our file in place of the repository's ran, and left no proof: this environment executes"
        f" what it is told to ({ended})."
    )


def _witness(seen: Witness) -> Html:
    return join(
        el("h4", "Seen from outside"),
        facts(
            ("processes at once", str(seen.peak_processes)),
            ("CPU time", f"{seen.cpu_seconds:,.2f} s"),
            ("peak memory", f"{seen.peak_memory_mib:,} MiB"),
            ("samples", f"{seen.samples:,}"),
            ("driver", seen.driver),
        ),
        _libraries(seen),
        _gpus(seen.gpus) if seen.gpus else None,
    )


def _libraries(seen: Witness) -> Node:
    if not seen.libraries:
        return None
    listed = (spaced(code(one.path), size(one.size_bytes)) for one in seen.libraries[:SHOWN])
    return join(el("h4", "Native libraries of the framework"), el("ul", each("li", listed)))


def _gpus(gpus: tuple[Gpu, ...]) -> Html:
    rows = (
        (
            one.name,
            code(one.uuid),
            f"{one.peak_memory_mib:,} MiB",
            f"{one.peak_utilisation_percent} %",
            str(len(one.pids)),
        )
        for one in gpus[:SHOWN]
    )
    heads = ("GPU", "UUID", "peak memory", "peak use", "processes")
    return table("GPUs as NVML saw them", heads, rows)


def _ranks(seen: RunObservation) -> Node:
    if not seen.ranks:
        return None
    rows = (
        (f"{one.rank} of {one.ranks}", code(one.device), f"{one.collectives:,}")
        for one in seen.ranks[:SHOWN]
    )
    return table("Ranks as their communication library recorded them", _RANK, rows)


_RANK = ("rank", "GPU", "collectives")
