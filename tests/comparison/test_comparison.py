"""Comparisons: figures are those of direct fits, and no method harms the others."""

from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from elbmf import ELBMF, Asso, GreConD, compare
from elbmf.binarizers import ZScoreBinarizer
from elbmf.boolean.metrics import measures
from elbmf.comparison import Comparison, ComparisonProgress, Result, ranked
from elbmf.comparison.child import small_like
from elbmf.comparison.job_files import load_job, save_data, save_job
from elbmf.datasets import make_tiles
from elbmf.errors import InputError
from elbmf.estimators import METHODS
from elbmf.estimators import method as method_of
from elbmf.kernels.compiling import CompileTimer, kernel
from elbmf.matrix.boolean_matrix import BooleanMatrix
from troubled import Endless, IsKilled, Raises, RunsOutOfMemory, Slow

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("comparison")]

TILES = make_tiles((60, 50), 3, height=(15, 20), noise=0.05, random_state=0)
MISSING = np.random.default_rng(0).random(TILES.A.shape) < 0.02
PARAMETERS = {"elbmf": {"max_iter": 30, "effort": 0}, "asso": {"threshold": 0.5}}


@pytest.fixture(scope="module")
def compared():
    """Results by name, their order and what was reported."""
    seen: list[ComparisonProgress] = []
    results = compare(
        TILES.A,
        4,
        ["asso", "elbmf"],
        parameters=PARAMETERS,
        truth=TILES.truth,
        missing=MISSING,
        refine=True,
        callback=seen.append,
        random_state=3,
    )
    return results, seen


@pytest.fixture(scope="module")
def troubled():
    """Results of methods that go wrong, by name, in the order of their turns."""
    methods = {
        kind.__name__: kind()
        for kind in (Raises, RunsOutOfMemory, IsKilled, Endless, Slow, GreConD)
    }
    comparison = Comparison(TILES.A.toarray(), 3, methods, time_limit=1.5, grace=2)
    return {result.method: result for result in comparison}


def _direct(name):
    method, _, refined = name.partition("+")
    parameters = {**PARAMETERS[method], **({"refine": True} if refined else {})}
    return method_of(method)(4, random_state=3, **parameters).fit(TILES.A, missing=MISSING)


def test_figures_are_those_of_fits_done_directly(compared):
    results, _ = compared
    assert {each.method for each in results} == {"elbmf", "asso", "asso+refine"}
    for each in results:
        model = _direct(each.method)
        U, V = model.membership_, model.components_
        A = BooleanMatrix.from_array(TILES.A, missing=MISSING)
        assert each.status == "finished"
        assert each.loss == model.reconstruction_err_
        expected = measures(A, U, V, truth=TILES.truth)
        assert {name: getattr(each, name) for name in expected} == expected
        assert each.density == (U.sum() + V.sum()) / (U.size + V.size)
        assert (each.n_components, each.n_iter) == (model.n_components_, model.n_iter_)


def test_results_are_sorted_and_timed(compared):
    results, _ = compared
    losses = [each.loss for each in results]
    assert losses == sorted(losses)
    assert all(each.seconds > 0 for each in results)
    assert all(each.peak_memory is None or 0 <= each.peak_memory < 1 << 30 for each in results)


def test_pandas_makes_a_table_of_results(compared):
    results, _ = compared
    table = pd.DataFrame(results)
    assert list(table.columns) == list(asdict(results[0]))
    assert table["loss"].tolist() == [each.loss for each in results]


def test_a_callback_sees_whose_turn_it_is(compared):
    _, seen = compared
    assert [each.method for each in seen if each.report is None] == ["asso", "asso+refine", "elbmf"]
    assert {(each.number, each.total) for each in seen} == {(1, 3), (2, 3), (3, 3)}
    reports = [each.report for each in seen if each.report is not None]
    assert {"component", "epoch"} <= {report.stage for report in reports}


def test_methods_that_go_wrong_do_no_harm(troubled):
    assert list(troubled)[-1] == "GreConD"
    good = troubled["GreConD"]
    assert good.status == "finished"
    assert good.loss == GreConD(3).fit(TILES.A).reconstruction_err_


