"""Sofa: sketches, centres, the choice of clusters, and rows that come in pieces."""

import pickle
import tracemalloc
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from elbmf.boolean.coverage import cover
from elbmf.datasets import make_tiles
from elbmf.errors import InputError
from elbmf.estimators import Sofa
from elbmf.estimators.rank_search import RankSearch
from elbmf.estimators.rivals.kernels.sketches import Merging, Sketches, count_in, merge_into
from elbmf.search.local import describe
from strategies import boolean_arrays, examples, masked_arrays

pytestmark = pytest.mark.filterwarnings("ignore:n_components:UserWarning")

NOISY = make_tiles((40, 30), 4, height=(5, 10), noise=0.1, random_state=1).A.toarray()


# --- sketches ---


def empty_sketches(count, room):
    return Sketches(
        np.zeros((count, room), dtype=np.int32),
        np.zeros((count, room), dtype=np.int64),
        np.zeros(count, dtype=np.int64),
    )


def counters(sketches, c):
    length = sketches.lengths[c]
    return dict(zip(sketches.columns[c, :length], sketches.counts[c, :length], strict=True))


def add(sketches, c, counts, size):
    columns = np.array(sorted(counts), dtype=np.int32)
    merging = Merging(*np.empty((2, columns.size + sketches.columns.shape[1]), dtype=np.int64))
    values = np.array([counts[j] for j in columns], dtype=np.int64)
    merge_into(sketches, c, columns, values, size, merging)


rows_of_columns = st.lists(st.sets(st.integers(0, 40), max_size=12), max_size=40)


@given(rows=rows_of_columns, size=st.integers(1, 25), split=st.integers(0, 40))
@examples(200)
def test_sketches_count_as_exactly_as_they_promise(rows, size, split):
    """However the rows are split over two sketches that are merged in the end."""
    sketches = empty_sketches(2, 2 * size)
    for i, row in enumerate(rows):
        add(sketches, int(i >= split), dict.fromkeys(row, 1), size)
    add(sketches, 0, counters(sketches, 1), size)
    truth = Counter(column for row in rows for column in row)
    kept = counters(sketches, 0)
    assert list(kept) == sorted(kept)
    for column, count in truth.items():
        assert count_in(sketches, 0, column) == kept.get(column, 0)
        assert 0 <= count - kept.get(column, 0) <= truth.total() / (size + 1)
    assert not set(kept) - set(truth)
    if len(truth) <= 2 * size:
        assert kept == truth


# --- the whole first pass, beside a twin made of dictionaries ---


def merged(counts, more, room, size):
    total = Counter(counts)
    total.update(more)
    if len(total) > room:
        taken = sorted(total.values(), reverse=True)[size]
        total = Counter({j: count - taken for j, count in total.items() if count > taken})
    return total


class NaiveCenters:
    def __init__(self, m, max_centers, similarity, theta, size):
        self.least, self.theta, self.size = similarity, theta, size
        self.most, self.similarity = max_centers, max(similarity, 0.8)
        self.room = min(m, 2 * size)
        self.centers = []

    def cluster(self, center):
        ones, missing, members = center
        return {j for j, count in ones.items() if count >= self.theta * (members - missing[j])}

    def saved(self, center):
        ones, missing, members = center
        return sum(2 * ones[j] - (members - missing[j]) for j in self.cluster(center))

    def closest(self, centers, columns, missing, similarity):
        def measure(c):
            cluster = self.cluster(centers[c]) - missing
            return len(columns & cluster) / len(columns | cluster) if columns & cluster else -1.0

        best = max(range(len(centers)), key=measure, default=None)
        return best if best is not None and measure(best) >= similarity else None

    def add(self, centers, c, ones, missing, members):
        if c is None:
            centers.append((Counter(), Counter(), 0))
            c = -1
        old = centers[c]
        centers[c] = (
            merged(old[0], ones, self.room, self.size),
            merged(old[1], missing, self.room, self.size),
            old[2] + members,
        )

    def read(self, columns, missing):
        if not columns:
            return
        c = self.closest(self.centers, columns, missing, self.similarity)
        if c is None and len(self.centers) == self.most:
            self.make_room()
            c = self.closest(self.centers, columns, missing, self.similarity)
        self.add(self.centers, c, dict.fromkeys(columns, 1), dict.fromkeys(missing, 1), 1)

    def regrouped(self, most, similarity):
        def uselessness(center):
            return len(self.cluster(center)) - self.saved(center)

        fresh, left_out = [], False
        for center in sorted(filter(self.cluster, self.centers), key=uselessness):
            c = self.closest(fresh, self.cluster(center), set(), similarity)
            if c is None and len(fresh) == most:
                left_out = True
            else:
                self.add(fresh, c, *center)
        return fresh, left_out

    def make_room(self):
        most = max(1, int(0.75 * self.most))
        fresh, left_out = self.regrouped(most, self.similarity)
        while left_out and self.similarity > self.least:
            self.similarity = max(self.least, round(self.similarity - 0.1, 9))
            fresh, left_out = self.regrouped(most, self.similarity)
        self.centers = fresh

    def choose(self, k, m):
        candidates = [self.cluster(center) for center in self.centers]
        level = self.similarity
        while True:
            fresh, _ = self.regrouped(self.most, level)
            candidates += [self.cluster(center) for center in fresh]
            if level == self.least:
                break
            level = max(self.least, round(level - 0.1, 9))
        covered = [set() for _ in self.centers]

        def gain(c, candidate):
            ones, missing, members = self.centers[c]
            return sum(2 * ones[j] - (members - missing[j]) for j in candidate - covered[c])

        V = np.zeros((k, m), dtype=bool)
        for l in range(k):
            totals = [
                sum(max(gain(c, candidate), 0) for c in range(len(self.centers)))
                for candidate in candidates
            ]
            if not totals or max(totals) <= 0:
                break
            best = candidates[totals.index(max(totals))]
            V[l, list(best)] = True
            for c in range(len(self.centers)):
                if gain(c, best) > 0:
                    covered[c] |= best
        return V


