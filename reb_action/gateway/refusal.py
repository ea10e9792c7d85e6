"""Why a request is not passed on."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """An answer of the gateway itself, in the shape of its dialect."""

    status: int
    message: str
