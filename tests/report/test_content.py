"""What a report says, beside the slow and obvious way to say it."""

import json
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from unpacked import grid_of, lines_of, unpacked

import naive
from elbmf.analysis.enrichment import NamedSet
from elbmf.analysis.labels import component_labels
from elbmf.boolean.coverage import Weights
from elbmf.boolean.metrics import measures
from elbmf.errors import InputError
from elbmf.estimators.saving import data_notes
from elbmf.io import SavedModel
from elbmf.io.model_info import StageCost
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.matrix.on_disk import store
from elbmf.ranks.criteria import savings
from elbmf.relaxation.regularizers import ELB
from elbmf.relaxation.schedules import Printed
from elbmf.report import KnownLabels, KnownSets
from elbmf.report.content import MOST_BYTES, Content
from elbmf.report.limits import Limits
from elbmf.report.packing import pack_json, pack_numbers
from elbmf.utils.text import NO_ZEROS, shortened
from strategies import boolean_factors, examples, masked_factors

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><!--",
    "\"quoted\" 'twice' & \\",
    "two\nlines\r\n",
    "‮right to left עברית",
    "🧬👩‍🔬",
    "x" * 10_000,
    "",
    "twice",
    "twice",
    "\u2028\0\ud800",
]


def document(model, A, most_bytes=MOST_BYTES, **options):
    return Content(model, A, **options).within(most_bytes)


def said(A, U, V, missing=None, info=None, **options):
    """Return the document of factors; it is JSON without NaN, as it must be."""
    matrix = None if A is None else BooleanMatrix.from_array(A, missing=missing)
    model = SavedModel(U, V, info=info or {})
    made = document(model, matrix, **options)
    return json.loads(json.dumps(made, allow_nan=False))


@examples(25)
@given(masked_factors(max_components=9))
def test_components_are_counted(drawn):
    A, missing, U, V = drawn
    made = said(A, U, V, missing)
    ones = A & ~missing
    product = U.astype(int) @ V.astype(int)
    for at, each in enumerate(made["components"]):
        inside = np.outer(U[:, at], V[at])
        known = (inside & ~missing).sum()
        covered = (inside & ones).sum()
        assert each["component"] == at
        assert (each["rows"], each["columns"]) == (U[:, at].sum(), V[at].sum())
        assert each["covered"] == covered
        assert each["alone"] == (inside & ones & (product == 1)).sum()
        assert each["precision"] == pytest.approx(covered / known if known else 1, abs=1e-6)
        assert each["recall"] == pytest.approx(covered / max(ones.sum(), 1), abs=1e-6)
        for other in each["overlaps"]:
            rows = (U[:, at] & U[:, other["component"]]).sum()
            columns = (V[at] & V[other["component"]]).sum()
            assert (other["rows"], other["columns"]) == (rows, columns)
            assert other["cells"] == rows * columns
    summary = made["summary"]
    wanted = measures(BooleanMatrix.from_array(A, missing=missing), U, V)
    assert summary["missed"] + summary["extra"] == wanted["loss"]
    for name, value in wanted.items():
        assert summary["measures"].get(name, np.inf) == pytest.approx(value)
    assert summary["used"] == (U.any(axis=0) & V.any(axis=1)).sum()
    assert summary["missing"] == missing.sum()


