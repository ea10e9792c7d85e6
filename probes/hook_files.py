"""Finds the start-up hooks of an interpreter from files only, without running the interpreter.

A hook can change the interpreter's answers. So the folders are derived from its path and
environment, as Python derives them, and the folders that it reports are searched in addition.
"""

import filecmp
import glob
import os
import re

from pth_files import CUSTOMS, PTH_LIMIT, archived_customs, has_code, named_places, path_files

# Linux itself follows 40 links.
LINKS_LIMIT, PROGRAM_LIMIT = 41, 256 << 20
STANDARD = ("lib*/python3.*",)
SITE = (
    "lib*/python3.*/site-packages", "lib*/python3.*/dist-packages",
    "local/lib/python3.*/dist-packages", "local/lib/python3.*/site-packages",
    "lib/python3/dist-packages",
)  # fmt: skip
# Python searches it before the standard library.
ARCHIVE = "lib*/python3*.zip"
VERSION = re.compile(r"python(3\.\d+)t?$")


def links(path):
    """Return a path and each one that its links lead to."""
    found = [path]
    while os.path.islink(found[-1]) and len(found) < LINKS_LIMIT:
        target = os.path.join(os.path.dirname(found[-1]), os.readlink(found[-1]))
        found.append(os.path.normpath(target))
    return found


def configuration_text(path):
    """Return the content of each pyvenv.cfg of an interpreter, None if it has none."""
    folder, found = os.path.dirname(path), []
    for above in (folder, os.path.dirname(folder)):
        place = os.path.join(above, "pyvenv.cfg")
        try:
            # Not a pipe: a read of it may never end.
            if os.path.isfile(place):
                with open(place, "rb") as stream:
                    found.append(stream.read(PTH_LIMIT))
        except OSError:
            continue
    return b"\0".join(found) if found else None


def configuration(path):
    """Return {key: values} of the pyvenv.cfg of an interpreter, None if it has none.

    Of a key that occurs twice one reader in Python takes the first value, another the last.
    """
    text = configuration_text(path)
    if text is None:
        return None
    text, found = text.decode("utf-8", "surrogateescape"), {}
    for line in dict.fromkeys([*text.splitlines(), *re.split("\r\n|\r|\n|\0", text)]):
        key, _, value = line.partition("=")
        found.setdefault(key.strip().lower(), []).append(value.strip())
    return found


def homes(settings):
    """Return the folders that a pyvenv.cfg names as those of the original program."""
    return [home for home in (settings or {}).get("home", ()) if home]


def versions(program):
    """Return the texts in a program that have the form of a version of Python."""
    form = rb"(?<![\d.])(3\.\d{1,2}\.\d{1,3}(?:(?:a|b|rc)\d{1,2})?)\+?\0"
    return sorted({match.group(1).decode() for match in re.finditer(form, program)})[:20]


def named_versions(chain):
    """Return names such as python3.11 of a program; none if its file does not have them.

    The name of a file is its owner's choice, so the program's content counts too.
    """
    try:
        with open(chain[-1], "rb") as stream:
            told = versions(stream.read(PROGRAM_LIMIT))
    except (OSError, ValueError):
        told = []
    found = {"python" + ".".join(version.split(".")[:2]) for version in told}
    names = {os.path.basename(path) for path in chain}
    return found | {name for name in names if VERSION.match(name)} if found else set()


def standard_library(folder):
    """Return the standard library that Python finds from a folder of programs, None if none."""
    while True:
        for found in below(folder, set(), STANDARD):
            if os.path.isfile(os.path.join(found, "os.py")):
                return os.path.realpath(found)
        if folder in ("", "/", os.path.dirname(folder)):
            return None
        folder = os.path.dirname(folder)