def naive_components(A, k, missing=None, *, max_centers, similarity, theta, sketch_size):
    missing = np.zeros(A.shape, dtype=bool) if missing is None else missing
    centers = NaiveCenters(A.shape[1], max_centers, similarity, theta, sketch_size)
    for row, gaps in zip(A & ~missing, missing, strict=True):
        centers.read(set(np.flatnonzero(row).tolist()), set(np.flatnonzero(gaps).tolist()))
    return centers.choose(k, A.shape[1])


parameters = st.fixed_dictionaries(
    {
        "max_centers": st.sampled_from([2, 3, 5, 8, 70]),
        "similarity": st.sampled_from([0.1, 0.4, 0.75, 0.95]),
        "theta": st.sampled_from([0.3, 0.5, 0.6, 1.0]),
        "sketch_size": st.sampled_from([1, 3, 100]),
    }
)
sides = st.sampled_from([1, 2, 7, 12, 25])


@given(A=boolean_arrays(sides, sides), k=st.integers(1, 8), parameters=parameters)
@examples(150)
def test_sofa_is_the_described_algorithm(A, k, parameters):
    model = Sofa(k, **parameters).fit(sparse.csr_array(A))
    V = naive_components(A, k, **parameters)
    np.testing.assert_array_equal(model.components_, V)
    np.testing.assert_array_equal(model.membership_, describe(A, V))


@given(case=masked_arrays(sides, sides), k=st.integers(1, 4), parameters=parameters)
@examples(100)
def test_sofa_with_missing_entries(case, k, parameters):
    A, missing = case
    model = Sofa(k, **parameters).fit(A, missing=missing)
    V = naive_components(A, k, missing, **parameters)
    np.testing.assert_array_equal(model.components_, V)


@pytest.mark.parametrize("max_centers", [20, 70])
def test_sofa_on_many_rows_of_several_words(max_centers):
    tiles = make_tiles((300, 90), 5, height=(20, 60), noise=0.1, overlap=True, random_state=3)
    settings = {"max_centers": max_centers, "similarity": 0.4, "theta": 0.6, "sketch_size": 20}
    model = Sofa(6, **settings).fit(tiles.A)
    V = naive_components(tiles.A.toarray(), 6, **settings)
    np.testing.assert_array_equal(model.components_, V)


# --- rows in pieces ---


@given(A=boolean_arrays(sides, sides), cuts=st.lists(st.integers(0, 25), max_size=4))
@examples(50)
def test_how_the_rows_are_cut_changes_nothing(A, cuts):
    whole = Sofa(3, max_centers=5).fit(A)
    model = Sofa(3, max_centers=5)
    for piece in np.split(A, sorted(min(cut, A.shape[0]) for cut in cuts)):
        if piece.size:
            model.partial_fit(piece)
    np.testing.assert_array_equal(model.components_, whole.components_)
    np.testing.assert_array_equal(model.transform(A), whole.membership_)
    assert model.n_components_ == whole.components_.any(axis=1).sum()


def test_missing_entries_may_turn_up_later():
    missing = np.random.default_rng(0).random(NOISY.shape) < 0.1
    missing[:20] = False
    whole = Sofa(4).fit(NOISY, missing=missing)
    model = Sofa(4).partial_fit(NOISY[:20]).partial_fit(NOISY[20:], missing=missing[20:])
    np.testing.assert_array_equal(model.components_, whole.components_)


def test_partial_fit_goes_on_and_fit_starts_anew():
    whole = Sofa(4).fit(NOISY)
    model = Sofa(4).fit(NOISY[:20])
    model = pickle.loads(pickle.dumps(model)).partial_fit(NOISY[20:])
    np.testing.assert_array_equal(model.components_, whole.components_)
    for attribute in ("membership_", "reconstruction_err_", "history_", "stages_"):
        assert not hasattr(model, attribute)
    np.testing.assert_array_equal(model.fit(NOISY).components_, whole.components_)
    with pytest.raises(ValueError, match="X has 29 features, but Sofa is expecting 30"):
        model.partial_fit(NOISY[:, 1:])


