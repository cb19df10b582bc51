"""What the README shows is run."""

import re
import shlex
from pathlib import Path

import pytest

from elbmf.cli import main

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("block", re.findall(r"```python\n(.*?)```", README, re.S))
def test_python_blocks_run(block):
    names = {}
    exec(block, names)
    assert names["model"].score(names["A"]) > 0.8


def test_the_commands_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    header = ",".join(["name", *(f"gene{j}" for j in range(6))])
    lines = [
        f"patient{i}," + ",".join("1" if (i < 4) == (j < 3) else "0" for j in range(6))
        for i in range(9)
    ]
    text = "\n".join([header, *lines]) + "\n"
    Path("data.csv").write_text(text)
    Path("new.csv").write_text("\n".join([header, *lines[2:6]]) + "\n")
    assert main(["convert", "data.csv", "counts.h5ad"]) == 0
    kinds = [f"patient{i}\t{'ill' if i < 4 else 'well'}" for i in range(9)]
    Path("patients.tsv").write_text("\n".join(["id\tkind", *kinds]) + "\n")
    Path("pathways.gmt").write_text("one\tfirst\tgene0\tgene1\tgene2\ntwo\t\tgene3\tgene4\n")
    commands = re.findall(r"^\$ elbmf (.*?)(?:\s+#.*)?$", README, re.M)
    assert len(commands) >= 6
    for command in commands:
        # Small ranks for a small table, and each result in its place.
        arguments = [{"20": "2", "50": "2"}.get(word, word) for word in shlex.split(command)]
        if arguments[0] == "fit":
            arguments.append("--overwrite")
        assert main(arguments) == 0, command
        if "--tsv" in arguments:
            assert "gene0" in Path("result/components.tsv").read_text()
    assert Path("memberships.csv").read_text().count("\n") == 5


def test_every_path_it_names_exists():
    root = Path(__file__).parents[1]
    for path in re.findall(
        r"\]\(((?!http)[^)]+)\)|`((?:benchmarks|io|engines|estimators)/[\w.]*)`", README
    ):
        name = next(filter(None, path))
        assert (root / name).exists() or (root / "src" / "elbmf" / name).exists(), name
