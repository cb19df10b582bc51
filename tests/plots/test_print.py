"""Figures as a paper takes them: what is left out, labels, room for names and legends."""

import itertools

import numpy as np
import pandas as pd
import pytest
from cases import HOSTILE, factors
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb, to_rgba

import elbmf
from elbmf import plots
from elbmf.analysis import BlockOrder
from elbmf.analysis.enrichment import NamedSet
from elbmf.analysis.enrichment import enrichment as enrichment_of
from elbmf.analysis.labels import component_labels
from elbmf.errors import InputError
from elbmf.io import SavedModel
from elbmf.plots.dots import result_enrichment
from elbmf.plots.look import OKABE_ITO, STRIP_COLOURS
from elbmf.plots.matrix import EXTRA, HIT, MISSED
from elbmf.plots.names import name_within, text_width, wrapped


def _drawn(drawn):
    figure = plots.figure_of(drawn)
    FigureCanvasAgg(figure).draw()
    return figure


def _sparse():
    """A matrix most of which is in no component: 8 of 40 rows, and 5 of 30 columns are."""
    generator = np.random.default_rng(0)
    U, V = np.zeros((40, 2), bool), np.zeros((2, 30), bool)
    U[:5, 0], U[5:8, 1], V[0, :3], V[1, 3:5] = True, True, True, True
    A = (U.astype(int) @ V > 0) | (generator.random((40, 30)) < 0.05)
    return A, U, V


def _said(ax):
    return " ".join(text.get_text().replace("\n", " ") for text in ax.texts)


# What is left out


def test_a_sparse_matrix_is_drawn_without_what_is_in_no_component():
    A, U, V = _sparse()
    ax = plots.reordered_matrix((U, V), A)
    assert ax.images[0].get_array().shape[:2] == (8, 5)
    assert (ax.get_ylabel(), ax.get_xlabel().split("\n")[0]) == ("8 rows", "5 columns")
    note = " ".join(ax.get_xlabel().split("\n")[1:])
    assert note == "32 of 40 rows and 25 of 30 columns are in no component and not shown."
    whole = plots.reordered_matrix((U, V), A, whole=True)
    assert whole.images[0].get_array().shape[:2] == (40, 30)
    assert (whole.get_ylabel(), whole.get_xlabel()) == ("40 rows", "30 columns")
    order = BlockOrder(np.arange(40), np.arange(30), np.arange(2))
    ordered = plots.reordered_matrix((U, V), A, order=order)
    assert ordered.images[0].get_array().shape[:2] == (40, 30)


def test_what_is_mostly_in_components_is_drawn_as_a_whole():
    U, V = np.ones((10, 1), bool), np.arange(10)[None] < 5
    ax = plots.reordered_matrix((U, V), what="reconstruction")
    assert ax.get_xlabel() == "10 columns"
    ax = plots.reordered_matrix((U, np.arange(10)[None] < 4), what="reconstruction")
    assert ax.get_xlabel().startswith("4 columns\n6 of 10 columns are")


def test_titles_tell_of_the_ones_and_errors_that_are_not_shown():
    A, U, V = _sparse()
    covered = U.astype(int) @ V > 0
    shown = A[:8, :5]
    data, _, errors = plots.factorization((U, V), A)
    assert data.get_title("left") == f"Data: {shown.sum()} of {A.sum()} ones"
    wrong = covered != A
    assert errors.get_title("left") == f"Errors: {wrong[:8, :5].sum()} of {wrong.sum()} cells"
    # Where there is no room for that, titles do not run into each other.
    narrow = plots.factorization((U, V), A, axes=plots.new_figure(4.5, 2).subplots(1, 3))
    figure = _drawn(narrow)
    boxes = [ax._left_title.get_window_extent() for ax in narrow]
    assert all(one.x1 <= other.x0 for one, other in itertools.pairwise(boxes))
    assert boxes[-1].x1 <= figure.bbox.x1


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("data", "The matrix has no ones."),
        ("reconstruction", "No component covers anything."),
        ("errors", "There are no errors."),
    ],
)
def test_an_empty_matrix_says_so(what, text):
    A, U, V = np.zeros((4, 3)), np.zeros((4, 2), bool), np.zeros((2, 3), bool)
    assert _said(plots.reordered_matrix((U, V), A, what=what)) == text
    A, U, V = _sparse()
    assert _said(plots.reordered_matrix((U, V), A, what=what)) == ""


