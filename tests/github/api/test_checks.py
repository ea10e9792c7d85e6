"""Check runs: written once, taken up where they stopped, with any number of annotations."""

from dataclasses import replace

import pytest

from reb_action.github.api.faults import RefusedError
from reb_action.model.github import Annotation, AnnotationLevel, CheckRun, Conclusion, Written
from tests.support.github_api.fixtures import client_of
from tests.support.github_api.server import Trouble

CHECK = CheckRun(
    name="researchenvbench / C0",
    head_sha="a" * 40,
    external_id="reb:7:1:C0",
    conclusion=Conclusion.FAILURE,
    title="3 of 4 passed",
    summary="| a | b |",
    text="more",
    details_url="https://github.sample/octo/bench/actions/runs/7",
)


def notes(count):
    return tuple(
        Annotation(
            path="a.py",
            start_line=number + 1,
            end_line=number + 2,
            level=AnnotationLevel.WARNING,
            message=f"message {number}",
            title="title",
        )
        for number in range(count)
    )


def lines(api):
    (check,) = api.world.checks.values()
    return [one["start_line"] for one in check["annotations"]]


def test_all_of_it_arrives(api):
    written = client_of(api).check_run(replace(CHECK, annotations=notes(1)))
    url = "https://github.sample/octo/bench/runs/101"
    assert written == Written(effect="created", url=url)
    assert api.world.checks[101] == {
        "id": 101,
        "app": "github-actions",
        "name": "researchenvbench / C0",
        "head_sha": "a" * 40,
        "external_id": "reb:7:1:C0",
        "status": "completed",
        "conclusion": "failure",
        "details_url": "https://github.sample/octo/bench/actions/runs/7",
        "output": {"title": "3 of 4 passed", "summary": "| a | b |", "text": "more"},
        "annotations": [
            {
                "path": "a.py",
                "start_line": 1,
                "end_line": 2,
                "start_column": None,
                "end_column": None,
                "annotation_level": "warning",
                "message": "message 0",
                "title": "title",
                "raw_details": None,
            }
        ],
    }


@pytest.mark.parametrize("conclusion", Conclusion)
def test_every_conclusion_is_one_of_githubs(api, conclusion):
    client_of(api).check_run(replace(CHECK, conclusion=conclusion))
    assert api.world.checks[101]["conclusion"] == conclusion


@pytest.mark.parametrize("level", AnnotationLevel)
def test_every_level_is_one_of_githubs(api, level):
    client_of(api).check_run(replace(CHECK, annotations=(replace(notes(1)[0], level=level),)))
    assert api.world.checks[101]["annotations"][0]["annotation_level"] == level


@pytest.mark.parametrize(
    ("count", "writes"),
    [
        (0, ["POST"]),
        (1, ["POST"]),
        (50, ["POST"]),
        (51, ["POST", "PATCH"]),
        (120, ["POST", "PATCH", "PATCH"]),
    ],
)
def test_annotations_go_by_fifties(api, count, writes):
    """dorny/test-reporter#231."""
    client_of(api).check_run(replace(CHECK, annotations=notes(count)))
    assert [verb for verb, _ in api.writes()] == writes
    assert lines(api) == list(range(1, count + 1))


@pytest.mark.parametrize("how", ["lost", "reset"])
@pytest.mark.parametrize("skip", [0, 1])
def test_annotations_are_neither_lost_nor_doubled(api, how, skip):
    api.troubles.append(Trouble(verb="PATCH", path="/check-runs", how=how, skip=skip))
    client_of(api).check_run(replace(CHECK, annotations=notes(120)))
    assert lines(api) == list(range(1, 121))


def test_the_same_again_writes_nothing(api):
    check = replace(CHECK, annotations=notes(60))
    effects = [client_of(api).check_run(check).effect for _ in range(2)]
    assert (effects, len(api.writes())) == (["created", "unchanged"], 2)


@pytest.mark.parametrize(
    "change",
    [
        {"conclusion": Conclusion.SUCCESS},
        {"title": "other"},
        {"summary": "other"},
        {"text": "other"},
        {"annotations": notes(2)},
    ],
    ids=str,
)
def test_what_differs_is_brought_up_to_date(api, change):
    client_of(api).check_run(replace(CHECK, annotations=notes(1)))
    wanted = replace(CHECK, **{"annotations": notes(1), **change})
    assert client_of(api).check_run(wanted).effect == "updated"
    # Annotations cannot be removed: other results are a new check run, which GitHub shows instead.
    assert len(api.world.checks) == (1 if "annotations" in change else 2)
    check = api.world.checks[max(api.world.checks)]
    seen = (check["conclusion"], *check["output"].values(), len(check["annotations"]))
    assert seen == (
        wanted.conclusion,
        wanted.title,
        wanted.summary,
        wanted.text,
        len(wanted.annotations),
    )


def test_another_attempt_has_a_check_run_of_its_own(api):
    client_of(api).check_run(CHECK)
    assert client_of(api).check_run(replace(CHECK, external_id="reb:7:2:C0")).effect == "created"
    assert len(api.world.checks) == 2


