"""Asks the reported interpreter where it finds modules: `python specs.py in.json out.json`.

Only for what its search paths do not show: finders of editable installs, and modules that a package
makes when it is imported (`six.moves`, `tensorflow.keras`). The request has `nonce` and `modules`
(dotted names); the packages above a module are imported. The answer is written again after each, so
that one which takes the interpreter down loses nothing said before it: `found`, for each module
that there is, its file or folder, or "".
"""

import importlib.util
import json
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
texts = [entry for entry in sys.path if isinstance(entry, str)]
sys.path[:] = [entry for entry in texts if entry and os.path.abspath(entry) != here]


def write(answer, path):
    """Write the answer whole or not at all."""
    with open(path + ".new", "w", encoding="utf-8") as stream:
        json.dump(answer, stream)
    os.replace(path + ".new", path)


def place_of(name):
    """Return the file or folder of a module, "" if it has none, or None if there is no module."""
    try:
        spec = importlib.util.find_spec(name)
    except BaseException:
        # Imports run code of others, which may raise or exit as it likes.
        return "" if name in sys.modules else None
    if spec is None:
        # A package may put a module there that it made itself.
        return "" if name in sys.modules else None
    if spec.has_location or (spec.origin and os.path.isabs(spec.origin)):
        return spec.origin
    try:
        folders = [one for one in spec.submodule_search_locations or () if isinstance(one, str)]
    except BaseException:
        folders = []
    return folders[0] if folders else ""


def main():
    """Answer the request named on the command line."""
    with open(sys.argv[1], encoding="utf-8") as stream:
        request = json.load(stream)
    answer = {"nonce": request["nonce"], "found": {}}
    write(answer, sys.argv[2])
    for name in request["modules"]:
        place = place_of(name)
        if place is not None:
            answer["found"][name] = str(place)
            write(answer, sys.argv[2])


if __name__ == "__main__":
    main()
