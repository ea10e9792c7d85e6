"""Puts a manifest together from what the files of a repository say."""

from collections.abc import Iterator
from dataclasses import replace

from reb_action.draft.candidates import Candidate, list_candidates
from reb_action.draft.instructions import Instructions, find_instructions
from reb_action.draft.manifest_text import Draft, replace_unprintable
from reb_action.draft.project import Project
from reb_action.model.manifest import SELF, Framework, Level, Manifest
from reb_action.model.quantity import count

_UNTRIED = "the proof is a guess from the text of the files; reb init --try observes one"
_NOTHING = "reb init found no script, test or package of this repository that it could propose"


def draft_manifest(project: Project, repository: str, *, commit: str = SELF) -> Draft:
    """Return the draft of a manifest, from the files only."""
    instructions = find_instructions(project)
    candidates = list_candidates(project)
    base = Manifest(repository=repository, commit=commit, frameworks=project.frameworks)
    draft = Draft(
        manifest=replace(base, setup=instructions.setup, not_applicable=_exclude(project)),
        notes=_note_sources(project, instructions, repository),
    )
    return with_candidate(draft, candidates[0] if candidates else None, observed=False)


def with_candidate(draft: Draft, candidate: Candidate | None, *, observed: bool) -> Draft:
    """Return a draft with this candidate as C1, or with the reason why there is none."""
    manifest = draft.manifest
    excluded = {level: why for level, why in manifest.not_applicable.items() if level != Level.C1}
    if candidate is None:
        lacking = {**excluded, Level.C1: _NOTHING}
        notes = {**draft.notes, "C1": ("write a small driver under files, and name it here",)}
        changed = replace(manifest, entrypoints={}, not_applicable=lacking)
        return Draft(manifest=changed, notes=notes)
    doubts = candidate.doubts if not observed else _keep_driver(candidate)
    notes = (*doubts, *(() if observed else (_UNTRIED,)))
    changed = replace(
        manifest, entrypoints={Level.C1: candidate.entrypoint}, not_applicable=excluded
    )
    return Draft(manifest=changed, notes={**draft.notes, "C1": notes})


def _keep_driver(candidate: Candidate) -> tuple[str, ...]:
    """Return the doubt that an observed run does not remove: that it only imports."""
    return candidate.doubts if candidate.origin == "a driver" else ()


def _exclude(project: Project) -> dict[Level, str]:
    """Return the levels that do not apply, each with the reason in the files."""
    excluded: dict[Level, str] = {}
    if not project.frameworks:
        excluded[Level.C2] = "no file imports torch, tensorflow or jax"
    gpu, many = project.gpu_files, project.distributed_files
    excluded[Level.C3] = (
        f"reb init proposes no run on a GPU; {_shorten(gpu[0])} uses one"
        if gpu
        else "no file of the repository uses a GPU"
    )
    excluded[Level.C4] = (
        f"reb init proposes no run on several GPUs; {_shorten(many[0])} has code for them"
        if many
        else "no file of the repository uses several GPUs"
    )
    return excluded


def _shorten(path: str) -> str:
    """Return a path as text that fits in a reason, which has at most 300 characters."""
    return replace_unprintable(path if len(path) <= 200 else f"…{path[-200:]}")


def _note_name(repository: str) -> Iterator[str]:
    if repository.startswith("owner/"):
        yield "the origin of the checkout names no owner/name; correct this one"


def _note_notebooks(project: Project) -> Iterator[str]:
    if project.notebooks:
        yield (
            f"not read or run: {count(project.notebooks, 'notebook')}, whose stored outputs prove"
            " nothing; name a script that runs one"
        )


def _note_sources(
    project: Project, instructions: Instructions, repository: str
) -> dict[str, tuple[str, ...]]:
    notes = {"repository": (*_note_name(repository), *_note_notebooks(project))}
    notes["setup"] = instructions.doubts
    if project.indirect:
        notes["frameworks"] = tuple(
            f"{name} needs {framework}, which no file imports"
            for name, framework in project.indirect
        )
    if project.gpu_files:
        notes["C3"] = ("name a run that computes on one GPU for some seconds under entrypoints",)
    if project.distributed_files:
        notes["C4"] = ("name a run on several GPUs under entrypoints, with its ranks",)
    return notes


def explain_draft(draft: Draft, project: Project, candidates: tuple[Candidate, ...]) -> list[str]:
    """Return lines that say what was found in the repository, and what was written for it."""
    manifest = draft.manifest
    third_party = sorted(project.ownership.third_party)
    names = f"{', '.join(third_party[:12])}{' …' if len(third_party) > 12 else ''}"
    lines = [
        f"{len(project.code)} Python files; {len(third_party)} third-party imports: {names}",
        f"frameworks: {', '.join(manifest.frameworks) or 'none is imported'}",
        f"setup: {_describe_setup(manifest)}",
    ]
    own = [name for name in sorted(project.ownership.own) if name in set(Framework)]
    lines += [f"the repository's own module {name} shadows the package" for name in own]
    for candidate in candidates[:5]:
        doubts = f" ({'; '.join(candidate.doubts)})" if candidate.doubts else ""
        lines.append(f"candidate, from {candidate.origin}: {candidate.line}{doubts}")
    for level, reason in sorted(manifest.not_applicable.items()):
        lines.append(f"{level} does not apply: {reason}")
    return lines


def _describe_setup(manifest: Manifest) -> str:
    if manifest.setup is None:
        return "none found; write the commands that install this checkout"
    return " && ".join(manifest.setup.lines) or str(manifest.setup.path)
