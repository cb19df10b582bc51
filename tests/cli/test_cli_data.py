"""elbmf data."""

import gzip
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from elbmf.cli.commands import data as command
from elbmf.cli.flags.parameters import parameters_of
from elbmf.io import read
from elbmf.paper.catalog import DATA_SETS, open_prepared, prepare_stand_in
from elbmf.paper.catalog.download import RemoteFile
from elbmf.paper.catalog.sets import DataSet
from terminals import Terminal

RATINGS = "1::1::5::3\n2::2::3::4\n2::3::4::4\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ELBMF_DATA", str(tmp_path / "data"))
    (tmp_path / "ratings.dat").write_text(RATINGS)
    return tmp_path / "data"


def test_list(elbmf: Any) -> None:
    result = elbmf("data", "list")
    assert (result.code, result.err) == (0, "")
    header, *lines = result.out.splitlines()
    assert header.split() == ["name", "title", "rows", "columns", "density", "rank", "prepared"]
    assert [line.split()[0] for line in lines] == list(DATA_SETS)
    assert lines[-2].split()[-5:] == ["17,770", "480,189", "0.0067", "20", "no"]
    elbmf("data", "prepare", "movielens", "--from", "ratings.dat")
    assert "20  yes" in elbmf("data", "list").out


def test_list_as_json(elbmf: Any, folder: Path) -> None:
    found = elbmf("data", "list", "--json").json
    assert found["folder"] == str(folder)
    assert [each["name"] for each in found["sets"]] == list(DATA_SETS)
    assert found["sets"][0]["parameters"]["rate"] == 1.0033


@pytest.mark.parametrize("name", DATA_SETS)
def test_show(elbmf: Any, name: str) -> None:
    result = elbmf("data", "show", name)
    assert (result.code, result.err) == (0, "")
    text = " ".join(result.out.split())
    data_set = DATA_SETS[name]
    for part in (data_set.title, data_set.source, data_set.files, data_set.access):
        assert part in text
    assert f"elbmf data prepare {name} --from PATH" in text
    assert (f"elbmf data prepare {name} --download" in text) is bool(data_set.downloads)
    assert elbmf("data", "show", name, "--json").json["rank"] == data_set.rank


def test_prepare_says_what_next(elbmf: Any, folder: Path) -> None:
    result = elbmf("data", "prepare", "movielens", "--from", "ratings.dat")
    assert (result.code, result.out) == (0, "")
    assert "3 ratings of 3 movies by 2 users" in result.err
    assert "2 rows × 3 columns, 2 ones; in the paper's table 71,567 rows × 65,133" in result.err
    path = folder / "movielens.npz"
    assert (
        f"elbmf fit {path} -k 20 --kappa 0.005 --lam 0.001 --rate 1.0033 --max-iter 1500 -o paper"
    ) in result.err
    assert read(path).values.toarray().tolist() == [[1, 0, 0], [0, 0, 1]]
    shown = elbmf("data", "show", "movielens").out
    assert f"prepared      {path}" in shown
    assert "To prepare it" not in shown
    assert "2 rows × 3 columns" in elbmf("info", path).out


def test_options_of_the_loader_are_flags(elbmf: Any) -> None:
    help_text = elbmf("data", "prepare", "movielens", "--help").out
    assert "--threshold X" in help_text
    assert "more stars than this is a one. (default: 3.5)" in " ".join(help_text.split())
    assert "--no-all-ids" in help_text
    assert "--evidence" in elbmf("data", "prepare", "string", "--help").out
    flags = ("--threshold", 1, "--no-all-ids", "-o", "out")
    assert elbmf("data", "prepare", "movielens", "--from", "ratings.dat", *flags).code == 0
    assert read("out/movielens.npz").values.nnz == 3


