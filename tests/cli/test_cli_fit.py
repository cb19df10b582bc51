"""elbmf fit: what it saves and prints, and what it refuses."""

import json
import os
import platform
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from elbmf import ELBMF
from elbmf.cli import writing
from elbmf.errors import InputError
from elbmf.estimators import METHODS, BooleanFactorizer
from elbmf.io import LabelledMatrix, load_model, read, save_model, write

FIT = ("fit", "tiles.csv", "-k", 2, "--seed", 0, "-o", "out")


def test_saves_what_the_estimator_finds(elbmf: Any) -> None:
    assert elbmf(*FIT).code == 0
    model = load_model("out")
    X = np.loadtxt("tiles.csv", delimiter=",", skiprows=1, usecols=range(1, 6))
    expected = ELBMF(2, random_state=0).fit(X)
    np.testing.assert_array_equal(model.U.toarray(), expected.membership_)
    np.testing.assert_array_equal(model.V.toarray(), expected.components_)
    assert model.row_names == ["ann", "bob", "cy", "dee", "eve"]
    assert model.column_names == ["apple", "pear", "plum", "fig", "nut"]


def test_notes_how_it_came_about(elbmf: Any) -> None:
    elbmf(*FIT, "--max-iter", 30, "--trace", "full")
    info = load_model("out").info.to_json()
    assert info["method"] == "elbmf"
    assert info["parameters"]["max_iter"] == 30
    assert info["parameters"]["trace"] == "full"
    assert "callback" not in info["parameters"]
    assert info["seed"] == info["parameters"]["random_state"] == 0
    size = {"shape": [5, 5], "ones": 10, "missing": 0}
    assert info["data"] == {"file": "tiles.csv", "path": "../tiles.csv", **size}
    assert info["command"] == "elbmf " + " ".join(
        map(str, [*FIT, "--max-iter", 30, "--trace", "full"])
    )
    assert info["measures"]["loss"] == 0
    assert info["stop_reason"]
    assert info["interrupted"] is False
    assert info["seconds"] >= 0
    assert info["versions"]["python"] == platform.python_version()
    assert set(info["versions"]) == {"elbmf", "python", "numpy"}
    assert len(info["history"]["relaxed_loss"]) == info["n_iter"]
    assert info["history"]["epoch"][0] == 1
    assert "hamming" in info["history"]


def test_names_survive_from_csv_to_the_tables(elbmf: Any) -> None:
    assert elbmf(*FIT, "--tsv").code == 0
    lines = Path("out/components.tsv").read_text().splitlines()
    assert lines[0] == "component\trow_count\tcolumn_count\trows\tcolumns"
    found = {tuple(line.split("\t")[3:]) for line in lines[1:]}
    assert found == {("ann,bob,cy", "apple,pear"), ("dee,eve", "plum,fig")}


def test_tables_say_how_firmly_rows_and_columns_belong(elbmf: Any) -> None:
    assert elbmf(*FIT, "--tsv").code == 0
    rows, columns = (
        [line.split("\t") for line in Path(f"out/{name}.tsv").read_text().splitlines()]
        for name in ("rows", "columns")
    )
    assert rows[0] == ["row", "components", "margins"]
    assert [[name, weighed] for name, _, weighed in rows[1:]] == [
        *(["ann", "2"], ["bob", "2"], ["cy", "2"], ["dee", "2"], ["eve", "2"])
    ]
    assert columns[0] == ["column", "components", "margins"]
    assert [[name, weighed] for name, _, weighed in columns[1:]] == [
        *(["apple", "3"], ["pear", "3"], ["plum", "2"], ["fig", "2"], ["nut", ""])
    ]


def test_prints_a_summary_to_stdout_and_the_rest_to_stderr(elbmf: Any) -> None:
    result = elbmf(*FIT)
    for word in ("loss", "relative loss", "similarity", "recall", "precision", "epochs", "seconds"):
        assert f"\n{word} " in "\n" + result.out
    assert "apple, pear" in result.out
    assert result.err == "Saved to out\n"


