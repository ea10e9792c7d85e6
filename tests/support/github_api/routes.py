"""Which function answers at which address, and which permissions it takes (one of them)."""

from tests.support.github_api import checks, comments, runs


def repository(request):
    world = request.world
    return 200, {
        "url": request.address(""),
        "full_name": world.repository,
        "default_branch": world.default_branch,
    }


R = "/repos/{owner}/{repo}"
COMMENTS = (("issues", "write"), ("pull_requests", "write"))
ROUTES = {
    f"GET {R}": (repository, (("metadata", "read"),)),
    f"GET {R}/issues/{{issue_number}}/comments": (
        comments.list_comments,
        (("issues", "read"), ("pull_requests", "read")),
    ),
    f"POST {R}/issues/{{issue_number}}/comments": (comments.create_comment, COMMENTS),
    f"GET {R}/issues/comments/{{comment_id}}": (
        comments.get_comment,
        (("issues", "read"), ("pull_requests", "read")),
    ),
    f"PATCH {R}/issues/comments/{{comment_id}}": (comments.edit_comment, COMMENTS),
    f"DELETE {R}/issues/comments/{{comment_id}}": (comments.delete_comment, COMMENTS),
    f"POST {R}/check-runs": (checks.create_check, (("checks", "write"),)),
    f"GET {R}/check-runs/{{check_run_id}}": (checks.get_check, (("checks", "read"),)),
    f"PATCH {R}/check-runs/{{check_run_id}}": (checks.edit_check, (("checks", "write"),)),
    f"GET {R}/check-runs/{{check_run_id}}/annotations": (
        checks.list_annotations,
        (("checks", "read"),),
    ),
    f"GET {R}/commits/{{ref}}/check-runs": (checks.list_checks, (("checks", "read"),)),
    f"GET {R}/commits/{{commit_sha}}/pulls": (
        runs.list_commit_pulls,
        (("contents", "read"), ("pull_requests", "read")),
    ),
    f"GET {R}/pulls": (runs.list_pulls, (("pull_requests", "read"),)),
    f"GET {R}/actions/runs/{{run_id}}": (runs.get_run, (("actions", "read"),)),
    f"GET {R}/actions/runs/{{run_id}}/artifacts": (runs.list_artifacts, (("actions", "read"),)),
    f"GET {R}/actions/artifacts/{{artifact_id}}/{{archive_format}}": (
        runs.get_artifact,
        (("actions", "read"),),
    ),
}
