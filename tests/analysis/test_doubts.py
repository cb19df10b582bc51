"""Which components may be chance, and how that is said."""

from elbmf.analysis import doubt_text, doubts, trust_texts
from elbmf.io.model_info import SignificanceInfo, StabilityInfo


def test_every_reason_is_given():
    reasons = doubts(
        (9, 9),
        rows=[1, 3, 3, 3, 0],
        columns=[3, 1, 3, 3, 3],
        bits_saved=[1, 0, 0.1, 5, -1],
        found_in=[1, 1, 0.45, 0.5, 0],
        p_values=[0.05, 0.01, 0.051, 0.05, 1],
    )
    assert reasons == [
        ["one row"],
        ["one column", "saves no bits"],
        ["does not recur", "not significant"],
        [],
        [],  # It is empty.
    ]
    assert doubt_text(reasons) == (
        "3 of 5 components may be chance: 0 (one row), 1 (one column, saves no bits), "
        "2 (does not recur, not significant)."
    )
    assert doubts((1, 9), [1], [3]) == [[]]


def test_too_few_samples_leave_no_doubt():
    def reasons(p, samples):
        return doubts((9, 9), [3], [3], p_values=[p], samples=samples)

    assert reasons(1 / 6, 5) == [[]]
    assert reasons(2 / 6, 5) == reasons(2 / 20, 19) == [["not significant"]]
    assert trust_texts(significance=SignificanceInfo(samples=1, p_values=[0.5, 1.0])) == [
        "0 of 2 components are better than those of random data with the same sums (p ≤ 0.05; 1 "
        "was fitted, too few to tell of all).",
    ]


def test_what_is_noted_is_said_once():
    assert trust_texts() == []
    stability = StabilityInfo(runs=1, resample="rows:0.5", stability=0.5, cophenetic=0.9)
    significance = SignificanceInfo(samples=19, p_values=[0.05, 0.05, 1.0])
    assert trust_texts(stability, significance) == [
        "In 1 fit of resampled data (rows:0.5), components recur by 50 % on average; the "
        "cophenetic correlation of rows is 0.90.",
        "2 of 3 components are better than those of random data with the same sums (p ≤ 0.05; 19 "
        "were fitted).",
    ]
