"""The environment of an agent: complete, explicit, and free of credentials."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from reb_action.errors import UsageError
from reb_action.sandbox.layout import SandboxLayout

KEY_VARIABLE: Final = "REB_MODEL_KEY"
"""The only place from which the key of a model is taken."""

SETTINGS: Final = (
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "PIP_NO_INDEX",
    "PIP_CERT",
    "PIP_DEFAULT_TIMEOUT",
    "PIP_CONSTRAINT",
    "UV_INDEX_URL",
    "UV_DEFAULT_INDEX",
    "UV_INDEX",
    "UV_FIND_LINKS",
    "UV_HTTP_TIMEOUT",
    "NPM_CONFIG_REGISTRY",
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
)
"""Variables of the harness that an agent gets: package indexes, CA bundles, proxies."""

# Git reads numbered pairs of variables, such as url.ADDRESS.insteadOf for a mirror.
_INSTALLATION: Final = re.compile(
    r"UV_PYTHON_INSTALL_MIRROR|GIT_CONFIG_(?:COUNT|(?:KEY|VALUE)_\d+)"
)
_NO_PROXY: Final = ("NO_PROXY", "no_proxy")
_FOLDERS: Final = (
    "/usr/local/nvidia/bin",
    "/usr/local/cuda/bin",
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
)


def settings(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that pass to an agent; raises UsageError if one has a password."""
    passed = {name: environ[name] for name in SETTINGS if name in environ}
    _refuse_passwords(passed)
    return passed


def installation_settings(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables for the installation of an agent: also mirrors of git and Python.

    Raises UsageError if a value has a password, because an installation is kept and mounted.
    """
    passed = {name: text for name, text in environ.items() if _INSTALLATION.fullmatch(name)}
    _refuse_passwords(passed)
    return {**settings(environ), **passed}


def _refuse_passwords(passed: Mapping[str, str]) -> None:
    for name, value in passed.items():
        if re.search(r"://[^/\s]*@", value):
            raise UsageError(
                f"{name} has a user name or password, which an agent could read; use a URL "
                "without them, or unset it"
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """A model as an agent sees it: a name, an address without a path, and what opens it."""

    name: str
    base_url: str
    key: str = field(repr=False)


def proxied(settings: Mapping[str, str], *, proxy: str | None, direct: bool) -> dict[str, str]:
    """Return the proxy settings of an agent: `proxy`, the only way out, or the harness's own.

    Requests to this machine bypass the proxy, unless the agent calls its model directly.
    """
    found = dict(settings)
    if proxy is not None:
        found |= dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), proxy)
    if not direct:
        # Programs read one name or the other; a host left out of either would be asked in vain.
        kept = set[str]() if proxy is not None else {found.get(name, "") for name in _NO_PROXY}
        hosts = ",".join([*sorted(kept), "127.0.0.1", "localhost"]).strip(",")
        found |= dict.fromkeys(_NO_PROXY, hosts)
    return found


def values(
    layout: SandboxLayout, *, deadline_seconds: int, prompt: str = "", model: Model | None = None
) -> dict[str, str]:
    """Return the values of the placeholders in one sandbox."""
    of_model = {"model": model.name, "base_url": model.base_url, "key": model.key} if model else {}
    return {
        "repo": layout.repository,
        "home": layout.home,
        "report": layout.report,
        "agent": layout.agent,
        "prompt_file": f"{layout.agent}/prompt.md",
        "deadline_seconds": str(deadline_seconds),
        # The sandbox's own temporary folder, which no other process shares.
        "tmp": f"{layout.root}/tmp",  # noqa: S108
        "state": layout.state,
        "cli": layout.cli,
        # Escaped, as a text of JSON and so of YAML.
        "prompt_json": json.dumps(prompt),
        **of_model,
    }


def fill(text: str, known: Mapping[str, str]) -> str:
    """Replace the names in braces; other braces stay, so that JSON and TOML need no escaping."""
    return re.sub(r"\{([a-z_]+)\}", lambda match: known.get(match[1], match[0]), text)


def base(known: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that every agent gets."""
    return {
        "PATH": ":".join((f"{known['home']}/.local/bin", *_FOLDERS)),
        "HOME": known["home"],
        "TMPDIR": known["tmp"],
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "CI": "true",
        "NO_COLOR": "1",
        "REB_REPORT": known["report"],
        "REB_REPOSITORY": known["repo"],
        "REB_PROMPT_FILE": known["prompt_file"],
        "REB_DEADLINE_SECONDS": known["deadline_seconds"],
    }
