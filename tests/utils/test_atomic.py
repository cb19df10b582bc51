"""Files and folders that are there whole or not at all."""

import errno
import os
import shutil
import stat
import subprocess
import sys

import pytest

from elbmf.errors import DiskFullError
from elbmf.utils.atomic import (
    atomic_file,
    only_remains,
    part_of,
    remove_unfinished,
    replace_folder,
    temporary_folder,
    try_writing,
    unfinished,
)
from elbmf.utils.leftovers import OwnFolder


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("sync", [False, True])
@pytest.mark.parametrize("fixed", [False, True])
def test_a_file_is_replaced_as_a_whole(tmp_path, sync, fixed):
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o640)
    with atomic_file(path, temporary=part_of(path) if fixed else None, sync=sync) as stream:
        stream.write(b"new")
        assert path.read_text() == "old"
        assert len(names(tmp_path)) == 2
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_what_was_there(tmp_path, failure):
    path = tmp_path / "a.txt"

    def fail():
        with atomic_file(path) as stream:
            stream.write(b"half")
            raise failure

    for before in ([], ["a.txt"]):
        with pytest.raises(failure):
            fail()
        assert names(tmp_path) == before
        path.write_text("old")
    assert path.read_text() == "old"


def test_half_a_file_of_a_killed_process_is_written_over(tmp_path):
    path = tmp_path / "a.txt"
    part_of(path).write_text("half of what was much longer")
    with atomic_file(path, temporary=part_of(path)) as stream:
        stream.write(b"new")
    assert path.read_text() == "new"
    assert names(tmp_path) == ["a.txt"]


