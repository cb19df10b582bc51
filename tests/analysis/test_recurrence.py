"""Who returns: matches, shares and consensus beside slow twins."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elbmf.analysis.recurrence import (
    FOUND,
    PartialFit,
    closed,
    consensus_matrix,
    consensus_order,
    cophenetic_correlation,
    match_components,
    recurrence,
    thinned,
)
from strategies import examples


@st.composite
def references_and_fits(draw, count=3):
    """Factors of a few components, and fits of parts of them, alike or not."""
    n, m, k = (draw(st.integers(1, most)) for most in (24, 22, 4))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    density, wrong = draw(st.sampled_from([0.0, 0.3, 0.7])), draw(st.sampled_from([0.0, 0.1, 0.5]))
    U, V = generator.random((n, k)) < density, generator.random((k, m)) < density
    fits = []
    for _ in range(count):
        rows, columns = (
            np.sort(generator.choice(length, generator.integers(1, length + 1), replace=False))
            for length in (n, m)
        )
        its = generator.permutation(k)[: generator.integers(1, k + 1)]
        fits.append(
            PartialFit(
                U[np.ix_(rows, its)] ^ (generator.random((len(rows), len(its))) < wrong),
                V[np.ix_(its, columns)] ^ (generator.random((len(its), len(columns))) < wrong),
                rows,
                columns,
            )
        )
    return U, V, fits


def _jaccard(left, right):
    return len(left & right) / len(left | right) if left | right else 0.0


def _members(U, V, l):
    return {*np.flatnonzero(U[:, l])}, {*np.flatnonzero(V[l])}


def _closed(U, V, l):
    """From the definition, with sets: first all rows, then all columns of these."""

    def nearly_all(cells):
        cells = list(cells)
        return 10 * cells.count(False) <= len(cells)

    rows, columns = _members(U, V, l)
    if not (rows and columns):
        return set(), set()
    covered = U.astype(int) @ V > 0
    rows = {i for i in range(len(U)) if nearly_all(covered[i, j] for j in columns)}
    return rows, {j for j in range(V.shape[1]) if nearly_all(covered[i, j] for i in rows)}


def _similarities(U, V, fit, l, q):
    """From the definition, with sets: of two components, and of what they are closed to."""
    U, V = U[fit.rows], V[:, fit.columns]
    found = []
    for members in (_members, _closed):
        (rows, columns), (its_rows, its_columns) = members(U, V, l), members(fit.U, fit.V, q)
        found.append(_jaccard(rows, its_rows) * _jaccard(columns, its_columns))
    return found


def _is_recut(U, V, fit, l, q):
    plain, by_closure = _similarities(U, V, fit, l, q)
    return 0.1 <= plain < by_closure


def _similarity(U, V, fit, l, q):
    return _similarities(U, V, fit, l, q)[_is_recut(U, V, fit, l, q)]


@given(drawn=references_and_fits(1))
@examples(80)
def test_the_matches_are_the_best_of_all_one_to_one(drawn):
    U, V, (fit,) = drawn
    match, similarity, recut = match_components(U, V, fit)
    k, q = len(V), len(fit.V)
    alike = [[_similarity(U, V, fit, l, p) for p in range(q)] for l in range(k)]
    for l in range(k):
        seen = U[fit.rows, l].any() and V[l, fit.columns].any()
        if not seen:
            assert np.isnan(similarity[l])
        else:
            assert similarity[l] == pytest.approx(alike[l][match[l]] if match[l] >= 0 else 0.0)
        assert recut[l] == (match[l] >= 0 and _is_recut(U, V, fit, l, match[l]))
    taken = match[match >= 0]
    assert len({*taken}) == len(taken)
    best = max(
        sum(alike[l][p] for l, p in zip(order, range(q), strict=False))
        for order in permutations(range(k), min(k, q))
    )
    assert np.nansum(similarity) == pytest.approx(best)


@given(drawn=references_and_fits())
@examples(60)
def test_shares_are_those_of_the_runs_that_found_and_saw(drawn):
    U, V, fits = drawn
    found = recurrence(U, V, fits)
    for l in range(len(V)):
        known = [each for each in found.similarities[:, l] if not np.isnan(each)]
        assert found.recurrence[l] == pytest.approx(np.mean(known) if known else 0.0)
        assert found.found_in[l] == pytest.approx(
            np.mean([each >= FOUND for each in known]) if known else 0.0
        )
        matched = []
        for fit, q, alike in zip(fits, found.matches[:, l], found.similarities[:, l], strict=True):
            if alike >= FOUND:
                members = _closed if _is_recut(U, V, fit, l, q) else _members
                rows, columns = members(fit.U, fit.V, q)
                members = {fit.rows[i] for i in rows}, {fit.columns[j] for j in columns}
                matched.append((fit, *members))
        for i in range(len(U)):
            held = [i in rows for fit, rows, _ in matched if i in fit.rows]
            assert found.row_shares[i, l] == pytest.approx(np.mean(held) if held else 0.0)
        for j in range(V.shape[1]):
            held = [j in columns for fit, _, columns in matched if j in fit.columns]
            assert found.column_shares[j, l] == pytest.approx(np.mean(held) if held else 0.0)
    told = [l for l in range(len(V)) if not np.isnan(found.similarities[:, l]).all()]
    assert found.stability == pytest.approx(found.recurrence[told].mean() if told else 0.0)


@given(drawn=references_and_fits())
@examples(50)
def test_the_consensus_counts_the_runs_that_saw_both(drawn):
    U, _, fits = drawn
    rows = np.arange(0, len(U), 2)
    together = consensus_matrix(fits, rows)
    for at, i in enumerate(rows):
        for other, j in enumerate(rows):
            shared = [
                bool((fit.U[[*fit.rows].index(i)] & fit.U[[*fit.rows].index(j)]).any())
                for fit in fits
                if i in fit.rows and j in fit.rows
            ]
            expected = 1.0 if i == j else np.mean(shared) if shared else np.nan
            assert together[at, other] == pytest.approx(expected, nan_ok=True)
    assert sorted(consensus_order(together)) == [*range(len(rows))]
    assert cophenetic_correlation(together) <= 1 + 1e-9


def test_a_fit_that_found_the_same_in_another_order_is_the_same():
    generator = np.random.default_rng(0)
    U, V = generator.random((40, 5)) < 0.3, generator.random((5, 30)) < 0.3
    rows, order = np.sort(generator.permutation(40)[:20]), generator.permutation(5)
    fit = PartialFit(U[np.ix_(rows, order)], V[order], rows, np.arange(30))
    found = recurrence(U, V, [fit, fit])
    assert found.stability == 1
    assert order[found.matches[0]].tolist() == [*range(5)]
    assert (found.row_shares[rows] == U[rows]).all()
    assert (found.column_shares.T == V).all()


def test_tiles_that_are_cut_in_another_way_are_the_same():
    U, V = np.zeros((30, 2), bool), np.zeros((2, 20), bool)
    U[:10, 0] = U[10:25, 1] = V[0, :8] = V[1, :14] = True
    other, rest = U.copy(), V.copy()
    other[10:25, 0], rest[1, :8] = True, False
    assert np.array_equal(U.astype(int) @ V > 0, other.astype(int) @ rest > 0)
    fit = PartialFit(other, rest, np.arange(30), np.arange(20))
    assert recurrence(U, V, [fit]).stability == 1


def test_details_of_one_tile_are_not_alike_for_that():
    U, V = np.zeros((20, 2), bool), np.zeros((2, 15), bool)
    U[:, 0] = U[:15, 1] = V[0, :10] = V[1, 10] = True
    other = V.copy()
    other[1, 10:12] = False, True
    found = recurrence(U, V, [PartialFit(U, other, np.arange(20), np.arange(15))])
    assert found.similarities.tolist() == [[1, 0]]


@given(drawn=references_and_fits(1))
@examples(60)
def test_components_are_closed_as_the_definition_says(drawn):
    U, V, _ = drawn
    rows, columns = closed(U, V)
    for l in range(len(V)):
        assert _closed(U, V, l) == _members(rows, columns, l)
    assert (rows >= U)[:, V.any(axis=1)].all()


def _loss(A, U, V):
    return int((A ^ (U.astype(int) @ V > 0)).sum())


@given(
    drawn=references_and_fits(1), flips=st.sampled_from([0.0, 0.1, 0.5]), seed=st.integers(0, 99)
)
@examples(60)
def test_thinned_components_cost_no_more_and_none_can_be_thinner(drawn, flips, seed):
    U, V, _ = drawn
    A = (U.astype(int) @ V > 0) ^ (np.random.default_rng(seed).random((len(U), V.shape[1])) < flips)
    rows, columns = thinned(U, V, lambda *factors: _loss(A, *factors))
    assert (rows <= U).all()
    assert (columns <= V).all()
    least = _loss(A, rows, columns)
    assert least <= _loss(A, U, V)
    for l in range(len(V)):
        fewer_rows, fewer_columns = rows.copy(), columns.copy()
        fewer_rows[_spared(rows, columns, l), l] = False
        fewer_columns[l, _spared(columns.T, rows.T, l)] = False
        assert (fewer_rows == rows).all() or _loss(A, fewer_rows, columns) > least
        assert (fewer_columns == columns).all() or _loss(A, rows, fewer_columns) > least


def _spared(U, V, l):
    """Rows of a component that others cover in four fifths of its columns."""
    own, counts = np.flatnonzero(V[l]), U.astype(int) @ V
    return [i for i in np.flatnonzero(U[:, l]) if 5 * (counts[i, own] == 1).sum() <= len(own)]


def test_nested_tiles_are_cut_into_the_fewest_lines():
    U, V = np.zeros((30, 2), bool), np.zeros((2, 20), bool)
    U[:20, 0] = U[5:9, 1] = V[0, :8] = V[1, 8:15] = True
    closer = V.copy()
    closer[1, :8] = True  # What the other covers anyway
    A = U.astype(int) @ V > 0
    rows, columns = thinned(U, closer, lambda *factors: _loss(A, *factors))
    assert np.array_equal(rows, U)
    assert np.array_equal(columns, V)


def test_rows_that_always_have_the_same_company_correlate_perfectly():
    groups = np.repeat([0, 1, 2], [4, 3, 5])
    U = groups[:, None] == np.arange(3)
    fit = PartialFit(U, np.eye(3, dtype=bool), np.arange(12), np.arange(3))
    together = consensus_matrix([fit, fit], np.arange(12))
    assert cophenetic_correlation(together) == pytest.approx(1)
    ordered = groups[consensus_order(together)]
    assert np.count_nonzero(np.diff(ordered)) == 2
    assert cophenetic_correlation(np.ones((4, 4))) == 1
    assert cophenetic_correlation(np.ones((1, 1))) == 1


def test_pairs_of_rows_that_no_fit_saw_together_count_for_nothing():
    groups = np.repeat([0, 1], 6)
    together = (groups[:, None] == groups).astype(float)
    together[0, 11] = together[11, 0] = together[2, 3] = together[3, 2] = np.nan
    assert cophenetic_correlation(together) == pytest.approx(1)
    ordered = groups[consensus_order(together)]
    assert np.count_nonzero(np.diff(ordered)) == 1
