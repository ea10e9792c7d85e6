"""The templates: every position escapes, whatever value comes to it, and none trusts a string."""

import html
import re
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from types import NoneType
from typing import get_args, get_type_hints

import jinja2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import nodes

from reb_action.corpus import paper
from reb_action.model.agent import Protocol
from reb_action.model.contestant import Contestant
from reb_action.model.manifest import Level
from reb_action.model.observation import RunObservation
from reb_action.model.report import ReportFault, ReportFaultKind
from reb_action.model.scoreboard import Spent
from reb_action.model.verdict import Audit
from reb_action.render.badge import badge_of, svg
from reb_action.render.escape import clean
from reb_action.render.html import bytecode, environment, site
from reb_action.render.html.page import trial_page
from reb_action.render.html.page.timeline import TURNS, build_timeline
from reb_action.render.repository_badge import badge_files
from tests.support import page_samples, scoreboards
from tests.support.hostile import HOSTILE, SITE_TAGS, read

FOLDER = Path(environment.__file__).parent
TEMPLATES = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.j2"))
STATIC = ("page/style.css", "site/site.css", "site/site.js", "site/compare.js")


def pages():
    """Yield pages in which every position of every template prints something."""
    full, small = page_samples.full(), page_samples.small()
    yield from map(trial_page, (small, page_samples.unmeasured()))
    yield trial_page(full, root="../")
    yield trial_page(_long(full))
    yield trial_page(_with_turns(full))
    yield trial_page(_without(small, report_fault=None))
    yield trial_page(_with_runs(full))
    board = scoreboards.board(published=paper.rows())
    contestant = Contestant(id="patient", digest="0" * 64)
    score = replace(
        board.agents[0], versions=("1", "2", "3", "4"), hallucinations={}, contestant=contestant
    )
    gaps = {f"trial-{number}": "lost" for number in range(50)}
    board = replace(board, agents=(score, *board.agents[1:]), missing=gaps, invalid=gaps)
    linked = {row.trial: f"trials/{row.trial}.html" for row in board.trials[::2]}
    for facts in (scoreboards.facts(), _long_history(scoreboards.facts())):
        files = dict(site.front_files(board, linked, facts=facts))
        yield from (data.decode() for name, data in files.items() if name.endswith("html"))
    unpriced = replace(board.agents[0], spent=Spent(), levels={})
    for empty in (
        replace(board, agents=(unpriced, *board.agents[1:])),
        replace(board, trials=()),
    ):
        files = dict(site.board_files(empty, {}))
        yield from (data.decode() for name, data in files.items() if name.endswith("html"))
    repeated = replace(board.published[0], runs=3)
    yield site.build_site(replace(board, published=(repeated,)))["index.html"].decode()
    links = (site.BoardLink(address="a/", title="a"), site.BoardLink(address="b/", title="b"))
    for boards in (site.Boards(earlier=links), site.Boards(newest="../../index.html")):
        files = dict(site.board_files(board, linked, boards=boards))
        yield files[site.BOARD].decode()
    yield svg(badge_of(score, Level.C0)).decode()
    for repository in scoreboards.REPOSITORIES[:2]:
        yield badge_files(board, board.agents[-1], repository)[0].decode()


def _long_history(facts):
    """More publications than a page lists, and trials of two runs for each contestant."""
    history = {name: each * 40 for name, each in facts.history.items()}
    odd = {name: replace(one, run="9.1") for name, one in list(facts.trials.items())[::2]}
    return replace(facts, history=history, trials={**facts.trials, **odd})


def _with_turns(view):
    """The trial with turns that say and do all that a turn can, by an agent that was root."""
    answered = {"tool_call_id": "a", "function_name": "bash", "arguments": {"command": "ls"}}
    steps = [
        {"step_id": 1, "source": "user", "message": "Set it up."},
        {
            "step_id": 2,
            "source": "agent",
            "message": "Done.",
            "reasoning_content": "Hm.",
            "timestamp": "2026-11-30T12:00:05+00:00",
            "tool_calls": [answered, {**answered, "tool_call_id": "b"}],
            "observation": {"results": [{"source_call_id": "a", "content": "out"}]},
            "metrics": {"cost_usd": 0.5},
            "extra": {"incomplete": "cut"},
        },
        *[{"step_id": 3, "source": "agent", "message": ""}] * TURNS,
    ]
    run = replace(view.verdict.agent_run, root=True, attempts=2, protocol=Protocol.PAPER)
    return replace(
        view,
        verdict=replace(view.verdict, agent_run=run),
        timeline=build_timeline({"steps": steps, "notes": "Some text was left out."}),
    )


