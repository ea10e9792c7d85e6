"""Searches other places where an interpreter may find the repository's own modules; runs no code.

Run by the sandbox's own trusted interpreter: `python3 -I -S copies.py in.json`. The request names
`search_paths`, `own` (the folders and files of the checkout that are its modules) and `modules`:
for each top-level name the files of the commit, {path below the module: [[size, git blob hash]]},
the path is empty if the module is a file. The answer, on standard output, lists the files in search
paths outside the checkout that have the name of a file of the commit and other content (`copies`).
It also lists the untracked modules of the checkout that Python finds before one of the standard
library or an installed one (`shadowing`): `repository` is the checkout, `tracked` its tracked files
and `standard` the names of the standard library. For each of the `hooks` it has the SHA-256 of the
`hook_files` in its folder; for the hook of an editable install, of its two files without the values
that setuptools fills in. `optional` lists which of the `optional_modules` a search path has.
"""

import ast
import glob
import hashlib
import json
import os
import re
import sys

# The interpreter runs isolated, so the folder of the probes is not on its path.
sys.path.append(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
from hook_files import list_hooks, start_folders  # noqa: E402
from module_files import shadowing, state  # noqa: E402

LIMIT, HASHED = 50, 1 << 20
# What setuptools writes for an editable install, by the names under which hashes are reported.
EDITABLE_PTH, EDITABLE_FINDER = "__editable__*.pth", "__editable__*_finder.py"
STARTS_FINDER = re.compile(rb"import (__editable__\w+_finder); \1\.install\(\)\n?")
VALUE = re.compile(rb"^(MAPPING|NAMESPACES|PATH_PLACEHOLDER)((?:: [^=\n]*)? = )(.*)$", re.M)
HOOK_SUFFIX = b' + ".__path_hook__"'


def shown(path):
    """Return a path as text that JSON can carry: an agent names files in any bytes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def limited(paths):
    """Return the first of very many paths, and how many are left out."""
    left_out = ["and %d more" % (len(paths) - LIMIT)] if len(paths) > LIMIT else []
    return [shown(path) for path in paths[:LIMIT]] + left_out


def differs(path, editions):
    """Return whether a file differs from every edition that the commit has of it."""
    size = state(path)[1]
    wanted = [blob for bytes_of, blob in editions if bytes_of == size]
    if not wanted:
        return True
    digest = hashlib.sha1(b"blob %d\0" % size)
    try:
        with open(path, "rb") as stream:
            digest.update(stream.read(size))
    except OSError:
        return True
    return digest.hexdigest() not in wanted


def edited(place, files):
    """Return the files of a copy that differ; a module with only the same name is not a copy."""
    at = {below: os.path.join(place, below) if below else place + ".py" for below in files}
    paths = {at[below]: files[below] for below in files}
    there = [path for path in sorted(paths) if state(path)[0]]
    if 2 * len(there) < len(paths):
        return []
    return [path for path in there if differs(path, paths[path])]


def content(path):
    """Return the content of a small regular file, or None."""
    is_file, size = state(path)
    if not is_file or size >= HASHED:
        return None
    try:
        with open(path, "rb") as stream:
            return stream.read(HASHED)
    except OSError:
        return None


def literal(name, text):
    """Return the value that setuptools wrote for a name, or None if it is anything but data."""
    if name == b"PATH_PLACEHOLDER":
        text = text[: -len(HOOK_SUFFIX)] if text.endswith(HOOK_SUFFIX) else b""
    try:
        value = ast.literal_eval(text.decode())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, str if name == b"PATH_PLACEHOLDER" else dict) else None


def template(text):
    """Return (the text of a finder without its values, its mapping); (None, {}) if not generated.

    Each of the three values must be a literal, so that all code of the finder is in the template.
    """
    values = {name: literal(name, value) for name, _, value in VALUE.findall(text)}
    if len(values) != 3 or None in values.values():
        return None, {}
    return VALUE.sub(rb"\1\2...", text), values[b"MAPPING"]


def finder(pth):
    """Return the text of the finder that the .pth file of an editable install starts, or None."""
    started = STARTS_FINDER.fullmatch(content(pth) or b"")
    if started is None:
        return None
    return source(os.path.join(os.path.dirname(pth), started.group(1).decode() + ".py"))


def source(path):
    """Return the content of a file; None if Python imports a folder or library in its place."""
    folder, name = os.path.split(path)
    module, suffix = os.path.splitext(name)
    if suffix == ".py":
        try:
            names = os.listdir(folder)
        except OSError:
            return None
        native = any(name.startswith(module + ".") and name.endswith(".so") for name in names)
        if native or module in names:
            return None
    return content(path)


def hashes(hook, names):
    """Return the SHA-256 of the files of a hook, by the names that known hooks have."""
    folder, name = os.path.split(hook)
    files = {name: source(os.path.join(folder, name)) for name in names}
    if name.startswith("__editable__") and name.endswith(".pth"):
        generated = template(finder(hook) or b"")[0]
        files = {EDITABLE_PTH: generated and b"", EDITABLE_FINDER: generated}
    return {
        name: hashlib.sha256(data).hexdigest() for name, data in files.items() if data is not None
    }


def mapped(folder):
    """Yield (module, path without suffix) of the targets of editable installs' finders."""
    for pth in sorted(glob.glob(os.path.join(glob.escape(folder), "__editable__*.pth"))):
        for name, path in template(finder(pth) or b"")[1].items():
            if isinstance(name, str) and isinstance(path, str):
                yield name.rpartition(".")[2], path[:-3] if path.endswith(".py") else path


def optional(names, folders):
    """Return those of the modules that a search path may have, under any suffix or in an archive.

    An archive is not opened: it may have all of them.
    """
    stems = set()
    for folder in folders:
        if os.path.isfile(folder):
            return sorted(names)
        try:
            stems |= {entry.split(".")[0] for entry in os.listdir(folder)}
        except (OSError, ValueError):
            continue
    return sorted(set(names) & stems)


def main():
    """Answer the request named on the command line."""
    with open(sys.argv[1], "rb") as stream:
        request = json.loads(stream.read().decode())
    own = {os.path.realpath(path) for path in request["own"]}
    found = []
    for folder in dict.fromkeys(request["search_paths"]):
        places = [(name, os.path.join(folder, name)) for name in sorted(request["modules"])]
        for name, place in [*places, *mapped(folder)]:
            files = request["modules"].get(name, {})
            if os.path.realpath(place) not in own and os.path.realpath(place + ".py") not in own:
                packaged = {below: files[below] for below in files if below}
                alone = {below: files[below] for below in files if not below}
                found += edited(place, packaged) if packaged else []
                found += edited(place, alone) if alone else []
    start, search_paths = request["start"], request["search_paths"]
    hooks = dict.fromkeys([*request["hooks"], *(list_hooks(start, search_paths) if start else ())])
    folders = [*search_paths, *(start_folders(**start) if start else ())]
    answer = {
        "copies": limited(found),
        "hooks": {
            shown(hook): hashes(hook.partition(": ")[2], request["hook_files"]) for hook in hooks
        },
        "optional": optional(request["optional_modules"], folders),
        "shadowing": limited(shadowing(request)),
    }
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
