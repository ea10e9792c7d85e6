"""Git's objects and references, and single files."""

import base64

from tests.support.github_api import limits
from tests.support.github_api.asking import WEB, ProblemError


def get_ref(request):
    not_empty(request)
    branch = request.values["ref"].removeprefix("heads/")
    if branch not in request.world.refs:
        raise ProblemError(404, "Not Found")
    return 200, reference(request, branch)


def create_ref(request):
    not_empty(request)
    branch = request.body["ref"].removeprefix("refs/heads/")
    if branch in request.world.refs:
        raise ProblemError(422, "Reference already exists")
    existing(request, "commit", request.body["sha"])
    request.world.refs[branch] = request.body["sha"]
    return 201, reference(request, branch)


def edit_ref(request):
    branch = request.values["ref"].removeprefix("heads/")
    if branch not in request.world.refs:
        raise ProblemError(422, "Reference does not exist")
    sha = request.body["sha"]
    if request.world.refs[branch] not in ancestors(request, sha) and not request.body.get("force"):
        raise ProblemError(422, "Update is not a fast forward")
    request.world.refs[branch] = sha
    return 200, reference(request, branch)


def ancestors(request, sha):
    found, waiting = set(), [sha]
    while waiting:
        found.add(sha := waiting.pop())
        waiting += existing(request, "commit", sha)["parents"]
    return found


def reference(request, branch):
    return {
        "ref": f"refs/heads/{branch}",
        "object": {"type": "commit", "sha": request.world.refs[branch]},
    }


def get_commit(request):
    sha = request.values["commit_sha"]
    return 200, commit(request, sha, existing(request, "commit", sha))


def create_commit(request):
    not_empty(request)
    body = request.body
    existing(request, "tree", body["tree"])
    for parent in body.get("parents", ()):
        existing(request, "commit", parent)
    made = {"kind": "commit", "parents": [], **body}
    return 201, commit(request, request.world.add_object(made), made)


def commit(request, sha, one):
    return {
        "sha": sha,
        "message": one["message"],
        "tree": {"sha": one["tree"]},
        "parents": [{"sha": parent} for parent in one["parents"]],
        "html_url": f"{WEB}/{request.world.repository}/commit/{sha}",
    }


def get_tree(request):
    sha = request.values["tree_sha"]
    return 200, tree(request, sha, recursive="recursive" in request.query)


def create_tree(request):
    not_empty(request)
    base = request.body.get("base_tree")
    entries = {} if base is None else dict(existing(request, "tree", base)["entries"])
    for one in request.body["tree"]:
        if one.get("sha", "") is None:
            if entries.pop(one["path"], None) is None:
                raise ProblemError(422, "GitRPC::BadObjectState")
        elif "content" in one and "sha" not in one:
            entries[one["path"]] = (one["mode"], request.world.add_blob(one["content"].encode()))
        else:
            existing(request, "blob", one["sha"])
            entries[one["path"]] = (one["mode"], one["sha"])
    return 201, tree(request, request.world.add_tree(entries), recursive=True)


def tree(request, sha, *, recursive):
    entries = existing(request, "tree", sha)["entries"]
    listed = [
        {"path": path, "mode": mode, "type": "blob", "sha": blob}
        for path, (mode, blob) in entries.items()
        if recursive or "/" not in path
    ]
    cut = len(listed) > limits.TREE_ENTRIES
    return {"sha": sha, "truncated": cut, "tree": listed[: limits.TREE_ENTRIES]}


def get_blob(request):
    sha = request.values["file_sha"]
    data = existing(request, "blob", sha)["data"]
    content = base64.encodebytes(data).decode()
    return 200, {"sha": sha, "content": content, "encoding": "base64", "size": len(data)}


def create_blob(request):
    not_empty(request)
    body = request.body
    data = (
        base64.b64decode(body["content"])
        if body.get("encoding") == "base64"
        else body["content"].encode()
    )
    return 201, {"sha": request.world.add_blob(data)}


def get_contents(request):
    world, path = request.world, request.values["path"]
    branch = request.query.get("ref", world.default_branch)
    data = world.files(branch).get(path) if branch in world.refs else None
    if data is None:
        raise ProblemError(404, "Not Found")
    large = len(data) > 1024 * 1024
    return 200, {
        "type": "file",
        "path": path,
        "name": path.split("/")[-1],
        "sha": world.add_blob(data),
        "size": len(data),
        "encoding": "none" if large else "base64",
        "content": "" if large else base64.encodebytes(data).decode(),
    }


def existing(request, kind, sha):
    found = request.world.objects.get(sha)
    if found is None or found["kind"] != kind:
        status = 404 if request.body is None else 422
        raise ProblemError(status, "Not Found" if status == 404 else f"{kind} {sha} is not there")
    return found


def not_empty(request):
    if request.world.empty:
        raise ProblemError(409, "Git Repository is empty.")
