"""What somebody sees who pastes the example; and the action on its own demonstration."""

MISSING = (
    'there is no file "researchenvbench.yaml"; in a workflow, check out your repository'
    " with actions/checkout first"
)


def test_what_is_missing_is_said_in_one_line(newcomer):
    run = newcomer.of("empty")
    assert run.step("trial", "start") == "failure"
    assert run.errors == [MISSING]


def test_engine_that_is_not_there_is_said_in_one_line(newcomer):
    run = newcomer.of("docker")
    assert run.step("trial", "start") == "failure"
    assert len(run.errors) == 1, run.log
    assert "docker" in run.errors[0].lower()


def test_nothing_is_uploaded_where_nothing_came_out(newcomer):
    assert newcomer.of("empty").outputs("trial")["folder"] == ""


def test_action_works_from_its_own_checkout(itself):
    told = itself.of("itself").outputs("reb")
    assert (told["outcome"], told["trial"]) == ("failed", "researchenvbench__spirals.nop.1")
    assert itself.code == 0
