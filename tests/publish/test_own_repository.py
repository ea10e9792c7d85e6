"""A pull request of one's own repository: what passed on the default branch and fails now."""

from dataclasses import replace

import pytest

from reb_action.model.manifest import Level, Trial
from reb_action.publish import publish
from reb_action.results import plan_file
from tests.support import evidence as seen
from tests.support.runs import SHA, environ, job, plan_of, pull_request, told
from tests.support.trial_folders import put

TRIAL = "acme__own.documented.1"
LOG = """Traceback (most recent call last):
  File "train.py", line 3, in <module>
    import einops
ModuleNotFoundError: No module named 'einops'
"""
LINE = "ModuleNotFoundError: No module named 'einops'"


def published(api, tmp_path, run_id, *, breaks, follows=True, **event):
    """Publish a run of the agent documented; return what it wrote to the job summary."""
    folder = tmp_path / f"run-{run_id}"
    folder.mkdir()
    plan_file.write_plan(plan_of(TRIAL, repository="own.yaml"), folder / "plan.json")
    manifest = replace(
        seen.MANIFEST, repository="acme/own", commit=f"{run_id:040}", follows_checkout=follows
    )
    failed = seen.run(exit_code=1, proofs=(seen.proved(holds=False),))
    changes = {"observations": seen.observations(C1=failed), "logs": {Level.C1: LOG}}
    trial = Trial(manifest=manifest, agent="documented")
    put(
        folder / "artifacts" / f"reb.researchenvbench.{TRIAL}.a1",
        seen.evidence(trial=trial, **(changes if breaks else {})),
    )
    sha = {"GITHUB_RUN_ID": str(run_id), "GITHUB_SHA": f"{run_id:040}"}
    env = environ(api, folder, **{**event, **sha})
    done = publish.publish_this_run(
        job(env), folder / "plan.json", folder / "artifacts", levels=tuple(Level)
    )
    assert "comment on #1" in dict(told(done)) or not event
    summary = folder / "summary.md"
    return summary.read_text() if summary.exists() else ""


@pytest.mark.parametrize("breaks", [True, False])
def test_pull_request_says_what_it_broke_or_repaired_on_every_channel(api, tmp_path, breaks):
    published(api, tmp_path, 6, breaks=not breaks)
    event = {"event": "pull_request", "payload": pull_request()}
    summary = published(api, tmp_path, 7, breaks=breaks, **event)
    words = (
        "passed before this change and fails" if breaks else "failed before this change and passes"
    )
    sentence = f"C1 {words} now" + (f": `{LINE}`" if breaks else "")
    (comment,) = api.world.comments.values()
    assert comment["body"].split("\n")[1] == f"### {sentence}"
    assert summary.startswith(f"## Change since the base\n\n**{sentence}**\n")
    (check,) = (
        one
        for one in api.world.checks.values()
        if (one["head_sha"], one["name"]) == (SHA, "researchenvbench / C1")
    )
    count = "0 of 1 passed" if breaks else "1 of 1 passed"
    assert check["output"]["title"] == f"{sentence.replace('`', '')} ({count})"
    assert check["output"]["summary"].startswith(f"**{sentence}**")


def test_pinned_repository_is_told_as_ever(api, tmp_path):
    """Without commit: self another commit is another edition, so there is nothing to compare."""
    published(api, tmp_path, 6, breaks=False, follows=False)
    event = {"event": "pull_request", "payload": pull_request()}
    published(api, tmp_path, 7, breaks=True, follows=False, **event)
    (comment,) = api.world.comments.values()
    assert comment["body"].split("\n")[1] == (
        "### `documented`: nothing to compare with. `no record of the leaderboard has this"
        " scoring version and these manifests`."
    )


def test_default_branch_has_a_badge_of_all_levels(api, tmp_path):
    published(api, tmp_path, 6, breaks=True)
    files = api.git.files("reb-leaderboard")
    title = (
        "environment of acme/own, documented, strict scoring:"
        " C0 passed; C1 failed; C2 passed; C3 passed; C4 passed; C5 passed"
    )
    assert f"<title>{title}</title>" in files["badges/documented/acme__own.svg"].decode()
    assert "badges/documented/acme__own.json" in files


def test_pinned_repository_has_no_such_badge(api, tmp_path):
    published(api, tmp_path, 6, breaks=False, follows=False)
    files = api.git.files("reb-leaderboard")
    assert "badges/documented/C1.svg" in files
    assert not any(path.startswith("badges/documented/acme") for path in files)
