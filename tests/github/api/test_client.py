"""All that one publication asks of GitHub, through the client alone."""

import io
from dataclasses import replace

from reb_action.model.github import CheckRun, Comment, Conclusion, RunOrder, Server
from tests.support.github_api.fixtures import client_of

SHA, ENTRIES = "a" * 40, 256
ORDER = RunOrder(run_id=7, attempt=1)


def publish(client):
    """Read a run and its artifacts; write six check runs and a comment."""
    run = client.workflow_run(7)
    (pull,) = client.pull_requests(run)
    for artifact in client.artifacts(run.id):
        client.download(artifact, io.BytesIO(), limit_bytes=1000)
    for level in range(6):
        client.check_run(
            CheckRun(
                name=f"researchenvbench / C{level}",
                head_sha=run.head_sha,
                external_id=f"reb:7:1:C{level}",
                conclusion=Conclusion.NEUTRAL,
                title="t",
                summary="s",
            )
        )
    client.comment(Comment(number=pull.number, key="bench", order=ORDER, body="text"))


def matrix(api, entries=ENTRIES):
    api.world.add_run(7, sha=SHA)
    api.world.add_pull(5, sha=SHA)
    for number in range(entries):
        api.world.add_artifact(f"reb-{number}")


def test_a_matrix_of_256_takes_seven_writes(api):
    """And fewer than a third of the requests that a job's token has in an hour."""
    matrix(api)
    publish(client_of(api, between_writes=0.8))
    # Run, pull request, 3 pages of artifacts, each artifact; 6 checks; login, 2 lookups; comment.
    assert len(api.seen) == 2 + 3 + ENTRIES + 6 + 3 + 7
    assert len(api.writes()) == 7
    assert sum(api.clock.slept) <= 6 * 0.8 + 1e-6


def test_the_same_run_again_writes_nothing(api):
    matrix(api, entries=3)
    publish(client_of(api))
    before = api.writes()
    publish(client_of(api))
    assert api.writes() == before


def test_it_works_on_an_enterprise_server(enterprise_api):
    matrix(enterprise_api, entries=3)
    publish(client_of(enterprise_api))
    assert len(enterprise_api.writes()) == 6 + 1
    (comment,) = enterprise_api.world.comments.values()
    assert (comment["number"], len(enterprise_api.world.checks)) == (5, 6)


def test_a_server_keeps_its_token_to_itself():
    server = Server(token="secret", repository="octo/bench")
    assert "secret" not in repr(replace(server, repository="octo/other"))
