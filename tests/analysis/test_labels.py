"""Components against labels, with scikit-learn's function on each pair as the slow twin."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import hypergeom
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from elbmf import ELBMF
from elbmf.analysis.labels import (
    NO_COMPONENT,
    clustering_scores,
    component_labels,
    is_known,
    label_codes,
    labels_in_order,
)
from elbmf.errors import InputError
from elbmf.estimators.saving import saved_model
from elbmf.io import SavedModel
from strategies import boolean_arrays


@st.composite
def labelled_memberships(draw):
    """Memberships and labels, some of which are not known."""
    U = draw(boolean_arrays(rows=st.integers(1, 40), columns=st.integers(1, 6)))
    label = st.sampled_from(draw(st.sampled_from([["a", "b", "c", "", None], ["a"], [3, 1, None]])))
    return U, draw(st.lists(label, min_size=len(U), max_size=len(U)))


def slow_nmi(component, indicator):
    """A pair by scikit-learn; what is the same for all rows tells nothing."""
    if len(set(component)) < 2 or len(set(indicator)) < 2:
        return 0.0
    return normalized_mutual_info_score(indicator, component)


@pytest.mark.parametrize(
    ("labels", "what"),
    [
        (np.arange(100) / 2, "100 different values in 100 rows, which are rather numbers: 0.0, "),
        ([*(f"{at},5" for at in range(60)), "unknown"] * 9, "rather numbers"),
        ([f"patient {at}" for at in range(100)], "rather names: patient 0, "),
    ],
)
def test_what_sorts_rows_into_no_groups_is_refused(labels, what):
    with pytest.raises(InputError, match=what):
        component_labels(np.ones((len(labels), 1), dtype=bool), labels)


def test_many_groups_and_few_numbers_are_labels():
    many = [f"group {at}" for at in range(60)] * 3
    assert len(label_codes(many)[0]) == 60
    assert len(label_codes(np.arange(100) % 50)[0]) == 50


@given(case=labelled_memberships(), make=st.sampled_from([np.asarray, sparse.csc_array]))
def test_nmi_is_that_of_every_pair(case, make):
    U, labels = case
    known = np.array([label not in ("", None) for label in labels])
    kept = [label for label in labels if label not in ("", None)]
    found = component_labels(make(U), labels)
    assert found.classes == sorted(set(kept))
    assert found.nmi.shape == (U.shape[1], len(found.classes))
    for component, members in enumerate(U[known].T):
        for position, name in enumerate(found.classes):
            indicator = np.array([label == name for label in kept])
            expected = slow_nmi(members, indicator)
            assert found.nmi[component, position] == pytest.approx(expected, abs=1e-12)
            assert found.overlap[component, position] == np.sum(members & indicator)
    np.testing.assert_array_equal(found.component_sizes, U[known].sum(axis=0))
    np.testing.assert_array_equal(found.class_sizes, [kept.count(name) for name in found.classes])


def test_empty_and_full_components_tell_nothing():
    found = component_labels([[0, 1], [0, 1], [0, 1]], ["a", "a", "b"])
    np.testing.assert_array_equal(found.nmi, np.zeros((2, 2)))


def test_one_class_is_told_nothing_about():
    found = component_labels([[1], [0]], ["a", "a"])
    assert found.nmi.tolist() == [[0.0]]
    assert found.best_components().tolist() == [NO_COMPONENT]
    assert found.best_nmi().tolist() == [0]


@given(case=labelled_memberships())
def test_direction_and_shares_are_those_of_every_pair(case):
    U, labels = case
    known = np.array([label not in ("", None) for label in labels])
    kept = np.array([label for label in labels if label not in ("", None)])
    found = component_labels(U, labels)
    for at, members in enumerate(U[known].T):
        for position, name in enumerate(found.classes):
            of_class = kept == name
            inside, outside = (
                of_class[chosen].mean() if chosen.any() else 0 for chosen in (members, ~members)
            )
            assert found.share_inside[at, position] == pytest.approx(inside)
            assert found.share_outside[at, position] == pytest.approx(outside)
            if members.any() and not members.all():
                assert found.direction[at, position] == np.sign(round(inside - outside, 12))
                assert found.fold[at, position] == pytest.approx(inside / of_class.mean())
            else:
                assert found.direction[at, position] == 0
            tail = hypergeom.sf(
                (members & of_class).sum() - 1, len(kept), of_class.sum(), members.sum()
            )
            assert 10 ** found.log10_adjusted_p[at, position] >= tail * (1 - 1e-9)
    assert (np.abs(found.signed_nmi) <= found.nmi).all()


def test_labels_drawn_at_random_are_seldom_significant():
    generator, draws = np.random.default_rng(0), 100
    false = 0
    for _ in range(draws):
        U = generator.random((200, 20)) < generator.random(20)
        found = component_labels(U, generator.integers(3, size=200))
        best = found.best_components()
        p = 10 ** found.log10_adjusted_p[best, np.arange(3)]
        false += (p[best >= 0] <= 0.05).any()
    assert false <= 0.1 * draws


def test_an_absence_makes_no_best_component():
    # All rows but those of c are in component 0, which tells most about c; b is in none.
    labels = ["a"] * 4 + ["c"] * 4 + ["b"] * 2
    U = np.array([[label != "c", label == "a"] for label in labels])
    found = component_labels(U, labels)
    assert found.nmi[:, 2].argmax() == 0
    assert found.overlap[:, 2].tolist() == [0, 0]
    assert found.best_components().tolist() == [1, 0, NO_COMPONENT]
    assert found.best_nmi()[2] == 0
    assert found.absences().tolist() == [NO_COMPONENT, NO_COMPONENT, 0]
    # On the diagonal, an absence is not better than nothing.
    assert found.components_by_class().tolist() == [1, 0]
    assert found.signed_nmi[0, 2] == -found.nmi[0, 2]


def test_of_models():
    A, labels = np.eye(6, dtype=bool).repeat(2, axis=1), ["a", "a", "a", "b", "b", None]
    estimator = ELBMF(n_components=2, random_state=0).fit(A)
    expected = component_labels(estimator.membership_, labels)
    for model in (estimator, saved_model(estimator)):
        np.testing.assert_array_equal(component_labels(model, labels).nmi, expected.nmi)
    stream = ELBMF(n_components=2, random_state=0).partial_fit(A)
    for without in (stream, ELBMF()):
        with pytest.raises(InputError, match="keeps no memberships"):
            component_labels(without, labels)


def test_best_components_and_the_diagonal():
    U = np.array([[0, 1, 0, 1], [0, 1, 0, 1], [1, 0, 0, 1], [1, 0, 0, 0], [0, 0, 1, 0]])
    found = component_labels(U, ["a", "a", "b", "b", "c"])
    assert found.best_components().tolist() == [1, 0, 2]
    np.testing.assert_allclose(found.best_nmi(), 1)
    assert [part.tolist() for part in found.matching()] == [[1, 0, 2], [0, 1, 2]]
    assert found.components_by_class().tolist() == [1, 0, 2, 3]


def test_more_classes_than_components():
    found = component_labels([[1], [0], [0]], ["b", "a", "c"])
    assert [part.tolist() for part in found.matching()] == [[0], [1]]
    assert found.components_by_class().tolist() == [0]


def test_no_components_have_no_best():
    found = component_labels(np.zeros((2, 0)), ["a", "b"])
    assert found.nmi.shape == (0, 2)
    with pytest.raises(InputError, match="no component"):
        found.best_components()


def test_clustering_scores_leave_out_unknown_labels():
    labels = ["a", "a", "", "b", "b", None]
    clusters = np.array([0, 0, 7, 1, 0, 8])
    found = clustering_scores(labels, clusters)
    truth, kept = ["a", "a", "b", "b"], [0, 0, 1, 0]
    assert found["nmi"] == normalized_mutual_info_score(truth, kept)
    assert found["ari"] == adjusted_rand_score(truth, kept)


def test_numbers_and_not_a_number():
    assert is_known(np.array([1.0, np.nan, 0.0])).tolist() == [True, False, True]
    assert component_labels([[1], [0], [1]], np.array([2, 1, 2])).classes == [1, 2]


@pytest.mark.parametrize(
    ("labels", "message"),
    [(["a"], "one for each of the 2 rows; got 1"), (["a", 1], "all strings or all numbers")],
)
def test_labels_that_do_not_fit(labels, message):
    with pytest.raises(InputError, match=message):
        component_labels([[1], [0]], labels)


NAMES = ["x", "y", "z"]
BY_NAME = pd.Series(["b", "c", "a"], ["y", "z", "x"])


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (BY_NAME, ["a", "b", "c"]),
        (BY_NAME.astype("category").drop("y"), ["a", None, "c"]),
        (pd.concat([BY_NAME, pd.Series(["d"], ["other"])]), ["a", "b", "c"]),
        (BY_NAME.reset_index(drop=True), ["b", "c", "a"]),
        (BY_NAME.tolist(), ["b", "c", "a"]),
        (BY_NAME.to_numpy(), ["b", "c", "a"]),
    ],
)
def test_labels_with_an_index_are_matched_by_name(labels, expected):
    assert labels_in_order(labels, 3, NAMES) == expected
    model = SavedModel(np.eye(3), np.eye(3), NAMES)
    overlap = component_labels(model, expected).overlap
    np.testing.assert_array_equal(component_labels(model, labels).overlap, overlap)
    if len(labels) == 3:
        assert labels_in_order(labels, 3) == list(labels)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (BY_NAME.set_axis([4, 5, 6]), "rows are called 'x', 'y', 'z'; .* has '4', '5', '6'"),
        (pd.Series(["a"] * 4, [*"xyzx"]), "has 'x' more than once"),
        (pd.Series(["a"] * 4), "one for each of the 3 rows; got 4"),
        ("kind", r"got the text 'kind'.*adata.obs\['kind'\]"),
    ],
)
def test_labels_of_other_rows(labels, message):
    with pytest.raises(InputError, match=message):
        labels_in_order(labels, 3, NAMES)


def test_clusters_that_do_not_fit():
    with pytest.raises(InputError, match="1 labels for 2 clustered rows"):
        clustering_scores(["a"], [0, 1])


def test_codes_say_which_label_each_row_has():
    classes, codes = label_codes(["b", None, "a", "", "b"])
    assert classes == ["a", "b"]
    assert codes.tolist() == [1, -1, 0, -1, 1]
    classes, codes = label_codes(np.array([10.0, np.nan, 9.0]))
    assert classes == [9, 10]
    assert codes.tolist() == [1, -1, 0]
    assert label_codes([None])[0] == []
