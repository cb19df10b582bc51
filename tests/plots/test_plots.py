"""What is drawn: arrays, texts, whatever the factors, names and ways of handing them over."""

import sys

import numpy as np
import pandas as pd
import pytest
from cases import HOSTILE, RESULTS, factors, history, search
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import elbmf
from elbmf import plots
from elbmf.analysis import BlockOrder, component_overlap
from elbmf.analysis.labels import component_labels
from elbmf.comparison import Result
from elbmf.errors import InputError, MissingExtraError
from elbmf.estimators.saving import saved_model
from elbmf.io import LabelledMatrix, SavedModel
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.plots.subject import Subject
from strategies import boolean_arrays, examples


def _render(drawn):
    """Draw for good, which is when matplotlib warns of what it cannot draw."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = plots.figure_of(drawn)
    FigureCanvasAgg(figure).draw()
    return figure


def _texts(ax):
    return [text.get_text() for text in ax.texts]


@st.composite
def _factorizations(draw):
    """Factors with empty components or none at all, a matrix, and missing cells."""
    A = draw(boolean_arrays(st.integers(1, 30), st.integers(1, 30)))
    k = draw(st.sampled_from([0, 1, 2, 5, 40, 100]))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    density = draw(st.sampled_from([0.0, 0.05, 0.4, 1.0]))
    U, V = generator.random((len(A), k)) < density, generator.random((k, A.shape[1])) < density
    missing = generator.random(A.shape) < draw(st.sampled_from([0.0, 0.2, 1.0]))
    labels = generator.choice(np.array(["", *HOSTILE[:8]], dtype=object), len(A)).tolist()
    return BooleanMatrix.from_array(A, missing=missing), U, V, labels


_OF_FACTORS = {
    "matrix": lambda A, U, V, labels: plots.reordered_matrix((U, V), A),
    "factorization": lambda A, U, V, labels: plots.factorization((U, V), A),
    "overlap": lambda A, U, V, labels: plots.component_overlap((U, V)),
    "lists": lambda A, U, V, labels: plots.component_lists((U, V), A, row_names=labels),
    "map": lambda A, U, V, labels: plots.row_map((U, V)),
    "labelled map": lambda A, U, V, labels: plots.row_map((U, V), labels=labels),
    "nmi": lambda A, U, V, labels: plots.label_nmi(component_labels(U, labels)),
}


@pytest.mark.parametrize("kind", _OF_FACTORS)
@examples(4)
@given(drawn=_factorizations())
def test_whatever_the_factors_there_is_a_picture(kind, drawn):
    if kind == "lists" and not drawn[1].shape[1]:
        with pytest.raises(InputError, match="no component to list"):
            _OF_FACTORS[kind](*drawn)
        return
    _render(_OF_FACTORS[kind](*drawn))


@pytest.mark.parametrize("what", ["data", "reconstruction", "errors"])
def test_a_small_matrix_is_drawn_cell_by_cell_in_its_order(what):
    A, U, V = factors()
    order = BlockOrder(np.arange(60)[::-1], np.arange(40), np.arange(5))
    ax = plots.reordered_matrix((U, V), A, what=what, order=order)
    picture = ax.images[0].get_array()
    assert picture.shape == (60, 40, 3)
    ones, covered = A.to_csr().toarray()[::-1], (U.astype(int) @ V > 0)[::-1]
    known = ~A.missing.to_csr().toarray()[::-1]
    wanted = {
        "data": {(38, 38, 38): ones, (232, 217, 160): ~known},
        "reconstruction": {(38, 38, 38): covered & known, (232, 217, 160): ~known},
        "errors": {
            (217, 217, 217): ones & covered,
            (0, 114, 178): ones & ~covered,
            (213, 94, 0): ~ones & covered & known,
            (232, 217, 160): ~known,
        },
    }[what]
    white = np.ones((60, 40), dtype=bool)
    for colour, cells in wanted.items():
        seen = ((255 * picture).round() == colour).all(axis=2)
        np.testing.assert_array_equal(seen, cells)
        white &= ~cells
    assert (picture[white] == 1).all()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("40 columns", "60 rows")


def test_a_large_matrix_is_counted_into_pixels():
    generator = np.random.default_rng(0)
    n, m = 20_000, 500_000
    rows, columns = generator.integers(n, size=50_000), generator.integers(m, size=50_000)
    A = sparse.csr_array((np.ones(50_000, dtype=bool), (rows, columns)), shape=(n, m))
    U, V = np.zeros((n, 2), dtype=bool), np.zeros((2, m), dtype=bool)
    U[:9000, 0], V[0, :200_000], U[9000:, 1], V[1, 200_000:] = True, True, True, True
    ax = plots.reordered_matrix((U, V), A.astype(bool), what="reconstruction")
    height, width = ax.images[0].get_array().shape[:2]
    assert height < 500
    assert width < 600
    box = ax.images[0].get_extent()
    assert box == [0, m, n, 0]
    # Two blocks, each with its number and its outline.
    assert {tick.get_text() for tick in ax.get_yticklabels()} == {"0", "1"}
    assert len(ax.collections[0].get_paths()) == 2
    assert len(plots.reordered_matrix((U, V), A, outlines=False).collections) == 0


def test_a_factorization_says_how_many_errors_it_has():
    A, U, V = factors()
    axes = plots.factorization((U, V), A)
    data, rebuilt, errors = axes
    ones, covered = A.to_csr().toarray(), U.astype(int) @ V > 0
    known = ~A.missing.to_csr().toarray()
    missed, extra = (ones & ~covered).sum(), (~ones & covered & known).sum()
    assert data.get_title("left") == f"Data: {ones.sum()} ones"
    assert rebuilt.get_title("left") == "Reconstruction: 5 components"
    assert errors.get_title("left") == f"Errors: {missed + extra} cells"
    assert [text.get_text() for text in errors.get_legend().get_texts()] == [
        f"{missed} missed",
        f"{extra} extra",
        f"{(ones & covered).sum()} right ones",
        f"{(~known).sum()} not known",
    ]
    # All three are in the same order.
    assert len({tuple(ax.get_yticks()) for ax in axes}) == 1


@pytest.mark.parametrize("what", ["cells", "rows", "columns"])
def test_overlap_shows_shares_of_the_line_s_component(what):
    _, U, V = factors()
    ax = plots.component_overlap((U, V), what=what)
    order = [int(tick.get_text()) for tick in ax.get_yticklabels()]
    counts = getattr(component_overlap(U, V), what)
    shown = ax.images[0].get_array()
    for place, a in enumerate(order):
        for other, b in enumerate(order):
            if a == b:
                assert shown.mask[place, other]
            else:
                assert shown[place, other] == pytest.approx(counts[a, b] / counts[a, a])


@pytest.mark.parametrize("side", ["columns", "rows"])
def test_lists_rank_members_by_the_share_they_have(side):
    A, U, V = factors()
    names = {
        "row_names": [f"r{i}" for i in range(60)],
        "column_names": [f"c{j}" for j in range(40)],
    }
    (ax,) = plots.component_lists((U, V), A, side=side, components=[3], most=4, **names)
    inside = A.to_csr().toarray()
    if side == "columns":
        members, shares = np.flatnonzero(V[3]), inside[U[:, 3]].mean(axis=0)
        outside = inside[~U[:, 3]].mean(axis=0)
    else:
        members, shares = np.flatnonzero(U[:, 3]), inside[:, V[3]].mean(axis=1)
        outside = inside[:, ~V[3]].mean(axis=1)
    sums = inside.sum(axis=0 if side == "columns" else 1)
    best = sorted(members, key=lambda line: (-shares[line], sums[line]))[:4]
    widths = [bar.get_width() for bar in ax.patches]
    wanted = np.concatenate([shares[best], outside[best]])
    np.testing.assert_allclose(widths / widths[0], wanted / shares[best[0]])
    texts = _texts(ax)
    assert texts[:8] == [f"{share:.0%}" for share in wanted]
    assert texts[8:-1] == [f"{side[0]}{line}" for line in best]
    assert texts[-1] == f"and {len(members) - 4} more"
    assert ax.get_title("left") == "Component 3"
    assert ax.get_title("right") == f"{U[:, 3].sum()} × {V[3].sum()}"


def test_lists_without_data_begin_with_what_is_in_few_components():
    U = np.ones((2, 3), dtype=bool)
    V = np.array([[1, 1, 1], [1, 0, 0], [1, 1, 0]], dtype=bool)
    axes = plots.component_lists((U, V), column_names=["a", "b", "c"])
    assert _texts(axes[0]) == ["c", "b", "a"]
    assert not axes[0].patches
    assert len(axes) == 3


def test_lists_show_the_largest_components_or_those_asked_for():
    _, U, V = factors(k=30)
    areas = U.sum(axis=0) * V.sum(axis=1)
    titles = [ax.get_title("left") for ax in plots.component_lists((U, V))]
    assert len(titles) == 12
    shown = {int(title.split()[1]) for title in titles}
    assert min(areas[list(shown)]) >= max(np.delete(areas, list(shown)))
    with pytest.raises(InputError, match="no component 30: they are numbered 0 to 29"):
        plots.component_lists((U, V), components=[30])


def test_bubbles_have_the_area_of_their_rows():
    members = np.array([[1, 0], [0, 1], [1, 1]], dtype=bool)
    U = np.repeat(members, [50, 20, 30], axis=0)
    V = np.array([[1] * 9 + [0] * 6, [0] * 9 + [1] * 6], dtype=bool)
    ax = plots.row_map((U, V))
    areas = np.concatenate([points.get_sizes() for points in ax.collections])
    np.testing.assert_allclose(sorted(areas / areas.max()), [0.4, 0.6, 1.0])
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["component 0", "component 1"]
    # Two labels in one bubble are two rings: the one within has the area of its own rows.
    labels = ["x"] * 40 + ["y"] * 10 + ["x"] * 50
    ax = plots.row_map((U, V), labels=labels)
    areas = np.concatenate([points.get_sizes() for points in ax.collections])
    np.testing.assert_allclose(areas / areas.max(), [1.0, 0.6, 0.4, 0.2])


def test_many_labels_differ_in_shape_and_mixed_bubbles_are_grey():
    generator = np.random.default_rng(0)
    U, V = np.eye(12, dtype=bool).repeat(3, axis=0), generator.random((12, 90)) < 0.3
    labels = [f"{at:02}" for at in np.arange(36) // 3]
    labels[-2:] = "x", "y"
    ax = plots.row_map((U, V), labels=labels)
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names[:-1] == [f"{at:02}" for at in range(12)] + ["x", "y"] or names[-1] == (
        "several, other or none"
    )
    (points,) = ax.collections
    looks = {
        (tuple(colour), len(path.vertices))
        for colour, path in zip(points.get_facecolor(), points.get_paths(), strict=True)
    }
    assert len(looks) == 12


def test_nmi_is_drawn_by_label_with_partners_on_the_diagonal():
    U = np.eye(3, dtype=bool)[[2, 0, 1]].repeat(5, axis=0)
    found = component_labels(U, ["a"] * 5 + ["b"] * 5 + ["c"] * 5)
    ax = plots.label_nmi(found)
    np.testing.assert_allclose(np.diag(ax.images[0].get_array()), 1)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["2", "0", "1"]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["a", "b", "c"]


def test_trace_draws_what_the_method_recorded():
    recorded = history()
    loss, gap, flips = plots.trace(recorded)
    relaxed, rounded = loss.lines
    np.testing.assert_array_equal(relaxed.get_ydata(), recorded["relaxed_loss"])
    np.testing.assert_array_equal(rounded.get_ydata(), recorded["rounded_loss"])
    np.testing.assert_array_equal(gap.lines[0].get_ydata(), recorded["gap"])
    np.testing.assert_array_equal(flips.lines[0].get_ydata(), recorded["flips"])
    (loss,) = plots.trace({"cost": [5, 3, None]})
    np.testing.assert_array_equal(loss.lines[0].get_xdata(), [1, 2, 3])
    assert loss.get_xlabel() == "iteration"
    for degenerate in ({"gap": [0.0, 0.0]}, {"flips": [3]}, {"loss": []}):
        _render(plots.trace(degenerate))
    with pytest.raises(InputError, match=r"nothing to draw: of relaxed_loss.*got rows"):
        plots.trace({"rows": [1]})


@pytest.mark.parametrize("chosen", [0, 1, 12, 30])
def test_rank_curve_draws_loss_and_criterion_and_names_the_choice(chosen):
    table, choices = search(30, chosen)
    upper, lower = plots.rank_curve(table, choices)
    for axis, name in ((upper, "relative_loss"), (lower, "mdl")):
        curve, line, mark = axis.lines
        np.testing.assert_array_equal(curve.get_xydata(), np.c_[table["rank"], table[name]])
        assert list(line.get_xdata()) == [chosen, chosen]
        assert mark.get_xydata().tolist() == [[chosen, table[name][chosen]]]
    assert lower.texts[0].get_text() == f"least with {chosen} component{'s' * (chosen != 1)}"
    assert upper.get_ylabel() == "relative loss"
    assert (lower.get_title("left"), lower.get_ylabel()) == ("Description length (MDL)", "bits")
    assert lower.get_xlabel() == "number of components"
    figure = _render([upper, lower])
    # What is written stays within the picture.
    box = lower.texts[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1


@pytest.mark.parametrize("criterion", ["bai_ng_1", "held_out"])
def test_rank_curve_leaves_out_what_is_not_finite(tmp_path, criterion):
    table, choices = search(450, 300)
    axes = plots.rank_curve(table, choices, criterion)
    curve = axes[1].lines[0]
    assert np.isfinite(curve.get_ydata()).all()
    assert len(curve.get_xdata()) == np.isfinite(table[criterion]).sum()
    assert curve.get_marker() == "None"  # dots would run into each other
    plots.save(axes, tmp_path / "ranks.svg")


def test_rank_curve_refuses_a_criterion_that_is_not_there():
    table, choices = search(3, 1)
    with pytest.raises(InputError, match="no 'aic'; got rank"):
        plots.rank_curve(table, choices, "aic")


def test_a_comparison_has_the_least_loss_on_top():
    loss, time = plots.comparison(RESULTS)
    names = [tick.get_text() for tick in loss.get_yticklabels()]
    assert names == ["elbmf", "orm †", "asso", "sofa", "primp"]
    assert _texts(loss) == ["0.210", "0.300", "0.420", "→ 9.000", "out of memory"]
    assert [bar.get_width() for bar in time.patches] == [3.2, 60.0, 0.5, 0.02]
    assert [bar.get_y() for bar in loss.patches] == sorted(bar.get_y() for bar in loss.patches)
    for degenerate in (
        [Result(method="$a$", status="failed")],
        [Result(method="a", status="finished", loss=0, relative_loss=0.0, seconds=0.0)],
        [Result(method="a", status="finished", loss=2, relative_loss=np.inf, seconds=5e3)],
    ):
        _render(plots.comparison(degenerate))
    with pytest.raises(InputError, match="no method"):
        plots.comparison([])


def test_image_bands_draw_each_image_in_its_band():
    images = np.arange(7 * 4).reshape(7, 2, 2) % 2 == 0
    axes = plots.image_bands({"seven": images, "two": ~images[:2]}, columns=3)
    figure = _render(axes)
    assert [part.get_suptitle() for part in figure.subfigs] == ["seven", "two"]
    drawn = [ax.images[0].get_array() for ax in axes]
    np.testing.assert_array_equal(drawn, [*images, *~images[:2]])
    assert [len(part.axes) for part in figure.subfigs] == [9, 3]


def test_image_bands_refuse_what_are_no_images():
    with pytest.raises(InputError, match="'flat': images must have 3 dimensions"):
        plots.image_bands({"flat": np.ones((2, 2))})
    with pytest.raises(InputError, match="at least one band"):
        plots.image_bands({})


def test_a_model_is_taken_in_any_form():
    A, U, V = factors(noise=0)
    cells = A.to_csr().toarray().astype(int)
    rows, columns = [f"r{i}" for i in range(60)], [f"c{j}" for j in range(40)]
    frame = pd.DataFrame(cells, index=rows, columns=columns)
    model = elbmf.GreConD(3).fit(frame)
    subject = Subject.of(model, frame)
    assert (subject.name(0, 7), subject.name(1, 9)) == ("r7", "c9")
    np.testing.assert_array_equal(subject.U, model.membership_)
    np.testing.assert_array_equal(subject.A.to_csr().toarray(), cells)
    saved = SavedModel(sparse.csr_array(U), sparse.csr_array(V), rows, columns)
    subject = Subject.of(saved, cells)
    assert (subject.name(0, 7), subject.name(1, 9)) == ("r7", "c9")
    subject = Subject.of((U, V), LabelledMatrix(cells, rows, columns), row_names=range(60))
    assert (subject.name(0, 7), subject.name(1, 9)) == ("7", "c9")
    assert Subject.of((U, V)).name(1, 9) == "9"
    # An estimator reads values as it did when it was fitted, and so does what is saved of it.
    model = elbmf.GreConD(3, binarize=4).fit(10 * cells)
    for each in (model, saved_model(model)):
        np.testing.assert_array_equal(Subject.of(each, 10 * cells).A.to_csr().toarray(), cells)


def test_what_is_no_model_is_told():
    A, U, V = factors()
    without_rows = elbmf.GreConD(1).fit(np.eye(2))
    del without_rows.membership_
    for model, message in (
        (elbmf.ELBMF(), "ELBMF has no memberships of rows: it is not fitted"),
        (without_rows, "Pass .model.transform.A., model.components_."),
        (U, "a pair .U, V. of factors; got ndarray"),
        ((U, V.T), "U has 5 components, but V has 40"),
    ):
        with pytest.raises(InputError, match=message):
            plots.component_overlap(model)
    with pytest.raises(InputError, match="make a 60×40 product, but the matrix is 59×40"):
        plots.factorization((U, V), A.to_csr()[1:])
    with pytest.raises(InputError, match=r"row_names must be 60 names.*which are 1"):
        plots.component_lists((U, V), row_names=["a"])
    with pytest.raises(InputError, match="labels must be one for each of the 60 rows; got 2"):
        plots.row_map((U, V), labels=["a", "b"])
    with pytest.raises(InputError, match="column_labels must be one for each of the 40 columns; "):
        plots.reordered_matrix((U, V), A, column_labels=["a", "b"])
    with pytest.raises(InputError, match=r"row_labels must be a label for each .* text 'kind'"):
        plots.factorization((U, V), A, row_labels="kind")
    with pytest.raises(InputError, match="data cannot be drawn without the matrix"):
        plots.reordered_matrix((U, V))
    with pytest.raises(InputError, match="The matrix is needed"):
        plots.factorization((U, V), None)
    with pytest.raises(InputError, match="axes must be 3 axes"):
        plots.factorization((U, V), A, axes=plots.new_figure(3, 3).subplots(1, 2))
    for draw in (plots.reordered_matrix, plots.component_overlap):
        with pytest.raises(InputError, match=r"what must be .* got 'all'"):
            draw((U, V), what="all")


def test_axes_of_the_user_are_drawn_in():
    A, U, V = factors()
    figure = plots.new_figure(9, 6)
    left, right = figure.subplots(1, 2)
    assert plots.row_map((U, V), ax=left) is left
    assert plots.component_overlap((U, V), ax=right) is right
    assert plots.figure_of([left, right]) is plots.figure_of(left) is plots.figure_of(figure)
    axes = plots.new_figure(9, 6).subplots(3, 1)
    assert plots.factorization((U, V), A, axes=axes) == tuple(axes)


@pytest.mark.parametrize("kind", [*_OF_FACTORS, "one list", "trace", "comparison"])
def test_nothing_is_cut_off(kind):
    A, U, V = factors()
    others = {
        "one list": lambda: plots.component_lists((U[:, :1], V[:1]), A),
        "trace": lambda: plots.trace(history()),
        "comparison": lambda: plots.comparison(RESULTS),
    }
    labels = [HOSTILE[at % len(HOSTILE)] for at in range(60)]
    drawn = others[kind]() if kind in others else _OF_FACTORS[kind](A, U, V, labels)
    figure = _render(drawn)
    box = figure.get_tightbbox(figure.canvas.get_renderer())
    assert min(box.x0, box.y0) > -0.02
    assert box.x1 < figure.get_figwidth() + 0.02
    assert box.y1 < figure.get_figheight() + 0.02


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_one_short_line_of_text(name):
    from matplotlib.text import Text

    shown = plots.shown_name(name, 20)
    assert 0 < len(shown.replace(r"\$", "$")) <= 20
    assert "\n" not in shown
    figure = plots.new_figure(3, 3)
    text = figure.text(0.5, 0.5, shown)
    assert isinstance(text, Text)
    assert text._preprocess_math(shown)[1] is False  # no formula
    _render(figure)
    assert text.get_window_extent().height < 30


@given(st.text(max_size=200), st.integers(3, 60))
@examples(100)
def test_any_name_can_be_drawn(name, most):
    shown = plots.shown_name(name, most)
    assert shown == "(empty)" or len(shown.replace(r"\$", "$")) <= most
    _write(shown)


def _write(text, figures=[]):  # noqa: B006
    """Draw a text, on the same canvas as those before."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    if not figures:
        figures.append(plots.new_figure(2, 1))
        figures[0].text(0, 0.5, "")
        FigureCanvasAgg(figures[0])
    figures[0].texts[0].set_text(text)
    figures[0].texts[0].draw(figures[0].canvas.get_renderer())


