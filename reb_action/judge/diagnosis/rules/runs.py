"""Rules for runs: ranks that cannot talk, networks that are not there, time that is up."""

from reb_action.judge.diagnosis.rules.rule import Rule, rule
from reb_action.model.diagnosis import Cause

RUNS: tuple[Rule, ...] = (
    rule(
        Cause.NCCL,
        "NCCL, Gloo, torch.distributed",
        r"NCCL [Ee]rror",
        r"nccl(?:System|Internal|InvalidUsage|InvalidArgument|Remote|UnhandledCuda)\w{0,10}:",
        r"Watchdog caught collective operation timeout",
        r"Duplicate GPU detected",
        r"server socket has failed to (?:listen|bind)",
        r"client socket has (?:failed|timed out)",
        r"RuntimeError: Address already in use",
        r"Timed out initializing process group",
        r"(?:DistStore|DistNetwork|RendezvousConnection)Error: ",
        r"gloo/transport/tcp",
    ),
    rule(
        Cause.NETWORK_NEEDED,
        "Hugging Face Hub, Weights & Biases, Google Drive, NLTK",
        r"couldn't connect to 'https?://",
        r"(?:LocalEntryNotFound|OfflineModeIsEnabled|GatedRepo|RepositoryNotFound)(?:Error)?: ",
        r"Cannot access gated repo|access a gated repo",
        r"is not a local folder and is not a valid model identifier",
        r"outgoing traffic has been disabled",
        r"api_key not configured",
        r"doesn't exist on the Hugging Face Hub",
        r"Cannot retrieve the public link of the file",
        r"Resource .{0,60} not found\.$",
    ),
    rule(
        Cause.NETWORK_NEEDED,
        "requests, urllib, sockets, curl, git",
        r"Max retries exceeded with url",
        r"Failed to establish a new connection",
        r"Temporary failure in name resolution|Name or service not known|nodename nor servname",
        r"[Cc]ould not resolve host",
        r"urlopen error",
        r"Network is unreachable",
        r"fatal: unable to access '|git protocol on port 9418 is no longer supported",
        r"ConnectionError: |Connect(?:ion)?Timeout\b|ProxyError\b|curl: \(\d{1,2}\) ",
        r"TimeoutError: \[Errno 110\]",
        r"HTTPError: (?:HTTP Error )?[45]\d\d\b",
    ),
    rule(
        Cause.TIMED_OUT,
        "Python's subprocess, Slurm",
        r"TimeoutExpired: .{0,300}timed out after",
        r"DUE TO TIME LIMIT",
    ),
)