PUBLISHED = {
    "gbm": {"panda_GBM.csv": ",A2M,TP53,EGFR\nAHR,0.1,-2,9.5\nSP1,-0.3,0.2,0.4\n"},
    "tcga": {
        "HiSeqV2": "sample\tP1\tP2\tP3\tP4\nTP53\t1\t1\t2\t9\nA2M\t0\t0\tNA\t0\n",
        "TCGA_phenotype_denseDataOnlyDownload.tsv": "sample\t_primary_disease\nP1\tglioma\n",
    },
    "genomes": {
        "chr22.vcf": "#CHROM POS ID REF ALT QUAL FILTER INFO FORMAT HG1 HG2\n"
        "22 10 rs1 A G 100 PASS . GT 0|0 0|1\n22 20 rs2 AT G 100 PASS . GT 1|0 ./.\n",
        "all.panel": "sample\tpop\tsuper_pop\nHG1\tGBR\tEUR\nHG2\tYRI\tAFR\n",
    },
    "patents": {
        "g_us_patent_citation.tsv": '"patent_id"\t"citation_patent_id"\n"10"\t"D3"\n"D3"\t"10"\n',
        "g_cpc_current.tsv": '"patent_id"\t"cpc_sequence"\t"cpc_group"\n'
        '"10"\t0\t"A01B1/02"\n"10"\t1\t"A01B3/02"\n"D3"\t0\t"H04L63/08"\n',
    },
}


def publish(folder: Path, name: str) -> Path:
    """Write the files of a data set, gzipped; return what to prepare it from."""
    source = folder / "published"
    source.mkdir()
    for file, text in PUBLISHED[name].items():
        lines = text.replace(" ", "\t") if file.endswith(".vcf") else text
        (source / file).write_bytes(gzip.compress(lines.encode()))
    return source if name == "patents" else source / next(iter(PUBLISHED[name]))


@pytest.mark.parametrize(
    ("name", "flags", "shape", "ones", "labels"),
    [
        ("gbm", ["--upper", 0.2], (2, 3), [[0, 2]], {}),
        (
            "tcga",
            ["--z", 1.5, "--missing", "zero"],
            (4, 2),
            [[3, 0]],
            {"cancer type": ["glioma", "", "", ""]},
        ),
        (
            "genomes",
            ["--snps-only"],
            (2, 1),
            [[1, 0]],
            {"population": ["GBR", "YRI"], "super-population": ["EUR", "AFR"]},
        ),
        (
            "patents",
            ["--first-only", "--level", "class"],
            (2, 2),
            [[0, 1], [1, 0]],
            {"section": ["A", "H"]},
        ),
    ],
)
def test_each_set_is_prepared(
    elbmf: Any,
    tmp_path: Path,
    name: str,
    flags: list[Any],
    shape: tuple[int, int],
    ones: list[list[int]],
    labels: dict[str, list[str]],
) -> None:
    given = publish(tmp_path, name)
    help_text = elbmf("data", "prepare", name, "--help").out
    assert all(flag in help_text for flag in flags if str(flag).startswith("--"))
    result = elbmf("data", "prepare", name, "--from", given, "-o", "out", *flags)
    assert (result.code, result.out) == (0, "")
    path = Path("out") / f"{name}.npz"
    data = open_prepared(path)
    assert data.matrix.shape == shape
    assert np.argwhere(data.matrix.values.toarray()).tolist() == ones
    assert data.row_labels == labels
    assert f"{shape[0]} rows × {shape[1]} columns" in elbmf("info", path).out


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_loader_shows_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("elbmf.estimators.progress_line._SECONDS_BETWEEN", 0.0)
    given = publish(tmp_path, name)
    parser = command.argparse.ArgumentParser()
    arguments = ["prepare", name, "--from", str(given)]
    command.configure(parser, arguments)
    terminal = Terminal()
    assert command.run(parser.parse_args(arguments), terminal) == 0
    for file in PUBLISHED[name]:
        size = (tmp_path / "published" / file).stat().st_size
        assert f"reading {file}  {size} B of {size} B" in " ".join(terminal.lines)


