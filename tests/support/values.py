"""Hypothesis strategies for our values: any document, and any evidence that a trial may leave."""

from hypothesis import strategies as st

from reb_action.model.agent import AgentRun, Freeze, VendorRecord
from reb_action.model.evidence import Evidence
from reb_action.model.manifest import RUN_LEVELS, Level, Manifest, Trial
from reb_action.model.observation import (
    CudaObservation,
    ImportsObservation,
    Interpreter,
    RunObservation,
)
from reb_action.model.report import Report, ReportFault
from tests.support.evidence import MANIFEST

# JSON knows no NaN and no infinity; a value of ours that holds one cannot be written.
st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))
st.register_type_strategy(int, st.integers(-(2**40), 2**40))

# A few are enough: generating five mappings each time is slow.
RECORDS = [VendorRecord(), VendorRecord(models={"m": 2}, removed={"web_search": 1}, searches=3)]
st.register_type_strategy(VendorRecord, st.sampled_from(RECORDS))

LEVELS = st.lists(st.sampled_from(Level), unique=True).map(tuple)


@st.composite
def manifests(draw):
    """Each run level in exactly one of the three places, as the loader demands."""
    places = {level: draw(st.sampled_from(["run", "never", "paper"])) for level in RUN_LEVELS}
    return Manifest(
        repository="owner/name",
        commit="0" * 40,
        domain="example",
        imports=draw(st.integers(0, 99)),
        frameworks=draw(st.sampled_from([("torch",), ("torch", "jax"), ()])),
        entrypoints={
            level: MANIFEST.entrypoints[level] for level in places if places[level] == "run"
        },
        not_applicable={level: "why not" for level in places if places[level] == "never"},
        paper_only={level: "why only there" for level in places if places[level] == "paper"},
    )


def observations():
    """Any observations, each of the kind that its level has; any may be absent."""
    kinds = {
        Level.C0: st.from_type(ImportsObservation),
        Level.C1: st.from_type(RunObservation),
        Level.C2: st.from_type(CudaObservation),
        Level.C3: st.from_type(RunObservation),
        Level.C4: st.from_type(RunObservation),
    }
    return st.fixed_dictionaries({}, optional=kinds)


def evidences():
    """Any evidence that a session folder can hold."""
    return st.builds(
        Evidence,
        trial=st.builds(Trial, manifest=manifests(), agent=st.just("a"), attempt=st.just(1)),
        gpus_promised=st.integers(0, 4),
        levels=LEVELS,
        agent_run=st.none() | st.from_type(AgentRun),
        freeze=st.none() | st.from_type(Freeze),
        report=st.none() | st.from_type(Report) | st.from_type(ReportFault),
        interpreter=st.none() | st.from_type(Interpreter),
        observations=observations(),
        logs=st.dictionaries(st.sampled_from(RUN_LEVELS), st.text(max_size=200)),
        hashes=st.dictionaries(st.text(max_size=9), st.text(max_size=9), max_size=2),
    )