def _long(view):
    """The trial with more items in a list than a page shows, without an end of its agent."""
    hooks = tuple(f"hook {number}" for number in range(50))
    imports = replace(
        view.evidence.observations[Level.C0],
        missing=hooks,
        editable=("x",),
        fault="stopped",
    )
    observations = {**view.evidence.observations, Level.C0: imports}
    verdict = replace(view.verdict, hooks=hooks, agent_run=None)
    return replace(
        view, verdict=verdict, evidence=replace(view.evidence, observations=observations)
    )


def _without(view, **changes):
    return replace(view, verdict=replace(view.verdict, audit=Audit(claims=()), **changes))


def _with_runs(view):
    """The trial with runs that ended in every way."""
    ends = (
        {"timed_out": True, "decoy": None, "fault": "stopped", "proofs": ()},
        {"exit_code": None, "decoy": {"proofs_satisfied": True}},
        {"exit_code": 1, "decoy": {"token_seen": False, "exit_code": None}},
    )
    observations = dict(view.evidence.observations)
    runs = [level for level, one in observations.items() if isinstance(one, RunObservation)]
    for level, end in zip(runs, ends, strict=True):
        run = observations[level]
        decoy = end.pop("decoy")
        decoy = None if decoy is None else replace(run.decoy, **decoy)
        observations[level] = replace(run, decoy=decoy, **end)
    fault = ReportFault(kind=ReportFaultKind.MISSING, message="there is no report.json")
    view = replace(view, evidence=replace(view.evidence, observations=observations))
    return _without(view, report_fault=fault)


def positions():
    """Return the template and line of everything that a template prints."""
    for name in TEMPLATES:
        tree = environment.environment().parse(environment.read_source(name))
        for output in tree.find_all(nodes.Output):
            for node in output.nodes:
                if not isinstance(node, nodes.TemplateData):
                    yield name, node.lineno


@contextmanager
def added(monkeypatch, text, *, printed=None):
    """Add a text to every string that any template prints; add the positions to `printed`."""
    made = environment.environment.__wrapped__()
    show = made.finalize

    def finalize(value):
        if printed is not None:
            frame = sys._getframe(1)
            name = frame.f_globals["name"]
            line = made.get_template(name).get_corresponding_lineno(frame.f_lineno)
            printed.add((name, line))
        return show(value if hasattr(value, "__html__") else f"{value}{text}")

    made.finalize = finalize
    monkeypatch.setattr(environment, "environment", lambda: made)
    yield
    monkeypatch.undo()


def skeletons(monkeypatch, text, *, printed=None):
    """Return the skeletons of all pages with a text in every position."""
    with added(monkeypatch, text, printed=printed):
        return [read(page, SITE_TAGS).skeleton for page in pages()]


@pytest.fixture(scope="module")
def plain():
    with pytest.MonkeyPatch.context() as monkeypatch:
        printed = set()
        return skeletons(monkeypatch, "x", printed=printed), printed


def test_pages_print_every_position(plain):
    assert set(positions()) - plain[1] == set()


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_every_position_changes_nothing_but_words(monkeypatch, plain, text):
    assert skeletons(monkeypatch, text) == plain[0]


@pytest.mark.parametrize("hole", ["<p title={{ x }}>", "<p>{{ x|safe }}", "<p {{ x }}>"])
def test_position_without_protection_would_be_found(hole):
    template = environment.environment().from_string(f"{hole}</p>")
    plain, *others = (read(template.render(x=f"x{text}"), ("p", "b")) for text in ("", *_INLINE))
    assert any(reader.skeleton != plain.skeleton for reader in others)


_INLINE = ("<b></b>", '" onmouseover="alert(1)" x="')


@pytest.mark.parametrize("name", TEMPLATES)
def test_template_trusts_no_string(name):
    tree = environment.environment().parse(environment.read_source(name))
    banned = (nodes.Concat, nodes.ScopedEvalContextModifier, nodes.MarkSafe)
    assert list(tree.find_all(banned)) == []
    filters = {one.name for one in tree.find_all(nodes.Filter)}
    assert filters.isdisjoint({"safe", "xmlattr", "tojson", "urlize", "forceescape", "replace"})


@settings(max_examples=300)
@given(text=st.sampled_from(HOSTILE) | st.text(alphabet="<>&\"'`a;/!-= ", max_size=40) | st.text())
def test_printed_text_has_no_markup(text):
    printed = environment.environment().from_string("{{ text }}").render(text=text)
    assert not set("<>\"'") & set(printed)
    assert html.unescape(printed) == clean(text, limit=4000)