def test_flags_follow_from_signature_and_docstring() -> None:
    def load(
        path: str,
        *,
        z: float | None = None,
        few: int = 3,
        log: bool = False,
        labels: Path | None = None,
        kind: Literal["a", "b"] = "a",
    ) -> None:
        """Read.

        Parameters
        ----------
        path : path-like
            The file.
        z : float, optional
            The z-score.
        few : int, default=3
            How many.
        log : bool, default=False
            Whether to take logarithms.
        labels : path-like, optional
            A table.
        kind : {"a", "b"}, default="a"
            Which kind.
        """

    options = {option.name: option for option in parameters_of(load)}
    assert list(options) == ["z", "few", "log", "labels", "kind"]
    assert options["z"].description == "The z-score."
    assert options["z"].parse("1.5") == 1.5
    assert options["few"].parse("4") == 4
    assert options["log"].is_switch
    assert options["labels"].parse("a.tsv") == "a.tsv"
    assert options["kind"].words == ("a", "b")


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["show", "netlix"], ["no data set 'netlix'", "Did you mean netflix?"]),
        (["prepare", "netlix", "--from", "x"], ["no data set 'netlix'"]),
        (["standin", "netlix"], ["no data set 'netlix'"]),
        (["lst"], ["'lst'", "list"]),
        ([], ["ACTION"]),
        (["show"], ["NAME"]),
        (["prepare", "movielens"], ["say where it is", "--download", "ml-10m.zip", "--from PATH"]),
        (
            ["prepare", "netflix", "--download"],
            ["cannot be downloaded", "combined_data_1.txt", "kaggle.com", "account"],
        ),
        (["prepare", "movielens", "--from", "x", "--download"], ["exclude each other"]),
        (["prepare", "movielens", "--from", "nowhere"], ["nowhere: there is no such file"]),
        (["prepare", "movielens", "--from", "x", "--threshold", "y"], ["must be a number", "'y'"]),
        (["prepare", "movielens", "--from", "x", "--treshold", "3"], ["did you mean --threshold"]),
        (["prepare", "netflix", "--from", "ratings.dat"], ["ratings.dat, line 1", "'17:'"]),
        (["standin", "gbm", "--scale", "-1"], ["scale must be"]),
    ],
)
def test_refused(elbmf: Any, folder: Path, arguments: list[str], parts: list[str]) -> None:
    elbmf("data", *arguments).assert_error(*parts)
    assert not list(folder.glob("*.npz"))


def test_nothing_is_replaced_unasked(elbmf: Any, folder: Path) -> None:
    arguments = ("data", "prepare", "movielens", "--from", "ratings.dat")
    assert elbmf(*arguments).code == 0
    elbmf(*arguments).assert_error("movielens.npz: exists already", "--overwrite")
    assert elbmf(*arguments, "--overwrite").code == 0
    # Even with a name that is not right after the action.
    assert elbmf("data", "prepare", "-o", "new", "movielens", "--from", "ratings.dat").code == 0


def test_standin(elbmf: Any, folder: Path) -> None:
    result = elbmf("data", "standin", "gbm", "--scale", 0.2, "--seed", 1)
    assert (result.code, result.out) == (0, "")
    assert "Nothing in it is real" in result.err
    assert "Wrote 130 rows × 2,140 columns, density 0.05" in result.err
    path = folder / "gbm-standin.npz"
    again = prepare_stand_in("gbm", folder.parent, scale=0.2, random_state=1)
    assert (read(path).values != read(again).values).nnz == 0
    assert "yes" not in elbmf("data", "list").out  # It is not the data.


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Movielens from a server on this machine."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments, directory=str(tmp_path))

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{server.server_address[1]}/ratings.dat"
        movielens = {**vars(DATA_SETS["movielens"]), "downloads": (RemoteFile(url),)}
        monkeypatch.setitem(DATA_SETS, "movielens", DataSet(**movielens))
        yield url
        server.shutdown()
        thread.join()


def test_download(elbmf: Any, folder: Path, served: str) -> None:
    result = elbmf("data", "prepare", "movielens", "--download")
    assert result.code == 0
    assert "Terms of the owner: For research" in result.err
    assert (folder / "downloads" / "ratings.dat").read_text() == RATINGS
    assert read(folder / "movielens.npz").shape == (2, 3)


def test_progress_on_a_terminal(elbmf: Any, served: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elbmf.estimators.progress_line._SECONDS_BETWEEN", 0.0)
    parser = command.argparse.ArgumentParser()
    arguments = ["prepare", "movielens", "--download"]
    command.configure(parser, arguments)
    terminal = Terminal()
    assert command.run(parser.parse_args(arguments), terminal) == 0
    lines = " ".join(terminal.lines)
    assert "downloading ratings.dat  33 B of 33 B" in lines
    assert "reading ratings.dat  33 B of 33 B" in lines