@examples(25)
@given(boolean_factors(max_components=9), st.integers(1, 5), st.sampled_from([20, 1 << 23]))
def test_members_and_those_just_outside_are_listed(drawn, outliers, at_once):
    A, U, V = drawn
    limits = Limits(members=12, outliers=outliers)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["elbmf.analysis.support"], "_PAIRS_AT_ONCE", at_once)
        made = said(A, U, V, limits=limits)
    of_rows = naive.row_margins(A, U, V, Weights())
    of_columns = naive.row_margins(A.T, V.T, U.T, Weights())
    for at, each in enumerate(made["components"]):
        for side, inside, partners, ones, margins in (
            ("rows", U[:, at], V[at], A.astype(int) @ V[at], of_rows[:, at]),
            ("columns", V[at], U[:, at], A.T.astype(int) @ U[:, at], of_columns[:, at]),
        ):
            shares = ones / max(partners.sum(), 1)
            sums = A.sum(axis=1 if side == "rows" else 0)
            ranked = sorted(range(len(inside)), key=lambda line: (-ones[line], sums[line]))
            members = np.flatnonzero(inside)
            lists = {name: each[f"{name}_{side}"] for name in ("top", "weak", "near")}
            for listed in lists.values():
                lines = [line for line, *_ in listed]
                assert len({*lines}) == len(lines)
                assert [share for _, share, *_ in listed] == pytest.approx(shares[lines], abs=1e-6)
            best = sorted((line for line in ranked if inside[line]), key=lambda at: -margins[at])
            assert [line for line, _, _ in lists["top"]] == best[:12]
            for line, _, margin in lists["top"] + lists["weak"]:
                assert margin == margins[line]
            loose = members[(ones[members] < partners.sum()) | (margins[members] <= 0)]
            worst = np.sort(margins[loose])[:outliers]
            assert [margin for _, _, margin in lists["weak"]] == worst.tolist()
            assert {line for line, *_ in lists["weak"]} <= {*loose}
            near = [line for line in ranked if not inside[line] and ones[line]][:outliers]
            assert [line for line, _ in lists["near"]] == near


def test_what_is_noted_of_trust_is_told_of_components_and_members():
    U = np.array([[1, 0], [1, 0], [1, 1], [0, 1]], dtype=bool)
    V = np.array([[1, 1, 0], [0, 0, 1]], dtype=bool)
    A = U.astype(int) @ V > 0
    first = {"recurrence": 0.9, "found_in": 1, "rows": [0.2, 0.3, 0.4], "columns": [1, 0.5]}
    # Of the second, members are not noted.
    second = {"recurrence": 0.25, "found_in": 0.1}
    stability = {"runs": 20, "resample": "rows:0.8", "stability": 0.57}
    noted = {
        "stability": {**stability, "components": [first, second]},
        "significance": {"samples": 99, "p_values": [0.01, 1]},
    }
    for data in (A, None):
        made = said(data, U, V, info=noted)
        one, other = made["components"]
        assert (one["recurrence"], one["found_in"], one["p_value"]) == (0.9, 1, 0.01)
        assert (other["recurrence"], other["found_in"], other["p_value"]) == (0.25, 0.1, 1)
        assert {line: returns for line, _, _, returns in one["top_rows"]} == {
            0: 0.2,
            1: 0.3,
            2: 0.4,
        }
        assert {line: returns for line, _, _, returns in one["top_columns"]} == {0: 1, 1: 0.5}
        assert all(len(each) < 4 for each in other["top_rows"])
        wanted = [0.2, 0.3, 0.4, np.nan, np.nan]
        np.testing.assert_allclose(unpacked(made["rows"]["returns"]), wanted, rtol=1e-6)
        assert sum("components recur by 57 %" in each for each in made["summary"]["sentences"]) == 1
        assert (
            sum(
                "is better than those of random data" in each
                for each in made["summary"]["sentences"]
            )
            == 1
        )


@examples(15)
@given(side=st.integers(1, 60), runs=st.integers(1, 9), seed=st.integers(0, 99))
def test_how_often_rows_are_together(side, runs, seed):
    shares = np.random.default_rng(seed).integers(0, runs, (side, side), endpoint=True) / runs
    stability = {"runs": runs, "resample": "rows:0.5", "stability": 0.5, "cophenetic": 0.25}
    shares[:, 0] = np.nan  # where no run saw both
    lines = [[None if np.isnan(each) else each for each in line] for line in shares.tolist()]
    noted = {"stability": {**stability, "consensus": lines}}
    made = said(np.eye(2), np.ones((2, 1)), np.ones((1, 2)), info=noted)["consensus"]
    assert (made["runs"], made["cophenetic"], made["side"]) == (runs, 0.25, side)
    levels = unpacked(made["shares"]).reshape(side, side)
    assert np.all(levels[:, 0] == 255)
    np.testing.assert_allclose(levels[:, 1:] / 254, shares[:, 1:], atol=0.5 / 254)
    for other in ({}, {"stability": stability}, {**noted, "measures": {"loss": 99}}):
        assert said(np.eye(2), np.ones((2, 1)), np.ones((1, 2)), info=other)["consensus"] is None


