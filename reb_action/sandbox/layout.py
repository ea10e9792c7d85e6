"""Names every place inside a sandbox."""

from dataclasses import dataclass

AGENT_UID = 1000
"""The unprivileged user `agent` of the image; its group has the same number."""


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
        """The path at which the agent writes its report."""
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
        """The agent's own programs and files; never part of the measured environment."""
        return f"{self.root}/opt/agent"

    @property
    def state(self) -> str:
        """The agent program's own writable folder: its settings and session files."""
        return f"{self.root}/opt/state"

    @property
    def cli(self) -> str:
        """The read-only mount with the agent's installed program, if it has one."""
        return f"{self.root}/opt/cli"

    @property
    def gateway(self) -> str:
        """The read-only mount with the sockets to the harness, if there are any."""
        return f"{self.root}/opt/gateway"

    @property
    def tools(self) -> str:
        """The read-only mount with probes, toolchain and assets; empty until the freeze."""
        return f"{self.root}/opt/reb"