def test_nothing_shared_is_said_and_has_no_scale():
    one = np.ones((3, 1), bool)
    for U, text in (
        (np.eye(3, dtype=bool), "No two of the 3 components share any of their cells."),
        (one, "There is one component: there is nothing to share with."),
        (one[:, :0], "There is no component: there is nothing to share with."),
    ):
        ax = plots.component_overlap((U, U.T))
        assert _said(ax) == text
        assert len(ax.figure.axes) == 1
    ax = plots.component_overlap((np.ones((3, 2), bool), np.ones((2, 3), bool)))
    assert len(ax.figure.axes) == 2


def test_a_map_of_one_component_or_one_bubble_says_so():
    one = np.ones((4, 1), bool)
    some = one.copy()
    some[2:] = False
    for U, text in (
        (some, "There is one component: rows are in it or not."),
        (one, "All rows are in the same components: there are no differences to see."),
        (~one, "All rows are in no component: there are no differences to see."),
    ):
        assert _said(plots.row_map((U, np.ones((1, 3), bool)))) == text


# Labels beside a matrix


def _strip(ax, side):
    return next(each for each in ax.child_axes if each.get_gid() == f"{side} strip")


@pytest.mark.parametrize("whole", [True, False])
def test_strips_have_the_colour_of_each_line(whole):
    A, U, V = _sparse()
    rows = np.array(["b", "a", ""])[np.arange(40) % 3]
    columns = pd.Series(np.arange(30) % 2, index=np.arange(30) + 7, name="batch")
    axes = plots.factorization((U, V), A, whole=whole, row_labels=rows, column_labels=columns)
    known = {"a": "#44AA99", "b": "#AA4499", "": "#FFFFFF", 0: "#44AA99", 1: "#AA4499"}
    n, m = (40, 30) if whole else (8, 5)
    shown = axes[0].images[0].get_array()[:, :, 0] < 0.5
    for ax in axes:
        beside = _strip(ax, "rows").images[0].get_array()[:, 0]
        below = _strip(ax, "columns").images[0].get_array()[0]
        # The same rows are in the picture, whatever their order: compared by colour and cells.
        found = sorted((*colour, row.sum()) for colour, row in zip(beside, shown, strict=True))
        assert found == sorted(
            (*to_rgb(known[label]), row.sum())
            for label, row in zip(rows[:n], A[:n, :m], strict=True)
        )
        found = sorted((*colour, line.sum()) for colour, line in zip(below, shown.T, strict=True))
        assert found == sorted(
            (*to_rgb(known[label]), line.sum())
            for label, line in zip(columns[:m], A[:n, :m].T, strict=True)
        )
    # Within the five rows of the first component, those of a label are neighbours.
    first = [tuple(each) for each in _strip(axes[0], "rows").images[0].get_array()[:5, 0]]
    assert len([*itertools.groupby(first)]) == len(set(first)) == 3
    names = [text.get_text() for text in _strip(axes[2], "columns").get_legend().get_texts()]
    assert names == ["rows", "a", "b", "not known", "columns: batch", "0", "1"]
    assert _strip(axes[0], "columns").get_legend() is None


def test_of_many_labels_the_most_frequent_have_colours():
    sizes = np.arange(12) + 1
    labels = np.repeat([f"{at:02}" for at in range(12)], sizes)
    U, V = np.ones((len(labels), 1), bool), np.ones((1, 3), bool)
    ax = plots.reordered_matrix((U, V), what="reconstruction", row_labels=labels)
    legend = _strip(ax, "rows").get_legend()
    names = [text.get_text() for text in legend.get_texts()]
    assert names == [f"{at:02}" for at in range(4, 12)] + ["4 others"]
    colours = {patch.get_facecolor() for patch in legend.get_patches()}
    assert len(colours) == 9
    assert {
        tuple(to_rgba(each)) for each in _strip(ax, "rows").images[0].get_array()[:, 0]
    } == colours


