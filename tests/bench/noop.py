"""Overhead of a trial with the `nop` agent over the floor: the same Docker operations, bare.

    python -m tests.bench.noop [PAIRS]

Needs a Docker engine and the test image. The floor asks the engine for just what such a trial asks
it: create, start, put the checkout and the agent, prepare, run the agent, kill, read the report,
start again without network, survey, remove. Both are timed in turn, so that a busy machine slows
both.
"""

import io
import os
import shutil
import statistics
import sys
import tarfile
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import docker

from reb_action.corpus import manifests
from reb_action.demo import commit_repository
from reb_action.sandbox.docker.options import container_options
from reb_action.sandbox.owner import make_trace
from reb_action.sandbox.protocol import Kind, Network, SandboxSpec
from reb_action.session.state import AgentChoice
from reb_action.source import checkout as source_checkout
from reb_action.trial import options as trial_options
from reb_action.trial import run

EMPTY = bytes(10240)
DEMO = Path(__file__).parent.parent / "demo"


def floor(client, image, mount, checkout):
    """Do with the bare SDK what a trial needs of Docker, and return the seconds."""
    began = time.monotonic()
    spec = SandboxSpec(
        kind=Kind.DOCKER, session=os.urandom(8).hex(), trial="floor", image=image,
        mount=str(mount), scratch="", network=Network.OPEN,
    )  # fmt: skip
    container = client.containers.create(**container_options(spec, make_trace(spec), image=image))
    container.start()
    container.put_archive("/workspace", checkout)
    container.put_archive("/opt/agent", EMPTY)
    container.exec_run(["/usr/bin/python3", "-I", "-c", ""], user="1000:1000")
    container.exec_run(["true"], user="1000:1000")
    container.top()
    container.kill()
    with suppress(docker.errors.NotFound):
        container.get_archive("/workspace/report.json")
    client.networks.get("reb").disconnect(container)
    container.start()
    container.exec_run(["/usr/bin/python3", "-I", "-S", "-c", ""], user="1000:1000")
    container.remove(force=True, v=True)
    return time.monotonic() - began


def noop(wanted, image, mirror, folder):
    """Run a whole trial with the nop agent, and return the seconds."""
    choice = AgentChoice(name="nop", argument=None, total_seconds=60, setup_seconds=60)
    options = trial_options.Options(
        manifest=wanted, agent=choice, folder=folder, image=image, mirror=mirror
    )
    began = time.monotonic()
    run.run(options, environ={}, tell=lambda _: None)
    return time.monotonic() - began


def packed(folder):
    """Return the checkout as the floor puts it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.add(folder, "repo")
    return buffer.getvalue()


def main():
    """Print both medians, and the median ratio of the pairs."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    client = docker.from_env()
    image = next(tag for one in client.images.list("reb-test-base") for tag in one.tags)
    place = Path(tempfile.mkdtemp())
    commit_repository(DEMO, place / "mirror")
    wanted = manifests.load(DEMO / "manifest.yaml")
    checkout = source_checkout.checkout(
        wanted, folder=place / "checkout", mirror=place / "mirror", tell=lambda _: None
    )
    data = packed(checkout.folder)
    (place / "mount").mkdir()
    noop(wanted, image, place / "mirror", place / "warm")
    bare, whole = [], []
    for number in range(pairs):
        bare.append(floor(client, image, place / "mount", data))
        whole.append(noop(wanted, image, place / "mirror", place / f"trial-{number}"))
    shutil.rmtree(place)
    ratios = [b / a for a, b in zip(bare, whole, strict=True)]
    print(f"floor  {statistics.median(bare):.2f} s")
    print(f"trial  {statistics.median(whole):.2f} s")
    print(f"ratio  {statistics.median(ratios):.2f}  (min {min(ratios):.2f}, max {max(ratios):.2f})")


if __name__ == "__main__":
    main()