def test_tells_what_each_stage_gained(elbmf: Any, noise: Path) -> None:
    result = elbmf("fit", noise, "-k", 4, "--seed", 0, "--max-iter", 30, "-o", "out")
    expected = ELBMF(4, max_iter=30, random_state=0).fit(read(noise).values).stages_
    noted = load_model("out").info.stages
    assert [(each.stage, each.cost) for each in noted] == list(expected.items())
    (line,) = (line for line in result.out.splitlines() if line.startswith("cost by stage"))
    assert line in elbmf("info", "out").out
    shown = [part.split() for part in line.removeprefix("cost by stage").split(", ")]
    assert [(name, int(cost.replace(",", ""))) for name, cost, *_ in shown] == list(
        expected.items()
    )
    signed = [part[2].strip("()").replace("−", "-") if part[2:] else "0" for part in shown]
    changes = [int(each.replace(",", "")) for each in signed]
    assert sum(changes) == expected["search"] - expected["rounding"] < 0


@pytest.mark.parametrize(
    ("weight", "extra", "hinted"), [(1, 90, True), (1, 5, False), (0.5, 90, False)]
)
def test_rates_are_a_hint_where_most_rows_of_thin_data_are_in_nothing(
    elbmf: Any, weight: float, extra: int, hinted: bool
) -> None:
    values = np.zeros((10 + extra, 40), dtype=bool)
    values[:10, :6] = True
    write("thin.npz", LabelledMatrix(values))
    flags = ("-k", 1, "--effort", 0, "--extra-weight", weight, "--seed", 0, "-o", "out")
    said = elbmf("fit", "thin.npz", *flags).out
    assert ("Try --extra-weight auto" in said) == hinted
    assert elbmf("info", "out").out.count("Try --extra-weight auto") == hinted


@pytest.mark.parametrize("weight", [0.3, "auto"])
def test_weighted_costs_are_told_as_so_many_missed_ones(
    elbmf: Any, noise: Path, weight: Any
) -> None:
    flags = ("--extra-weight", weight, "--max-iter", 30, "--n-init", 2, "-o", "out")
    result = elbmf("fit", noise, "-k", 4, "--seed", 0, *flags)
    model = load_model("out")
    cover = model.info.cover
    missed, extra = cover.ones - cover.hits, cover.covered - cover.hits
    cost = missed + model.info.extra_weight * extra
    (line,) = (line for line in result.out.splitlines() if "cost by stage" in line)
    assert line.startswith("weighted cost by stage")
    shown = [part.split()[1] for part in line.split("by stage ")[1].split(", ")]
    assert float(shown[-1].replace(",", "")) == pytest.approx(cost, rel=0.01)
    assert all(cost <= float(each.replace(",", "")) < 2 * cost for each in shown[:-1])
    (runs,) = (line for line in result.out.splitlines() if line.startswith("runs "))
    losses = runs.split("2, weighted losses ")[1].split(", ")
    assert all(cost <= float(each.replace(",", "")) < 2 * cost for each in losses)


@pytest.mark.parametrize("k", [2, 4])
def test_says_how_many_components_are_enough(elbmf: Any, k: int) -> None:
    result = elbmf("fit", "tiles.csv", "-k", k, "--seed", 0, "-o", "out")
    assert load_model("out").info.n_components_used == 2
    said = "\n2 of 4 components used: these already leave no error\n"
    for text in (result.out, elbmf("info", "out").out):
        assert (said in text) == (k == 4)
        assert ("components used" in text) == (k == 4)
        assert ("\n2 empty components are not shown\n" in text) == (k == 4)


def test_components_left_empty_in_spite_of_errors(elbmf: Any) -> None:
    # Far from Boolean after one epoch, and what nothing improves is rounded to nothing.
    flags = ("--max-iter", 1, "--no-refine", "--kappa", 5, "-k", 2, "--seed", 0)
    result = elbmf("fit", "tiles.csv", *flags, "-o", "out")
    assert load_model("out").info.measures["loss"] > 0
    assert "\n0 of 2 components used\n" in result.out