@pytest.mark.parametrize(
    ("method", "status", "message"),
    [
        ("Raises", "failed", "ArithmeticError: cannot go on"),
        ("RunsOutOfMemory", "out of memory", "Unable to allocate"),
        ("IsKilled", "out of memory", "ended by the system"),
        ("Endless", "time limit", "could not be asked to end"),
    ],
)
def test_what_is_said_of_a_method_that_goes_wrong(troubled, method, status, message):
    result = troubled[method]
    assert result.status == status
    assert message in result.message
    figures = asdict(result)
    assert {name for name, value in figures.items() if value is not None} == {
        "method",
        "status",
        "message",
    }


def test_a_method_may_end_well_when_its_time_is_up(troubled):
    slow, found = troubled["Slow"], GreConD(2).fit(TILES.A)
    assert slow.status == "time limit"
    assert slow.loss == found.reconstruction_err_
    assert slow.n_components == 2
    assert slow.seconds >= 1.5


def test_the_lowest_loss_comes_first_and_failures_last():
    def result(name, loss=None, seconds=None):
        return Result(method=name, status="", loss=loss, seconds=seconds)

    order = [result("c"), result("b", 3, 2.0), result("a", 3, 1.0), result("d", 0, 9.0)]
    assert [each.method for each in ranked(order)] == ["d", "a", "b", "c"]


def test_all_methods_take_part_by_default():
    comparison = Comparison(TILES.A, 3, refine=True)
    twice = [name for name in METHODS if not method_of(name)().refine]
    assert set(comparison.estimators) == {*METHODS, *(f"{name}+refine" for name in twice)}
    seeds = {each.random_state for each in comparison.estimators.values()}
    assert seeds == {comparison.random_state}


def test_a_method_is_run_once_however_often_it_is_named():
    assert list(Comparison(TILES.A, 3, ["grecond", "asso", "grecond"]).estimators) == [
        "grecond",
        "asso",
    ]
    assert list(Comparison(TILES.A, 3, "asso").estimators) == ["asso"]


def test_estimators_given_are_left_alone():
    mine = Asso(7, threshold=0.25, callback=print)
    comparison = Comparison(
        TILES.A, 3, {"mine": mine}, parameters={"mine": {"associate_rows": True}}
    )
    used = comparison.estimators["mine"]
    assert (used.n_components, used.threshold, used.associate_rows) == (3, 0.25, True)
    assert used.callback is None
    assert (mine.n_components, mine.associate_rows, mine.callback) == (7, "auto", print)


class _Local(GreConD):
    __module__ = "__main__"


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"methods": "best"}, ["'best'", "Methods: all, elbmf, asso"]),
        ({"methods": ["asso", "greccond"]}, ["'greccond'", "grecond"]),
        ({"methods": []}, ["no method is named", "elbmf"]),
        ({"methods": {"x": object}}, ["x: expected an estimator", "BooleanFactorizer"]),
        ({"methods": {"x": _Local()}}, ["x: _Local", "Move it to a module"]),
        ({"parameters": {"asso": {"tau": 1}}}, ["asso: unknown parameter 'tau'", "threshold"]),
        ({"parameters": {"asso": {"threshold": 2}}}, ["asso: ", "'threshold'"]),
        ({"parameters": {"asso": {"n_jobs": 2}}}, ["asso: n_jobs is the same for all"]),
        ({"parameters": {"asssso": {}}}, ["'asssso' does not take part", "grecond"]),
        ({"n_components": 0}, ["elbmf: ", "n_components"]),
        ({"n_components": True}, ["n_components must be a number"]),
        ({"truth": TILES.truth[1:]}, ["truth", "60×50", "59×50"]),
        ({"time_limit": 0}, ["time_limit must be a number of seconds above 0", "got 0"]),
        ({"time_limit": "long"}, ["time_limit", "'long'"]),
        ({"grace": -1}, ["grace must be", "got -1"]),
        ({"X": [[2, 1], [0, 1]]}, ["zeros and ones", "2 at row 0, column 0"]),
    ],
)
def test_bad_input(options, parts):
    options = {"X": TILES.A, "n_components": 3, **options}
    with pytest.raises(InputError) as error:
        Comparison(**options)
    for part in parts:
        assert part in str(error.value)


