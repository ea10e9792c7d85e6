"""The hosts that an agent may reach, from the text of the option to the check of one name."""

import re
from typing import Final

from reb_action.errors import UsageError

_PATTERN: Final = re.compile(r"(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*(:[0-9]{1,5})?")
_DEFAULT_PORTS: Final = (80, 443)


def parse_hosts(text: str) -> tuple[str, ...]:
    """Return the hosts of a list such as `pypi.org, *.pythonhosted.org, mirror:8080`.

    A host without a port allows 80 and 443; `*.` stands for one or more labels.
    """
    hosts = tuple(text.lower().replace(",", " ").split())
    for host in hosts:
        if not _PATTERN.fullmatch(host):
            raise UsageError(f"{host!r} is not a host name; use a form like *.pythonhosted.org")
    return hosts


def is_allowed(hosts: tuple[str, ...], host: str, port: int) -> bool:
    """Return whether `hosts` allows this name and port."""
    name = host.lower().rstrip(".")
    for entry in hosts:
        pattern, _, port_text = entry.partition(":")
        ports = (int(port_text),) if port_text else _DEFAULT_PORTS
        matches = name.endswith(pattern[1:]) if pattern.startswith("*.") else name == pattern
        if matches and port in ports:
            return True
    return False
