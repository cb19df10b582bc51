"""What a fitted method tells of what it found: data frames, and the cell of a notebook."""

from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import elbmf
from elbmf import ELBMF, GreConD, RankSearch, Sofa, stability
from elbmf.errors import InputError
from elbmf.estimators import METHODS, method

QUICK = {"max_iter": 20, "effort": 0.01, "random_state": 0}


def _frame(A: Any) -> pd.DataFrame:
    rows, columns = (
        [f"{name}{at}" for at in range(size)] for name, size in zip("rc", A.shape, strict=True)
    )
    return pd.DataFrame(np.asarray(A, dtype=int), index=rows, columns=columns)


def _planted(seed: int = 0) -> pd.DataFrame:
    A = np.random.default_rng(seed).random((30, 12)) < 0.1
    A[:10, :5] = A[8:20, 4:9] = True
    return _frame(A)


def _members_slowly(model: Any, X: pd.DataFrame, side: str, hidden: Any = None) -> pd.DataFrame:
    """Count each member's share by hand, and its margin by leaving it out."""
    A = X.to_numpy().astype(bool)
    U, V = model.membership_.astype(bool), model.components_.astype(bool)
    hidden = np.zeros(A.shape, dtype=bool) if hidden is None else hidden
    table = []
    for at in range(len(V)):
        mine, others = (V[at], U[:, at]) if side == "columns" else (U[:, at], V[at])
        ones = (A & ~hidden).T if side == "columns" else A & ~hidden
        for place in np.flatnonzero(mine):
            inside, outside = ones[place, others], ones[place, ~others]
            table.append(
                {
                    "component": at,
                    side.removesuffix("s"): (X.columns if side == "columns" else X.index)[place],
                    "place": place,
                    "share": inside.mean() if len(inside) else 0.0,
                    "share_elsewhere": outside.mean() if len(outside) else 0.0,
                }
            )
    columns = ["component", side.removesuffix("s"), "place", "share", "share_elsewhere"]
    return pd.DataFrame(table, columns=columns).sort_values(
        ["component", "share", "share_elsewhere", "place"], ascending=[True, False, True, True]
    )


