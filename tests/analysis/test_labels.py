"""Components against labels, with scikit-learn's function on each pair as the slow twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from elbmf.analysis.labels import clustering_scores, component_labels, is_known, label_codes
from elbmf.errors import InputError
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
    assert found.best_components().tolist() == [0]


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
    [(["a"], "one for each of the 2 rows of U; got 1"), (["a", 1], "all strings or all numbers")],
)
def test_labels_that_do_not_fit(labels, message):
    with pytest.raises(InputError, match=message):
        component_labels([[1], [0]], labels)


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
