"""Fixtures for all tests, what they are independent of, and what is said of those left out."""

import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.gateway_fixtures import model_server, opened
from tests.support.github_api.fixtures import api, enterprise_api
from tests.support.sandbox_fixtures import container, docker_image, sandbox, scratch, start

__all__ = [
    "api",
    "container",
    "enterprise_api",
    "model_server",
    "opened",
    "sandbox",
    "scratch",
    "start",
]

# With PYTHONUNBUFFERED or PYTHONDONTWRITEBYTECODE set, what a user's Python does goes unseen.
for _name in [name for name in os.environ if name.startswith("PYTHON")]:
    del os.environ[_name]

# A machine that is busy with other work is slow; the code under test is not to blame.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

TESTS = Path(__file__).parent
SUITES = {"act": "act", "real_agents": "agents"}
"""The suites that live in folders of their own, by the folder, and their markers."""

MARKERS = ("act", "agents", "browser", "docker", "slow")
DESELECTED = Counter()
"""How many tests `-m` left out, by the first of these markers that they have."""


def pytest_collection_modifyitems(items):
    """Mark each test of a suite that needs more than Python, git and a C library."""
    for item in items:
        folder = item.path.relative_to(TESTS).parts[0]
        if folder in SUITES:
            item.add_marker(SUITES[folder])


def pytest_deselected(items):
    """Count what is left out; with xdist each worker does, and all count the same."""
    for item in items:
        own = {mark.name for mark in item.iter_markers()}
        DESELECTED[next((name for name in MARKERS if name in own), "other")] += 1


def pytest_sessionfinish(session):
    """Give the counts of a worker to the process that prints."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["deselected"] = dict(DESELECTED)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Take the counts of a worker; one that was killed has none."""
    DESELECTED.update(Counter(getattr(node, "workeroutput", {}).get("deselected")) - DESELECTED)


@pytest.fixture(autouse=True)
def _docker(request):
    """Skip a test of Docker where there is none, or fail it where Docker is required."""
    if request.node.get_closest_marker("docker"):
        docker_image()


def pytest_terminal_summary(terminalreporter):
    """Say what was left out and why, in one line for each reason."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    if reasons or DESELECTED:
        terminalreporter.section("left out, and why", sep="-")
    for name, count in DESELECTED.most_common():
        terminalreporter.write_line(f"{count} not selected: {name}")
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count} skipped: {reason}")
