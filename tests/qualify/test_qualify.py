"""Only what was really built is recorded, and a level only of what it must fail in."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from reb_action.corpus import manifests, qualification
from reb_action.demo import commit_repository
from reb_action.errors import DocumentError, SandboxError, ToolchainError, UsageError
from reb_action.judge.judge import judge
from reb_action.model.manifest import Framework, Level, Oracle, Outcome
from reb_action.qualify import qualify
from reb_action.sandbox.docker import connection
from reb_action.sandbox.protocol import Kind
from reb_action.session.state import AgentChoice
from reb_action.trial import run as trial_run
from reb_action.trial.options import Options
from tests.support.evidence import evidence, observations
from tests.support.evidence import run as seen

DEMO = Path(__file__).parents[1] / "demo"

AGENT = AgentChoice(name="replay", argument=None, total_seconds=1, setup_seconds=1)


@pytest.fixture(scope="module")
def mirror(tmp_path_factory):
    """The repository of the demonstration, with its history."""
    place = tmp_path_factory.mktemp("mirror")
    commit_repository(DEMO, place)
    return place


@pytest.fixture
def small(mirror, tmp_path):
    """Return a plan for the demonstration, in the local sandbox; keywords change its manifest."""

    def of(base=None, **change):
        oracle = {"oracle": Oracle(key="numpy"), **change}
        options = Options(
            manifest=replace(manifests.load(DEMO / "manifest.yaml"), **oracle),
            agent=AGENT,
            folder=tmp_path / "results",
            kind=Kind.LOCAL,
            mirror=mirror,
            levels=(Level.C1,),
        )
        return qualify.plan(options, cache=tmp_path / "cache", date="2026-11-29", base=base)

    return of


@pytest.fixture
def records(tmp_path, monkeypatch):
    """Keep records here, and return those that there are."""
    monkeypatch.setattr(qualification, "data_folder", lambda name: tmp_path / name)
    return lambda: sorted(path.name for path in (tmp_path / "repos").rglob("*.json"))


def silent(_line):
    pass


def before(folder):
    """Put something where results go: what is refused at once leaves it there."""
    folder.mkdir()
    (folder / "kept").touch()
    return lambda: [path.name for path in folder.iterdir()]


def test_local_sandbox_without_uv_is_refused_at_once(small, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    plan = small()
    there = before(plan.options.folder)
    with pytest.raises(ToolchainError, match=r"^uv is not on the PATH, .*; install it, or") as told:
        qualify.qualify(plan, environ={}, tell=silent)
    assert "\n" not in str(told.value)
    assert there() == ["kept"]


def test_docker_sandbox_without_docker_is_refused_at_once(small, tmp_path, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")
    monkeypatch.setattr(connection, "connect", connection.connect.__wrapped__)
    plan = small()
    plan = replace(plan, options=replace(plan.options, kind=Kind.DOCKER, image="some:image"))
    there = before(plan.options.folder)
    with pytest.raises(SandboxError, match=r"could not be reached: .*; start the Docker engine"):
        qualify.qualify(plan, environ={}, tell=silent)
    assert there() == ["kept"]


def test_oracle_that_installs_what_is_not_there_is_refused(small):
    plan = small(oracle=Oracle(repository=("package",)))
    wanted = 'oracle.repository: "package" holds no tracked pyproject.toml or setup.py'
    with pytest.raises(DocumentError, match=wanted):
        qualify.qualify(plan, environ={}, tell=silent)
    assert not (plan.options.folder / "source").exists()


def test_folder_without_a_wheel_is_refused_at_once(small, tmp_path):
    plan = small(base=Path(sys.executable))
    there = before(plan.options.folder)
    with pytest.raises(UsageError) as told:
        qualify.qualify(plan, environ={}, tell=silent)
    assert str(told.value) == (
        f"{tmp_path}/cache contains no wheel; with --base, --cache names the folder of the wheels"
        " that the environment needs"
    )
    assert there() == ["kept"]


@pytest.fixture
def unbuilt(monkeypatch):
    """Let each environment end as one that was not built; return the options of those asked for."""
    asked = list[Options]()

    def run(options, **_):
        asked.append(options)
        (options.folder / "agent.log").parent.mkdir(parents=True)
        (options.folder / "agent.log").touch()
        whole = evidence()
        return judge(replace(whole, agent_run=replace(whole.agent_run, exit_code=1)))

    monkeypatch.setattr(trial_run, "run", run)
    return asked


def test_environment_that_was_not_built_ends_the_matter_even_if_it_passes(small, unbuilt):
    [one] = qualify.qualify(small(), environ={}, tell=silent)
    assert ([each.folder.name for each in unbuilt], one.negatives) == (["right"], ())
    assert one.positive.reason == "it was not built: its script ended with exit code 1"


def test_environment_that_is_compiled_in_silence_has_all_of_its_time(small, unbuilt):
    qualify.qualify(small(), environ={}, tell=silent)
    times = [(each.agent.idle_seconds, each.agent.total_seconds) for each in unbuilt]
    assert times == [(3600, 3600)]


def test_environment_whose_building_fails_says_so_and_is_not_recorded(small, records, tmp_path):
    plan = small(base=Path(sys.executable))
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "broken-1-py3-none-any.whl").touch()
    told = list[str]()
    done = qualify.qualify(plan, environ={}, tell=told.append)
    assert list(qualify.lines(done)) == [
        "researchenvbench/spirals C1: NOT QUALIFIED",
        "  right             blocked  it was not built: its script ended with exit code 1",
        "  not recorded: the correct environment did not pass, or another one was not built",
    ]
    log = plan.options.folder / "right" / "agent.log"
    assert f"the environment right was not built; {log} ends with:" in told
    assert list(qualify.record(plan, done)) == []
    assert records() == []


@pytest.mark.parametrize(
    ("frameworks", "broken"), [((), []), ((Framework.TORCH,), ["framework_broken"])]
)
def test_only_a_framework_that_is_there_is_broken(small, monkeypatch, frameworks, broken):
    monkeypatch.setattr(trial_run, "run", lambda *_, **__: judge(evidence()))
    [one] = qualify.qualify(small(frameworks=frameworks), environ={}, tell=silent)
    names = [control.environment for control in one.negatives]
    assert names == ["bare", "package_shadowed", *broken, "key_removed"]


@pytest.mark.parametrize("corpus", [True, False])
def test_only_what_was_seen_is_recorded_and_only_the_corpus_here(
    small, monkeypatch, records, corpus
):
    monkeypatch.setattr(trial_run, "run", lambda *_, **__: judge(evidence()))
    monkeypatch.setattr(manifests, "in_corpus", lambda _: corpus)
    plan = small()
    [one] = qualify.qualify(plan, environ={}, tell=silent)
    assert (one.positive.outcome, qualification.holds(one)) == (Outcome.PASSED, False)
    lost = replace(one.negatives[0], outcome=Outcome.BLOCKED)
    unbuilt = replace(one, level=Level.C3, negatives=(lost, *one.negatives[1:]))
    wrong = replace(one, level=Level.C4, positive=replace(one.positive, outcome=Outcome.FAILED))
    name = "researchenvbench__spirals.C1.json"
    assert [path.name for path in qualify.record(plan, (one, unbuilt, wrong))] == [name]
    assert records() == ([name] if corpus else [])
    assert (plan.options.folder / name).exists() is not corpus


def test_a_right_environment_that_does_not_pass_ends_the_matter(small, monkeypatch):
    asked = list[str]()

    def run(options, **_):
        asked.append(options.folder.name)
        return judge(evidence(observations=observations(C1=seen(exit_code=1))))

    monkeypatch.setattr(trial_run, "run", run)
    [one] = qualify.qualify(small(), environ={}, tell=silent)
    assert (asked, one.negatives) == (["right"], ())
    assert one.framework == ""


def test_a_level_is_held_to_the_sabotages_that_concern_it(small, monkeypatch):
    asked = list[tuple[str, tuple[Level, ...]]]()

    def run(options, **_):
        asked.append((options.folder.name, options.levels))
        return judge(evidence())

    monkeypatch.setattr(trial_run, "run", run)
    [entrypoint] = small().options.manifest.entrypoints.values()
    both, alone = (Level.C1, Level.C4), (Level.C4,)
    plan = small(frameworks=(Framework.TORCH,), entrypoints=dict.fromkeys(both, entrypoint))
    plan = replace(plan, levels=both)
    of = {one.level: one for one in qualify.qualify(plan, environ={}, tell=silent)}
    assert asked == [
        *(("right", both), ("bare", both), ("package_shadowed", both)),
        *(("framework_broken", both), ("key_removed", both), ("devices_hidden", alone)),
        *(("one_device_only", alone), ("nccl_mismatched", alone)),
    ]
    seen = {level: [one.environment for one in of[level].negatives] for level in both}
    everywhere = ["bare", "package_shadowed", "framework_broken", "key_removed"]
    assert seen[Level.C1] == everywhere
    assert seen[Level.C4] == [*everywhere, "devices_hidden", "one_device_only", "nccl_mismatched"]


@pytest.mark.parametrize(
    ("levels", "key", "repository"),
    [
        ((Level.C0,), "einops", ()),
        ((Level.C0, Level.C1), None, (".",)),
        ((Level.C1,), None, (".",)),
    ],
)
def test_c0_alone_asks_for_distributions_and_not_for_the_repository(small, levels, key, repository):
    listed = small(oracle=Oracle(imports=("einops==0.8.2", "tqdm==4.70.1"), repository=(".",)))
    options = replace(listed.options, levels=levels)
    plan = qualify.plan(options, cache=listed.building.cache, date="2026-11-29")
    environment = plan.building.oracle
    assert (environment.key, environment.repository) == (key, repository)
