"""Reads what Python adds to its search path at each start: .pth files, archives, `._pth` files.

A module of the probe, not a probe: it is imported from the read-only folder of the probes. Versions
of Python read these files in different ways, so what any of them would use is returned.
"""

import os
import re

PTH_LIMIT, BLOCK, ARCHIVE_LIMIT = 16 << 20, 1 << 20, 512 << 20
# Python runs .pth files of these folders alone; elsewhere a large one is a checkpoint.
SITE_FOLDERS = ("site-packages", "dist-packages")
CUSTOMS = ("sitecustomize", "usercustomize")


def pth_lines(path):
    """Return the lines of a .pth file as any Python splits them, and whether that is all of them.

    Python 3.13 skips a byte order mark and splits at form feeds too; older ones split at less, so
    that a name may have what looks like the end of a line.
    """
    try:
        if not os.path.isfile(path):
            return [], True
        with open(path, "rb") as stream:
            data = stream.read(PTH_LIMIT + 1)
    except OSError:
        return [], True
    text = data.decode("utf-8-sig", "surrogateescape")
    lines = dict.fromkeys([*text.splitlines(), *re.split("\r\n|\r|\n", text)])
    return list(lines), len(data) <= PTH_LIMIT


def has_code(path):
    """Tell whether Python would run lines of a .pth file, or might if it is too large to read."""
    lines, is_whole = pth_lines(path)
    if any(line.startswith(("import ", "import\t")) for line in lines):
        return True
    return not is_whole and os.path.basename(os.path.dirname(path)) in SITE_FOLDERS


def named_places(folder):
    """Return the folders and archives that the .pth files of a folder add to the search path."""
    found = []
    if os.path.basename(folder) not in SITE_FOLDERS:
        return found
    try:
        names = sorted(os.listdir(folder))
    except (OSError, ValueError):
        return found
    # Older versions of Python read hidden files, too.
    for path in (os.path.join(folder, name) for name in names if name.endswith(".pth")):
        for line in pth_lines(path)[0]:
            # Python leaves the spaces before a name.
            for name in {line.strip(), line.rstrip()} - {""}:
                place = os.path.join(folder, name)
                if "\0" not in name and os.path.exists(place):
                    found.append(place)
    return found


def archived_customs(path):
    """Return the modules that Python imports at each start and that an archive may have.

    The names of files stand in an archive as they are, wherever its index is.
    """
    if not os.path.isfile(path):
        return []
    found, last, left = set(), b"", ARCHIVE_LIMIT
    try:
        with open(path, "rb") as stream:
            while left > 0 and (block := stream.read(BLOCK)):
                left -= len(block)
                found |= {name for name in CUSTOMS if name.encode() in last + block}
                last = block[-20:]
    except OSError:
        return []
    return ["%s: %s" % (name, path) for name in CUSTOMS if name in found or left <= 0]


def path_files(folders):
    """Return the `._pth` files beside programs: each replaces the search path of one."""
    found = []
    for folder in dict.fromkeys(folders):
        try:
            names = sorted(os.listdir(folder))
        except (OSError, ValueError):
            continue
        found += ["search path: %s" % os.path.join(folder, n) for n in names if n.endswith("._pth")]
    return found
