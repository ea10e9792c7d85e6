"""The bridge of the open sandboxes, which all trials of a machine share."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from docker.errors import APIError

from reb_action.sandbox.docker.options import NETWORK

FORBIDDEN: Final = 403
NOT_FOUND: Final = 404
CONFLICT: Final = 409


@contextmanager
def ignore_status(*codes: int) -> Generator[None]:
    """Ignore answers of the engine with these statuses: there is nothing left to do."""
    try:
        yield
    except APIError as error:
        if error.status_code not in codes:
            raise


@dataclass(frozen=True, kw_only=True, slots=True)
class Bridge:
    """The bridge of one engine; `api` is the SDK's, whose stubs lack most types."""

    api: Any

    def ensure(self) -> None:
        """Create the bridge if there is none, and make its name unique.

        Two trials that start at the same time can create two networks with the same name. The
        engine then refuses to start a container on either, so newer unused ones are removed.
        """
        known = self._list() or self._make()
        extra = len(known) - 1
        for network in sorted(known, key=lambda network: network["Created"], reverse=True):
            extra -= bool(extra) and self._remove(network["Id"])

    def _list(self) -> list[Any]:
        # The engine's filter also matches a part of a name.
        networks = self.api.networks(names=[NETWORK])
        return [network for network in networks if network["Name"] == NETWORK]

    def _make(self) -> list[Any]:
        with ignore_status(CONFLICT):
            self.api.create_network(
                NETWORK,
                driver="bridge",
                check_duplicate=True,
                labels={"reb.network": NETWORK},
                options={"com.docker.network.bridge.enable_icc": "false"},
            )
        return self._list()

    def _remove(self, network: str) -> bool:
        with ignore_status(FORBIDDEN):
            with ignore_status(NOT_FOUND):
                self.api.remove_network(network)
            return True
        return False
