"""Manifests with `commit: self`: the trial measures the HEAD of the checkout that holds them."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from reb_action import documents
from reb_action.cli.arguments import make_trial
from reb_action.cli.groups import ModelOptions, PlaceOptions, RunnerOptions, TrialOptions
from reb_action.cli.main import cli
from reb_action.corpus import manifests
from reb_action.errors import SourceError, UsageError
from reb_action.model.manifest import SELF, Level
from reb_action.results.editions import edition_of
from reb_action.sandbox.protocol import Kind
from reb_action.session import state
from reb_action.session.layout import SessionLayout
from reb_action.source.own_checkout import find_own_checkout, pin_to_checkout

DEMO = Path(__file__).parents[1] / "demo"
IDENTITY = ("-c", "user.name=A", "-c", "user.email=a@example.org")


def git(folder, *arguments):
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    argv = ["git", "-C", str(folder), *IDENTITY, *arguments]
    done = subprocess.run(argv, env=environ, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.strip()


def commit(folder, message):
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", message)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def checkout(tmp_path):
    """The demo's repository, with a manifest of its own that pins nothing."""
    folder = tmp_path / "checkout"
    shutil.copytree(DEMO / "repository", folder)
    pinned = manifests.load(DEMO / "manifest.yaml").commit
    lines = (DEMO / "manifest.yaml").read_text().replace(f'"{pinned}"', SELF).splitlines()
    kept = [line for line in lines if not line.startswith("imports:")]
    (folder / "researchenvbench.yaml").write_text("\n".join(kept) + "\n")
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder, "one")
    return folder


def started(checkout, folder):
    """Start a trial as the action does, end it, and return its manifest and its output."""
    path = str(checkout / "researchenvbench.yaml")
    local = ("--agent", "nop", "--sandbox", "local", "--levels", "C0", "--results", str(folder))
    done = CliRunner().invoke(cli, ["start", path, *local], env={"REB_FAIL_ON": "never"})
    assert done.exit_code == 0, done.output
    manifest = state.load(SessionLayout(folder=folder)).trial.manifest
    inside = Path(state.load(SessionLayout(folder=folder)).spec.scratch)
    requirements = next(inside.rglob("requirements.txt")).read_text()
    assert CliRunner().invoke(cli, ["stop", str(folder)]).exit_code == 0
    return manifest, done.output, requirements


def test_trial_measures_the_head_and_counts_its_imports(checkout, tmp_path):
    (checkout / "more.py").write_text("import einops\n")
    head = commit(checkout, "two")
    manifest, said, _ = started(checkout, tmp_path / "trial")
    assert (manifest.commit, manifest.imports, manifest.follows_checkout) == (head, 7, True)
    assert f"the HEAD of {checkout}" in said
    assert "uncommitted" not in said


def test_uncommitted_change_is_named_and_not_measured(checkout, tmp_path):
    committed = (checkout / "requirements.txt").read_text()
    (checkout / "requirements.txt").write_text("nothing\n")
    _, said, measured = started(checkout, tmp_path / "trial")
    assert "1 tracked file(s) have uncommitted changes, which are not measured" in said
    assert measured == committed


def test_programs_that_the_configuration_of_a_checkout_names_are_not_run(checkout, tmp_path):
    program, ran = tmp_path / "program", tmp_path / "ran"
    program.write_text(f"#!/bin/sh\necho ran >> {ran}\ncat\n")
    program.chmod(0o755)
    (checkout / ".gitattributes").write_text("*.txt filter=evil\n")
    commit(checkout, "two")
    for key in ("core.fsmonitor", "filter.evil.clean", "filter.evil.smudge", "core.sshCommand"):
        git(checkout, "config", key, str(program))
    git(checkout, "config", "core.hooksPath", str(tmp_path))
    (tmp_path / "post-index-change").symlink_to(program)
    (checkout / "requirements.txt").write_text("nothing\n")
    _, said, _ = started(checkout, tmp_path / "trial")
    assert "1 tracked file(s) have uncommitted changes, which are not measured" in said
    assert not ran.exists()


@pytest.mark.parametrize("kind", ["shallow", "worktree"])
def test_checkouts_of_every_kind_have_their_commit(checkout, tmp_path, kind):
    place = tmp_path / "place"
    if kind == "shallow":
        git(tmp_path, "clone", "--quiet", "--depth=1", checkout.as_uri(), str(place))
    else:
        git(checkout, "worktree", "add", "--quiet", "--detach", str(place))
    manifest, _, _ = started(place, tmp_path / "trial")
    assert (manifest.commit, manifest.imports) == (git(checkout, "rev-parse", "HEAD"), 6)


def test_all_commits_of_a_checkout_have_one_edition(checkout):
    path = checkout / "researchenvbench.yaml"
    first = pin_to_checkout(manifests.load(path), find_own_checkout(path))
    (checkout / "more.py").write_text("import einops\n")
    commit(checkout, "two")
    second = pin_to_checkout(manifests.load(path), find_own_checkout(path))
    assert first.commit != second.commit
    assert edition_of(first) == edition_of(second) == edition_of(manifests.load(path))


def test_manifest_outside_a_checkout_is_refused_in_one_line(checkout, tmp_path):
    shutil.rmtree(checkout / ".git")
    options = ("--agent", "nop", "--sandbox", "local", "--results", str(tmp_path / "trial"))
    done = CliRunner().invoke(cli, ["start", str(checkout / "researchenvbench.yaml"), *options])
    assert isinstance(done.exception, UsageError)
    assert "lies in no git checkout; check the repository out first" in str(done.exception)


def test_checkout_without_a_commit_is_refused_with_the_remedy(checkout):
    shutil.rmtree(checkout / ".git")
    git(checkout, "init", "--quiet")
    with pytest.raises(SourceError, match="it has no commit; commit the files first"):
        options_of(str(checkout / "researchenvbench.yaml"))


def test_link_to_a_folder_of_a_checkout_leads_to_it(checkout, tmp_path):
    (checkout / "inner").mkdir()
    shutil.copy(checkout / "researchenvbench.yaml", checkout / "inner")
    (tmp_path / "link").symlink_to(checkout / "inner")
    own = options_of(str(tmp_path / "link" / "researchenvbench.yaml"))
    assert own.checkout == checkout.resolve()


def test_manifest_without_a_count_is_as_readable_as_one_with_it(checkout):
    manifest = manifests.load(checkout / "researchenvbench.yaml")
    read = documents.from_json(documents.to_json(manifest), type(manifest))
    assert read == manifest
    assert read.imports is None


def test_pinned_commit_is_looked_for_on_the_server_of_the_job(monkeypatch):
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://git.example.org/")
    own = options_of(str(DEMO / "manifest.yaml"))
    assert own.origins == ("https://git.example.org", "https://github.com")
    assert options_of("alephpi/Texo").origins == ("https://github.com",)
    monkeypatch.setenv("GITHUB_SERVER_URL", "http://git.example.org")
    assert options_of(str(DEMO / "manifest.yaml")).origins == ("https://github.com",)


def options_of(repository):
    place = PlaceOptions(
        sandbox=Kind.LOCAL, image="", mirror=None, gpus=0, network="open", allow_hosts=""
    )
    runner = RunnerOptions(place=place, model_options=ModelOptions(), levels=(Level.C0,))
    return make_trial(TrialOptions(repository=repository, agent="nop"), runner)