def test_rows_of_another_length_after_a_fit_that_failed():
    model = Sofa(4).fit(NOISY)
    with pytest.raises(InputError, match="zeros and ones; got 7"):
        model.fit(np.full((4, 31), 7))
    with pytest.raises(InputError, match=r"Expected rows of 30 columns.* got 31\. Call fit"):
        model.partial_fit(np.ones((4, 31)))


def test_a_stream_cannot_choose_the_number_of_components():
    with pytest.raises(InputError, match="got n_components='auto'"):
        Sofa("auto").partial_fit(NOISY)


def stream(rows, seed=0):
    """Blocks of rows that each have one of ten groups of columns, and noise."""
    generator = np.random.default_rng(seed)
    groups = generator.random((10, 400)) < 0.1
    for _ in range(rows // 500):
        yield groups[generator.integers(0, 10, 500)] | (generator.random((500, 400)) < 0.02)


def peak_memory(rows):
    model = Sofa(10, max_centers=50)
    tracemalloc.start()
    for block in stream(rows):
        model.partial_fit(block)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak, len(pickle.dumps(model)), model


def test_memory_does_not_grow_with_the_rows():
    peak_memory(1000)  # with all that is loaded or compiled once
    (short, short_state, _), (long, long_state, model) = peak_memory(1000), peak_memory(10_000)
    assert long < 1.2 * short
    assert long_state < 1.2 * short_state
    rows = next(stream(500))
    assert model.score(rows) > 0.7


# --- as an estimator ---


def test_sofa_finds_tiles_under_noise():
    for shape, height in (((40, 30), (5, 10)), ((400, 300), (50, 100))):
        tiles = make_tiles(shape, 5, height=height, noise=0.1, random_state=0)
        assert Sofa(5).fit(tiles.A).reconstruction_err_ < 0.4 * tiles.A.nnz


def test_blocks_are_reported_and_change_nothing(monkeypatch):
    whole = Sofa(4).fit(NOISY)
    reports = []
    monkeypatch.setattr("elbmf.estimators.rivals.sofa._ROWS_AT_ONCE", 7)
    model = Sofa(4, callback=reports.append).fit(NOISY)
    np.testing.assert_array_equal(model.components_, whole.components_)
    assert [report.iteration for report in reports] == list(range(1, 8))
    assert reports[-1].progress == 1
    assert reports[-1].loss == model.reconstruction_err_
    assert model.n_iter_ == 6
    np.testing.assert_array_equal(model.history_["rows"], [7, 14, 21, 28, 35, 40])
    assert list(model.history_) == ["rows", "centers", "similarity"]


def test_a_callback_ends_the_first_pass(monkeypatch):
    monkeypatch.setattr("elbmf.estimators.rivals.sofa._ROWS_AT_ONCE", 10)
    model = Sofa(4, callback=lambda report: report.iteration == 2).fit(NOISY)
    assert model.stop_reason_ == "callback"
    np.testing.assert_array_equal(model.components_, Sofa(4).fit(NOISY[:20]).components_)
    np.testing.assert_array_equal(model.membership_, describe(NOISY, model.components_))


@pytest.mark.parametrize("refine", [False, True])
def test_ranks_share_the_first_pass(refine, monkeypatch):
    passes = []
    original = Sofa._first_pass

    def counted(self, *arguments):
        passes.append(1)
        return original(self, *arguments)

    monkeypatch.setattr(Sofa, "_first_pass", counted)
    search = RankSearch(Sofa(refine=refine), max_components=5).fit(NOISY)
    assert len(passes) == 1
    for rank in range(1, 6):
        expected = Sofa(rank, refine=refine).fit(NOISY)
        found = search.model(rank)
        assert found.reconstruction_err_ <= expected.reconstruction_err_
        if not refine:
            np.testing.assert_array_equal(found.components_, expected.components_)


def test_the_rank_can_be_chosen():
    model = Sofa("auto").fit(NOISY)
    assert model.components_.shape[0] == model.history_["rank"][np.argmin(model.history_["mdl"])]


def test_stop_reasons_and_refinement():
    assert Sofa(2).fit(np.eye(4)).stop_reason_ == "n_components"
    assert Sofa(4).fit(np.eye(4)).stop_reason_ == "exact"
    plain, refined = Sofa(4).fit(NOISY), Sofa(4, refine=True).fit(NOISY)
    assert plain.stages_ == {"method": plain.reconstruction_err_}
    assert refined.stages_["method"] == plain.reconstruction_err_
    assert refined.reconstruction_err_ <= plain.reconstruction_err_
    assert (
        refined.reconstruction_err_ == cover(NOISY, refined.membership_, refined.components_).loss
    )


def test_cells_that_are_held_out_change_nothing_for_the_others():
    A = make_tiles((80, 40), 4, height=(10, 30), noise=0.1, random_state=1).A
    alone = RankSearch(Sofa(), max_components=6).fit(A)
    beside = RankSearch(Sofa(random_state=0), max_components=6, holdout=0.4).fit(A)
    for rank in range(1, 7):
        np.testing.assert_array_equal(beside.model(rank).components_, alone.model(rank).components_)