def test_strips_have_no_colour_that_errors_have():
    taken = {MISSED, EXTRA, HIT, *OKABE_ITO[:3]}
    assert not taken & set(STRIP_COLOURS)
    assert len(set(STRIP_COLOURS)) == 8


def test_columns_are_named_where_there_is_room():
    U, V = np.ones((6, 1), bool), np.ones((1, 14), bool)
    names = [f"GENE{at}" for at in range(14)]
    saved = SavedModel(U, V, None, names, {"data": {"vocabulary": "sample,gene,program"}})
    for draw, count in (((5.6, 4.8), 14), ((1.5, 1.5), 0)):
        ax = plots.new_figure(*draw).subplots()
        plots.reordered_matrix(saved, what="reconstruction", ax=ax)
        shown = [text for text in ax.texts if text.get_text().startswith("GENE")]
        assert [text.get_text() for text in shown] == names[:count]
        assert ax.get_xlabel() == "14 genes"
        assert ax.get_ylabel() == "6 samples"
        _drawn(ax)
        label = ax.xaxis.label.get_window_extent()
        assert all(text.get_window_extent().y0 >= label.y1 for text in shown)


def test_a_bar_is_labelled_within_its_figure():
    labels = np.repeat(["a", "b", "c"], 4)
    figure = plots.new_figure(3.5, 3)
    found = component_labels((np.arange(12) % 5 == np.arange(3)[:, None]).T, labels)
    plots.label_nmi(found, ax=figure.subplots())
    _drawn(figure.axes[0])
    box = figure.axes[1].yaxis.label.get_window_extent()
    assert box.y0 >= 0
    assert box.y1 <= figure.bbox.y1


def test_a_bin_has_the_label_of_most_of_its_rows():
    labels = ["x"] * 3000 + ["y"] * 1000
    U, V = np.ones((4000, 1), bool), np.ones((1, 4), bool)
    ax = plots.reordered_matrix((U, V), what="reconstruction", row_labels=labels)
    colours = [tuple(each) for each in _strip(ax, "rows").images[0].get_array()[:, 0]]
    assert len(colours) < 1000
    assert [colour for colour, _ in itertools.groupby(colours)] == [
        to_rgb("#44AA99"),
        to_rgb("#AA4499"),
    ]
    assert colours.count(to_rgb("#44AA99")) == pytest.approx(0.75 * len(colours), abs=1)


@pytest.mark.parametrize("size", [(3.5, 3), (7.2, 3), (5, 2)])
@pytest.mark.parametrize("layout", ["constrained", None])
def test_legends_of_strips_stay_in_the_figure(size, layout):
    A, U, V = factors()
    labels = [HOSTILE[at % 12] for at in range(60)]
    figure = plots.new_figure(*size)
    figure.set_layout_engine(layout)
    ax = plots.reordered_matrix(
        (U, V), A, row_labels=labels, column_labels=["a"] * 40, ax=figure.subplots()
    )
    _drawn(ax)
    legend = _strip(ax, "columns").get_legend().get_window_extent()
    assert legend.x0 >= _strip(ax, "rows").get_window_extent().x1
    assert legend.x1 <= figure.bbox.x1 + 1
    assert legend.y0 >= -1
    assert ax.get_window_extent().width > 20


@pytest.mark.parametrize("what", ["data", "errors"])
def test_what_stands_below_a_matrix_is_in_a_figure_without_layout(what):
    A, U, V = _sparse()
    figure = plots.new_figure(4, 3)
    figure.set_layout_engine(None)
    ax = plots.reordered_matrix(
        (U, V), A, what=what, column_labels=["a"] * 30, ax=figure.subplots()
    )
    _drawn(figure)
    assert ax.xaxis.label.get_window_extent().y0 >= 0
    if what == "errors":
        assert ax.get_legend().get_window_extent().y0 >= 0


