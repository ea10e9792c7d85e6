"""`python -m tests.support.model_server`: prints its base URL and serves until it is ended."""

import argparse
import sys

from tests.support.model_server import COMMANDS, KEY, SCENARIOS, ModelServer


def main():
    parser = argparse.ArgumentParser(
        prog="python -m tests.support.model_server",
        description="A scripted model. Its URLs are BASE/SCENARIO/RUN, for OpenAI's dialects"
        " BASE/SCENARIO/RUN/v1; BASE/truth/RUN says what a run was asked and told."
        f" Scenarios: {', '.join(SCENARIOS)}.",
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--key", default=KEY, help="the only key that it takes (%(default)s)")
    parser.add_argument(
        "--command",
        action="append",
        help="a plain command line of a good agent, once or more (default: a venv, a report)",
    )
    given = parser.parse_args()
    commands = tuple(given.command or COMMANDS)
    with ModelServer(commands=commands, key=given.key, host=given.host, port=given.port) as server:
        sys.stdout.write(f"{server.root}\n")
        sys.stdout.flush()
        server.stopped.wait()


if __name__ == "__main__":
    main()
