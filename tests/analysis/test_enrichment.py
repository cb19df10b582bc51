"""Enrichment against Fisher's exact test on each pair and Benjamini–Hochberg by the definition."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats

from elbmf.analysis.enrichment import NamedSet, enrichment
from elbmf.analysis.tails import adjusted_log_p, log_upper_tail
from elbmf.errors import FileFormatError, InputError
from elbmf.io import read_gmt
from strategies import examples

NAMES = list("abcdefghij")


def sets_of(*members):
    return [NamedSet(f"set {at}", "", tuple(each)) for at, each in enumerate(members)]


def slow_adjusted(p):
    """For each test the least rate at which the procedure, as it is defined, rejects it."""
    p = np.asarray(p)
    return np.array([min(1, *(len(p) * q / np.sum(p <= q) for q in p if q >= each)) for each in p])


@st.composite
def tables(draw):
    background = draw(st.integers(1, 60))
    size, drawn = draw(st.integers(0, background)), draw(st.integers(0, background))
    least, most = max(0, size + drawn - background), min(size, drawn)
    return draw(st.integers(least, most)), background, size, drawn


@given(tables())
def test_tail_is_that_of_fishers_exact_test(case):
    x, M, K, n = case
    table = [[x, K - x], [n - x, M - K - n + x]]
    expected = stats.fisher_exact(table, alternative="greater").pvalue
    assert np.exp(log_upper_tail(x, M, K, n)) == pytest.approx(expected, rel=1e-9)


def test_tail_of_large_numbers_and_beyond_the_smallest_float():
    x = np.array([1, 50, 100, 101, 150, 400])
    found = log_upper_tail(x, 20_000, 2_000, 1_000)
    np.testing.assert_allclose(
        np.exp(found[:5]), stats.hypergeom.sf(x[:5] - 1, 20_000, 2_000, 1_000)
    )
    assert log_upper_tail(400, 20_000, 400, 400) < np.log(1e-308) * 2
    np.testing.assert_allclose(
        log_upper_tail(400, 20_000, 400, 400), stats.hypergeom.logpmf(400, 20_000, 400, 400)
    )


def test_impossible_and_certain_overlaps():
    assert log_upper_tail(4, 10, 3, 5) == -np.inf
    np.testing.assert_array_equal(log_upper_tail([0, 3], 10, [3, 8], [5, 5]), [0, 0])


@given(st.lists(st.sampled_from([0.001, 0.01, 0.02, 0.3, 0.5, 1.0]), min_size=1, max_size=12))
def test_adjusted_p_follow_the_definition(p):
    np.testing.assert_allclose(np.exp(adjusted_log_p(np.log(p))), slow_adjusted(p))


def test_adjusted_p_by_hand():
    adjusted = np.exp(adjusted_log_p(np.log([0.04, 0.01, 0.02])))
    np.testing.assert_allclose(adjusted, [0.04, 0.03, 0.03])


@st.composite
def named_components(draw):
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    V = generator.random((draw(st.integers(1, 4)), len(NAMES))) < draw(st.sampled_from([0.2, 0.6]))
    members = generator.random((draw(st.integers(1, 5)), len(NAMES))) < 0.4
    members[0, :3] = True
    return V, [list(np.array(NAMES)[each]) for each in members]


@examples(30)
@given(
    named_components(),
    st.sampled_from(["all", "annotated"]),
    st.sampled_from(["component", "all"]),
)
def test_every_pair_is_a_fishers_exact_test(case, background, family):
    V, members = case
    found = enrichment(
        sparse.csr_array(V), NAMES, sets_of(*members), background=background, family=family
    )
    annotated = set().union(*members)
    universe = [name for name in NAMES if background == "all" or name in annotated]
    tested = [at for at, each in enumerate(members) if len(each) >= 2]
    p = np.ones((len(V), len(tested)))
    overlaps = {}
    for component, row in enumerate(V):
        drawn = {name for name, one in zip(NAMES, row, strict=True) if one} & set(universe)
        for column, at in enumerate(tested):
            both = drawn & set(members[at])
            table = [
                [len(both), len(members[at]) - len(both)],
                [len(drawn) - len(both), len(universe) - len(drawn | set(members[at]))],
            ]
            p[component, column] = stats.fisher_exact(table, alternative="greater").pvalue
            if both:
                overlaps[component, f"set {at}"] = sorted(both), component, column
    adjusted = (
        slow_adjusted(p.ravel()).reshape(p.shape)
        if family == "all"
        else np.array([slow_adjusted(row) for row in p])
    )
    assert {(each.component, each.set) for each in found} == set(overlaps)
    assert len(found) == len(overlaps)
    for each in found:
        genes, row, column = overlaps[each.component, each.set]
        assert (each.genes, each.overlap) == (genes, len(genes))
        assert each.background == len(universe)
        assert each.p == pytest.approx(p[row, column], rel=1e-9)
        assert each.adjusted_p == pytest.approx(adjusted[row, column], rel=1e-9)
        assert each.expected == each.set_size * each.component_size / each.background
        assert each.fold_enrichment == pytest.approx(each.overlap / each.expected)
        assert 10**each.log10_p == pytest.approx(each.p)
    keys = [(each.component, each.log10_p) for each in found]
    assert keys == sorted(keys)


def test_columns_of_the_same_name_and_repeated_genes_count_once():
    V = [[1, 1, 1, 0, 0]]
    found = enrichment(V, ["a", "a", "b", "c", "d"], sets_of("aab", "cd"))
    assert len(found) == 1
    assert (found[0].overlap, found[0].set_size) == (2, 2)
    assert (found[0].component_size, found[0].background) == (2, 4)


def test_sizes_count_what_is_in_the_background():
    sets = sets_of("abxyz", "a", "abcde")
    found = enrichment([[1, 1, 0, 0, 0]], list("abcde"), sets, min_size=2, max_size=4)
    assert [each.set for each in found] == ["set 0"]
    assert found[0].set_size == 2


def test_a_component_more_does_not_change_what_is_said_of_another():
    V = np.eye(10, dtype=bool)[:3] | np.eye(10, dtype=bool)[3:6]
    sets = sets_of("ad", "be", "cf")
    alone = enrichment(V, NAMES, sets, components=[1])
    assert alone == [each for each in enrichment(V, NAMES, sets) if each.component == 1]


def test_case_and_cut_names():
    V = [[1, 1, 0]]
    found = enrichment(
        V, ["Tp53|1", "BRCA1|2", "x|3"], sets_of(["TP53", "brca1"]), ignore_case=True, cut_at="|"
    )
    assert found[0].genes == ["Tp53", "BRCA1"]


def test_empty_components_and_no_components():
    assert enrichment(np.zeros((2, 3)), list("abc"), sets_of("ab")) == []
    assert enrichment(np.zeros((0, 3)), list("abc"), sets_of("ab")) == []


@pytest.mark.parametrize(
    ("names", "options", "parts"),
    [
        (["ENSG1", "ENSG2"], {}, ["None of the 2 columns", "'ENSG1'", "'TP53'", "Ensembl ids"]),
        (["tp53", "x"], {}, ["upper and lower case only; set ignore_case=True"]),
        (["TP53|1", "x|2"], {}, ["What comes before '|' does match; set cut_at='|'"]),
        (["TP53", "x", "y"], {}, ["must be a name for each of the 2 columns; got 3"]),
        (["TP53", "x"], {"min_size": 2}, ["None of the 1 sets has 2 to 2 names", "1 to 1"]),
        (["TP53", "x"], {"min_size": 3, "max_size": 2}, ["got 3 and 2"]),
        (["TP53", "x"], {"components": [1]}, ["no component 1; there are 1, counted from 0"]),
        (["TP53", "x"], {"background": "none"}, ["one of all, annotated; got 'none'"]),
        (["TP53", "x"], {"family": "none"}, ["one of component, all; got 'none'"]),
    ],
)
def test_errors_say_what_to_do(names, options, parts):
    with pytest.raises(InputError) as error:
        enrichment([[1, 0]], names, sets_of(["TP53", "BRCA1"]), **options)
    for part in parts:
        assert part in str(error.value)


def test_gmt_files(tmp_path):
    text = "one\tthe first\tA\tB\tA\t\r\n\ntwo\t\tC\t \tD\r\nnone\thttp://x\t\n"
    (tmp_path / "sets.gmt").write_text("\ufeff" + text, encoding="utf-8", newline="")
    (tmp_path / "sets.gmt.gz").write_bytes(gzip.compress(text.encode()))
    expected = [
        NamedSet("one", "the first", ("A", "B")),
        NamedSet("two", "", ("C", "D")),
        NamedSet("none", "http://x", ()),
    ]
    assert read_gmt(tmp_path / "sets.gmt") == expected
    assert read_gmt(tmp_path / "sets.gmt.gz") == expected


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (b"", ["is empty (0 bytes), expected sets of genes"]),
        (b"\n\n", ["has no line with a set"]),
        (b"one\tx\tA\ntwo,x,B\n", ["line 2", "separated by tabs", "found 1 field."]),
        (b"\tx\tA\n", ["line 1", "the name of the set is empty"]),
        (b"one\tx\tA\n\none\ty\tB\n", ["line 3", "'one' is already in line 1"]),
        (b"one\tx\tA\ntwo\t\xff\tA\n", ["line 2", "0xff"]),
    ],
)
def test_damaged_gmt_files(tmp_path, content, parts):
    (tmp_path / "sets.gmt").write_bytes(content)
    with pytest.raises(FileFormatError) as error:
        read_gmt(tmp_path / "sets.gmt")
    for part in [str(tmp_path / "sets.gmt"), *parts]:
        assert part in str(error.value)