def test_of_too_many_members_margins_are_left_out():
    A, U, V = np.eye(9, dtype=bool), np.ones((9, 1), dtype=bool), np.ones((1, 9), dtype=bool)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["elbmf.report.facts"], "_MOST_FOR_MARGINS", 100)
        made = said(A, U, V)
    assert made["rows"]["margin"] is made["columns"]["margin"] is None
    (only,) = made["components"]
    assert only["top_rows"] == [[line, pytest.approx(1 / 9, abs=1e-6)] for line in range(9)]


@pytest.mark.parametrize(
    "noted",
    [
        {},
        {"stability": {"runs": 2, "resample": "rows:0.8", "stability": 0.5}},
        {"significance": {"samples": 9, "p_values": [0.5, 0.5]}},
        {"significance": {"samples": 9, "p_values": [0.5]}, "measures": {"loss": 3}},
    ],
    ids=["nothing", "no components", "other components", "other data"],
)
def test_nothing_is_told_of_trust_where_it_is_not_noted(noted):
    made = said(np.ones((2, 2)), np.ones((2, 1)), np.ones((1, 2)), info=noted)
    (only,) = made["components"]
    assert only["recurrence"] is only["found_in"] is only["p_value"] is None
    assert not {"does not recur", "not significant"} & {*only["doubts"]}
    assert made["rows"]["returns"] is None


@examples(25)
@given(boolean_factors(max_components=9), st.sampled_from([3, 1000]))
def test_lines_say_where_they_are_and_why(drawn, most):
    A, U, V = drawn
    made = said(A, U, V, limits=Limits(rows=most, columns=most, members=2, outliers=1))
    sides = (
        ("rows", U, A.astype(int) @ V.T, A.sum(axis=1), V.sum(axis=1)),
        ("columns", V.T, A.T.astype(int) @ U, A.sum(axis=0), U.sum(axis=0)),
    )
    margins = naive.row_margins(A, U, V, Weights()), naive.row_margins(A.T, V.T, U.T, Weights())
    for (side, inside, support, sums, sizes), expected in zip(sides, margins, strict=True):
        axis = made[side]
        lines = lines_of(axis)
        weighed = [expected[line][inside[line]] for line, _, _ in lines]
        np.testing.assert_array_equal(unpacked(axis["margin"]), np.concatenate(weighed))
        assert axis["returns"] is None
        assert axis["count"] == len(inside)
        assert len(lines) == min(most, len(inside))
        kept = [line for line, _, _ in lines]
        assert kept == sorted({*kept})
        np.testing.assert_array_equal(unpacked(axis["ones"]), sums[kept])
        nearest, ones_there = unpacked(axis["nearest"]), unpacked(axis["nearest_support"])
        for at, (line, holders, ones) in enumerate(lines):
            assert holders == np.flatnonzero(inside[line]).tolist()
            assert ones == support[line][holders].tolist()
            shares = support[line] / np.maximum(sizes, 1)
            if holders or not support[line].any():
                assert (nearest[at], ones_there[at]) == (65535, 0)
            else:
                assert shares[nearest[at]] == pytest.approx(shares.max())
                assert ones_there[at] == support[line][nearest[at]]
        if len(lines) == axis["count"]:
            assert sorted(unpacked(axis["place"])) == list(range(len(inside)))


