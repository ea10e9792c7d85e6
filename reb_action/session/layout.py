"""Names every place in the folder of one trial."""

from dataclasses import dataclass
from pathlib import Path


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
        """The agent's output, both streams, limited in size."""
        return self.folder / "agent.log"

    @property
    def trajectory(self) -> Path:
        """The agent's own record of its run: `stdout`, and `sessions/` with files that it wrote.

        `trajectory.json` in the same folder has the run in a format that all agents share.
        """
        return self.folder / "trajectory"

    @property
    def conversation(self) -> Path:
        """The conversation with the model as the gateway saw it, one JSON line for each call."""
        return self.trajectory / "conversation.jsonl"

    @property
    def trajectory_document(self) -> Path:
        """The run of the agent, turn by turn, in the form that all agents share (ATIF)."""
        return self.trajectory / "trajectory.json"

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
        """The state of the sandbox at the freeze."""
        return self.folder / "freeze.json"

    @property
    def interpreter(self) -> Path:
        """The observation of the reported interpreter."""
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
    def reserve(self) -> Path:
        """Space on the disk that is kept for the results."""
        return self.work / "reserve"

    @property
    def secrets(self) -> Path:
        """Secrets that the sandbox was given; only the harness may read them."""
        return self.work / "secrets.json"

    @property
    def progress(self) -> Path:
        """The agent's progress, to resume a trial; removed when the agent has ended."""
        return self.folder / "progress.json"

    @property
    def ledger(self) -> Path:
        """The counts of the gateway, to resume a trial; removed when the agent has ended."""
        return self.folder / "ledger.json"

    @property
    def source(self) -> Path:
        """The pristine checkout, from which touched files are restored."""
        return self.work / "source"

    @property
    def mount(self) -> Path:
        """Host side of the read-only mount."""
        return self.work / "mount"

    def observation(self, level: str) -> Path:
        """Return the path of the observation of one level."""
        return self.folder / "levels" / f"{level}.json"

    def log(self, level: str) -> Path:
        """Return the path of the log of one level."""
        return self.folder / "levels" / f"{level}.log"
