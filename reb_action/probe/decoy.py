"""The text of the decoy: it replaces a file of the repository in the decoy run.

It leaves a token if the reported environment runs it, imports the modules that the file imports,
and fails like a program in an incomplete environment. This triggers everything with which an
environment can fake proofs (modules that act when they are imported, hooks for uncaught errors,
exit handlers), and runs no code of the repository.
"""

from collections.abc import Sequence
from typing import Final

EXIT_CODE: Final = 86

# A failed import must not stop the next one: many imports in a file are for other situations.
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

    It writes no token in another environment than the one with `prefix`.
    """
    # The last one is in no environment.
    tried = (*imports, f"import absent_{token}")
    return _TEXT.format(path=path, token=token, prefix=prefix, imports=tried, code=EXIT_CODE)
