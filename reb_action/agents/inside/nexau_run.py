"""Runs NexAU with a configuration and a prompt: `nexau_run.py AGENT.yaml PROMPT.md`.

Writes its events to standard output, one JSON object a line, and ends the process itself: with
some versions of its database driver NexAU's own command line never does. It runs in NexAU's Python,
which has no other module of this package.
"""

import importlib
import os
import sys
from pathlib import Path
from types import ModuleType

MIDDLEWARE = "nexau.archs.main_sub.execution.middleware.agent_events_middleware"


def main() -> int:
    """Run the agent to its end; 1 if it could not."""
    config_file, prompt_file = map(Path, sys.argv[1:3])
    nexau: ModuleType = importlib.import_module("nexau")
    events: ModuleType = importlib.import_module(MIDDLEWARE)
    config = nexau.AgentConfig.from_yaml(config_file)
    told = events.AgentEventsMiddleware(session_id="reb", on_event=tell)
    config.middlewares = [*(config.middlewares or ()), told]
    agent = nexau.Agent(config=config)
    agent.run(
        message=prompt_file.read_text(encoding="utf-8"),
        context={"working_directory": os.environ["REB_REPOSITORY"]},
    )
    return 0


def tell(event: object) -> None:
    """Write one event."""
    dump = getattr(event, "model_dump_json", None)
    if callable(dump):
        sys.stdout.write(f"{dump()}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    # Threads and event loops of the framework would keep the process alive.
    code = 1
    try:
        code = main()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
