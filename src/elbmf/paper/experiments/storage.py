"""What was measured, kept in a folder: a parquet file per table, and a note of what was done."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from elbmf.errors import InputError, Setting
from elbmf.io.files import replacing, writing
from elbmf.io.records import read_parquet_records, write_records
from elbmf.paper.experiments.experiment import Settings, Tables, Task
from elbmf.utils.machine import machine

__all__ = ["Store"]

_NOTE = "measured.json"
# Finished tasks of a run that has not ended; removed when the parquet files have them.
_JOURNAL = "unfinished.jsonl"


class Store:
    """The tables of one experiment in a folder.

    A task is written down as soon as it is finished, so that a run that is interrupted goes on
    where it was.

    The folder is made when the first task is written down. Without settings, they are those of what
    was measured there; with others, that is an error. ``afresh`` forgets what is there. ``tables``
    has all rows so far.
    """

    def __init__(
        self, folder: Path, settings: Settings | None = None, *, afresh: bool = False
    ) -> None:
        self._folder = folder
        self._settings = settings and {"full": settings.full, "seed": settings.seed}
        self._done: list[Task] = []
        self.tables: Tables = {}
        if afresh:
            for name in (_NOTE, _JOURNAL):
                (folder / name).unlink(missing_ok=True)
        elif (folder / _NOTE).exists():
            self._load()

    def lacks(self, tasks: Sequence[Task]) -> list[Task]:
        """Return those tasks that are not done."""
        return [task for task in tasks if task not in self._done]

    def add(self, task: Task, tables: Tables) -> None:
        """Write down what a task gave."""
        self._take(task, tables)
        with writing(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            if not (self._folder / _NOTE).exists():
                self._write_note([])
            with (self._folder / _JOURNAL).open("a", encoding="utf-8") as journal:
                journal.write(json.dumps({"task": task, "tables": tables}) + "\n")

    def finish(self) -> list[Path]:
        """Write the parquet files; return their paths."""
        paths = []
        for name, rows in self.tables.items():
            paths.append(self._folder / f"{name}.parquet")
            write_records(paths[-1], rows)
        self._write_note(self._done)
        (self._folder / _JOURNAL).unlink(missing_ok=True)
        return paths

    def note(self) -> dict[str, Any]:
        """Return settings, tasks, tables, machine and versions of what is in the folder."""
        return dict(json.loads((self._folder / _NOTE).read_text(encoding="utf-8")))

    def _write_note(self, done: list[Task]) -> None:
        note = {
            "settings": self._settings,
            "tasks": done,
            "tables": list(self.tables) if done else [],
            "machine": machine(),
        }
        with replacing(self._folder / _NOTE, compress=False) as stream:
            stream.write(json.dumps(note, indent=2, ensure_ascii=False).encode())

    def _load(self) -> None:
        again = (
            " Choose another folder, or pass ",
            Setting("overwrite", True),
            " to measure anew.",
        )
        try:
            note = self.note()
            before, tasks, names = note["settings"], list(note["tasks"]), list(note["tables"])
        except (ValueError, KeyError, TypeError) as error:
            path = self._folder / _NOTE
            raise InputError(
                f"{path}: does not describe measurements, or is damaged.", *again
            ) from error
        if self._settings not in (None, before):
            raise InputError(
                f"{self._folder}: has measurements with other settings ({_words(before)}; now "
                f"{_words(self._settings)}).",
                *again,
            )
        self._settings = before
        self._done = tasks
        self.tables = {
            name: read_parquet_records(self._folder / f"{name}.parquet") for name in names
        }
        journal = self._folder / _JOURNAL
        for line in journal.read_text(encoding="utf-8").splitlines() if journal.exists() else []:
            try:
                entry = json.loads(line)
            except ValueError:  # The run ended while it wrote this line: the task is done again.
                continue
            if entry["task"] not in self._done:
                self._take(entry["task"], entry["tables"])

    def _take(self, task: Task, tables: Tables) -> None:
        self._done.append(task)
        for name, rows in tables.items():
            self.tables.setdefault(name, []).extend(rows)


def _words(settings: Any) -> str:
    return f"{'full' if settings.get('full') else 'quick'}, seed {settings.get('seed')}"
