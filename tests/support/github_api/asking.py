"""A request that the description allows, and the answer that is an error."""

from dataclasses import dataclass

WEB = "https://github.sample"


class ProblemError(Exception):
    """An answer that is an error."""

    def __init__(self, status, message, **headers):
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request that the description allows; `values` are from its address, `url` the API's."""

    world: object
    identity: object
    values: dict
    query: dict
    body: object
    url: str
    store: str

    def address(self, path):
        """Return the address of something of the repository."""
        return f"{self.url}/repos/{self.world.repository}{path}"

    def number(self, name):
        return int(self.values[name])


def checked(fault):
    """Refuse what a limit says is wrong."""
    if fault is not None:
        raise ProblemError(422, fault)
