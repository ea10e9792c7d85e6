"""Asks the reported interpreter where it finds modules: `python specs.py in.json out.json`.

Only for modules that its search paths do not show: targets of editable installs' finders, and
modules that a package creates when it is imported (`six.moves`, `tensorflow.keras`). The request
has `nonce`, `modules` (dotted names, `module:name` for a module or value of that name) and `own`
(by top-level name, the repository's folders that Python joins to an installed package). The parent
packages of a module are imported. The answer is rewritten after each module, so that a module which
ends the interpreter does not lose earlier answers: `found`, for each existing module, its file or
folder, or "".
"""

import importlib.util
import json
import os
import pkgutil
import sys
import types

here = os.path.dirname(os.path.abspath(__file__))
texts = [entry for entry in sys.path if isinstance(entry, str)]
sys.path[:] = [entry for entry in texts if entry and os.path.abspath(entry) != here]


def write(answer, path):
    """Write the answer atomically."""
    with open(path + ".new", "w", encoding="utf-8") as stream:
        json.dump(answer, stream)
    os.replace(path + ".new", path)


def join(name, folders, room):
    """Search only the repository's own folders of a name, not the other content of their parent."""
    for folder in folders:
        if os.path.exists(os.path.join(folder, "__init__.py")):
            # As the package's own code, which is not run, would do.
            sys.modules[name] = types.ModuleType(name)
            sys.modules[name].__path__ = pkgutil.extend_path([folder], name)
            return
    for number, folder in enumerate(folders):
        place = os.path.join(room, "%s-%d" % (name, number))
        os.makedirs(place)
        os.symlink(folder, os.path.join(place, name))
        sys.path.insert(0, place)


def has(module, name):
    """Return whether an imported module has a value of this name."""
    try:
        return hasattr(sys.modules.get(module), name)
    except BaseException:
        return False


def place_of(asked, room):
    """Return the place of a module or value, "" if it has none, or None if it does not exist."""
    module, _, name = asked.partition(":")
    dotted = module + "." + name if name else module
    places = places_of(dotted)
    if places is None:
        return "" if name and has(module, name) else None
    elsewhere = [place for place in places if not place.startswith(room)]
    # The repository's own part exists, but does not count as a package.
    return elsewhere[0] if elsewhere else None if places and "." not in dotted else ""


def places_of(name):
    """Return the file or the folders of a module, if it has any, or None if there is no module."""
    try:
        spec = importlib.util.find_spec(name)
    except BaseException:
        # Imports run code of others, which may raise or exit as it likes.
        return [] if name in sys.modules else None
    if spec is None:
        # A package may put a module there that it made itself.
        return [] if name in sys.modules else None
    if spec.has_location or (spec.origin and os.path.isabs(spec.origin)):
        return [str(spec.origin)]
    try:
        return [one for one in spec.submodule_search_locations or () if isinstance(one, str)]
    except BaseException:
        return []


def main():
    """Answer the request named on the command line."""
    with open(sys.argv[1], encoding="utf-8") as stream:
        request = json.load(stream)
    answer = {"nonce": request["nonce"], "found": {}}
    write(answer, sys.argv[2])
    room = os.path.join(os.path.dirname(os.path.abspath(sys.argv[2])), "own")
    for name, folders in request["own"].items():
        join(name, folders, room)
    for name in request["modules"]:
        place = place_of(name, room)
        if place is not None:
            answer["found"][name] = str(place)
            write(answer, sys.argv[2])


if __name__ == "__main__":
    main()