@settings(max_examples=300)
@given(text=st.sampled_from(HOSTILE) | st.text())
def test_log_has_no_markup(text):
    template = "<pre>{{ text|log_end }}</pre>"
    reader = read(environment.environment().from_string(template).render(text=text))
    assert reader.skeleton == [("pre",), "/pre"]


@pytest.mark.parametrize("name", STATIC)
def test_style_and_script_go_out_as_they_are(name):
    assert environment.render(name) == (FOLDER / name).read_text(encoding="utf-8")


def test_missing_name_and_none_are_errors():
    made = environment.environment()
    with pytest.raises(jinja2.UndefinedError):
        made.from_string("{{ nothing }}").render()
    with pytest.raises(TypeError, match="prints None"):
        made.from_string("{{ value }}").render(value=None)


def test_line_break_next_to_a_tag_is_dropped_and_between_words_kept():
    source = environment.read_source("page/observed.html.j2")
    assert source.count("\n") == (FOLDER / "page/observed.html.j2").read_text().rstrip().count("\n")
    text = trial_page(page_samples.small())
    assert "\n<" not in text.partition("</style>")[2]
    assert "recomputes it from the folder of\n    this trial" in text


def optional(value):
    """Return the class and name of every field in a value that may be None."""
    if is_dataclass(value):
        hints = get_type_hints(type(value))
        own = {(type(value), name) for name, hint in hints.items() if NoneType in get_args(hint)}
        return own.union(*(optional(getattr(value, field.name)) for field in fields(value)))
    items = value.values() if isinstance(value, dict) else value
    return set().union(*map(optional, items)) if isinstance(value, (tuple, dict)) else set()


def emptied(value, of, name):
    """Return a value with one field of a class set to None, wherever it occurs."""
    if isinstance(value, tuple):
        return tuple(emptied(item, of, name) for item in value)
    if isinstance(value, dict):
        return {key: emptied(item, of, name) for key, item in value.items()}
    if not is_dataclass(value):
        return value
    changes = {field.name: emptied(getattr(value, field.name), of, name) for field in fields(value)}
    return replace(value, **{**changes, **({name: None} if type(value) is of else {})})


def test_any_value_that_may_be_none_can_be_none():
    view, board = page_samples.full(), scoreboards.board(published=paper.rows())
    assert len(optional(view)) > 25
    for of, name in optional(view):
        assert trial_page(emptied(view, of, name)).endswith("</html>\n")
    for of, name in optional(board):
        assert set(dict(site.front_files(emptied(board, of, name)))) >= {
            "index.html",
            "trials.html",
        }


def test_only_the_environment_reads_files():
    package = FOLDER.parent
    readers = [
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if re.search(r"pathlib|\bopen\(|documents\.read|import os\b|data_folder", path.read_text())
    ]
    assert sorted(readers) == ["html/bytecode.py", "html/environment.py"]


def test_engine_is_not_imported_before_a_page_is_written():
    program = (
        "import sys, reb_action.cli.main, reb_action.cli.console, reb_action.results.page,"
        "reb_action.results.scoreboard,"
        "reb_action.results.site; sys.exit(not {'jinja2', 'markupsafe'}.isdisjoint(sys.modules))"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_keeps_compiled_templates_beside_the_modules(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    kept, again = bytecode.cache_beside(FOLDER), bytecode.cache_beside(FOLDER)
    written = _compile_with(kept, "{{ 1 }} page")
    assert [path.name.split("-")[0] for path in tmp_path.rglob("*.cache")] == ["template"]
    assert not written.from_cache
    assert _compile_with(again, "{{ 1 }} page").from_cache
    assert not _compile_with(again, "{{ 2 }} page").from_cache


def test_renders_without_a_place_for_compiled_templates(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (tmp_path / "file").touch()
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "file"))
    assert not _compile_with(bytecode.cache_beside(FOLDER), "page").from_cache
    assert [path.name for path in tmp_path.rglob("*")] == ["file"]


@dataclass
class _Compiled:
    text: str
    from_cache: bool


def _compile_with(cache, source):
    """Load one template, and tell whether its code came from the cache."""
    compiled = []

    class Counting(jinja2.Environment):
        def compile(self, *args, **named):
            compiled.append(args)
            return super().compile(*args, **named)

    loader = jinja2.DictLoader({"page.j2": source})
    text = Counting(loader=loader, bytecode_cache=cache).get_template("page.j2").render()
    return _Compiled(text, not compiled)
