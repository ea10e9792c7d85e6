"""Check runs and their annotations."""

from tests.support.github_api import limits
from tests.support.github_api.asking import WEB, ProblemError, checked
from tests.support.github_api.contract import MOMENT


def create_check(request):
    world, body = request.world, request.body
    checked(limits.check_fault(body))
    if request.identity.app is None:
        raise ProblemError(403, "You must authenticate via a GitHub App.")
    made = {"id": world.new_id(), "annotations": [], "app": request.identity.app, **body}
    made["output"] = {}
    world.checks[made["id"]] = made
    merge_output(made, body)
    return 201, check(request, made)


def edit_check(request):
    found = existing_check(request)
    checked(limits.check_fault(request.body))
    if found["app"] != request.identity.app:
        raise ProblemError(403, "Resource not accessible by integration")
    found.update({k: v for k, v in request.body.items() if k != "output"})
    merge_output(found, request.body)
    return 200, check(request, found)


def get_check(request):
    return 200, check(request, existing_check(request))


def list_annotations(request):
    return 200, existing_check(request)["annotations"]


def list_checks(request):
    query = request.query
    named = [
        one
        for one in request.world.checks.values()
        if one["head_sha"] == request.values["ref"]
        and query.get("check_name", one["name"]) == one["name"]
    ]
    if query.get("filter", "latest") == "latest":
        named = list({(one["name"], one["app"]): one for one in named}.values())
    return 200, {"total_count": len(named), "check_runs": [check(request, one) for one in named]}


def merge_output(found, body):
    output = dict(body.get("output", {}))
    # Each request adds; none replaces.
    found["annotations"] += [annotation(one) for one in output.pop("annotations", [])]
    found["output"] |= output


def annotation(one):
    return {"start_column": None, "end_column": None, "raw_details": None, "title": None, **one}


def existing_check(request):
    found = request.world.checks.get(request.number("check_run_id"))
    if found is None:
        raise ProblemError(404, "Not Found")
    return found


def check(request, one):
    output = {"title": None, "summary": None, "text": None, **one["output"]}
    return {
        "id": one["id"],
        "url": request.address(f"/check-runs/{one['id']}"),
        "name": one["name"],
        "head_sha": one["head_sha"],
        "external_id": one.get("external_id"),
        "status": one.get("status", "queued"),
        "conclusion": one.get("conclusion"),
        "details_url": one.get("details_url"),
        "html_url": f"{WEB}/{request.world.repository}/runs/{one['id']}",
        "app": {"slug": one["app"]},
        "output": {**output, "annotations_count": len(one["annotations"])},
        "started_at": MOMENT,
        "completed_at": MOMENT,
    }