def test_what_is_drawn_as_it_is_would_warn():
    with pytest.warns(UserWarning, match="missing from font"):
        _write("漢")


def test_names_are_kept_where_they_can_be():
    assert plots.shown_name("TP53") == "TP53"
    assert plots.shown_name("naïve Ωμέγα") == "naïve Ωμέγα"
    assert plots.shown_name("漢字") == "□□"
    assert plots.shown_name("0123456789abcdef", 8) == "01234…ef"
    assert plots.shown_name(12) == "12"


def test_labels_that_begin_with_an_underscore_are_in_the_legend():
    _, U, V = factors()
    labels = [HOSTILE[at % 6] if at % 2 else "_hidden" for at in range(60)]
    ax = plots.row_map((U, V), labels=labels)
    _render(ax)
    assert "_hidden" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_suffixes_are_those_of_pictures():
    assert {"png", "pdf", "svg"} <= set(plots.suffixes())


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_picture_is_saved_as_its_suffix_says(tmp_path, suffix):
    _, U, V = factors()
    path = tmp_path / f"picture.{suffix}"
    plots.save(plots.row_map((U, V)), path, dpi=50)
    start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix]
    assert path.read_bytes().startswith(start)


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"elbmf\[plots\]"):
        plots.image_bands({"one": np.ones((1, 2, 2))})
    with pytest.raises(MissingExtraError, match=r"elbmf\[plots\]"):
        plots.component_overlap((np.eye(2), np.eye(2)))
