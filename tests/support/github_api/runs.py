"""Runs, the pull requests they are for, and artifacts."""

import hashlib

from tests.support.github_api.asking import WEB, ProblemError
from tests.support.github_api.contract import MOMENT


def get_run(request):
    run_id = request.number("run_id")
    run = request.world.runs.get(run_id)
    if run is None:
        raise ProblemError(404, "Not Found")
    owner = run["repository"]
    return 200, {
        "id": run_id,
        "run_attempt": run.get("attempt", 1),
        "event": run.get("event", "pull_request"),
        "status": run.get("status", "completed"),
        "conclusion": run.get("conclusion", "success"),
        "head_sha": run["sha"],
        "head_branch": run["branch"],
        "head_repository": None if owner is None else {"full_name": owner},
        "path": ".github/workflows/benchmark.yml",
        "html_url": f"{WEB}/{request.world.repository}/actions/runs/{run_id}",
        "actor": {"login": run.get("actor", "someone")},
        # Empty for forks, and never complete: actions/runner#3444.
        "pull_requests": [],
    }


def list_pulls(request):
    query = request.query
    state = query.get("state", "open")
    return 200, [
        pull(request, one)
        for one in request.world.pulls
        if state in ("all", one["state"]) and query.get("head", head_label(one)) == head_label(one)
    ]


def list_commit_pulls(request):
    sha = request.values["commit_sha"]
    return 200, [pull(request, one) for one in request.world.pulls if one["sha"] == sha]


def head_label(one):
    return f"{(one['repository'] or 'unknown/').split('/')[0]}:{one['branch']}"


def pull(request, one):
    world = request.world
    head = {"sha": one["sha"], "ref": one["branch"], "label": head_label(one)}
    head["repo"] = None if one["repository"] is None else {"full_name": one["repository"]}
    return {
        "number": one["number"],
        "url": request.address(f"/pulls/{one['number']}"),
        "state": one["state"],
        "draft": False,
        "html_url": f"{WEB}/{world.repository}/pull/{one['number']}",
        "head": head,
        "base": {
            "sha": "b" * 40,
            "ref": world.default_branch,
            "label": "octo:main",
            "repo": {"full_name": world.repository},
        },
    }


def list_artifacts(request):
    run_id = request.number("run_id")
    found = [one for one in request.world.artifacts if one.run_id == run_id]
    return 200, {"total_count": len(found), "artifacts": [artifact(one) for one in found]}


def artifact(one):
    digest = f"sha256:{hashlib.sha256(one.data).hexdigest()}" if one.digest else None
    return {
        "id": one.id,
        "name": one.name,
        "size_in_bytes": len(one.data),
        "digest": digest,
        "expired": one.expired,
        "created_at": one.created_at or MOMENT,
        "workflow_run": {"id": one.run_id},
    }


def get_artifact(request):
    wanted = request.number("artifact_id")
    found = [one for one in request.world.artifacts if one.id == wanted]
    if not found:
        raise ProblemError(404, "Not Found")
    if found[0].expired:
        raise ProblemError(410, "Artifact has expired")
    return 302, f"{request.store}/artifact/{wanted}?sig=signed"