def test_models_without_these_notes_are_shown(elbmf: Any, model: str) -> None:
    file = Path(model) / "model.json"
    description = json.loads(file.read_text())
    for key in ("stages", "n_components_used"):
        del description["info"][key]
    del description["info"]["data"]["missing"]
    file.write_text(json.dumps(description))
    result = elbmf("info", model)
    assert result.code == 0
    assert "relative loss  0.0000" in result.out
    assert "stage" not in result.out
    assert elbmf("score", model, "tiles.csv").code == 0


def test_quiet_leaves_only_results(elbmf: Any) -> None:
    result = elbmf(*FIT, "--quiet")
    assert result.out
    assert result.err == ""


def test_verbose_shows_the_log(elbmf: Any) -> None:
    assert "elbmf.estimators.relaxer: run 1: " in elbmf(*FIT, "-v").err


def test_json_is_one_object(elbmf: Any) -> None:
    found = elbmf(*FIT, "--json").json
    assert found["measures"]["recall"] == 1
    assert found["output"] == "out"
    assert "history" not in found
    covered = {tuple(each["column_names"]): each["covered"] for each in found["components"]}
    assert covered == {("apple", "pear"): 6, ("plum", "fig"): 4}


def test_the_same_seed_gives_the_same_result_and_a_drawn_one_is_noted(elbmf: Any) -> None:
    elbmf("fit", "tiles.csv", "-k", 3, "-o", "first")
    first = load_model("first")
    assert isinstance(first.info.seed, int)
    elbmf("fit", "tiles.csv", "-k", 3, "-o", "second", "--random-state", first.info.seed)
    np.testing.assert_array_equal(first.U.toarray(), load_model("second").U.toarray())


def test_binarize(elbmf: Any) -> None:
    Path("counts.csv").write_text("a,b\n5,0\n1,7\n5,9\n")
    assert elbmf("fit", "counts.csv", "--binarize", 4, "-k", 2, "-o", "out").code == 0
    info = load_model("out").info.to_json()
    assert info["data"]["ones"] == 4
    assert info["parameters"]["binarize"] == 4


def test_words_for_binarize(elbmf: Any) -> None:
    Path("counts.csv").write_text("a,b\n5,0\n1,7\n5,9\n")
    command = ("fit", "counts.csv", "-k", 2, "-o", "out", "--binarize")
    elbmf(*command, "much").assert_error("--binarize", "'much'", "nonzero", "zscore[:CUTOFF]")
    assert elbmf(*command, "nonzero").code == 0
    assert load_model("out").info.data.ones == 5
    assert "zscore[:CUTOFF][:SCOPE]" in elbmf("fit", "--help").out
    assert "zscore[:CUTOFF][:SCOPE]" in elbmf("convert", "--help").out


def test_reader_options(elbmf: Any) -> None:
    Path("pairs.txt").write_text("ann;apple\nbob;pear\nann;pear\n")
    code = elbmf(
        *("fit", "pairs.txt", "--format", "csv", "--layout", "pairs", "--delimiter", ";"),
        *("--no-header", "-k", 1, "-o", "out", "-q"),
    ).code
    assert code == 0
    assert load_model("out").row_names == ["ann", "bob"]


def test_warnings_are_shown_in_one_line_and_noted(elbmf: Any) -> None:
    weak = ("--kappa", 0, "--lam", 0, "--max-iter", 3)
    result = elbmf("fit", "tiles.csv", "-k", 7, *weak, "-o", "out", "--seed", 0)
    lines = [line for line in result.err.splitlines() if line.startswith("elbmf: warning: ")]
    assert len(lines) == 2
    assert "n_components=7 is more than" in lines[0]
    assert "Boolean gap" in lines[1]
    noted = load_model("out").info.warnings
    assert [f"elbmf: warning: {warning}" for warning in noted] == lines