@examples(25)
@given(boolean_factors(max_components=9))
def test_spans_are_the_runs_of_a_component(drawn):
    A, U, V = drawn
    made = said(A, U, V, limits=Limits(spans=1000))
    for side, inside in (("row", U.T), ("column", V)):
        place = unpacked(made[f"{side}s"]["place"])
        for each, members in zip(made["components"], inside, strict=True):
            spans = each[f"{side}_spans"]
            covered = [at for begin, end in spans for at in range(begin, end)]
            assert sorted(covered) == sorted(place[members])
            assert all(end < begin for (_, end), (begin, _) in pairwise(sorted(spans)))
            lengths = [end - begin for begin, end in spans]
            assert lengths == sorted(lengths, reverse=True)


def test_of_many_spans_the_longest_are_kept():
    # The last component has rows among those of the others, which keep them apart.
    apart = np.repeat(np.eye(3, dtype=int), [2, 6, 4], axis=0)
    U = np.column_stack([apart, [1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 0, 0]])
    every, some = (
        said(np.ones((12, 4)), U, np.eye(4), limits=Limits(spans=most))["components"][3]
        for most in (12, 1)
    )
    assert len(every["row_spans"]) > 1
    assert some["row_spans"] == every["row_spans"][:1]


@examples(25)
@given(masked_factors(max_components=5), st.integers(1, 9))
def test_grids_show_shares_of_their_bins(drawn, side):
    A, missing, U, V = drawn
    made = said(A, U, V, missing, limits=Limits(side=side, block_side=side))
    places = [np.argsort(unpacked(made[name]["place"])) for name in ("rows", "columns")]
    product = (U.astype(int) @ V) > 0
    _check_grid(made["matrix"], A, product, missing, places)
    for at, each in enumerate(made["components"]):
        if each["block"] is None:
            assert each["covered"] == 0
        else:
            assert each["block"]["missed"] is not None
            assert not grid_of(each["block"])["missed"].any()
            hits = grid_of(each["block"])["hit"]
            assert hits.shape == (min(side, U[:, at].sum()), min(side, V[at].sum()))
            assert hits.any()


def _check_grid(matrix, A, product, missing, places):
    known = ~missing
    wanted = {"hit": A & product, "missed": A & ~product, "extra": ~A & product}
    edges = [unpacked(matrix[name]) for name in ("row_edges", "column_edges")]
    grids = grid_of(matrix)
    for name, cells in wanted.items():
        shown = (cells & known)[np.ix_(*places)]
        there = known[np.ix_(*places)]
        for r, (a, b) in enumerate(pairwise(edges[0])):
            for c, (d, e) in enumerate(pairwise(edges[1])):
                count, all_cells = shown[a:b, d:e].sum(), there[a:b, d:e].sum()
                level = grids[name][r, c]
                assert (level > 0) == (count > 0)
                assert abs(level - 255 * count / max(all_cells, 1)) <= 1


def test_without_data_the_components_alone_are_known():
    U, V = np.eye(4, 3), np.eye(3, 5)
    made = said(None, U, V)
    summary = made["summary"]
    assert summary["measures"] is None
    assert summary["ones"] is summary["missed"] is summary["density"] is None
    assert any("not at hand" in text for text in summary["warnings"])
    assert made["matrix"]["missed"] is made["matrix"]["extra"] is None
    assert grid_of(made["matrix"])["hit"].sum() == 3 * 255
    for each in made["components"]:
        assert each["covered"] is each["precision"] is each["bits_saved"] is each["block"] is None
        assert each["top_rows"] == [[each["component"], None]]
        assert each["weak_rows"] == each["near_rows"] == []
    assert made["rows"]["ones"] is made["rows"]["support"] is made["rows"]["nearest"] is None


def test_what_was_noted_is_said_without_data():
    A, U, V = np.eye(6), np.eye(6, 2), np.eye(2, 6)
    info = {"measures": measures(A, U, V), "data": data_notes("a.csv", BooleanMatrix.from_array(A))}
    summary = said(None, U, V, info=info)["summary"]
    assert (summary["ones"], summary["missed"], summary["extra"]) == (6, 4, 0)
    assert summary["sentences"][0] == "a.csv has 6 rows and 6 columns; 6 cells are ones (17 %)."
    assert "The 2 components cover 33 % of the ones, and no zero." in summary["sentences"]


