"""What the loopback GitHub holds: plain values that a test may set and look at."""

from dataclasses import dataclass, field


@dataclass(kw_only=True)
class Identity:
    """Whose a token is; `app` is an app's slug, without which no check run can be written."""

    login: str = "github-actions[bot]"
    app: str | None = "github-actions"
    permissions: dict = field(
        default_factory=lambda: {
            "actions": "read",
            "checks": "write",
            "contents": "write",
            "metadata": "read",
            "pull_requests": "write",
        }
    )


@dataclass(kw_only=True)
class StoredArtifact:
    """An artifact; `served` is what the store sends, its digest is that of `data`."""

    id: int
    name: str
    run_id: int
    data: bytes
    served: bytes | None = None
    digest: bool = True
    expired: bool = False
    created_at: str | None = None


@dataclass(kw_only=True)
class World:
    """One repository."""

    repository: str = "octo/bench"
    default_branch: str = "main"
    locked: set = field(default_factory=set)
    issues: set = field(default_factory=lambda: {1})
    comments: dict = field(default_factory=dict)
    checks: dict = field(default_factory=dict)
    pulls: list = field(default_factory=list)
    runs: dict = field(default_factory=dict)
    artifacts: list = field(default_factory=list)
    last_id: int = 100

    def new_id(self):
        self.last_id += 1
        return self.last_id

    def add_comment(self, body, *, login="someone", number=1):
        """Put a comment there, as its author did in the web page."""
        made = {"id": self.new_id(), "number": number, "body": body, "login": login}
        self.comments[made["id"]] = made
        return made

    def add_pull(self, number, *, sha, branch="topic", repository="octo/bench", state="open"):
        """Put a pull request there; `repository` None: its fork was deleted."""
        self.issues.add(number)
        self.pulls.append(
            {
                "number": number,
                "sha": sha,
                "branch": branch,
                "repository": repository,
                "state": state,
            }
        )

    def add_run(self, run_id, *, sha, branch="topic", repository="octo/bench", **more):
        """Put a workflow run there, ended."""
        self.runs[run_id] = {"sha": sha, "branch": branch, "repository": repository, **more}

    def add_artifact(self, name, data=b"zip", *, run_id=7, **more):
        """Put an artifact there, of some attempt."""
        made = StoredArtifact(id=self.new_id(), name=name, run_id=run_id, data=data, **more)
        self.artifacts.append(made)
        return made