@pytest.mark.parametrize(
    ("there", "effect", "number"),
    [
        ("reb:9:C0", "outdated", 1),
        ("reb:10:C0", "outdated", 1),
        ("reb:7:C0", "created", 2),
        ("reb:9:C1", "created", 2),
        ("9", "created", 2),
        (None, "created", 2),
    ],
)
def test_older_run_leaves_a_newer_ones_alone(api, there, effect, number):
    """GitHub shows the check run that was made last."""
    client_of(api).check_run(CHECK)
    api.world.checks[101]["external_id"] = there
    before = dict(api.world.checks[101])
    mine = replace(CHECK, external_id="reb:8:C0", title="mine")
    assert client_of(api).check_run(mine).effect == effect
    assert (len(api.world.checks), api.world.checks[101]) == (number, before)


def test_another_name_or_commit_is_another_check_run(api):
    client_of(api).check_run(CHECK)
    client_of(api).check_run(replace(CHECK, name="researchenvbench / C1"))
    client_of(api).check_run(replace(CHECK, head_sha="b" * 40))
    assert len(api.world.checks) == 3


def test_of_two_that_a_race_made_the_newest_which_github_shows_is_kept(api):
    client_of(api).check_run(CHECK)
    api.world.checks[102] = {**api.world.checks[101], "id": 102, "output": {}}
    assert client_of(api).check_run(CHECK).effect == "updated"
    assert api.world.checks[102]["output"]["title"] == CHECK.title


def test_one_is_found_among_300_of_its_name(api):
    """Everybody's attempts stand in one list; a re-run looks through all pages."""
    client_of(api).check_run(CHECK)
    for number in range(300):
        made = {**api.world.checks[101], "id": 1000 + number, "external_id": f"reb:{number}"}
        api.world.checks[1000 + number] = made
    assert client_of(api).check_run(replace(CHECK, title="new")).effect == "updated"
    assert api.world.checks[101]["output"]["title"] == "new"
    asked = [one.query for one in api.seen if one.verb == "GET"][-4:]
    assert [one.get("page", "1") for one in asked] == ["1", "2", "3", "4"]
    assert {(one["check_name"], one["filter"]) for one in asked} == {(CHECK.name, "all")}


@pytest.mark.parametrize("field", ["summary", "text"])
@pytest.mark.parametrize(
    ("letter", "most"), [("x", 65_535), ("é", 32_767), ("\N{GRINNING FACE}", 16_383)]
)
def test_the_limit_is_in_bytes(api, field, letter, most):
    """EnricoMi/publish-unit-test-result-action#12, github/docs#35252."""
    client_of(api).check_run(replace(CHECK, **{field: letter * most}))
    assert api.world.checks[101]["output"][field] == letter * most
    with pytest.raises(RefusedError, match=r"GitHub answered 422"):
        client_of(api).check_run(replace(CHECK, external_id="2", **{field: letter * (most + 1)}))
    api.refused.clear()


def test_without_text_or_details_none_are_sent(api):
    client_of(api).check_run(replace(CHECK, text=None, details_url=None))
    (posted,) = (one.body for one in api.seen if one.verb == "POST")
    assert (posted["output"].keys(), "details_url" in posted) == ({"title", "summary"}, False)
    assert client_of(api).check_run(replace(CHECK, text=None)).effect == "unchanged"


def test_it_works_on_an_enterprise_server(enterprise_api):
    check = replace(CHECK, annotations=notes(51))
    effects = [client_of(enterprise_api).check_run(check).effect for _ in range(2)]
    assert (effects, len(lines(enterprise_api))) == (["created", "unchanged"], 51)


def test_a_second_attempt_shows_none_of_the_first_ones_annotations(api):
    client = client_of(api)
    client.check_run(replace(CHECK, external_id="reb:7.1:C0", annotations=notes(2)))
    passed = replace(CHECK, external_id="reb:7.2:C0", conclusion=Conclusion.SUCCESS)
    assert client.check_run(passed).effect == "created"
    newest = api.world.checks[max(api.world.checks)]
    assert (newest["conclusion"], newest["annotations"]) == ("success", [])
    first = replace(CHECK, external_id="reb:7.1:C0", annotations=notes(2))
    assert client.check_run(first).effect == "outdated"


def test_other_results_of_one_attempt_show_no_old_annotation(api):
    client = client_of(api)
    client.check_run(replace(CHECK, annotations=notes(2)))
    client.check_run(replace(CHECK, conclusion=Conclusion.SUCCESS, title="4 of 4 passed"))
    newest = api.world.checks[max(api.world.checks)]
    assert (newest["conclusion"], newest["annotations"]) == ("success", [])


@pytest.mark.parametrize("bad", [0, 49, 50, 77, 119])
def test_a_refused_annotation_costs_neither_the_check_run_nor_the_others(api, bad):
    every = list(notes(120))
    every[bad] = replace(every[bad], title="x" * 256)
    assert client_of(api).check_run(replace(CHECK, annotations=tuple(every))).effect == "created"
    assert lines(api) == [number + 1 for number in range(120) if number != bad]
