"""Reports facts about the reported interpreter: `python facts.py in.json out.json`, run by it.

The request has `nonce`, `program` (an expression that only a Python can evaluate), `frameworks` and
`seed`. The answer is rewritten after each framework, so that a framework which ends the interpreter
does not lose the earlier answers.
"""

import json
import os
import sys
import sysconfig

here = os.path.dirname(os.path.abspath(__file__))
texts = [entry for entry in sys.path if isinstance(entry, str)]
sys.path[:] = [entry for entry in texts if os.path.abspath(entry or ".") != here]


def write(answer, path):
    """Write the answer atomically."""
    with open(path + ".new", "w", encoding="utf-8") as stream:
        json.dump(answer, stream)
    os.replace(path + ".new", path)


def size(folder):
    """Return the bytes of all files below a folder, links not followed, however deep it goes."""
    total, waiting = 0, [folder]
    while waiting:
        try:
            for entry in list(os.scandir(waiting.pop())):
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif not entry.is_symlink():
                    total += entry.stat(follow_symlinks=False).st_size
        except OSError:
            continue
    return total


def customs():
    """Return which modules that run at every start were imported; where from is not asked."""
    return [name for name in ("sitecustomize", "usercustomize") if name in sys.modules]


def torch_facts(seed):
    """Import torch; the numbers are those that its own generator draws from the seed."""
    import torch

    generator = torch.Generator()
    generator.manual_seed(seed)
    return {
        "version": str(torch.__version__),
        "file": torch.__file__,
        "native": torch._C.__file__,
        "drawn": torch.rand(8, generator=generator).tolist(),
    }


def tensorflow_facts(seed):
    """Import TensorFlow."""
    import tensorflow
    from tensorflow.python import _pywrap_tensorflow_internal as native

    return {"version": tensorflow.__version__, "file": tensorflow.__file__,
            "native": native.__file__, "drawn": [seed]}  # fmt: skip


def jax_facts(seed):
    """Import JAX."""
    import jax
    import jaxlib

    return {"version": jax.__version__, "file": jax.__file__,
            "native": jaxlib.__file__, "drawn": [seed]}  # fmt: skip


FRAMEWORKS = {"torch": torch_facts, "tensorflow": tensorflow_facts, "jax": jax_facts}


def main():
    """Answer the request named on the command line."""
    with open(sys.argv[1], encoding="utf-8") as stream:
        request = json.load(stream)
    answer = {
        "nonce": request["nonce"],
        "worked_out": repr(eval(request["program"])),
        "implementation": sys.implementation.name,
        "executable": sys.executable,
        "running": os.path.realpath("/proc/self/exe"),
        "prefix": sys.prefix,
        "prefix_bytes": size(sys.prefix),
        "search_paths": [entry for entry in sys.path if entry],
        "extension": sysconfig.get_config_var("EXT_SUFFIX"),
        "customs": customs(),
        "frameworks": {},
    }
    write(answer, sys.argv[2])
    for name in request["frameworks"]:
        try:
            answer["frameworks"][name] = FRAMEWORKS[name](request["seed"])
        except BaseException as error:
            answer["frameworks"][name] = {"error": "%s: %s" % (type(error).__name__, error)}
        write(answer, sys.argv[2])


if __name__ == "__main__":
    main()