# Lists


def test_names_are_as_long_as_there_is_room():
    barcodes = [f"TCGA-{at:02}-A9EY-01A-11R-A405-07" for at in range(60)]
    A, U, V = factors()
    for ax in plots.component_lists((U, V), A, side="rows", row_names=barcodes):
        names = [text.get_text() for text in ax.texts if text.get_ha() == "left"]
        assert set(names[:-1]) <= set(barcodes)
    for size in ((9, 5), (3.5, 12)):
        axes = plots.component_lists(
            (U, V),
            A,
            side="rows",
            components=[1, 2],
            row_names=[f"{each} {'W' * 90}" for each in barcodes],
            size=size,
        )
        _drawn(axes)
        for ax in axes:
            shares = [text.get_window_extent() for text in ax.texts if text.get_ha() == "right"]
            for text in ax.texts:
                if text.get_ha() == "left" and not text.get_text().startswith("and"):
                    box = text.get_window_extent()
                    assert "…" in text.get_text()
                    assert not any(box.overlaps(share) for share in shares)


def test_a_component_of_all_rows_has_nothing_outside():
    U, V = np.ones((4, 1), bool), np.ones((1, 3), bool)
    V[0, 2] = False
    (ax,) = plots.component_lists((U, V), np.eye(4, 3))
    assert [text.get_text() for text in ax.texts] == ["25%", "25%", "0", "1"]
    assert len(ax.patches) == 2


@pytest.mark.parametrize("name", HOSTILE)
def test_a_measured_name_is_as_wide_as_it_is_drawn(name):
    shown = name_within(name, 60, 8)
    assert text_width(shown, 8) <= 60
    figure = plots.new_figure(2, 1)
    text = figure.text(0, 0.5, shown, fontsize=8)
    _drawn(figure)
    assert text.get_window_extent().width * 72 / figure.dpi <= 62


def test_texts_are_broken_between_words():
    text = "so and so many rows are in no component"
    lines = wrapped(text, 60, 8).split("\n")
    assert " ".join(lines) == text
    assert all(text_width(line, 8) <= 60 for line in lines)
    assert wrapped("unbreakable", 1, 8) == "unbreakable"


# Map


def _map_of_three():
    members = np.array([[1, 0], [0, 1], [1, 1]], dtype=bool)
    U = np.repeat(members, [50, 20, 30], axis=0)
    V = np.array([[1] * 9 + [0] * 6, [0] * 9 + [1] * 6], dtype=bool)
    return U, V, ["big"] * 30 + ["small"] * 20 + ["big"] * 49 + [""]


@pytest.mark.parametrize("classes", [2, 20])
def test_bubbles_are_drawn_largest_first_in_the_colours_of_the_legend(classes):
    U, V, labels = _map_of_three()
    if classes > 2:
        U, V = np.eye(40, dtype=bool).repeat(np.arange(40) + 1, axis=0), np.eye(40, dtype=bool)
        labels = [f"{component % classes:02}" for component in U.argmax(axis=1)]
    ax = plots.row_map((U, V), labels=labels)
    (points,) = ax.collections
    assert (np.diff(points.get_sizes()) <= 0).all()
    legend = {line.get_markerfacecolor() for line in ax.get_legend().get_lines()}
    assert {tuple(each) for each in points.get_facecolor()} == {to_rgba(each) for each in legend}
    if classes == 2:
        names = [text.get_text() for text in ax.get_legend().get_texts()]
        assert names == ["big", "small", "not known"]