def foreign_library(python):
    """Return the standard library that pyvenv.cfg names instead of the program's own.

    Its modules run at each start, `encodings` first, even with -I and -S. A copied program belongs
    to the library of its original's folder.
    """
    chain = links(python)
    settings = next((one for one in map(configuration, chain) if one is not None), None)
    folders, found = [os.path.dirname(path) for path in chain[1:]], []
    for home in homes(settings):
        named = standard_library(home) if os.path.isdir(home) else None
        own = any(standard_library(folder) == named for folder in folders)
        if not os.path.isabs(home):
            # What it leads to depends on the folder that the interpreter is started in.
            found.append("standard library: %s" % home)
        elif named is not None and not own and not is_original(home, python):
            found.append("standard library: %s" % named)
    return found


def is_original(folder, python):
    """Return whether a folder that the sandbox's user cannot write to has this program."""
    if os.access(folder, os.W_OK):
        return False
    names = glob.glob(os.path.join(glob.escape(folder), "python3*"))
    return any(os.path.isfile(name) and filecmp.cmp(name, python, False) for name in names)


def below(prefix, versions, kinds):
    """Return the folders of these kinds in a prefix: for the versions, or for all if none is."""
    found = []
    for kind in kinds:
        found += sorted(glob.glob(os.path.join(glob.escape(prefix), kind)))
    wanted = versions | {"python3"}
    return [folder for folder in found if not versions or wanted & set(folder.split(os.sep))]


def start_folders(python, environment, home):
    """Return the folders that an interpreter may run files of at its start, in no special order.

    Archives are among them.
    """
    chain = [*links(python), os.path.realpath(python)]
    wanted = named_versions(chain)
    prefixes = [os.path.dirname(os.path.dirname(path)) for path in chain]
    if environment.get("PYTHONHOME"):
        prefixes += environment["PYTHONHOME"].split(":")
    settings = next((one for one in map(configuration, chain) if one is not None), None)
    shared = [text.lower() for text in (settings or {}).get("include-system-site-packages", ())]
    alone = settings is not None and "true" not in shared
    bases = prefixes if settings is None else prefixes[1:]
    bases = dict.fromkeys([*bases, *(os.path.dirname(home) for home in homes(settings))])
    found = [one for one in environment.get("PYTHONPATH", "").split(":") if one]
    if settings is not None:
        found += below(prefixes[0], set(), SITE)
    for base in bases:
        found += below(base, wanted, STANDARD if alone else (*STANDARD, *SITE))
        found += below(base, set(), (ARCHIVE,))
    if not alone:
        home = environment.get("HOME") or home
        user = environment.get("PYTHONUSERBASE") or os.path.join(home, ".local")
        found += below(user, wanted, SITE)
    return found


def customs(folder, names):
    """Return the modules among the names of a folder that Python imports at each start."""
    found = []
    for name in names:
        stem, _, suffix = name.partition(".")
        path = os.path.join(folder, name)
        if stem in CUSTOMS and (suffix in ("py", "pyc") or suffix.endswith("so")):
            found.append("%s: %s" % (stem, path))
        elif name in CUSTOMS and os.path.isdir(path):
            inits = [one for one in sorted(os.listdir(path)) if one.startswith("__init__.")]
            found += ["%s: %s" % (name, os.path.join(path, one)) for one in inits]
    return found


def list_hooks(start, search_paths=()):
    """Return what runs at every start: customize modules, lines of code in .pth files.

    `start` has the `python`, its `environment` and its `home`; `search_paths` are as it tells.
    """
    folders = [*start_folders(**start), *search_paths]
    folders += [named for folder in folders for named in named_places(folder)]
    chain = [*links(start["python"]), os.path.realpath(start["python"])]
    found = [*foreign_library(start["python"]), *path_files(map(os.path.dirname, chain))]
    seen = set()
    for folder in folders:
        if os.path.realpath(folder) in seen:
            continue
        seen.add(os.path.realpath(folder))
        found += archived_customs(folder)
        try:
            names = sorted(os.listdir(folder))
        except (OSError, ValueError):
            continue
        found += customs(folder, names)
        paths = [os.path.join(folder, name) for name in names if name.endswith(".pth")]
        found += ["pth: %s" % path for path in paths if has_code(path)]
    return found
