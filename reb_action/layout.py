"""Names every place a trial uses: in the session folder, in the sandbox, and in this project."""

from dataclasses import dataclass
from pathlib import Path

AGENT_UID = 1000
"""The unprivileged user `agent` of the image; its group has the same number."""

_PACKAGE = Path(__file__).resolve().parent


def data_folder(name: str) -> Path:
    """Return `probes`, `repos` or `schemas`: beside the package or, in a wheel, inside it."""
    beside = _PACKAGE.parent / name
    return beside if beside.is_dir() else _PACKAGE / "data" / name


@dataclass(frozen=True, kw_only=True, slots=True)
class SandboxLayout:
    """Where things are inside a sandbox; `root` is "" in a container and a scratch folder else."""

    root: str = ""

    @property
    def workspace(self) -> str:
        """The agent's folder: it owns everything below."""
        return f"{self.root}/workspace"

    @property
    def repository(self) -> str:
        """The checkout of the pinned commit."""
        return f"{self.workspace}/repo"

    @property
    def report(self) -> str:
        """Where the agent writes its self-report."""
        return f"{self.workspace}/report.json"

    @property
    def runs(self) -> str:
        """Parent of the fresh output folder of each probe run."""
        return f"{self.workspace}/runs"

    @property
    def home(self) -> str:
        """The agent's HOME."""
        return f"{self.root}/home/agent"

    @property
    def agent(self) -> str:
        """The agent's own programs and files; never part of what is measured."""
        return f"{self.root}/opt/agent"

    @property
    def state(self) -> str:
        """The agent program's own writable folder: its settings and session files."""
        return f"{self.root}/opt/state"

    @property
    def cli(self) -> str:
        """The read-only mount with the agent's installed program, where it has one."""
        return f"{self.root}/opt/cli"

    @property
    def gateway(self) -> str:
        """The read-only mount with the sockets that lead to the harness, where there are any."""
        return f"{self.root}/opt/gateway"

    @property
    def tools(self) -> str:
        """The read-only mount with probes, toolchain and assets; empty until the freeze."""
        return f"{self.root}/opt/reb"


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionLayout:
    """Where things are in the folder of one trial on the harness side."""

    folder: Path

    @property
    def session(self) -> Path:
        """State between the steps."""
        return self.folder / "session.json"

    @property
    def agent_run(self) -> Path:
        """How the agent ended."""
        return self.folder / "agent.json"

    @property
    def agent_log(self) -> Path:
        """What the agent printed, both streams, capped."""
        return self.folder / "agent.log"

    @property
    def trajectory(self) -> Path:
        """What the agent says of its own run: `stdout`, and `sessions/` with files it wrote.

        `trajectory.json` beside them is the same in the form that all agents share.
        """
        return self.folder / "trajectory"

    @property
    def model_calls(self) -> Path:
        """One JSON line per call of a model, without its text."""
        return self.folder / "model-calls.jsonl"

    @property
    def gateway(self) -> Path:
        """Host side of the mount with the socket of the model gateway."""
        return self.work / "gateway"

    @property
    def report(self) -> Path:
        """The self-report as harvested, without credentials; absent when there was none."""
        return self.folder / "report.json"

    @property
    def freeze(self) -> Path:
        """What was seen when the sandbox was frozen."""
        return self.folder / "freeze.json"

    @property
    def interpreter(self) -> Path:
        """What was seen of the reported interpreter."""
        return self.folder / "interpreter.json"

    @property
    def verdict(self) -> Path:
        """The verdict on the trial."""
        return self.folder / "verdict.json"

    @property
    def page(self) -> Path:
        """The verdict as a page for people."""
        return self.folder / "index.html"

    @property
    def work(self) -> Path:
        """Scratch of the harness: pristine checkout, mount, local sandbox. Never an artifact."""
        return self.folder / "work"

    @property
    def secrets(self) -> Path:
        """Values that the sandbox was given and that nobody may read."""
        return self.work / "secrets.json"

    @property
    def source(self) -> Path:
        """The pristine checkout, from which touched files are restored."""
        return self.work / "source"

    @property
    def mount(self) -> Path:
        """Host side of the read-only mount."""
        return self.work / "mount"

    def observation(self, level: str) -> Path:
        """Return where the observation of one level is kept."""
        return self.folder / "levels" / f"{level}.json"

    def log(self, level: str) -> Path:
        """Return where the log of one level is kept."""
        return self.folder / "levels" / f"{level}.log"