@pytest.mark.parametrize("size", [(3.5, 2.6), (7, 4.8), (9, 2)])
@pytest.mark.parametrize("count", [2, 12, 28])
def test_the_legend_of_a_map_is_in_its_axes_and_on_no_bubble(size, count):
    U, V = np.eye(40, dtype=bool).repeat(3, axis=0), np.random.default_rng(0).random((40, 90)) < 0.3
    labels = [f"label number {at % count}" for at in range(120)]
    figure = plots.new_figure(*size)
    left, right = figure.subplots(1, 2)
    plots.row_map((U, V), labels=labels, ax=left)
    plots.row_map((U, V), labels=labels, ax=right)
    _drawn(figure)
    for ax in (left, right):
        box, inside = ax.get_legend().get_window_extent(), ax.get_window_extent()
        assert inside.x0 <= box.x0
        assert box.x1 <= inside.x1
        assert inside.y0 <= box.y0
        (points,) = ax.collections
        x, y = ax.transData.transform(points.get_offsets()).T
        radii = np.sqrt(points.get_sizes() / np.pi) * figure.dpi / 72
        assert (x + radii < box.x0 + 2).all()
        assert (x - radii > inside.x0).all()
        assert (y + radii < inside.y1).all()
        assert (y - radii > inside.y0).all()


# Sets


def _enriched():
    V = np.zeros((3, 60), bool)
    V[0, :10], V[1, 20:32], V[2, 50:53] = True, True, True
    names = [f"g{at}" for at in range(60)]
    sets = [
        NamedSet("ten", "", tuple(names[:10])),
        NamedSet("most of twelve", "", tuple(names[22:36])),
        NamedSet("both", "", tuple(names[4:8] + names[20:26])),
        NamedSet("$x^2$ " + "long " * 30, "", tuple(names[2:9])),
        NamedSet("nothing", "", tuple(names[40:48])),
    ]
    return V, names, sets


def test_dots_tell_share_and_p_of_the_best_sets():
    V, names, sets = _enriched()
    found = enrichment_of(V, names, sets)
    ax = plots.enrichment(found, most=1)
    best = {}
    for each in found:
        if each.adjusted_p <= 0.05:
            best.setdefault(each.component, each.set)
    shown = [tick.get_text() for tick in ax.get_yticklabels()]
    assert shown == [*best.values()] == ["ten", "most of twelve"]
    dots = [each for each in found if each.set in shown and each.adjusted_p <= 0.05]
    (points,) = [each for each in ax.collections if len(each.get_offsets())]
    places = {tuple(place): at for at, place in enumerate(points.get_offsets().tolist())}
    assert len(places) == len(dots) > 1
    sizes, depths = points.get_sizes(), points.get_array()
    components = [int(tick.get_text()) for tick in ax.get_xticklabels()]
    for each in dots:
        at = places[(components.index(each.component), shown.index(each.set))]
        assert depths[at] == pytest.approx(-each.log10_adjusted_p)
        assert sizes[at] / sizes.max() == pytest.approx(
            each.overlap / each.set_size / max(one.overlap / one.set_size for one in dots)
        )
    assert points.norm.vmin == 0
    figure = _drawn(plots.enrichment(found, ax=plots.new_figure(3.5, 3).subplots()))
    box = figure.get_tightbbox(figure.canvas.get_renderer())
    assert (box.x0 > -0.02, box.x1 < 3.52) == (True, True)


def test_no_enriched_set_is_said():
    V, names, sets = _enriched()
    for found in ([], enrichment_of(V, names, sets[-1:])):
        text = "No set is enriched in any component (adjusted p at most 0.05)."
        assert _said(plots.enrichment(found)) == text
    with pytest.raises(InputError, match="most must be at least 1"):
        plots.enrichment([], most=0)
    assert _said(plots.enrichment(enrichment_of(V, names, sets), components=[2])) == text


def test_enrichment_of_a_result_needs_names_and_shows_all_components():
    V, names, sets = _enriched()
    U = np.eye(3, dtype=bool)
    with pytest.raises(InputError, match="columns have no names"):
        result_enrichment((U, V), sets=sets)
    model = elbmf.GreConD(3).fit(pd.DataFrame((U.astype(int) @ V), columns=names))
    ax = result_enrichment(model, sets=sets)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0", "1", "2"]


# Data


def test_the_array_of_a_frame_is_drawn_without_a_warning():
    frame = pd.DataFrame(np.eye(4, dtype=int), columns=list("abcd"))
    model = elbmf.GreConD(2).fit(frame)
    plots.factorization(model, frame.to_numpy())  # all warnings are errors here
