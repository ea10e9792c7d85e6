"""Processor time of `reb --help`: what every step of the action pays before it does anything.

python -m tests.bench.startup
"""

import os
import statistics
import subprocess
import sys


def cpu_seconds(*argv):
    """Return the user and system seconds of one command."""
    before = os.times()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, timeout=60)
    after = os.times()
    return (
        after.children_user - before.children_user + after.children_system - before.children_system
    )


def main():
    """Print the medians of nine runs, and their ratio to a bare interpreter."""
    bare = statistics.median(cpu_seconds(sys.executable, "-c", "") for _ in range(9))
    shown = statistics.median(
        cpu_seconds(sys.executable, "-m", "reb_action.cli.main", "--help") for _ in range(9)
    )
    print(f"python -c ''  {bare:.3f} s of CPU")
    print(f"reb --help    {shown:.3f} s of CPU, {shown / bare:.1f} times")


if __name__ == "__main__":
    main()
