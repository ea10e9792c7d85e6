"""Download an artifact's zip from GitHub's storage, without the token and within a size limit."""

import hashlib
from typing import BinaryIO, Final
from urllib.parse import urlsplit

import requests

from reb_action.errors import GitHubError
from reb_action.github.api.faults import Need
from reb_action.github.api.transport import REPEATS, Call, Transport
from reb_action.model.github import Artifact

_CHUNK: Final = 1024 * 1024


def download(transport: Transport, artifact: Artifact, file: BinaryIO, *, limit_bytes: int) -> None:
    """Write the zip into an empty file and check its digest, if the server has one.

    Raises GitHubError if it has expired, is larger than `limit_bytes`, or differs from its listing.
    The address is valid for a minute, so each retry requests a new one.
    """
    what = f"download the artifact {artifact.name!r}"
    if artifact.size_bytes > limit_bytes:
        raise _too_large(what, limit_bytes)
    path = f"{transport.repository}/actions/artifacts/{artifact.id}/zip"
    call = Call(path=path, what=what, need=Need.ACTIONS_READ)
    for repeat in range(REPEATS + 1):
        address = transport.location(call)
        try:
            digest = _fetch(transport, address, file, what=what, limit_bytes=limit_bytes)
        except requests.RequestException as error:
            if repeat == REPEATS:
                # Not the error's text: it quotes the address, which is signed.
                status = "" if error.response is None else f" {error.response.status_code}"
                raise GitHubError(f"{what}: no file ({type(error).__name__}{status})") from None
            transport.budget.wait(2.0**repeat, what=what)
            continue
        if artifact.digest not in (None, f"sha256:{digest}"):
            raise GitHubError(
                f"{what}: its digest differs from the listed digest; run the job again"
            )
        return


def _fetch(
    transport: Transport, address: str, file: BinaryIO, *, what: str, limit_bytes: int
) -> str:
    """Write the response to the start of the file; return its SHA-256."""
    if urlsplit(address).scheme not in ("https", urlsplit(transport.api_url).scheme):
        raise GitHubError(f"{what}: GitHub redirects to an address without https")
    file.seek(0)
    file.truncate()
    digest, size = hashlib.sha256(), 0
    # With an `auth`, requests does not read a password from ~/.netrc.
    with requests.get(
        address,
        auth=_no_password,
        stream=True,
        timeout=transport.seconds,
        allow_redirects=False,
    ) as answer:
        answer.raise_for_status()
        if answer.status_code != requests.codes.ok:
            raise GitHubError(f"{what}: the store answered {answer.status_code} without a file")
        for chunk in answer.iter_content(_CHUNK):
            size += len(chunk)
            if size > limit_bytes:
                raise _too_large(what, limit_bytes)
            digest.update(chunk)
            file.write(chunk)
    return digest.hexdigest()


def _no_password(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _too_large(what: str, limit_bytes: int) -> GitHubError:
    return GitHubError(f"{what}: it is larger than the limit of {limit_bytes / 1024**2:.0f} MiB")
