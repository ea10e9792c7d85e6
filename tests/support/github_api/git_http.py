"""Git over HTTP beside the loopback GitHub: `git http-backend` on a bare repository."""

import base64
import os
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.github_api.wire import Reply, Wire

COMMIT = ("-c", "user.name=someone", "-c", "user.email=someone@sample")


class GitHost:
    """Serves one bare repository.

    A push first asks where the branches are, then sends its commit. The first function of
    `before_advert` is called before the answer, the first of `before_push` before the commit is
    taken, each once.
    """

    def __init__(self, api):
        self._api = api
        self._folder = tempfile.TemporaryDirectory()
        self._wire = Wire(self._handle)
        self.url = f"http://127.0.0.1:{self._wire.port}"
        self.before_advert = []
        self.before_push = []

    @property
    def path(self):
        """Return the bare repository."""
        path = Path(self._folder.name, f"{self._api.world.repository}.git")
        if not path.exists():
            subprocess.run(("git", "init", "-q", "--bare", str(path)), check=True)
            for name in ("http.receivepack", "uploadpack.allowAnySHA1InWant"):
                subprocess.run(("git", f"--git-dir={path}", "config", name, "true"), check=True)
        return path

    def close(self):
        self._wire.close()
        self._folder.cleanup()

    def run(self, *argv, data=None):
        """Run git on the bare repository."""
        command = ("git", f"--git-dir={self.path}", *argv)
        return subprocess.run(command, input=data, capture_output=True, check=True).stdout

    def branches(self):
        """Return the names of all branches."""
        return set(self.run("for-each-ref", "--format=%(refname:short)").decode().split())

    def files(self, branch):
        """Return the files of a branch, by path."""
        listed = self.run("ls-tree", "-r", "-z", "--name-only", branch).decode().split("\0")
        return {name: self.run("cat-file", "blob", f"{branch}:{name}") for name in listed if name}

    def commits(self, branch):
        """Return how many commits a branch has."""
        return int(self.run("rev-list", "--count", branch))

    def add_commit(self, branch, files, *, removed=()):
        """Change files of a branch, as somebody's push does."""
        with tempfile.TemporaryDirectory() as work:
            git = ("git", "-C", work, *COMMIT)
            subprocess.run((*git, "init", "-q", "-b", branch), check=True)
            if branch in self.branches():
                pull = (*git, "pull", "-q", str(self.path), branch)
                subprocess.run(pull, check=True, capture_output=True)
            for name, data in files.items():
                Path(work, name).parent.mkdir(parents=True, exist_ok=True)
                Path(work, name).write_bytes(data)
            for name in removed:
                Path(work, name).unlink()
            subprocess.run((*git, "add", "-A"), check=True)
            subprocess.run((*git, "commit", "-qm", "theirs"), check=True)
            push = (*git, "push", "-q", str(self.path), branch)
            subprocess.run(push, check=True, capture_output=True)

    def _handle(self, verb, target, headers, data):
        split = urlsplit(target)
        is_push = "git-receive-pack" in target
        status = self._permit(headers, "write" if is_push else "read")
        if status != 200:
            return Reply(status=status, data=b"refused")
        moments = self.before_push if verb == "POST" else self.before_advert
        if is_push and moments:
            moments.pop(0)()
        env = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.path.parent.parent),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "PATH_INFO": split.path,
            "QUERY_STRING": split.query,
            "REQUEST_METHOD": verb,
            "REMOTE_USER": "someone",
            "CONTENT_TYPE": headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(data)),
            "HTTP_CONTENT_ENCODING": headers.get("content-encoding", ""),
            "GIT_PROTOCOL": headers.get("git-protocol", ""),
        }
        done = subprocess.run(("git", "http-backend"), input=data, capture_output=True, env=env)
        return reply_of(done.stdout)

    def _permit(self, headers, wanted):
        kind, _, value = headers.get("authorization", "").partition(" ")
        token = base64.b64decode(value).decode().partition(":")[2] if kind == "Basic" else ""
        if token not in self._api.tokens:
            return 401
        level = self._api.tokens[token].permissions.get("contents", "none")
        return 200 if level == "write" or level == wanted else 403


def reply_of(output):
    """Return an answer of a CGI program."""
    head, _, body = output.partition(b"\r\n\r\n")
    fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
    status = int(fields.pop("Status", "200").split()[0])
    return Reply(status=status, headers=fields, data=body)
