"""Says with which options a container is created: an allow-list, computed and never extended."""

from collections.abc import Mapping
from typing import TypedDict

from docker.types import DeviceRequest, LogConfig, Mount

from reb_action.sandbox.layout import SandboxLayout
from reb_action.sandbox.owner import LEASE, Trace, format_labels
from reb_action.sandbox.protocol import Network, SandboxSpec

NETWORK = "reb"
"""The bridge that open sandboxes share; on it they cannot reach one another."""

HOSTNAME = "sandbox"

_MIB = 1024 * 1024

# The capabilities that a package manager needs to install files of other users.
_ROOT_CAPABILITIES = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID"]

# An absolute end: a restart must not give the sandbox its whole time again. The lease of a trial
# that is resumed is later.
_KEEPER = 'exec sleep "$(($(cat "$2" 2>/dev/null || echo "$1") - $(date +%s)))"'


class Options(TypedDict):
    """Keyword arguments of `containers.create`; an option that is not named here is never given."""

    image: str
    name: str
    entrypoint: list[str]
    command: list[str]
    user: str
    working_dir: str
    hostname: str
    extra_hosts: dict[str, str]
    init: bool
    healthcheck: dict[str, list[str]]
    labels: Mapping[str, str]
    mounts: list[Mount]
    network: str
    cap_drop: list[str]
    cap_add: list[str]
    security_opt: list[str]
    ipc_mode: str
    pids_limit: int
    mem_limit: int
    memswap_limit: int
    shm_size: int
    log_config: LogConfig
    device_requests: list[DeviceRequest]
    storage_opt: dict[str, str] | None
    use_config_proxy: bool


def container_options(spec: SandboxSpec, trace: Trace, *, image: str) -> Options:
    """Return all options of the container of a sandbox.

    There is no environment, because each command gets its own, and no tmpfs, because a restart
    would empty it. Process 1 runs as root, so that the agent cannot end it, and without any
    capability unless the agent itself is root.
    """
    return Options(
        image=image,
        name=container_name(spec.session),
        entrypoint=["/bin/sh", "-c", _KEEPER, "sh"],
        command=[str(trace.expires), f"{SandboxLayout().tools}/{LEASE}"],
        user="0:0",
        working_dir="/",
        hostname=HOSTNAME,
        # Without a network the engine writes no line for the host's own name.
        extra_hosts={HOSTNAME: "127.0.0.1"},
        init=True,
        healthcheck={"test": ["NONE"]},
        labels=format_labels(trace),
        mounts=_mounts(spec),
        network=NETWORK if spec.network is Network.OPEN else "none",
        cap_drop=["ALL"],
        cap_add=_ROOT_CAPABILITIES if spec.root else [],
        security_opt=["no-new-privileges"],
        ipc_mode="private",
        pids_limit=spec.limits.processes,
        mem_limit=spec.limits.memory_mib * _MIB,
        memswap_limit=spec.limits.memory_mib * _MIB,
        shm_size=spec.limits.shm_mib * _MIB,
        log_config=LogConfig(type=LogConfig.types.NONE),
        device_requests=_devices(spec),
        storage_opt=_quota(spec),
        use_config_proxy=False,
    )


def container_name(session: str) -> str:
    """Return the name that makes a second container of one session impossible."""
    return f"reb-{session}"


def _mounts(spec: SandboxSpec) -> list[Mount]:
    layout = SandboxLayout()
    places = (
        (layout.tools, spec.mount),
        (layout.cli, spec.agent_mount),
        (layout.gateway, spec.gateway_mount),
    )
    return [
        # A socket in a mount that is read-only can still be connected to.
        Mount(target, source, type="bind", read_only=True)
        for target, source in places
        if source is not None
    ]


def _quota(spec: SandboxSpec) -> dict[str, str] | None:
    limit = spec.limits.disk_mib
    return None if limit is None else {"size": f"{limit}M"}


def _devices(spec: SandboxSpec) -> list[DeviceRequest]:
    if spec.gpus == 0:
        return []
    capabilities = [["gpu", "compute", "utility"]]
    if spec.gpu_ids:
        return [DeviceRequest(device_ids=[*spec.gpu_ids], capabilities=capabilities)]
    return [DeviceRequest(count=spec.gpus, capabilities=capabilities)]
