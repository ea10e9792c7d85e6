"""Comments on issues and pull requests."""

from tests.support.github_api import limits
from tests.support.github_api.asking import WEB, ProblemError, checked


def list_comments(request):
    issue = existing_issue(request)
    found = [one for one in request.world.comments.values() if one["number"] == issue]
    return 200, [comment(request, one) for one in sorted(found, key=lambda one: one["id"])]


def create_comment(request):
    issue = existing_issue(request)
    if issue in request.world.locked:
        raise ProblemError(403, "Unable to create comment because issue is locked.")
    checked(limits.comment_fault(request.body))
    login = request.identity.login
    return 201, comment(
        request, request.world.add_comment(request.body["body"], login=login, number=issue)
    )


def get_comment(request):
    return 200, comment(request, existing_comment(request))


def edit_comment(request):
    found = existing_comment(request)
    checked(limits.comment_fault(request.body))
    found["body"] = request.body["body"]
    return 200, comment(request, found)


def delete_comment(request):
    del request.world.comments[existing_comment(request)["id"]]
    return 204, None


def existing_issue(request):
    if request.number("issue_number") not in request.world.issues:
        raise ProblemError(404, "Not Found")
    return request.number("issue_number")


def existing_comment(request):
    found = request.world.comments.get(request.number("comment_id"))
    if found is None:
        raise ProblemError(404, "Not Found")
    return found


def comment(request, one):
    page = f"{WEB}/{request.world.repository}/pull/{one['number']}"
    user = None if one["login"] is None else {"login": one["login"]}
    return {
        "id": one["id"],
        "url": request.address(f"/issues/comments/{one['id']}"),
        "body": one["body"],
        "user": user,
        "html_url": f"{page}#issuecomment-{one['id']}",
    }