def test_the_content_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    seen = []
    fsync = os.fsync

    def noted(descriptor):
        seen.append((stat.S_ISDIR(os.fstat(descriptor).st_mode), path.exists()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    with atomic_file(path, sync=True) as stream:
        stream.write(b"new")
    assert seen == [(False, False), (True, True)]
    with atomic_file(path) as stream:
        stream.write(b"newer")
    assert len(seen) == 2


_KILLED = """
import os, sys
from pathlib import Path
from elbmf.utils import atomic
{prepare}
path = Path(sys.argv[1])
{act}
"""
_FILE = "with atomic.atomic_file(path, sync=True) as stream: stream.write(b'new'); {die}"


@pytest.mark.parametrize(
    ("prepare", "act", "expected"),
    [
        # In the midst of writing, and at the moment before the name is given.
        ("", _FILE.format(die="stream.flush(); os._exit(9)"), "old"),
        ("os.replace = lambda *_: os._exit(9)", _FILE.format(die="pass"), "old"),
        # When it has its name, but the folder has not been told to the disk.
        ("atomic.sync_folder = lambda _: os._exit(9)", _FILE.format(die="pass"), "new"),
    ],
)
def test_a_crash_leaves_the_old_file_or_the_new_one(tmp_path, prepare, act, expected):
    path = tmp_path / "a.txt"
    path.write_text("old")
    program = _KILLED.format(prepare=prepare, act=act)
    assert subprocess.run([sys.executable, "-c", program, path], check=False).returncode == 9
    assert path.read_text() == expected


def folder_with(path, text):
    path.mkdir()
    (path / "content").write_text(text)
    return path


@pytest.mark.parametrize("moves", [0, 1, 2])
def test_a_crash_leaves_one_of_two_folders(tmp_path, monkeypatch, moves):
    path = folder_with(tmp_path / "a", "old")
    written = folder_with(tmp_path / "a.part", "new")
    rename, done = type(path).rename, []

    def crashing(source, target):
        if len(done) == moves:
            raise KeyboardInterrupt
        done.append(target)
        return rename(source, target)

    monkeypatch.setattr(type(path), "rename", crashing)
    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)
    if moves < 2:
        with pytest.raises(KeyboardInterrupt):
            replace_folder(written, path)
    else:
        replace_folder(written, path)
    texts = {each.name: (each / "content").read_text() for each in tmp_path.iterdir()}
    assert "new" in texts.values()
    assert "old" in texts.values()
    assert texts.get("a") == ["old", None, "new"][moves]


def test_a_folder_that_cannot_be_replaced_stays(tmp_path):
    folder_with(tmp_path / "a", "old")
    with pytest.raises(FileNotFoundError):
        replace_folder(tmp_path / "gone", tmp_path / "a")
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a" / "content").read_text() == "old"


@pytest.mark.parametrize("before", [True, False])
def test_of_several_who_replace_a_folder_the_last_one_wins(tmp_path, monkeypatch, before):
    if before:
        folder_with(tmp_path / "a", "old")
    others = iter([folder_with(tmp_path / f"other{i}", "other") for i in range(3)])
    rename = type(path := tmp_path / "a").rename

    def racing(source, target):
        if source.name == "own" and (other := next(others, None)):
            rename(other, path)
        return rename(source, target)

    monkeypatch.setattr(type(path), "rename", racing)
    replace_folder(folder_with(tmp_path / "own", "own"), path)
    assert names(tmp_path) == ["a"]
    assert (path / "content").read_text() == "own"


def test_only_what_nobody_writes_to_any_more_is_cleared_away(tmp_path):
    path, own = tmp_path / "a", OwnFolder(tmp_path / "a")
    kept = [".a.0123456789ab.part.x", ".b.0123456789ab.part", "a.part", ".a.x.part"]
    for name in (*kept, ".a.0123456789ab.part", ".a.ba9876543210.part"):
        folder_with(tmp_path / name, "left")
    (tmp_path / ".a.aaaaaaaaaaaa.part").symlink_to(tmp_path / "a.part")
    for each in (own.path, *tmp_path.glob(".*"), tmp_path / "a.part"):
        if each.name != ".a.ba9876543210.part":  # It is young.
            os.utime(each, (0, 0))
    other = OwnFolder(path)
    expected = {*kept, ".a.ba9876543210.part", ".a.aaaaaaaaaaaa.part"}
    assert {*names(tmp_path)} == expected | {own.path.name, other.path.name}
    own.release()
    other.release()
    assert {*names(tmp_path)} == expected


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EFBIG])
def test_a_full_disk_is_named(tmp_path, number):
    with (
        pytest.raises(DiskFullError, match=rf"{tmp_path}: there is no room for a.txt \(") as info,
        atomic_file(tmp_path / "a.txt"),
    ):
        raise OSError(number, os.strerror(number))
    assert info.value.errno == number
    assert str(info.value).startswith(str(tmp_path))
    with pytest.raises(OSError, match="other") as info, atomic_file(tmp_path / "a.txt"):
        raise OSError(errno.EIO, "other")
    assert type(info.value) is OSError
    assert names(tmp_path) == []


def test_a_temporary_folder_goes_with_what_is_in_it(tmp_path):
    def fail():
        with temporary_folder(tmp_path) as folder:
            assert names(tmp_path) == [folder.name]
            (folder / "inner").mkdir()
            (folder / "inner" / "a").write_text("a")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert names(tmp_path) == []
    try_writing(tmp_path)
    with pytest.raises(OSError, match="No such file"):
        try_writing(tmp_path / "none")


def test_what_killed_processes_leave_is_known(tmp_path):
    assert only_remains(tmp_path)
    (tmp_path / "steps").mkdir()
    (tmp_path / "steps" / "note.json.part").touch()
    (tmp_path / f".a.png.{'0f' * 6}.tmp").touch()
    (tmp_path / f".elbmf-{'0f' * 8}").mkdir()
    assert only_remains(tmp_path)
    for name in ("thesis.txt", ".hidden", "a.tmp", "steps/note.json"):
        (tmp_path / name).touch()
        assert not only_remains(tmp_path)
        (tmp_path / name).unlink()


def test_what_is_unfinished_can_be_removed_at_once(tmp_path):
    with unfinished(tmp_path / "a"), unfinished(tmp_path / "b") as other:
        (tmp_path / "a").write_text("half")
        other.mkdir()
        (other / "c").write_text("half")
        remove_unfinished()
        assert names(tmp_path) == []
    (tmp_path / "a").write_text("whole")
    remove_unfinished()
    assert names(tmp_path) == ["a"]