def test_the_proof_is_told_of_the_data_that_it_is_of():
    A, U, V = np.eye(6), np.eye(6, 2), np.eye(2, 6)
    info = {
        "measures": measures(A, U, V),
        "stages": [StageCost(stage="search", cost=4)],
        "cost_at_least": 3,
    }
    proof = "No factorization with 2 components has fewer than 3 wrong cells; this one has 4."
    assert proof in said(A, U, V, info=info)["summary"]["sentences"]
    A[5, 0] = 1
    assert proof not in said(A, U, V, info=info)["summary"]["sentences"]
    info["components_at_least"] = 2
    assert (
        "Proved minimal: it takes 2 components."
        in said(None, U, V, info=info)["summary"]["sentences"]
    )


def test_a_stream_has_no_rows():
    info = {"stream": {"rows": 1234}, "data": {"ones": 99, "shape": [1234, 3]}}
    made = said(None, np.zeros((0, 2)), np.eye(2, 3), info=info)
    assert made["summary"]["rows"] == 1234
    assert made["summary"]["used"] == 2
    assert made["rows"]["count"] == 0
    assert any("stream" in text for text in made["summary"]["warnings"])
    assert not any("not at hand" in text for text in made["summary"]["warnings"])


def test_data_of_another_shape_is_refused():
    with pytest.raises(InputError, match="4×5; got 3×5"):
        said(np.zeros((3, 5)), np.eye(4, 3), np.eye(3, 5))


def test_bits_are_as_noted_or_worked_out():
    generator = np.random.default_rng(0)
    A, U, V = (generator.random(shape) < 0.4 for shape in ((30, 20), (30, 3), (3, 20)))
    loss = measures(A, U, V)["loss"]
    bits = lambda **info: [  # noqa: E731
        each["bits_saved"] for each in said(A, U, V, info=info)["components"]
    ]
    found = savings(A, U, V)
    worked_out = np.empty(3)
    worked_out[found.order] = found.saved
    assert bits() == pytest.approx(worked_out, abs=0.06)
    assert bits(bits_saved=[1, 2, 3], measures={"loss": loss}) == [1, 2, 3]
    # Those of other data are not believed.
    assert bits(bits_saved=[1, 2, 3], measures={"loss": loss + 1}) == bits()


@pytest.mark.parametrize(
    ("info", "words"),
    [
        ({"warnings": ["Too few epochs."]}, "Too few epochs."),
        ({"interrupted": True}, "interrupted"),
        ({"measures": {"loss": 77}}, "77 cells were wrong then, 4 are now"),
        ({}, "1 of the 3 components is empty"),
        ({}, "Only 33 % of the ones are in components"),
        ({}, "may be chance: "),
    ],
)
def test_warnings(info, words):
    U = np.eye(6, 3)
    U[:, 2] = 0
    made = said(np.eye(6), U, np.eye(3, 6), info=info)
    assert any(words in text for text in made["summary"]["warnings"])


def test_ones_beside_missing_cells_alone_are_warned_of():
    A = np.where(np.eye(6), 1, np.nan)
    made = said(A, np.ones((6, 1)), np.ones((1, 6)))
    assert NO_ZEROS in made["summary"]["warnings"]
    A[0, 1] = 0
    made = said(A, np.ones((6, 1)), np.ones((1, 6)))
    assert NO_ZEROS not in made["summary"]["warnings"]


def test_a_good_fit_has_no_warnings():
    U = np.kron(np.eye(2), np.ones((40, 1)))
    made = said(U @ U.T, U, U.T)
    assert made["summary"]["warnings"] == []
    assert "No cell is wrong." in made["summary"]["sentences"]


