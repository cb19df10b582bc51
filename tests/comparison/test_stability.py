"""Which components return: planted ones do, for any number of threads, also after Ctrl-C."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elbmf import ELBMF, GreConD, MinimalCover, load_model, save_model, stability
from elbmf.comparison import Stability
from elbmf.datasets import make_tiles
from elbmf.errors import InputError, OtherWorkError
from elbmf.estimators.resampled import Resample, run_estimator
from elbmf.estimators.saving import saved_model
from elbmf.io.model_info import StabilityInfo
from elbmf.matrix.boolean_matrix import BooleanMatrix
from strategies import examples, masked_arrays


@pytest.fixture(scope="module")
def tiles():
    return make_tiles((70, 60), 3, height=(20, 25), width=(15, 20), noise=0.05, random_state=3)


@pytest.fixture(scope="module")
def quick():
    return ELBMF(4, effort=0.3, max_iter=100, random_state=1)


@pytest.fixture(scope="module")
def found(tiles, quick):
    return stability(tiles.A, quick, runs=4, n_jobs=1)


def _same(left, right):
    assert np.array_equal(left.similarities_, right.similarities_, equal_nan=True)
    assert np.array_equal(left.row_shares_, right.row_shares_)
    assert np.array_equal(left.consensus_matrix_, right.consensus_matrix_, equal_nan=True)
    assert np.array_equal(left.reference_.components_, right.reference_.components_)
    assert left.info == right.info


def test_planted_components_return_and_others_do_not(tiles, found):
    order = np.argsort(-found.recurrence_)
    assert found.recurrence_[order[:3]].min() > 0.9
    assert found.recurrence_[order[3]] < 0.6
    assert found.stability_ == pytest.approx(found.recurrence_.mean())
    assert found.found_in_[order].tolist()[:3] == [1, 1, 1]
    assert 0 < found.cophenetic_ <= 1


def test_the_consensus_is_what_was_planted_and_a_fit_like_any_other(tiles, found, tmp_path):
    agreed = found.consensus(0.75)
    assert sorted(map(bytes, agreed.components_)) == sorted(map(bytes, tiles.V))
    assert sorted(map(bytes, agreed.membership_.T)) == sorted(map(bytes, tiles.U.T))
    assert agreed.n_components == agreed.n_components_ == 3
    assert agreed.transform(tiles.A).shape == (70, 3)
    save_model(tmp_path / "agreed", saved_model(agreed, BooleanMatrix.from_array(tiles.A)))
    assert load_model(tmp_path / "agreed").shape == (70, 3, 60)
    with pytest.raises(InputError, match="Set a lower cut"):
        found.consensus(1.01)


def test_the_number_of_threads_changes_nothing(tiles, quick, found):
    _same(found, stability(tiles.A, quick, runs=4, n_jobs=3))


def test_runs_are_noted_as_json_holds_them(found):
    noted = found.info
    assert StabilityInfo.from_json(noted.to_json()) == noted
    for l, each in enumerate(noted.components):
        assert len(each.rows) == found.reference_.membership_[:, l].sum()
        assert len(each.columns) == found.reference_.components_[l].sum()
    assert np.shape(noted.consensus) == (60, 60)


@pytest.mark.parametrize("on_disk", [True, False])
def test_an_interrupted_one_goes_on(tiles, quick, found, tmp_path, on_disk):
    folder = tmp_path / "runs" if on_disk else None

    def interrupt(progress):
        if progress.done == 2:
            raise KeyboardInterrupt

    begun = Stability(quick, runs=4, checkpoint=folder, callback=interrupt, n_jobs=1)
    with pytest.raises(KeyboardInterrupt):
        begun.fit(tiles.A)
    assert 2 <= len(begun.fits_) < 4
    done = []
    rest = Stability(quick, runs=4, checkpoint=folder) if on_disk else begun
    rest.set_params(callback=lambda progress: progress.report or done.append(progress.done))
    rest.fit(tiles.A)
    assert done[0] > 2
    _same(rest, found)
    if on_disk:
        with pytest.raises(OtherWorkError):
            Stability(quick, runs=4, checkpoint=folder, resample="rows:0.8").fit(tiles.A)


def test_a_seed_that_is_drawn_is_told_and_repeats(tiles):
    grecond = GreConD(2)
    first = stability(tiles.A, grecond, runs=2)
    again = stability(tiles.A, grecond, runs=2, random_state=first.random_state_)
    assert np.array_equal(first.similarities_, again.similarities_, equal_nan=True)
    assert not hasattr(grecond, "components_")


def test_without_resampling_runs_differ_by_their_starts(tiles):
    model = run_estimator(ELBMF(2, init="svd", min_rows=7), Resample())
    assert (model.init, model.min_rows, model.n_jobs) == ("random", 7, 1)
    half = run_estimator(ELBMF(2, min_rows=7, max_columns=9), Resample(rows=0.5))
    assert (half.init, half.min_rows, half.max_columns) == ("auto", 4, 9)


@given(
    drawn=masked_arrays(),
    shares=st.tuples(*[st.sampled_from([0.3, 0.8, 1.0])] * 3),
    seed=st.integers(0, 2**32 - 1),
)
@examples(60)
def test_a_part_has_the_cells_of_the_whole(drawn, shares, seed):
    A, missing = drawn
    resample = Resample(*shares)
    assert Resample.of(
        ",".join(f"{name}:{getattr(resample, name)}" for name in vars(resample))
    ) == (resample)
    whole = BooleanMatrix.from_array(A, missing=missing)
    part = resample.draw(whole, np.random.default_rng(seed))
    again = resample.draw(whole, np.random.default_rng(seed))
    assert part.A.fingerprint() == again.A.fingerprint()
    for lines, length, share in zip((part.rows, part.columns), A.shape, shares, strict=False):
        assert len(lines) == (length if share == 1 else max(1, round(share * length)))
        assert (np.diff(lines) > 0).all()
    at = np.ix_(part.rows, part.columns)
    hidden = np.zeros(part.A.shape, bool) if part.A.missing is None else part.A.missing.to_csr()
    hidden = hidden if isinstance(hidden, np.ndarray) else hidden.toarray()
    assert (hidden >= missing[at]).all()
    assert np.array_equal(part.A.to_csr().toarray(), A[at] & ~hidden)
    if shares[2] == 1:
        assert np.array_equal(hidden, missing[at])


@pytest.mark.parametrize("text", ["", "rows", "rows:0", "rows:1.5", "row:0.5", "rows:1,rows:1"])
def test_a_share_that_makes_no_sense_is_told(text):
    with pytest.raises(InputError, match=r"resample must be shares .* such as rows:0\.5"):
        stability(np.eye(4), 2, resample=text)


def test_parameters_about_single_rows_are_not_for_parts():
    with pytest.raises(InputError, match=r"forbidden_cells is about lines of the whole"):
        stability(np.eye(4), ELBMF(2, forbidden_cells=np.zeros((4, 4))))
    Resample.of("cells:0.9").check(ELBMF(2, forbidden_cells=np.zeros((4, 4))))


@pytest.mark.parametrize(
    "given",
    [{"max_columns": 9}, {"max_components_per_row": 1}, {"min_rows": 16, "extra_weight": np.inf}],
    ids=str,
)
def test_a_consensus_keeps_to_constraints(tiles, given):
    model = ELBMF(3, effort=0.05, max_iter=50, random_state=0, **given)
    agreed = stability(tiles.A, model, runs=3).consensus(0)
    U, V = agreed.membership_, agreed.components_
    assert U.any(axis=0).all()
    assert V.sum(axis=1).max() <= given.get("max_columns", V.shape[1])
    assert U.sum(axis=1).max() <= given.get("max_components_per_row", U.shape[1])
    assert U.sum(axis=0).min() >= given.get("min_rows", 1)
    covered = U.astype(int) @ V > 0
    assert "extra_weight" not in given or not (covered & (tiles.A.toarray() == 0)).any()


def test_a_consensus_has_fixed_components_first(tiles):
    fixed = np.vstack([tiles.V[:1], np.arange(tiles.V.shape[1])[None] % 7 == 0])
    model = ELBMF(4, effort=0.05, max_iter=50, random_state=0, fixed_components=fixed)
    agreed = stability(tiles.A, model, runs=3, resample="cells:0.9").consensus()
    assert np.array_equal(agreed.components_[:2], fixed)


def test_methods_that_choose_their_rank_are_refused(tiles):
    with pytest.raises(InputError, match="MinimalCover has no n_components"):
        stability(tiles.A, MinimalCover())


def test_components_that_no_run_saw_are_not_held_against_the_others():
    A = np.zeros((24, 20), dtype=bool)
    A[:20, :10] = A[20:22, 12:18] = True
    found = stability(A, ELBMF(2, effort=0, random_state=1), runs=3, resample="rows:0.1")
    unseen = np.isnan(found.similarities_).all(axis=0)
    assert unseen.sum() == 1
    assert found.stability_ == found.recurrence_[~unseen].mean() > 0
