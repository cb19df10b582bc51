"""Downloads, from a server on this machine."""

import errno
import hashlib
import shutil
import threading
from collections import namedtuple
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from elbmf.errors import FileFormatError, InputError
from elbmf.paper.catalog import download as module
from elbmf.paper.catalog.download import RemoteFile, download
from elbmf.paper.catalog.sets import DATA_SETS

CONTENT = bytes(range(256)) * 20_000
MD5 = hashlib.md5(CONTENT, usedforsecurity=False).hexdigest()


SENT_ON = {
    "/moved": "/whole",
    "/circle": "/circle",
    "/plain": "http://owner.example/whole",
    "/file": "file:///etc/passwd",
    "/ftp": "ftp://owner.example/whole",
}


class Handler(BaseHTTPRequestHandler):
    """Serves ``/whole`` and, from where one asks for, ``/ranges``; ``/short`` breaks off."""

    asked: ClassVar[list[str | None]] = []

    def do_GET(self):
        begin = 0
        asked = self.headers.get("Range")
        self.asked.append(asked)
        if self.path == "/missing":
            self.send_error(404)
            return
        if self.path in SENT_ON:
            self.send_response(302)
            self.send_header("Location", SENT_ON[self.path])
            self.end_headers()
            return
        if self.path == "/ranges" and asked:
            begin = int(asked.removeprefix("bytes=").removesuffix("-"))
            if begin >= len(CONTENT):
                self.send_error(416)
                return
        self.send_response(206 if begin else 200)
        if self.path != "/unsized":
            self.send_header("Content-Length", str(len(CONTENT) - begin))
        self.end_headers()
        end = 3_000_000 if self.path == "/short" else len(CONTENT)
        self.wfile.write(CONTENT[begin:end])

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    """Does not tell of those who hang up."""

    def handle_error(self, *_):
        pass


@pytest.fixture(scope="module")
def server():
    with Server(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()
        thread.join()


@pytest.fixture
def get(server, tmp_path, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    Handler.asked.clear()
    told = []

    def run(name, checksum=None, base=server):
        remote = RemoteFile(f"{base}/{name}", checksum)
        observer = lambda *progress: told.append(progress)  # noqa: E731
        return download(remote, tmp_path / "d", page="https://owner.example", observer=observer)

    run.told = told
    run.folder = tmp_path / "d"
    return run


@pytest.mark.parametrize("name", ["whole", "ranges", "unsized"])
def test_a_download(get, name):
    path = get(name, f"md5:{MD5}")
    assert path.read_bytes() == CONTENT
    assert [each.name for each in get.folder.iterdir()] == [name]
    assert get.told[-1] == (name, len(CONTENT), None if name == "unsized" else len(CONTENT))
    assert get(name, f"md5:{MD5}") == path
    assert len(Handler.asked) == 1  # what is there is not asked for again


@pytest.mark.parametrize("name", ["whole", "ranges"])
def test_what_was_interrupted_goes_on(get, name):
    get.folder.mkdir()
    (get.folder / f"{name}.part").write_bytes(CONTENT[:1_000_000])
    assert get(name, f"md5:{MD5}").read_bytes() == CONTENT
    assert Handler.asked == ["bytes=1000000-"]
    # The server may not know how to go on, and begins again.
    assert get.told[0][1] == (1_000_000 if name == "ranges" else 0) + module._CHUNK


def test_what_is_too_long_begins_again(get):
    get.folder.mkdir()
    (get.folder / "ranges.part").write_bytes(CONTENT)
    assert get("ranges").read_bytes() == CONTENT
    assert Handler.asked == [f"bytes={len(CONTENT)}-", None]


def test_a_connection_that_ends_too_early(get):
    with pytest.raises(InputError, match=r"ended after 3000000 of 5120000 bytes. Run .* again"):
        get("short")
    assert (get.folder / "short.part").stat().st_size == 3_000_000
    assert not (get.folder / "short").exists()


def test_wrong_checksums(get):
    with pytest.raises(FileFormatError, match=rf"expected the md5 checksum 123, found {MD5}"):
        get("whole", "md5:123")
    assert list(get.folder.iterdir()) == []
    (get.folder / "whole").write_bytes(b"something else")
    with pytest.raises(FileFormatError, match=r"whole: expected the md5 checksum .*another one"):
        get("whole", f"md5:{MD5}")


def test_a_file_that_is_not_there(get):
    with pytest.raises(InputError, match=r"answers 404 .*missing on https://owner.example, and"):
        get("missing")


@pytest.mark.parametrize("base", ["http://127.0.0.1:9", "http://nowhere.invalid"])
def test_no_network(get, base):
    with pytest.raises(InputError, match=r"could not be downloaded \(.*--from"):
        get("whole", base=base)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("plain", r"could not be downloaded \(.* sends on to http://owner.example/whole, but only"),
        ("ftp", r"could not be downloaded \(.* sends on to ftp://owner.example/whole, but only"),
        ("file", r"answers 302 .*not allowed"),
    ],
)
def test_servers_may_send_on_to_https_only(get, name, said):
    with pytest.raises(InputError, match=rf"{said}.*--from"):
        get(name)
    assert list(get.folder.iterdir()) == []


def test_servers_may_send_on_a_few_times(get, server):
    assert get("moved").read_bytes() == CONTENT
    with pytest.raises(InputError, match="answers 302"):
        get("circle")
    assert Handler.asked.count(None) == 2 + 1 + module._MOST_REDIRECTS


@pytest.mark.parametrize("base", ["http://owner.example", "file:///etc", "ftp://owner.example"])
def test_other_addresses_are_not_asked(get, base):
    with pytest.raises(InputError, match="only addresses that begin with https"):
        get("passwd", base=base)


@pytest.mark.parametrize("name", ["whole", "unsized"])
def test_a_file_that_is_too_large(get, name, monkeypatch):
    monkeypatch.setattr(module, "_MOST_BYTES", 3_000_000)
    with pytest.raises(InputError, match="is larger than 3 MB, which no file"):
        get(name)
    assert not (get.folder / name).exists()


def test_the_catalogue_asks_by_https():
    remotes = [each for data_set in DATA_SETS.values() for each in data_set.downloads]
    assert remotes
    for remote in remotes:
        module._check_address(remote.url)


def test_a_full_disk(get, monkeypatch):
    usage = namedtuple("usage", "free")
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _: usage(10))
        with pytest.raises(InputError, match=r"no room for whole\. Free some"):
            get("whole")

    class Full:
        def write(self, _):
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(InputError, match=r"no room for whole\. Free some"):
        module._write(Full(), b"x", get.folder, RemoteFile("http://x/whole"))


def test_a_folder_that_cannot_be_made(get):
    get.folder.write_text("a file")
    with pytest.raises(InputError, match="d: "):
        get("whole")