def test_how_the_rank_was_chosen():
    A, U, V = np.eye(8), np.eye(8, 2), np.eye(2, 8)
    given = said(A, U, V)["summary"]["rank"]
    assert (given["chosen"], given["curve"]) == (False, None)
    search = {"criterion": "mdl", "n_components": 2, "highest": 3}
    table = {"rank": [0, 1, 2, 3], "loss": [8, 7, 6, 5], "mdl": [9.0, 8.0, 7.0, float("inf")]}
    chosen = said(A, U, V, info={"rank_search": search, "history": table})
    rank = chosen["summary"]["rank"]
    assert rank["text"].startswith("The description length (MDL) is least with 2 components, of")
    assert rank["curve"]["ranks"] == [0, 1, 2, 3]
    assert rank["curve"]["relative_loss"] == [1, 7 / 8, 6 / 8, 5 / 8]
    assert rank["curve"]["criterion"] == [9, 8, 7, None]
    assert rank["curve"]["unit"] == "bits"
    assert chosen["trace"] is None
    noted = {"table": {**table, "relative_loss": [1, None, 0, 0]}, "criterion": "mdl"}
    curve = said(A, U, V, info={"rank_search": search}, ranks=noted)["summary"]["rank"]["curve"]
    assert curve["relative_loss"] == [1, None, 0, 0]
    nothing = {"rank_search": {**search, "n_components": 0}}
    assert "no component at all" in said(A, U, V, info=nothing)["summary"]["rank"]["text"]


def test_labels_and_what_components_are_rich_in():
    generator = np.random.default_rng(1)
    labels = [["north", "south", "", None][at] for at in generator.integers(0, 4, 60)]
    U = generator.random((60, 3)) < 0.3
    U[:, 0] = [label == "north" for label in labels]
    A = generator.random((60, 9)) < 0.3
    made = said(A, U, np.eye(3, 9), labels=KnownLabels(labels, "place"))
    found = component_labels(U, labels)
    assert [each["name"] for each in made["labels"]["classes"]] == ["north", "south"]
    assert np.array(made["labels"]["nmi"]) == pytest.approx(found.signed_nmi, abs=1e-4)
    assert found.best_components().tolist() == [0, -1]
    best, none = (each["best"] for each in made["labels"]["classes"])
    absence = made["labels"]["classes"][1]["absence"]
    assert none is None
    assert (absence["component"], absence["overlap"]) == (0, 0)
    assert (best["component"], best["nmi"], best["share_inside"], best["share_outside"]) == (
        0,
        1,
        1,
        0,
    )
    assert best["overlap"] == best["component_rows"] == labels.count("north")
    assert sorted(made["labels"]["order"]) == [0, 1, 2]
    assert made["labels"]["unlabelled"] == sum(not label for label in labels)
    codes = unpacked(made["label_of_rows"])
    assert [["north", "south"][code] if code < 2 else None for code in codes] == [
        label or None for label in labels
    ]
    first = made["components"][0]["labels"][0]
    size = labels.count("north")
    known = sum(map(bool, labels))
    p = stats.hypergeom.sf(size - 1, known, size, size)
    assert (first["name"], first["size"], first["overlap"]) == ("north", size, size)
    assert first["fold"] == pytest.approx(known / size, rel=0.005)
    assert first["fold"] == float(f"{first['fold']:.3g}")
    assert first["log10_p"] == pytest.approx(np.log10(6 * p), abs=1e-3)
    assert first["nmi"] == pytest.approx(1)


@pytest.mark.parametrize("labels", [["a"] * 3, [None] * 4, [float("nan")] * 4])
def test_labels_must_be_those_of_the_rows(labels):
    with pytest.raises(InputError, match="labels"):
        said(np.eye(4), np.eye(4, 2), np.eye(2, 4), labels=KnownLabels(labels))