@settings(max_examples=30, deadline=None)
@given(
    st.integers(1, 14),
    st.integers(1, 9),
    st.integers(1, 4),
    st.floats(0, 1),
    st.booleans(),
    st.integers(0, 99),
)
@pytest.mark.parametrize("side", ["columns", "rows"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_members_are_those_of_the_factors_with_their_shares(
    side: Any, n: int, m: int, k: int, density: float, hides: bool, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    X = _frame(generator.random((n, m)) < density)
    hidden = generator.random((n, m)) < 0.2 if hides else None
    model = GreConD(k).fit(X, missing=hidden)
    seen = model.members_frame(side, X, missing=hidden)
    slow = _members_slowly(model, X, side, hidden)
    assert list(seen)[-1] == "margin"
    pd.testing.assert_frame_equal(
        seen.drop(columns="margin"), slow.reset_index(drop=True), check_dtype=False
    )
    cells = X.to_numpy().astype(float)
    if hidden is not None:
        cells[hidden] = np.nan
    margins = elbmf.margins(cells, model.membership_, model.components_)
    weighed = margins.columns.toarray() if side == "columns" else margins.rows.toarray().T
    assert seen["margin"].to_list() == [
        weighed[component, place]
        for component, place in zip(seen["component"], seen["place"], strict=True)
    ]


@pytest.mark.parametrize("side", ["columns", "rows"])
def test_margins_count_what_lines_weigh(side: Any, tmp_path: Path) -> None:
    X = _planted()
    weights = np.where(np.arange(30) < 10, 5, 1)
    model = ELBMF(2, **QUICK).fit(X, sample_weight=weights)
    seen = model.members_frame(side, X)
    margins = elbmf.margins(X, model.membership_, model.components_, sample_weight=weights)
    weighed = margins.columns.toarray() if side == "columns" else margins.rows.toarray().T
    assert [*zip(seen["component"], seen["place"], seen["margin"], strict=True)] == [
        (component, place, weighed[component, place])
        for component, place in zip(seen["component"], seen["place"], strict=True)
    ]
    # Nor do tables say what would hold without them, and what is loaded does not know them.
    model.save(tmp_path / "model", X, tsv=True)
    table = pd.read_csv(tmp_path / "model" / f"{side}.tsv", sep="\t")
    noted = [float(each) for cell in table["margins"].dropna() for each in str(cell).split(",")]
    assert sorted(noted) == sorted(seen["margin"])
    assert "margin" not in elbmf.load(tmp_path / "model").members_frame(side, X)


def test_other_data_than_that_of_the_fit_is_refused() -> None:
    X = _planted()
    model = GreConD(2).fit(X)
    for told in (model.components_frame, partial(model.members_frame, "rows")):
        with pytest.raises(InputError, match="X must be what the estimator was fitted to"):
            told(1 - X)


def test_without_data_members_are_the_same_and_nothing_is_said_of_their_fit() -> None:
    X = _planted()
    model = ELBMF(2, **QUICK).fit(X)
    for side in ("columns", "rows"):
        seen, full = model.members_frame(side), model.members_frame(side, X)
        assert list(seen) == ["component", side[:-1], "place"]
        assert set(map(tuple, seen.to_numpy())) == set(map(tuple, full[list(seen)].to_numpy()))


@pytest.mark.parametrize("name", sorted(set(METHODS) - {"sofa"}))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_components_tell_what_they_cover_whatever_the_method(name: str) -> None:
    X = _planted()
    model = method(name)(n_components=2, random_state=0).fit(X)
    seen = model.components_frame(X)
    A = X.to_numpy().astype(bool)
    tiles = [np.outer(u, v) for u, v in zip(model.membership_.T, model.components_, strict=True)]
    assert seen.index.name == "component"
    for at, tile in enumerate(tiles):
        others = [other for index, other in enumerate(tiles) if index != at]
        elsewhere = np.any(others, axis=0) if others else np.zeros_like(A)
        one = seen.loc[at]
        assert one["rows"] == (
            tile.any(axis=1).sum() if one["columns"] else model.membership_[:, at].sum()
        )
        assert one["columns"] == tile.any(axis=0).sum() or not one["rows"]
        assert one["covered"] == (A & tile).sum()
        assert one["alone"] == (A & tile & ~elsewhere).sum()
        assert set(one["column_names"]) == set(X.columns[model.components_[at] > 0])
    assert "covered" not in model.components_frame()


def test_a_loaded_model_tells_the_same(tmp_path: Any) -> None:
    X = _planted()
    model = ELBMF(2, **QUICK).fit(X)
    model.save(tmp_path / "model", X)
    again = elbmf.load(tmp_path / "model")
    pd.testing.assert_frame_equal(again.components_frame(X), model.components_frame(X))
    pd.testing.assert_frame_equal(again.members_frame("rows", X), model.members_frame("rows", X))


def test_a_stream_of_rows_has_no_members_to_tell() -> None:
    model = Sofa(2).partial_fit(_planted())
    with pytest.raises(InputError, match="keeps no rows"):
        model.components_frame()
    assert "wrong cells" not in model._repr_html_()
    assert "n_components" in model._repr_html_()


def test_a_side_there_is_not_is_named() -> None:
    model = GreConD(2).fit(_planted())
    with pytest.raises(InputError, match="side must be 'columns' or 'rows'; got 'genes'"):
        model.members_frame("genes")


class _Cells(HTMLParser):
    """The texts of the cells of tables, and all tags."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.cells: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self.cells:
            self.cells[-1] += data


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_notebook_shows_components_with_the_best_columns_first() -> None:
    X = _planted()
    X.columns = ["<script>alert(1)</script>", *X.columns[1:]]
    model = ELBMF(2, random_state=0)
    assert "wrong cells" not in model._repr_html_()
    shown = _Cells(model.fit(X)._repr_html_())
    bundle = model._repr_mimebundle_()
    assert "wrong cells" in bundle["text/html"]
    assert "script" not in _Cells(model._repr_html_().split("<details>")[0]).tags
    first = model.members_frame().query("component == 0")["column"]
    listed = ", ".join(first)
    assert listed in shown.cells


def test_a_notebook_shows_few_of_many_and_says_so() -> None:
    X = _frame(np.eye(40))
    model = GreConD(40).fit(X)
    page = model._repr_html_()
    assert "15 more components: components_frame()" in page


def test_a_search_over_ranks_shows_its_table_and_its_choice() -> None:
    X = _planted()
    search = RankSearch(ELBMF(extra_weight="auto", **QUICK), 4)
    assert "<table>" not in search._repr_html_()
    page = search.fit(X)._repr_mimebundle_()["text/html"]
    assert f"{search.n_components_} components of ELBMF" in page
    chosen = next(row for row in page.split("<tr>") if "mdl" in row)
    assert f"<b>{search.n_components_}</b>" in chosen
    lines = page.partition("<details>")[0].split("<tr>")
    assert len(lines) == 2 + len(search.table_["rank"])
    search.table_ |= {name: np.resize(each, 100) for name, each in search.table_.items()}
    search.table_["rank"], search.n_components_ = np.arange(100), 90
    page = search._repr_html_()
    assert "<b>90</b>" in page
    assert "and 75 more ranks" in page


def test_stability_shows_which_components_return() -> None:
    model = ELBMF(2, extra_weight="auto", **QUICK)
    found = stability(_planted(), model, runs=2, random_state=0)
    frame = found.components_frame()
    assert frame["recurrence"].tolist() == found.recurrence_.tolist()
    assert frame["found_in"].tolist() == found.found_in_.tolist()
    assert frame["rows"].tolist() == found.reference_.membership_.sum(axis=0).tolist()
    assert frame["column_names"][0]
    page = found._repr_html_()
    assert f"stability {found.stability_:.2f} in 2 runs of rows:0.5" in page
    for component in range(2):
        assert f"{found.recurrence_[component]:.2f}" in page
        assert ", ".join(frame["column_names"][component]) in page


@pytest.mark.parametrize("parameters", [{"n_components": "auto"}, {"extra_weight": "auto"}])
def test_what_is_not_chosen_yet_is_not_listed(parameters: dict[str, Any]) -> None:
    model = ELBMF(**parameters)
    assert "fit" in dir(model)
    assert "<table>" not in model._repr_html_().partition("<details")[0]
