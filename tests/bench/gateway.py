"""What the model gateway costs, as a ratio to asking the scripted model directly.

    python -m tests.bench.gateway [PAIRS]

The model is a process of its own and answers at once, so that all that is left is overhead; real
models take seconds. Each call is made in turn directly and through the gateway, over a new
connection, so that a busy machine slows both.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from reb_action.gateway.gateway import Gateway
from reb_action.gateway.prices import Prices
from reb_action.gateway.settings import Budget, Upstream
from reb_action.model.agent import Dialect
from tests.support.model_server import KEY
from tests.support.model_server.client import ask

PROMPT = "word " * 10_000
CASES = {
    "50 kB in, short stream": {"scenario": "text", "stream": True},
    "50 kB in, 4 MB stream": {"scenario": "huge", "stream": True, "results": 1},
}


def milliseconds(address, prefix, key, dialect, **wanted):
    """Make one call and return how long it took."""
    began = time.perf_counter()
    reply = ask(address, dialect, prefix=prefix, key=key, says=PROMPT, **wanted)
    took = 1000 * (time.perf_counter() - began)
    if reply.status != 200 or reply.cut:
        raise SystemExit(f"a call failed: {reply.status} {reply.body[:200]!r}")
    return took


def measured(root, dialect, pairs, place, scenario, **wanted):
    """Return the medians of direct calls and of those through the gateway."""
    return tuple(
        map(statistics.median, paired(root, dialect, pairs, place, scenario=scenario, **wanted))
    )


def paired(root, dialect, pairs, place, *, scenario, **wanted):
    """Return the milliseconds of direct calls and of those through the gateway."""
    prefix = f"/{scenario}/bench"
    url = f"{root}{prefix}" + ("/v1" if dialect in (Dialect.CHAT, Dialect.RESPONSES) else "")
    upstream = Upstream(dialect=dialect, base_url=url, key=KEY)
    record, listen = Path(place) / "record", Path(place) / "sock"
    with Gateway(
        upstream, Budget(), prices=Prices(), record=record, listen=listen
    ) as gateway:  # fmt: skip
        direct, through = [], []
        for _ in range(pairs):
            direct.append(milliseconds(root, prefix, KEY, dialect, **wanted))
            key = gateway.placeholder
            through.append(milliseconds(gateway.address, "", key, dialect, **wanted))
    return direct, through


@contextmanager
def running_model():
    """Run the scripted model as a process of its own; give its address."""
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.support.model_server"], stdout=subprocess.PIPE, text=True
    )
    try:
        yield server.stdout.readline().strip()
    finally:
        server.kill()
        server.communicate()


def main():
    """Print medians and ratios for each dialect."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    with running_model() as root, tempfile.TemporaryDirectory() as place:
        for name, case in CASES.items():
            for dialect in Dialect:
                direct, through = measured(root, dialect, pairs, place, **case)
                print(
                    f"{name:24} {dialect:20} direct {direct:7.2f} ms  gateway"
                    f" {through:7.2f} ms  {through / direct:5.2f} times"
                )


if __name__ == "__main__":
    main()