def test_sets_of_columns():
    columns = [f"g{at}" for at in range(40)]
    V = np.zeros((2, 40), dtype=bool)
    V[0, :6] = True
    model = SavedModel(np.ones((5, 2)), V, None, columns)
    sets = [NamedSet("first", "", tuple(columns[:6])), NamedSet("last", "", tuple(columns[30:]))]
    A = BooleanMatrix.from_array(np.ones((5, 40)))
    made = document(model, A, sets=KnownSets(sets, "file.gmt"))
    assert made["sets_title"] == "file.gmt"
    (only,) = made["components"][0]["sets"]
    assert (only["name"], only["overlap"], only["members"]) == ("first", 6, columns[:6])
    assert made["components"][1]["sets"] == []
    with pytest.raises(InputError, match="columns have no names"):
        said(np.ones((5, 40)), np.ones((5, 2)), V, sets=KnownSets(sets))


def test_hostile_names_come_back_as_they_were():
    count = len(HOSTILE)
    model = SavedModel(np.ones((count, 1)), np.ones((1, count)), HOSTILE, HOSTILE)
    made = document(model, BooleanMatrix.from_array(np.ones((count, count))))
    for side in ("rows", "columns"):
        names = unpacked(made[side]["names"])
        assert len(names) == count
        for name, wanted in zip(names, HOSTILE, strict=True):
            assert len(name) <= 200
            assert name == wanted or (name[:100], name[-50:]) == (wanted[:100], wanted[-50:])
    json.dumps(made).encode("ascii")


@given(st.text(), st.integers(1, 20))
def test_texts_are_shortened_in_the_middle(text, longest):
    short = shortened(text, longest)
    assert len(short) <= longest
    assert short == text or "…" in short


@given(st.lists(st.integers(0, 2**32 - 1)))
def test_numbers_are_packed(values):
    assert unpacked(pack_numbers(np.array(values, dtype=np.int64))).tolist() == values


@given(st.lists(st.text(st.characters())))
def test_texts_are_packed(values):
    assert unpacked(pack_json(values)) == values


def _large(rows, columns, k, name):
    generator = np.random.default_rng(0)
    U, V = generator.random((rows, k)) < 0.2, generator.random((k, columns)) < 0.2
    A = BooleanMatrix.from_array(generator.random((rows, columns)) < 0.1)
    names = [[name(at) for at in range(length)] for length in (rows, columns)]
    return SavedModel(U, V, *names), A


@pytest.mark.parametrize("most", [400_000, 120_000])
def test_what_is_largest_is_halved_until_it_fits(most):
    noise = np.random.default_rng(0).bytes(100)
    model, A = _large(1500, 300, 40, lambda at: f"{at}" + (noise * 50)[at : at + 150].hex())
    made = document(model, A, most_bytes=most)
    assert len(json.dumps(made)) < 1.01 * most
    kept = {line for line, _, _ in lines_of(made["rows"])}
    assert len(unpacked(made["rows"]["names"])) == len(kept)
    best = {each["top_rows"][0][0] for each in made["components"]}
    assert best <= kept
    if len(kept) < 1500:
        assert any("names of" in text for text in made["summary"]["sentences"])


def test_what_cannot_fit_is_refused():
    model, A = _large(20, 20, 30, str)
    with pytest.raises(InputError, match="30 components does not fit into 3,000 bytes"):
        document(model, A, most_bytes=3000)


def test_a_matrix_folder_says_the_same(tmp_path):
    model, A = _large(80, 60, 5, str)
    stored = store(A, tmp_path / "data.matrix")
    assert document(model, stored) == document(model, A)


def test_threads_do_not_change_what_is_said():
    model, A = _large(80, 60, 5, str)
    assert document(model, A, n_jobs=1) == document(model, A, n_jobs=3)


def test_pieces_do_not_change_what_is_said(monkeypatch):
    model, A = _large(80, 60, 5, str)
    whole = document(model, A)
    module = sys.modules["elbmf.analysis.support"]  # a function has the same name
    monkeypatch.setattr(module, "_PAIRS_AT_ONCE", 40)
    assert document(model, A) == whole


