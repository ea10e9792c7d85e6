"""Looks whether modules are really there, without running any of them.

Run by the sandbox's own trusted interpreter: `python3 -I -S installed.py in.json`. The request has
`search_paths` (of the reported interpreter) and `names` (top-level modules). The answer, on
standard output, has for each name that stands in a search path: whether the metadata of a
distribution lists it, and how many bytes of code it has, up to a limit. A folder of empty files has
none.
"""

import glob
import json
import os
import sys

CODE_LIMIT, METADATA_LIMIT, FILES_LIMIT = 4096, 16 << 20, 2000
BINARY = (".so", ".pyc", ".pyd")


def text_of(path):
    """Return a metadata file's text, or nothing."""
    if not os.path.isfile(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as stream:
        return stream.read(METADATA_LIMIT)


def listed(folder):
    """Return the top-level names that distributions in one search path list as theirs."""
    names = set()
    for place in glob.glob(os.path.join(glob.escape(folder), "*.dist-info")):
        for line in text_of(os.path.join(place, "RECORD")).splitlines():
            names.add(line.split(",")[0].split("/")[0].split(".")[0])
    found = glob.glob(os.path.join(glob.escape(folder), "*-info", "top_level.txt"))
    for path in [*found, os.path.join(folder, "EGG-INFO", "top_level.txt")]:
        names.update(text_of(path).split())
    return names


def code_in(path):
    """Return how many bytes of code a file has: lines that are more than a comment."""
    if path.endswith(BINARY):
        return os.path.getsize(path)
    if not path.endswith(".py"):
        return 0
    with open(path, "rb") as stream:
        lines = [line.strip() for line in stream.read(16 * CODE_LIMIT).splitlines()]
    return sum(len(line) for line in lines if not line.startswith(b"#"))


def files_of(place):
    """Return the regular files of a module: itself, or those below its folder."""
    if not os.path.isdir(place):
        return [place] if os.path.isfile(place) else []
    found = []
    for folder, _, names in os.walk(place):
        found += [os.path.join(folder, name) for name in names]
        if len(found) > FILES_LIMIT:
            break
    return [path for path in found if os.path.isfile(path)]


def places(folder, wanted):
    """Return {name: [paths]} of what could be imported under the wanted names from a folder."""
    found = {}
    for entry in os.listdir(folder):
        path, name = os.path.join(folder, entry), entry.split(".")[0]
        plain = entry == name and os.path.isdir(path)
        if name in wanted and (plain or entry.endswith((".py", *BINARY))):
            found.setdefault(name, []).append(path)
    return found


def main():
    """Answer the request named on the command line."""
    with open(sys.argv[1], "rb") as stream:
        request = json.loads(stream.read().decode())
    wanted, known, standing = set(request["names"]), set(), {}
    for folder in request["search_paths"]:
        if os.path.isdir(folder):
            known |= listed(folder)
            for name, paths in places(folder, wanted).items():
                standing.setdefault(name, []).extend(paths)
    answer = []
    for name, paths in sorted(standing.items()):
        code = 0
        for path in (path for place in paths for path in files_of(place)):
            code += code_in(path)
            if code >= CODE_LIMIT:
                break
        answer.append({"name": name, "listed": name in known, "code_bytes": min(code, CODE_LIMIT)})
    sys.stdout.write(json.dumps({"modules": answer}))


if __name__ == "__main__":
    main()