def test_parameters_from_a_file_and_flags_that_win(elbmf: Any) -> None:
    Path("p.toml").write_text('method = "elbmf"\nmax-iter = 7\nk = 2\nseed = 4\nprox = "paper"\n')
    elbmf("fit", "tiles.csv", "--config", "p.toml", "--seed", 5, "-o", "out")
    parameters = load_model("out").info.parameters
    assert parameters["max_iter"] == 7
    assert parameters["n_components"] == 2
    assert parameters["random_state"] == 5
    assert parameters["prox"] == "paper"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("kapa = 1", ["unknown key 'kapa'", "kappa", "max_iter", "seed"]),
        ("callback = 1", ["unknown key 'callback'"]),
        ("seed = 1\nrandom_state = 2", ["random_state is given twice"]),
        ("kappa = -1", ["kappa must be", "[0.0, inf)", "got -1"]),
        ("effort = inf", ["effort must be", "set time_limit=SECONDS", "got inf"]),
        ("kappa = 'much'", ["kappa must be", "got 'much'"]),
        ("k = true", ["n_components must be a number; got True"]),
        ("kappa = = 1", ["not a TOML file", "line 1"]),
        ("method = 'magic'", ["no method 'magic'", "elbmf"]),
        ("n_init = 99999999999999999999999", ["n_init must be", "[1, 1000000]"]),
        ("k = 99999999999999999999999", ["n_components must be", "[1, 1000000]"]),
        ("k = " + "[" * 5000, ["not a valid TOML file"]),
    ],
)
def test_bad_files_of_parameters(elbmf: Any, text: str, parts: list[str]) -> None:
    Path("p.toml").write_text(text)
    elbmf("fit", "tiles.csv", "--config", "p.toml", "-o", "out").assert_error("p.toml: ", *parts)


def test_a_bad_value_that_a_flag_replaces(elbmf: Any) -> None:
    Path("p.toml").write_text("kappa = -1\nlam = 0.02")
    assert elbmf(*FIT, "--config", "p.toml", "--kappa", "0.01").code == 0
    assert load_model("out").info.parameters["kappa"] == 0.01
    # Nor is the file blamed for a bad flag.
    result = elbmf(*FIT, "--config", "p.toml", "--kappa", "-2")
    result.assert_error("--kappa must be", "got -2")
    assert "p.toml" not in result.err


def test_missing_file_of_parameters(elbmf: Any) -> None:
    elbmf("fit", "tiles.csv", "--config", "no.toml", "-o", "out").assert_error("no.toml: there is")


@pytest.mark.parametrize(
    ("flags", "parts"),
    [
        (["-k", "0"], ["--n-components", "[1, 1000000]", "got 0"]),
        (["-k", "2.5"], ["-k/--n-components", "'2.5'"]),
        (["--kappa", "-0.5"], ["--kappa", "[0.0, inf)"]),
        (["--rate", "0.9"], ["--rate", "[1.0, inf)"]),
        (["--rate", "fast"], ["--rate", "'fast'"]),
        (["--beta", "1"], ["--beta", "[0.0, 1.0)"]),
        (["--prox", "none"], ["--prox", "one of exact, paper, alternative"]),
        (["--seed", "x"], ["--seed/--random-state", "a whole number"]),
        (["-j", "0"], ["--n-jobs", "[1, inf)"]),
        (["--method", "magic"], ["--method", "'magic'", "'elbmf'"]),
        (["--method"], ["--method", "expected one argument"]),
    ],
)
def test_bad_parameters(elbmf: Any, flags: list[str], parts: list[str]) -> None:
    elbmf("fit", "tiles.csv", "-o", "out", *flags).assert_error(*parts)
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("no.csv", None, ["no.csv: there is no such file"]),
        ("empty.csv", "", ["empty.csv", "empty"]),
        ("data.xyz", "1,0\n", ["'.xyz'", "csv (.csv)"]),
        ("header.csv", "a,b\n", ["header.csv"]),
        ("words.csv", "a,b\n1,0\n0,often\n", ["words.csv", "often"]),
        ("counts.csv", "a,b\n1,3\n2,0\n", ["counts.csv", "3 at row 0, column 'b'", "--binarize 0"]),
        ("signed.csv", "a,b\n1,-3\n1,0\n", ["-3 at row 0", "--binarize"]),
        ("gaps.csv", "a,b\n1,0\n1,-\n", ["gaps.csv, line 3, field 2", "'-'", "missing"]),
    ],
)
def test_bad_data(elbmf: Any, name: str, content: str | None, parts: list[str]) -> None:
    if content is not None:
        Path(name).write_text(content)
    elbmf("fit", name, "-k", 1, "-o", "new/out").assert_error(*parts)
    assert not Path("new").exists()


