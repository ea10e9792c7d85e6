"""Finds commands of a repository that could be its entry point, the most promising first."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from reb_action.draft.instructions import list_commands
from reb_action.draft.manifest_text import can_write
from reb_action.draft.observed import escape_pattern
from reb_action.draft.project import Project, is_module
from reb_action.model.manifest import Entrypoint, LogProof, MetricProof, Proof

_OBSTACLES: Final = (
    (
        re.compile(
            rb"from_pretrained\(|load_dataset\(|hf_hub_download|snapshot_download|urlretrieve"
            rb"|requests\.get|urlopen|download\s*=\s*True|wget\.|gdown"
        ),
        "it may download something",
    ),
    (re.compile(rb"required\s*=\s*True|add_argument\(\s*['\"][a-z]"), "it may need arguments"),
    (re.compile(rb"sys\.argv\[1\]"), "it may need arguments"),
    (re.compile(rb"\.launch\(|uvicorn\.run|app\.run\(|mainloop\("), "it may never end"),
    (re.compile(rb"while\s+(?:True|1)\s*:"), "it may never end"),
    (re.compile(rb"\binput\("), "it may ask for input"),
    (re.compile(rb"read_csv\(|open\(['\"][\w./-]+['\"]|np\.load\("), "it may read absent data"),
)
_GPU_ONLY: Final = re.compile(rb"\.cuda\(\)")
_MAIN: Final = re.compile(rb"^if __name__ ==", re.MULTILINE)
_PRINT: Final = re.compile(rb"print\(\s*f?[rb]?['\"]([A-Za-z][^'\"{%\\\\]{3,40})")
_SIDE_FOLDERS: Final = {"docs", "doc", "build", "benchmarks", "benchmark", "docker", ".github"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A command that may prove that the repository runs; `doubts` are why it may not."""

    entrypoint: Entrypoint
    origin: str
    doubts: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The command as a shell line, for people."""
        return shlex.join(self.entrypoint.argv)


def list_candidates(project: Project) -> tuple[Candidate, ...]:
    """Return candidates: the README's commands, tests, scripts, and an import as the last."""
    listed = (*_from_readme(project), *_scripts(project), *_tests(project))
    ranked = sorted(listed, key=lambda one: len(one.doubts))
    unique = {(one.entrypoint.argv, one.entrypoint.cwd): one for one in reversed(ranked)}
    every = (*reversed(unique.values()), *_imports(project))
    # An argument such as {your_name} is no placeholder of a manifest, for example.
    return tuple(one for one in every if can_write(one.entrypoint))


def _from_readme(project: Project) -> Iterator[Candidate]:
    """Yield the README's commands that run a tracked script, with their arguments."""
    for line in list_commands(project):
        match = re.match(r"^python3? ([\w./-]+\.py)\b(.*)$", line)
        path = match[1].removeprefix("./") if match else ""
        if match is None or path not in project.code or re.search(r"[<>|;&$`]|\.\.\.", match[2]):
            continue
        try:
            words = tuple(shlex.split(match[2]))
        except ValueError:
            # A quote that is not closed: the command goes on in the next line.
            continue
        yield _candidate(project, path, words, origin=f"the README: {line}")


def _scripts(project: Project) -> Iterator[Candidate]:
    """Yield the scripts of the repository, those of the root first."""
    for path in sorted(project.code, key=lambda one: (one.count("/"), one)):
        parts = path.split("/")
        is_side = bool(_SIDE_FOLDERS & {*parts}) or parts[-1] in ("setup.py", "conftest.py")
        if not is_side and not _is_test(path) and _MAIN.search(project.code[path]):
            yield _candidate(project, path, (), origin="a script with a __main__ part")


