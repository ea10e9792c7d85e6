"""Fixtures for all tests, a neutral environment, and a summary of the tests left out."""

import os
import shutil
import signal
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.gateway import model_server, open_gateway
from tests.support.github_api.fixtures import api, enterprise_api
from tests.support.sandbox_fixtures import container, docker_image, sandbox, scratch, start

__all__ = [
    "api",
    "container",
    "enterprise_api",
    "model_server",
    "open_gateway",
    "sandbox",
    "scratch",
    "start",
]

# PYTHONUNBUFFERED or PYTHONDONTWRITEBYTECODE would hide what happens on a user's machine.
for _name in [name for name in os.environ if name.startswith("PYTHON")]:
    del os.environ[_name]

# A shell ignores SIGINT in what it starts in the background, and children inherit that. Tests that
# interrupt a command would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Hypothesis must not fail tests because the machine is busy.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

TESTS = Path(__file__).parent
SUITES = {"act": "act", "real_agents": "agents"}
"""Folders of whole suites, and their markers."""

MARKERS = ("act", "agents", "browser", "docker", "slow")
DESELECTED = Counter()
"""Number of tests that `-m` left out, by the first of these markers that a test has."""


def pytest_configure(config):
    """Give each xdist worker a folder of its own for temporary files.

    `reb` lists local sandboxes there. Where the machine has no PID namespaces, as in most
    containers, it refuses a second one.
    """
    if hasattr(config, "workerinput"):
        folder = Path(tempfile.mkdtemp(prefix="reb-"))
        folder.chmod(0o1777)
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        os.environ["TMPDIR"] = tempfile.tempdir = str(folder)


def pytest_collection_modifyitems(items):
    """Mark each test of a suite that needs more than Python, git and a C library."""
    for item in items:
        folder = item.path.relative_to(TESTS).parts[0]
        if folder in SUITES:
            item.add_marker(SUITES[folder])


def pytest_deselected(items):
    """Count the tests left out. With xdist each worker counts all of them."""
    for item in items:
        own = {mark.name for mark in item.iter_markers()}
        DESELECTED[next((name for name in MARKERS if name in own), "other")] += 1


def pytest_sessionfinish(session):
    """Send the counts of a worker to the process that prints."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["deselected"] = dict(DESELECTED)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Merge the counts of a worker. A killed worker has none."""
    DESELECTED.update(Counter(getattr(node, "workeroutput", {}).get("deselected")) - DESELECTED)


@pytest.fixture(autouse=True)
def _docker(request):
    """Skip a Docker test without Docker, or fail it if Docker is required."""
    if request.node.get_closest_marker("docker"):
        docker_image()


def pytest_terminal_summary(terminalreporter):
    """Print how many tests were left out, one line for each reason."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    if reasons or DESELECTED:
        terminalreporter.section("left out, and why", sep="-")
    for name, count in DESELECTED.most_common():
        terminalreporter.write_line(f"{count} not selected: {name}")
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count} skipped: {reason}")