def test_options_of_another_format(elbmf: Any) -> None:
    elbmf("fit", "tiles.csv", "--layer", "x", "-o", "out").assert_error("layer", "csv")


@pytest.fixture
def no_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail the test where anything is computed."""
    monkeypatch.setattr(ELBMF, "fit", lambda *_: pytest.fail("should not have come so far"))


@pytest.mark.usefixtures("no_fit")
def test_an_occupied_folder_is_refused_before_the_fit(elbmf: Any) -> None:
    Path("out").mkdir()
    Path("out/thesis.txt").write_text("years of work")
    elbmf(*FIT).assert_error("out: the folder exists and is not empty", "--overwrite")


@pytest.mark.usefixtures("no_fit")
def test_a_file_in_place_of_the_folder_is_refused(elbmf: Any) -> None:
    Path("out").write_text("")
    elbmf(*FIT).assert_error("out: is a file")
    elbmf(*FIT[:-1], "tiles.csv/deeper/out").assert_error("cannot be written")


@pytest.mark.usefixtures("no_fit")
@pytest.mark.parametrize("exists", [True, False])
def test_a_folder_without_permission_is_refused(
    elbmf: Any, monkeypatch: pytest.MonkeyPatch, exists: bool
) -> None:
    def refuse(*_: Any, **__: Any) -> str:
        raise PermissionError(13, "Permission denied")

    if exists:
        Path("out").mkdir()
    # The superuser may write anywhere, so the permission is played.
    monkeypatch.setattr(writing, "try_writing", refuse)
    elbmf(*FIT).assert_error("out: the folder cannot be written (Permission denied)")


@pytest.mark.skipif(os.name != "posix" or os.getuid() == 0, reason="may write anywhere")
@pytest.mark.usefixtures("no_fit")
def test_a_folder_that_is_really_read_only(elbmf: Any) -> None:
    Path("out").mkdir(mode=0o500)
    elbmf(*FIT).assert_error("out: the folder cannot be written (Permission denied)")


def test_overwrite_replaces_only_the_model(elbmf: Any) -> None:
    elbmf(*FIT, "--tsv")
    Path("out/thesis.txt").write_text("years of work")
    assert elbmf("fit", "tiles.csv", "-k", 3, "-o", "out", "--overwrite").code == 0
    assert load_model("out").shape == (5, 3, 5)
    assert Path("out/thesis.txt").exists()
    assert not Path("out/components.tsv").exists()


def test_an_empty_folder_is_filled_where_it_is(elbmf: Any, monkeypatch: Any) -> None:
    Path("here").mkdir()
    monkeypatch.chdir("here")
    assert elbmf("fit", "../tiles.csv", "-k", 2, "-o", ".", "--tsv").code == 0
    assert sorted(path.name for path in Path().iterdir()) == [
        *("columns.tsv", "components.tsv", "factors.npz", "model.json", "rows.tsv")
    ]
    assert load_model(".").shape == (5, 2, 5)


@pytest.mark.usefixtures("no_fit")
@pytest.mark.parametrize("name", ["factors.npz", "model.json", "rows.tsv"])
def test_a_result_never_replaces_the_data(elbmf: Any, name: str) -> None:
    data = Path("out") / name
    data.parent.mkdir()
    data.write_text("a\tb\n1\t0\n")
    result = elbmf("fit", data, "--format", "tsv", "-k", 1, "-o", "out", "--overwrite")
    result.assert_error(f"{data}: writing there would replace {data}, which is read")
    assert data.read_text() == "a\tb\n1\t0\n"


def test_folders_above_are_made(elbmf: Any) -> None:
    assert elbmf(*FIT[:-1], "some/where/out").code == 0
    assert load_model("some/where/out").shape == (5, 2, 5)


def test_a_result_that_cannot_be_saved_is_rescued(
    elbmf: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def save_elsewhere(folder: Any, *arguments: Any, **options: Any) -> None:
        if Path(folder) == Path("out"):
            raise InputError("out: the disk was pulled out.")
        save_model(folder, *arguments, **options)

    monkeypatch.setattr(writing, "save_model", save_elsewhere)
    monkeypatch.setattr(writing.tempfile, "tempdir", str(tmp_path))
    result = elbmf(*FIT)
    result.assert_error("the disk was pulled out. The result is in ")
    rescued = result.err.rpartition("is in ")[2].removesuffix(" instead.\n")
    assert load_model(rescued).shape == (5, 2, 5)


def test_a_method_without_epochs(elbmf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Plain(BooleanFactorizer):
        """A method with none but the common parameters and one of its own.

        Parameters
        ----------
        n_components : int
            How many.
        greedy : bool
            Whether to be 100 % greedy.
        """

        _parameter_constraints: ClassVar[dict[str, Any]] = {
            **BooleanFactorizer._parameter_constraints,
            "greedy": ["boolean"],
        }

        def __init__(
            self,
            n_components: int = 1,
            greedy: bool = True,
            refine: bool = False,
            binarize: float | None = None,
            callback: Any = None,
            n_jobs: int | None = None,
            random_state: Any = None,
        ) -> None:
            self.n_components = n_components
            self.greedy = greedy
            self.refine = refine
            self.binarize = binarize
            self.callback = callback
            self.n_jobs = n_jobs
            self.random_state = random_state

        def _factorize(self, A: Any, generator: Any) -> Any:
            from elbmf.estimators.base import FittedFactors

            U = np.ones((A.shape[0], self.n_components), dtype=bool)
            return FittedFactors(U, np.zeros((self.n_components, A.shape[1]), dtype=bool))

    monkeypatch.setitem(METHODS, "plain", Plain)
    assert "Whether to be 100 % greedy" in elbmf("fit", "--method", "plain", "--help").out
    assert "--kappa" not in elbmf("fit", "--method", "plain", "--help").out
    result = elbmf("fit", "tiles.csv", "--method", "plain", "--no-greedy", "-o", "out", "--json")
    assert result.json["method"] == "plain"
    assert result.json["parameters"]["greedy"] is False
    assert result.json["components"][0]["columns"] == 0
    Path("p.toml").write_text('method = "plain"\ngreedy = false\n')
    assert elbmf("fit", "tiles.csv", "--config", "p.toml", "-o", "out2", "-k", 2).code == 0
    elbmf("fit", "tiles.csv", "--method", "plain", "--kappa", 1, "-o", "x").assert_error("--kappa")
    assert json.loads(Path("out2/model.json").read_text())["info"]["method"] == "plain"


def test_nothing_is_learned_from_missing_entries(elbmf: Any) -> None:
    X = np.kron(np.eye(2), np.ones((4, 3)))
    X[0, 0] = X[7, 0] = np.nan
    np.save("with_nan.npy", X)
    assert elbmf("fit", "with_nan.npy", "-k", 2, "-o", "out", "--seed", 0).code == 0
    info = load_model("out").info.to_json()
    assert info["measures"]["loss"] == 0
    assert info["data"]["ones"] == np.nansum(X)
    assert info["data"]["missing"] == 2


@pytest.mark.parametrize("sign", ["", "NA", "?"])
def test_missing_cells_of_text_are_those_of_the_library(elbmf: Any, sign: str) -> None:
    X = np.kron(np.eye(2), np.ones((4, 3)))
    X[1, 1] = 1 - X[1, 1]
    X[0, 0] = X[5, 3] = X[7, 0] = np.nan
    lines = [",".join(sign if np.isnan(x) else f"{x:g}" for x in row) for row in X]
    Path("gaps.csv").write_text("\n".join(["a,b,c,d,e,f", *lines, ""]))
    result = elbmf("fit", "gaps.csv", "-k", 2, "-o", "out", "--seed", 0)
    assert "\nmissing cells  3, which count for nothing\n" in result.out
    model, expected = load_model("out"), ELBMF(2, random_state=0).fit(X)
    np.testing.assert_array_equal(model.U.toarray(), expected.membership_)
    np.testing.assert_array_equal(model.V.toarray(), expected.components_)
    found = elbmf("score", "out", "gaps.csv", "--json").json
    assert found["measures"]["loss"] == expected.reconstruction_err_
    assert found["data"]["missing"] == 3
    memberships = elbmf("transform", "out", "gaps.csv").out.splitlines()[1:]
    described = [[int(cell) for cell in line.split("\t")] for line in memberships]
    np.testing.assert_array_equal(described, expected.transform(X))


# --- effort, time and weights ---


def test_effort_and_weights_are_noted_and_used(elbmf: Any) -> None:
    assert elbmf(*FIT, "--effort", "0.2", "--extra-weight", "2.5").code == 0
    noted = load_model("out").info.parameters
    assert (noted["effort"], noted["extra_weight"], noted["time_limit"]) == (0.2, 2.5, None)


def test_a_time_limit_in_place_of_effort(elbmf: Any) -> None:
    result = elbmf(*FIT, "--effort", 1e9, "--time-limit", "0.2", "--json")
    assert result.code == 0
    assert result.json["parameters"]["time_limit"] == 0.2
    assert result.json["measures"]["loss"] == 0


def test_from_below_the_precision_is_one(elbmf: Any, tmp_path: Path) -> None:
    A = np.random.default_rng(0).random((40, 30)) < 0.4
    np.savetxt("noise.csv", A, fmt="%d", delimiter=",")
    flags = ("-k", 5, "--seed", 0, "--effort", "0.2", "--no-header")
    result = elbmf("fit", "noise.csv", *flags, "--extra-weight", "inf", "-o", "below", "--json")
    assert result.code == 0
    assert result.json["measures"]["precision"] == 1
    assert result.json["measures"]["recall"] > 0
    assert (
        elbmf("fit", "noise.csv", *flags, "-o", "any", "--json").json["measures"]["precision"] < 1
    )
    model = load_model("below")
    expected = ELBMF(5, effort=0.2, extra_weight=np.inf, random_state=0).fit(A)
    np.testing.assert_array_equal(model.U.toarray(), expected.membership_)
    np.testing.assert_array_equal(model.V.toarray(), expected.components_)


def test_weights_from_a_file(elbmf: Any) -> None:
    Path("parameters.toml").write_text("extra-weight = 3\neffort = 0.1\ntime_limit = 0.2\n")
    assert elbmf(*FIT, "--config", "parameters.toml").code == 0
    noted = load_model("out").info.parameters
    assert (noted["effort"], noted["extra_weight"], noted["time_limit"]) == (0.1, 3, 0.2)


@pytest.mark.parametrize(
    ("flag", "value", "message"),
    [
        ("--effort", "-1", "[0.0, inf)"),
        ("--effort", "inf", "[0.0, inf) (to search until a time is up, set --time-limit SECONDS)"),
        ("--effort", "much", "'much'"),
        ("--time-limit", "-1", "[0.0, inf)"),
        ("--extra-weight", "0", "(0.0, inf)"),
        ("--extra-weight", "nan", "(0.0, inf)"),
        ("--extra-weight", "-inf", "(0.0, inf)"),
    ],
)
def test_numbers_of_the_search_are_checked(elbmf: Any, flag: str, value: str, message: str) -> None:
    elbmf(*FIT, f"{flag}={value}").assert_error(flag, message)
    assert not Path("out").exists()


@pytest.mark.torch
def test_epochs_on_a_device(elbmf: Any) -> None:
    assert elbmf(*FIT, "--device", "cpu", "--n-jobs", 1).code == 0
    assert load_model("out").info.measures["loss"] == 0
    assert load_model("out").info.parameters["device"] == "cpu"


@pytest.mark.torch
def test_a_device_that_is_not_there(elbmf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elbmf.relaxation.engines.torch.tensors.devices", lambda: ["cpu"])
    elbmf(*FIT, "--device", "cuda").assert_error("--device cuda", "it has 'cpu'", "leave the")
