"""The text of the decoy: what stands in for a file of the repository in the decoy run.

It leaves a token, if the reported environment runs it, imports what the file imports, and ends like
a program whose environment is incomplete: everything that an environment can use to fake proofs is
set off (modules that act when they are imported, hooks for uncaught errors, what runs at exit), and
nothing of the repository is.
"""

from collections.abc import Sequence
from typing import Final

EXIT_CODE: Final = 86

# An import that fails is nothing to the next one: many stand in a file for a case that is not ours.
_TEXT: Final = """import os, sys

with open({path!r}, "w") as stream:
    here, named = map(os.path.realpath, (sys.prefix, {prefix!r} or sys.prefix))
    stream.write({token!r} if here == named else "")
for statement in {imports!r}:
    try:
        exec(statement, dict(globals()))
    except BaseException:
        sys.excepthook(*sys.exc_info())
sys.exit({code})
"""


def render_decoy(
    imports: Sequence[str], *, path: str, token: str, prefix: str | None = None
) -> str:
    """Return a file that writes the token to `path`; `imports` are statements of the original.

    It does not if it runs in another environment than the one with that `prefix`.
    """
    # The last one is in no environment.
    tried = (*imports, f"import absent_{token}")
    return _TEXT.format(path=path, token=token, prefix=prefix, imports=tried, code=EXIT_CODE)
