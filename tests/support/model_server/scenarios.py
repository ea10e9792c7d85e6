"""What the model does, by the name in its URL: each step of a conversation, or a fault."""

from dataclasses import dataclass
from enum import StrEnum

VENV = "python3 -m venv --without-pip ../venv"
WRITE_REPORT = (
    "import json, os, platform; json.dump(dict("
    "python_path=os.path.abspath('../venv/bin/python'), python_version=platform.python_version(),"
    " torch_version=None, cuda_available=None, gpu_count=None, ddp_expected_ok=None,"
    " env_tool='venv', env_name=None, notes=None), open('../report.json', 'w'))"
)
REPORT = f'python3 -c "{WRITE_REPORT}"'
WAIT_ONCE = "test -e ../waited || (touch ../waited && sleep 600)"
COMMANDS = (VENV, REPORT)
"""What a good agent does, from the checkout; plain, since some agents refuse `$(...)`."""

TEXT = "# Done\n\nThe environment is ready and the report is written."
HUGE = 4 * 1024 * 1024


class Fault(StrEnum):
    """How an answer goes wrong on its way."""

    NONE = "none"
    SILENCE = "silence"
    STALL = "stall"
    SLOW_HEADERS = "slow-headers"
    CUT = "cut"
    BAD_BYTES = "bad-bytes"
    NO_USAGE = "no-usage"
    HANGS_UP = "hangs-up"
    FAILS = "fails"
    DROPS = "drops"
    ECHOES_KEY = "echoes-key"


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """`steps` are command lines, one per call of the shell; then comes `text`.

    With `endless`, the last step comes for ever. `flaky` is how many requests get `status` first.
    `fault_at` is the only request of a run that has the fault. `coding` compresses the answer.
    `keeps_alive` sends comments between events, or empty lines before a document; `drip` sends so
    many bytes at a time. `answers_as` is the model that the answer names, `retry_after` a header of
    errors.
    """

    steps: tuple = ()
    text: str = TEXT
    endless: bool = False
    status: int = 200
    error: str | None = None
    flaky: int | None = None
    fault: Fault = Fault.NONE
    fault_at: int | None = None
    coding: str | None = None
    keeps_alive: bool = False
    drip: int | None = None
    answers_as: str | None = None
    retry_after: str | None = "0"
    seconds: float = 0.0


def scenarios(commands=COMMANDS):
    """Return all scenarios, with what a good agent does."""
    joined = " && ".join(commands)
    errors = {
        f"e{status}": Scenario(status=status)
        for status in (400, 401, 403, 404, 413, 429, 500, 503, 529)
    }
    return {
        **errors,
        "no-model": Scenario(status=404, error="model: scripted-1"),
        "ok": Scenario(steps=(joined,)),
        "multi": Scenario(steps=(*commands, "ls ..")),
        "waits-once": Scenario(steps=(commands[0], WAIT_ONCE, *commands[1:], "ls ..")),
        "loop": Scenario(steps=("true",), endless=True),
        "text": Scenario(),
        "no-usage": Scenario(fault=Fault.NO_USAGE),
        "drops": Scenario(fault=Fault.DROPS),
        "failed": Scenario(fault=Fault.FAILS),
        "echo-key": Scenario(fault=Fault.ECHOES_KEY),
        "cut-second": Scenario(fault=Fault.CUT, fault_at=1),
        "cut-once": Scenario(steps=commands, fault=Fault.CUT, fault_at=1),
        "failed-once": Scenario(steps=commands, fault=Fault.FAILS, fault_at=1),
        "gzip": Scenario(coding="gzip"),
        "keep-alive": Scenario(steps=(joined,), keeps_alive=True),
        "drip": Scenario(steps=(joined,), drip=5),
        "deflate": Scenario(coding="deflate"),
        "brotli": Scenario(coding="br"),
        "gzip-cut": Scenario(coding="gzip", fault=Fault.CUT),
        "other-model": Scenario(answers_as="cheap-model-9"),
        "dated-model": Scenario(answers_as="scripted-1-20260101"),
        # Work that the agent waits for, with the same result each time.
        "poll": Scenario(steps=(*("sleep 0.1; ls ../.." for _ in range(12)), joined)),
        **{
            f"{status}-{name}": Scenario(
                steps=(joined,), status=status, flaky=1, retry_after=retry_after
            )
            for status in (429, 529)
            for name, retry_after in (("retry-after", "1"), ("bare", None))
        },
        "overloaded-once": Scenario(status=529, flaky=1, retry_after=None),
        "wait-long": Scenario(status=429, flaky=1, retry_after="100"),
        "hangs-up": Scenario(fault=Fault.HANGS_UP),
        "redirect": Scenario(status=302),
        "empty": Scenario(text=""),
        "no-report": Scenario(steps=("ls",), text="I could not do it and leave no report."),
        "flaky": Scenario(steps=(joined,), status=429, flaky=1),
        "slow": Scenario(steps=(joined,), seconds=0.1),
        "silence": Scenario(fault=Fault.SILENCE),
        "stall": Scenario(fault=Fault.STALL),
        "slow-headers": Scenario(fault=Fault.SLOW_HEADERS),
        "cut": Scenario(fault=Fault.CUT),
        "huge": Scenario(steps=(joined,), text="x" * HUGE),
        "huge-output": Scenario(steps=("yes overflow | head -c 20000000", joined)),
        "invalid-utf8": Scenario(steps=(joined,), fault=Fault.BAD_BYTES),
        "invalid-output": Scenario(steps=("printf 'a\\377\\376b'", joined)),
        "sleep": Scenario(steps=('python3 -c "import time; time.sleep(3600)"',)),
        "crash": Scenario(steps=("kill -KILL $PPID",)),
    }


SCENARIOS = tuple(scenarios())