def test_the_recipe_of_a_schedule():
    code = {}
    for name, more in {
        "flags": {"kappa": 0.5, "rate": 1.1, "prox": "paper"},
        "own schedule": {"schedule": "Mine()"},
        "own regularizer": {"regularizer": "Mine"},
    }.items():
        info = {"method": "elbmf", "parameters": {"n_components": 2, **more}}
        made = said(np.eye(4, 5), np.eye(4, 2), np.eye(2, 5), info=info, limits=Limits())
        code[name] = made["recipe"]["code"]
    assert code["own schedule"] is code["own regularizer"] is None
    namespace = {}
    exec(code["flags"], {"X": np.eye(4, 5)}, namespace)
    model = namespace["model"]
    assert model.schedule == Printed(kappa=0.5, rate=1.1)
    assert model.regularizer == ELB("paper")


def test_the_recipe_and_the_trace():
    info = {
        "method": "elbmf",
        "command": "elbmf fit a.csv -k 2 -o result --seed 7",
        "parameters": {"n_components": 2, "random_state": 7, "extra_weight": "inf", "tol": 1e-06},
        "seed": 7,
        "versions": {"elbmf": "1.0"},
        "data": {
            "file": "a.csv",
            "shape": [4, 5],
            "path": "../a.csv",
            "options": {"format": "csv"},
        },
        "stages": [{"stage": "rounding", "cost": 3}],
        "run_losses": [3, 4],
        "iteration": "epoch",
        "history": {"epoch": list(range(1000)), "gap": [float("nan")] * 1000},
    }
    made = said(np.eye(4, 5), np.eye(4, 2), np.eye(2, 5), info=info, limits=Limits(epochs=50))
    recipe = made["recipe"]
    assert recipe["command"] == info["command"]
    fit = 'ELBMF(n_components=2, random_state=7, extra_weight=float("inf")).fit(table.values)'
    assert f"table = read('a.csv', format='csv')\nmodel = {fit}\n" in recipe["code"]
    assert recipe["data"] == {"file": "a.csv", "shape": "4 × 5", "format": "csv"}
    assert (recipe["seed"], recipe["stages"], recipe["run_losses"]) == (
        "7",
        [["rounding", 3]],
        [3, 4],
    )
    epochs = made["trace"]["columns"]["epoch"]
    assert (len(epochs), epochs[0], epochs[-1]) == (50, 0, 999)
    assert made["trace"]["columns"]["gap"] == [None] * 50


@pytest.mark.parametrize("value", [0, float("nan")])
def test_where_there_is_nothing_to_cover(value):
    made = said(np.full((4, 3), value), np.zeros((4, 2)), np.zeros((2, 3)))["summary"]
    assert "There are no ones to cover." in made["sentences"]
    unknown = ["All cells are missing, so there is nothing to learn."] if value else []
    assert made["warnings"] == [*unknown, "All 2 components are empty."]
    covered = said(np.zeros((2, 2)), np.ones((2, 1)), np.ones((1, 2)))["summary"]
    assert any("4 zeros are covered" in text for text in covered["sentences"])


def test_one_is_counted_as_one():
    A, U = np.zeros((2, 2)), np.zeros((2, 1))
    A[0, 0] = U[1] = 1
    sentences = said(A, U, np.eye(1, 2))["summary"]["sentences"]
    assert "The matrix has 2 rows and 2 columns; 1 cell is a one (25 %)." in sentences


def test_a_model_without_any_notes():
    made = said(np.eye(4), np.eye(4, 2), np.eye(2, 4))
    assert "not noted" in made["summary"]["rank"]["text"]
    assert made["recipe"]["command"] is made["recipe"]["code"] is made["trace"] is None
    assert made["title"] == "2 components"


@pytest.mark.parametrize("shape", [(1, 1), (3, 1), (1, 3)])
def test_the_smallest_matrices(shape):
    for value in (0, 1, float("nan")):
        made = said(np.full(shape, value), np.ones((shape[0], 1)), np.ones((1, shape[1])))
        assert made["summary"]["components"] == 1


def test_no_component_at_all():
    made = said(np.eye(4), np.zeros((4, 0)), np.zeros((0, 4)))
    assert made["components"] == []
    assert grid_of(made["matrix"])["missed"].sum() == 4 * 255
