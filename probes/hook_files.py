"""Finds what an interpreter runs at each start, by files alone: no interpreter is asked.

What runs at the start can change what the interpreter answers, so the folders are derived from its
path and environment as Python derives them, and those that it tells are searched besides.
"""

import filecmp
import glob
import os
import re

# Linux itself follows 40 links.
PTH_LIMIT, LINKS_LIMIT = 16 << 20, 41
# Python runs .pth files of these folders alone; elsewhere a large one is a checkpoint.
SITE_FOLDERS = ("site-packages", "dist-packages")
CUSTOMS = ("sitecustomize", "usercustomize")
STANDARD = ("lib*/python3.*",)
SITE = (
    "lib*/python3.*/site-packages", "lib*/python3.*/dist-packages",
    "local/lib/python3.*/dist-packages", "local/lib/python3.*/site-packages",
    "lib/python3/dist-packages",
)  # fmt: skip
VERSION = re.compile(r"python(3\.\d+)t?$")


def pth_lines(path):
    """Return the lines of a .pth file as Python splits them, and whether that is all of them.

    Python 3.13 skips a byte order mark and splits at form feeds too; older ones split at less.
    """
    try:
        if not os.path.isfile(path):
            return [], True
        with open(path, "rb") as stream:
            data = stream.read(PTH_LIMIT + 1)
    except OSError:
        return [], True
    return data.decode("utf-8-sig", "replace").splitlines(), len(data) <= PTH_LIMIT


def has_code(path):
    """Return whether Python would run lines of a .pth file, or might if it is too large to read."""
    lines, is_whole = pth_lines(path)
    if any(line.startswith(("import ", "import\t")) for line in lines):
        return True
    return not is_whole and os.path.basename(os.path.dirname(path)) in SITE_FOLDERS


def links(path):
    """Return a path and each one that its links lead to."""
    found = [path]
    while os.path.islink(found[-1]) and len(found) < LINKS_LIMIT:
        target = os.path.join(os.path.dirname(found[-1]), os.readlink(found[-1]))
        found.append(os.path.normpath(target))
    return found


def configuration_text(path):
    """Return the content of the pyvenv.cfg of an interpreter, None where it has none."""
    for folder in (os.path.dirname(path), os.path.dirname(os.path.dirname(path))):
        try:
            with open(os.path.join(folder, "pyvenv.cfg"), "rb") as stream:
                return stream.read(PTH_LIMIT)
        except OSError:
            continue
    return None


def configuration(path):
    """Return the keys and values of the pyvenv.cfg of an interpreter, None where it has none."""
    text = configuration_text(path)
    if text is None:
        return None
    pairs = (line.partition("=") for line in text.decode("utf-8", "replace").splitlines())
    return {key.strip().lower(): value.strip() for key, _, value in pairs}


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
    """Return the standard library that pyvenv.cfg names in the place of the program's own.

    Its modules run at each start, `encodings` first, even with -I and -S. A program that is a copy
    belongs to the library of the folder that has the original.
    """
    chain = links(python)
    settings = next((one for one in map(configuration, chain) if one is not None), None) or {}
    home = settings.get("home")
    named = standard_library(home) if home and os.path.isdir(home) else None
    if named is None:
        return []
    folders = [os.path.dirname(path) for path in chain[1:]]
    if any(standard_library(folder) == named for folder in folders) or is_original(home, python):
        return []
    return ["standard library: %s" % named]


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
    """Return the folders that an interpreter may run files of at its start, in no special order."""
    chain = links(python)
    versions = {os.path.basename(path) for path in chain if VERSION.match(os.path.basename(path))}
    prefixes = [os.path.dirname(os.path.dirname(path)) for path in chain]
    if environment.get("PYTHONHOME"):
        prefixes += environment["PYTHONHOME"].split(":")
    settings = next((one for one in map(configuration, chain) if one is not None), None)
    alone = settings is not None and settings.get("include-system-site-packages") != "true"
    bases = prefixes if settings is None else prefixes[1:]
    if settings is not None and settings.get("home"):
        bases = [*bases, os.path.dirname(settings["home"])]
    found = [one for one in environment.get("PYTHONPATH", "").split(":") if one]
    if settings is not None:
        found += below(prefixes[0], set(), SITE)
    for base in bases:
        found += below(base, versions, STANDARD if alone else (*STANDARD, *SITE))
    if not alone:
        home = environment.get("HOME") or home
        user = environment.get("PYTHONUSERBASE") or os.path.join(home, ".local")
        found += below(user, versions, SITE)
    return found


def named_folders(folder):
    """Return the folders that the .pth files of a folder add to the search path."""
    found = []
    is_site = os.path.basename(folder) in SITE_FOLDERS
    for path in glob.glob(os.path.join(glob.escape(folder), "*.pth")) if is_site else ():
        for line in pth_lines(path)[0]:
            place = os.path.join(folder, line.strip())
            if line.strip() and "\0" not in line and os.path.isdir(place):
                found.append(place)
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
    folders += [named for folder in folders for named in named_folders(folder)]
    found, seen = foreign_library(start["python"]), set()
    for folder in folders:
        try:
            names = sorted(os.listdir(folder))
        except (OSError, ValueError):
            continue
        if os.path.realpath(folder) not in seen:
            seen.add(os.path.realpath(folder))
            found += customs(folder, names)
            paths = [os.path.join(folder, name) for name in names if name.endswith(".pth")]
            found += ["pth: %s" % path for path in paths if has_code(path)]
    return found