def _candidate(project: Project, path: str, words: tuple[str, ...], origin: str) -> Candidate:
    text = project.code[path]
    doubts = [why for pattern, why in _OBSTACLES if pattern.search(text)]
    if "download" in path.lower():
        doubts.append("it may download something")
    if words:
        doubts = [why for why in doubts if why != "it may need arguments"]
    if _GPU_ONLY.search(text) and b"is_available" not in text:
        doubts.append("it may need a GPU")
    entrypoint = Entrypoint(
        argv=("{python}", path, *words), decoy=path, proofs=(_guess_proof(text),)
    )
    return Candidate(entrypoint=entrypoint, origin=origin, doubts=tuple(dict.fromkeys(doubts)))


def _guess_proof(text: bytes) -> Proof:
    """Return a proof from the words that a script prints; the last are the likeliest."""
    printed = _PRINT.findall(text)
    words = printed[-1].decode("utf-8", "replace").strip() if printed else ""
    return LogProof(log=f"^{escape_pattern(words)}" if len(words) > 3 else r"\w{3}")


def _is_test(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.startswith("test_") or name.endswith("_test.py")


def _tests(project: Project) -> Iterator[Candidate]:
    """Yield the three smallest test files; skipped tests do not count as passed ones."""
    files = [path for path in project.code if _is_test(path)]
    for path in sorted(files, key=lambda one: len(project.code[one]))[:3]:
        text = project.code[path]
        doubts = [why for pattern, why in _OBSTACLES[:1] if pattern.search(text)]
        own = _find_tested(project, text)
        if b"unittest" in text and b"pytest" not in text:
            argv = ("{python}", "-m", "unittest", "-v", path.removesuffix(".py").replace("/", "."))
            proof: Proof = LogProof(log=r"\.\.\. ok$")
        else:
            argv = ("{python}", "-m", "pytest", "-q", "-p", "no:cacheprovider", path)
            proof = MetricProof(metric=r"(\d+) passed", minimum=1)
            doubts.append("it needs pytest in the environment")
        entrypoint = Entrypoint(argv=argv, decoy=own or path, proofs=(proof,))
        yield Candidate(entrypoint=entrypoint, origin=f"the tests of {path}", doubts=tuple(doubts))


def _find_tested(project: Project, text: bytes) -> str | None:
    """Return the file of the package that a test imports: its decoy must break the test."""
    for folder in project.packages:
        name = folder.rpartition("/")[2].encode()
        if re.search(rb"^\s*(?:from|import) " + re.escape(name) + rb"\b", text, re.MULTILINE):
            return f"{folder}/__init__.py"
    return None


def _imports(project: Project) -> Iterator[Candidate]:
    """Yield a driver for the first package that only imports it, with the framework's users."""
    for folder in project.packages[:1]:
        decoy = _find_framework_user(project, folder)
        name = folder.rpartition("/")[2]
        parts = decoy[len(folder) + 1 :].removesuffix(".py").split("/")
        module = ".".join((name, *parts)).removesuffix(".__init__")
        code = f"import {module} as it; print('imported', it.__name__, it.__file__)"
        name = module
        entrypoint = Entrypoint(
            argv=("{python}", "-c", code),
            decoy=decoy,
            proofs=(LogProof(log=f"^imported {escape_pattern(name)} "),),
        )
        doubt = "it only imports the package: replace it by a small real use"
        yield Candidate(entrypoint=entrypoint, origin="a driver", doubts=(doubt,))


def _find_framework_user(project: Project, folder: str) -> str:
    """Return a module of a package that imports a framework: C1 demands that it is loaded."""
    for name in project.frameworks:
        wanted = re.compile(rf"^(?:import|from) {name}\b".encode(), re.MULTILINE)
        inner = [path for path in project.code if path.startswith(f"{folder}/")]
        for path in sorted(filter(_is_importable, inner), key=lambda one: (one.count("/"), one)):
            if wanted.search(project.code[path]):
                return path
    return f"{folder}/__init__.py"


def _is_importable(path: str) -> bool:
    return all(map(is_module, path.removesuffix(".py").split("/")))