def test_weights_count_in_fits_and_figures():
    rows = np.random.default_rng(0).integers(0, 4, 60)
    [result] = compare(TILES.A, 2, ["grecond"], sample_weight=rows, missing=MISSING, random_state=0)
    model = GreConD(2, random_state=0).fit(TILES.A, missing=MISSING, sample_weight=rows)
    assert result.loss == model.reconstruction_err_
    unlike = GreConD(2, random_state=0).fit(TILES.A, missing=MISSING)
    assert not np.array_equal(unlike.membership_, model.membership_)
    with pytest.raises(InputError, match="feature_weight must be a number for each of the 50"):
        Comparison(TILES.A, 2, feature_weight=[1, 2])


def test_values_are_binarised_once():
    comparison = Comparison(np.array([[3.0, 0.5], [0.0, 2.0]]), 1, binarize=1.0)
    assert comparison._A.ones == 2
    assert {each.binarize for each in comparison.estimators.values()} == {None}


@pytest.mark.parametrize("missing", [None, MISSING])
def test_data_is_handed_over_as_it_is(tmp_path, missing):
    A = BooleanMatrix.from_array(TILES.A, missing=missing)
    save_data(tmp_path, A)
    weights = {"sample_weight": np.arange(4)}
    save_job(tmp_path, GreConD(2), 1.5, weights)
    loaded, estimator, time_limit, found = load_job(tmp_path)
    assert found["sample_weight"].tolist() == [0, 1, 2, 3]
    assert (loaded.shape, loaded.ones, time_limit) == (A.shape, A.ones, 1.5)
    assert estimator.n_components == 2
    np.testing.assert_array_equal(loaded.to_csr().toarray(), A.to_csr().toarray())
    assert (loaded.missing is None) == (missing is None)
    if missing is not None:
        np.testing.assert_array_equal(
            loaded.missing.to_csr().toarray(), A.missing.to_csr().toarray()
        )


def test_parameters_of_any_kind_are_handed_over(tmp_path):
    A = BooleanMatrix.from_array(TILES.A)
    save_data(tmp_path, A)
    init = (np.eye(60, 3), sparse.csr_array(np.eye(3, 50)))
    given = ELBMF(np.int64(3), init=init, extra_weight=np.inf, binarize=ZScoreBinarizer(cutoff=2.5))
    save_job(tmp_path, given, None, {})
    _, found, *_ = load_job(tmp_path)
    assert type(found) is ELBMF
    assert (found.n_components, found.extra_weight) == (3, np.inf)
    assert found.binarize.cutoff == 2.5
    for one, other in zip(found.init, (init[0], init[1].toarray()), strict=True):
        np.testing.assert_array_equal(one, other)


def test_parameters_that_no_file_can_hold_are_named(tmp_path):
    with pytest.raises(InputError, match=r"ELBMF\.callback cannot be handed to another process"):
        save_job(tmp_path, ELBMF(2, callback=print), None, {})


def test_an_empty_matrix_is_handed_over_too(tmp_path):
    A = BooleanMatrix.from_array(np.zeros((3, 2)))
    save_data(tmp_path, A)
    save_job(tmp_path, GreConD(2), None, {})
    assert load_job(tmp_path)[0].ones == 0


@pytest.mark.parametrize("shape", [(1, 1), (60, 50), (70_000, 5), (5, 70_000), (100_000, 100_000)])
@pytest.mark.parametrize("missing", [False, True])
def test_kernels_are_compiled_for_the_types_of_the_data(shape, missing):
    last = BooleanMatrix(
        shape, np.r_[np.zeros(shape[0], dtype=np.int64), 1], np.array([shape[1] - 1])
    )
    A = BooleanMatrix(shape, np.zeros(shape[0] + 1, dtype=np.int64), np.empty(0, dtype=np.int32))
    if missing:
        A = BooleanMatrix(shape, A.indptr, A.indices, last)
    small = small_like(A)
    assert small.ones <= 1200
    assert all(a <= b for a, b in zip(small.shape, shape, strict=True))
    assert (small.missing is not None) == missing
    assert small.indices.dtype == A.indices.dtype
    for axis in (0, 1):
        assert [part.dtype for part in small.lines(axis)] == [part.dtype for part in A.lines(axis)]


def test_the_time_of_compiling_is_measured():
    @kernel()
    def double(x):
        return 2 * x

    with CompileTimer() as first:
        assert double(3) == 6
    with CompileTimer() as second:
        assert double(4) == 8
    assert first.seconds >= 0
    assert second.seconds == 0
