"""Getting the files that owners let anyone download.

By https alone, also where a server sends on to another: what has no checksum is known to come from
its owner by nothing else.
"""

from __future__ import annotations

import errno
import hashlib
import http.client
import logging
import shutil
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from elbmf._version import __version__
from elbmf.errors import FileFormatError, InputError
from elbmf.io.files import open_raw, reading, reason, writing
from elbmf.paper.catalog.sets import RemoteFile
from elbmf.utils.atomic import move_into_place, part_of
from elbmf.utils.text import size_text

__all__ = ["digest", "download"]

_LOG = logging.getLogger(__name__)
_CHUNK = 1 << 20
_SECONDS = 60.0

# Times that servers may send on to another, and bytes that no file of a catalogue has.
_MOST_REDIRECTS = 5
_MOST_BYTES = 4 << 30

# Where nobody is between, there is nothing to encrypt.
_THIS_MACHINE = ("127.0.0.1", "::1", "localhost")

# Called with the name of a file, how many bytes are there, and how many it has if that is known.
Observer = Callable[[str, int, int | None], None]


def digest(path: Path, algorithm: str = "sha256") -> str:
    """Return the digest of a file in hexadecimal digits."""
    with reading(path), open_raw(path) as stream:
        return hashlib.file_digest(
            stream, lambda: hashlib.new(algorithm, usedforsecurity=False)
        ).hexdigest()


def download(remote: RemoteFile, folder: Path, *, page: str, observer: Observer) -> Path:
    """Download a file to a folder, unless it is there, and return its path.

    What was interrupted goes on where it was. The checksum is right where one is known. ``page`` is
    where a user can get the file with a browser, for messages.
    """
    target = folder / remote.name
    if target.exists():
        _verify(remote, target)
        _LOG.info("%s: downloaded before", target)
        return target
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    partial = part_of(target)
    done = partial.stat().st_size if partial.exists() else 0
    try:
        with _opened(remote, done) as response:
            if response.status != http.HTTPStatus.PARTIAL_CONTENT:
                done = 0  # The server begins from the start.
            length = response.headers.get("Content-Length") or ""
            total = done + int(length) if length.isdecimal() else None
            _check_size(total or 0, remote)
            if shutil.disk_usage(folder).free < (total or 0) - done:
                raise _full(folder, remote)
            with writing(partial), open(partial, "ab" if done else "wb") as stream:
                while chunk := response.read(_CHUNK):
                    _check_size(done + len(chunk), remote)
                    _write(stream, chunk, folder, remote)
                    done += len(chunk)
                    observer(remote.name, done, total)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and done:
            partial.unlink()
            return download(remote, folder, page=page, observer=observer)
        raise InputError(
            f"{remote.url}: the server answers {error.code} ({error.reason}). The owner may have "
            f"moved the file: look for {remote.name} on {page}, and pass it with --from."
        ) from error
    except (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError) as e:
        cause = e.reason if isinstance(e, urllib.error.URLError) else e
        why = cause if isinstance(cause, str) else reason(cause)
        raise InputError(
            f"{remote.url}: could not be downloaded ({why}). Check the connection and run the "
            f"command again, or get the file from {page} and pass it with --from."
        ) from e
    if total is not None and done < total:
        raise InputError(
            f"{remote.url}: the connection ended after {done} of {total} bytes. Run the command "
            "again: it goes on from there."
        )
    try:
        _verify(remote, partial)
    except FileFormatError:
        partial.unlink()
        raise
    with writing(target):
        move_into_place(partial, target)
    return target


def _opened(remote: RemoteFile, done: int) -> Any:
    headers = {"User-Agent": f"elbmf/{__version__}"}
    if done:
        headers["Range"] = f"bytes={done}-"
    _check_address(remote.url)
    opener = urllib.request.build_opener(_Redirects)
    request = urllib.request.Request(remote.url, headers=headers)
    return opener.open(request, timeout=_SECONDS)


def _check_address(url: str, before: str | None = None) -> None:
    """Raise where bytes could be changed on their way; ``before`` is who sends on to there."""
    parts = urllib.parse.urlsplit(url)
    here = [urllib.parse.urlsplit(each).hostname in _THIS_MACHINE for each in (url, before or url)]
    if parts.scheme != "https" and not (parts.scheme == "http" and all(here)):
        sent = f"the server sends on to {url}, but " if before else ""
        raise urllib.error.URLError(f"{sent}only addresses that begin with https are asked")


class _Redirects(urllib.request.HTTPRedirectHandler):
    max_redirections = max_repeats = _MOST_REDIRECTS

    def redirect_request(
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Any:
        try:
            _check_address(newurl, req.full_url)
        except urllib.error.URLError:
            fp.close()
            raise
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _check_size(size: int, remote: RemoteFile) -> None:
    if size > _MOST_BYTES:
        raise InputError(
            f"{remote.url}: is larger than {size_text(_MOST_BYTES)}, which no file of the "
            "catalogue is. Look at what is there with a browser, and pass the file with --from."
        )


def _write(stream: Any, chunk: bytes, folder: Path, remote: RemoteFile) -> None:
    try:
        stream.write(chunk)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise _full(folder, remote) from error
        raise


def _full(folder: Path, remote: RemoteFile) -> InputError:
    return InputError(
        f"{folder}: the disk has no room for {remote.name}. Free some and run the command again, "
        "or choose another folder with -o."
    )


def _verify(remote: RemoteFile, path: Path) -> None:
    """Raise where the checksum of a file is not what its owner says."""
    if remote.checksum is None:
        return
    algorithm, _, expected = remote.checksum.partition(":")
    found = digest(path, algorithm)
    if found != expected:
        raise FileFormatError(
            f"{path}: expected the {algorithm} checksum {expected}, found {found}: the file is "
            "damaged, or another one. Remove it, if it is still there, and download it again."
        )
