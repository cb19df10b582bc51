"""Citations between groups of patents."""

import numpy as np
import pytest
from damage import cut, dense, refused, write
from hypothesis import given
from hypothesis import strategies as st

from elbmf.errors import InputError
from elbmf.paper.kernels.patents import mark_links, patent_keys, symbol_codes
from elbmf.paper.sources import patents

PATENTS = ["10000000", "9123456", "3930271", "D345393", "RE28671", "PP12345", "H1234", "T100001"]
SYMBOLS = [
    "A01B1/00",
    "A01B1/02",
    "A01B3/10",
    "A01C1/00",
    "B60K2001/0405",
    "H04L63/08",
    "Y10S901/02",
]
CITATIONS = "g_us_patent_citation.tsv"
GROUPS = "g_cpc_current.tsv"


def cpc(rows, quote='"'):
    """Return the table of groups; rows are patent, sequence and symbol."""
    names = ["patent_id", "cpc_sequence", "cpc_section", "cpc_class", "cpc_subclass", "cpc_group"]
    lines = [[*names, "cpc_type"]]
    for patent, sequence, symbol in rows:
        parts = [symbol[:1], symbol[:3], symbol[:4], symbol]
        lines.append([patent, str(sequence), *parts, "inventional"])
    return "".join("\t".join(f"{quote}{cell}{quote}" for cell in line) + "\n" for line in lines)


def cited(rows, quote='"'):
    names = ["patent_id", "citation_sequence", "citation_patent_id", "citation_date", "record_name"]
    lines = [names]
    for number, (patent, other) in enumerate(rows):
        lines.append(
            [patent, str(number), other, "1990-01-01", 'O""Neill\tet al.' if quote else "x"]
        )
    return "".join("\t".join(f"{quote}{cell}{quote}" for cell in line) + "\n" for line in lines)


def slow_network(classified, citations, level, first_only):
    """Return the set of pairs of symbols, from the lines of both tables."""
    width = {"section": 1, "class": 3, "subclass": 4, "group": None}[level]
    of: dict[str, list[str]] = {}
    for patent, _, symbol in sorted(classified, key=lambda row: row[1]):
        main = f"{symbol[:4]} {symbol[4:].partition('/')[0]}/00"
        of.setdefault(patent, []).append(main[:width])
    if first_only:
        of = {patent: symbols[:1] for patent, symbols in of.items()}
    return {
        (row, column) for a, b in citations for row in of.get(a, []) for column in of.get(b, [])
    }


@given(
    classified=st.lists(
        st.tuples(st.sampled_from(PATENTS), st.integers(0, 300), st.sampled_from(SYMBOLS)),
        min_size=1,
        max_size=20,
        # The order among the groups of a patent is that of its sequence, one for each.
        unique_by=lambda row: (row[0], min(row[1], 255)),
    ),
    citations=st.lists(
        st.tuples(
            st.sampled_from([*PATENTS, "7"]),
            st.sampled_from([*PATENTS, "2003/0012345", "", "X", "99999999999"]),
        ),
        max_size=20,
    ),
    level=st.sampled_from(["section", "class", "subclass", "group"]),
    first_only=st.booleans(),
    packed=st.sampled_from(["", ".zip", ".gz"]),
    quote=st.sampled_from(["", '"']),
)
def test_network(tmp_path_factory, classified, citations, level, first_only, packed, quote):
    folder = tmp_path_factory.mktemp("patents")
    write(folder / (GROUPS + packed), cpc(classified, quote))
    write(folder / (CITATIONS + packed), cited(citations, quote))
    expected = slow_network(classified, citations, level, first_only)
    if not expected:
        with pytest.raises(InputError, match=f"none of the {len(citations)} citations"):
            patents.load(folder, level=level, first_only=first_only)
        return
    found = patents.load(folder, level=level, first_only=first_only)
    rows, columns = found.matrix.row_names, found.matrix.column_names
    assert rows == sorted(rows, key=symbol_order)
    entries = found.matrix.values.tocoo()
    assert {
        (rows[i], columns[j]) for i, j in zip(entries.row, entries.col, strict=True)
    } == expected
    assert found.matrix.values.nnz == len(expected)
    assert set(rows) == {row for row, _ in expected}
    assert set(columns) == {column for _, column in expected}
    if level == "group":
        assert found.row_labels["class"] == [row[:3] for row in rows]
        assert found.column_labels["section"] == [column[0] for column in columns]


def symbol_order(symbol):
    return symbol[:4], int(symbol[4:].strip().partition("/")[0] or 0)


def test_older_tables_and_named_files(tmp_path):
    groups = write(
        tmp_path / "cpc_current.tsv",
        "uuid\tpatent_id\tsection_id\tsubsection_id\tgroup_id\tsubgroup_id\tcategory\tsequence\n"
        "u1\t10\tA\tA01\tA01B\tA01B1/02\tinventional\t0\nu2\t11\tH\tH04\tH04L\tH04L63/08\tx\t0\n",
    )
    citations = write(
        tmp_path / "uspatentcitation.tsv",
        "uuid\tpatent_id\tcitation_id\tdate\tname\nu\t10\t11\t1990-01-01\tSmith\r\n",
    )
    found = patents.load(tmp_path)
    assert (found.matrix.row_names, found.matrix.column_names) == (["A01B 1/00"], ["H04L 63/00"])
    assert dense(found).tolist() == [[True]]
    assert found.notes == [
        "1 of 1 citations are between patents that have a group.",
        "2 groups occur, 1 of them cite and 1 are cited.",
    ]
    renamed = groups.rename(tmp_path / "x"), citations.rename(tmp_path / "y")
    with pytest.raises(InputError, match=r"no table of citations.*citations=PATH"):
        patents.load(tmp_path)
    again = patents.load(tmp_path, groups=renamed[0], citations=renamed[1])
    assert again.matrix.row_names == ["A01B 1/00"]


GOOD_GROUPS = cpc([("10000000", 0, "A01B1/02"), ("D345393", 0, "H04L63/08")])
GOOD_CITATIONS = cited([("10000000", "D345393"), ("D345393", "10000000")])


@pytest.mark.parametrize(
    ("name", "old", "new", "parts"),
    [
        (GROUPS, GOOD_GROUPS, "", ["empty"]),
        (GROUPS, "\t", ",", ["line 1", "'patent_id'", "separated by tabs"]),
        (GROUPS, '"cpc_group"', '"group"', ["line 1", "'cpc_group' or 'subgroup_id'"]),
        (
            GROUPS,
            '"H04L63/08"',
            '"H4L63/08"',
            ["line 3, field 6 (cpc_group)", "A01B1/02", "'H4L63/08'"],
        ),
        (GROUPS, '"D345393"', '"D34-393"', ["line 3, field 1 (patent_id)", "'D34-393'"]),
        (GROUPS, '\t"H04L63/08"', "", ["line 3", "7 fields", "found 6", "cut off"]),
        (GROUPS, GOOD_GROUPS, GOOD_GROUPS.partition("\n")[0] + "\n", ["no patent has a group"]),
        (CITATIONS, GOOD_CITATIONS, "", ["empty"]),
        (CITATIONS, "citation_patent_id", "cites", ["line 1", "'citation_patent_id'"]),
        (CITATIONS, '"D345393"\t"1"', '"?"\t"1"', ["line 3, field 1 (patent_id)", "'?'"]),
        (CITATIONS, '\t"1990-01-01"', "", ["line 2", "5 fields", "found 4"]),
        (CITATIONS, 'et al."\n', "et al.\n", ["line 2, field 5", "not closed"]),
    ],
)
def test_damaged(tmp_path, name, old, new, parts):
    for file, text in ((GROUPS, GOOD_GROUPS), (CITATIONS, GOOD_CITATIONS)):
        write(
            tmp_path / file,
            text.replace(old, new, -1 if old == "\t" else 1) if file == name else text,
        )
    refused(patents.load, tmp_path, str(tmp_path / name), *parts)


def test_damaged_bytes(tmp_path):
    write(tmp_path / CITATIONS, GOOD_CITATIONS)
    for packed in (".zip", ".gz"):
        path = cut(write(tmp_path / (GROUPS + packed), GOOD_GROUPS * 50))
        refused(patents.load, tmp_path, str(path), "damaged or cut off")
        path.unlink()
    write(tmp_path / GROUPS, GOOD_GROUPS.replace("cpc_type", "é").encode("latin-1"))
    refused(patents.load, tmp_path, "line 1", "0xe9")


def test_options(tmp_path):
    with pytest.raises(InputError, match="level must be"):
        patents.load(tmp_path, level="subgroup")
    with pytest.raises(InputError, match="is not a folder"):
        patents.load(tmp_path / "nothing")


def places_of(texts):
    raw = np.frombuffer("".join(texts).encode(), dtype=np.uint8)
    ends = np.cumsum([len(text) for text in texts])
    return raw, np.column_stack([ends - [len(text) for text in texts], ends])


@given(st.lists(st.from_regex(r"[A-Za-z]{0,2}[0-9]{1,8}", fullmatch=True), min_size=1, max_size=9))
def test_keys_are_equal_for_equal_patents_alone(texts):
    raw, places = places_of(texts)
    keys = np.empty(len(texts), dtype=np.int64)
    patent_keys(raw, places, keys)
    names = [text.upper().rstrip("0123456789") for text in texts]
    plain = [(name, int(text[len(name) :])) for name, text in zip(names, texts, strict=True)]
    for a, first in enumerate(plain):
        assert keys[a] >= 0
        assert first[0] or keys[a] == first[1]
        for b, second in enumerate(plain):
            assert (keys[a] == keys[b]) == (first == second)


def test_what_is_no_patent_and_no_symbol():
    raw, places = places_of(["", "D", "ABC1", "1-2", " 1", "134217728"])
    keys = np.empty(len(places), dtype=np.int64)
    patent_keys(raw, places, keys)
    assert keys.tolist() == [-1] * 6
    texts = ["", "A01B", "A01B1", "A01B 1/00", "AA1B1/0", "A01B12345/0", "a01b1/0", "A01B1x"]
    raw, places = places_of(texts)
    codes = np.empty(len(places), dtype=np.int64)
    symbol_codes(raw, places, codes)
    assert codes.tolist() == [-1, -2, 260001 + 10000, 270001, -2, -2, 270001, -2]


@given(st.integers(0, 2**32 - 1))
def test_links(seed):
    rng = np.random.default_rng(seed)
    known = np.sort(rng.choice(60, rng.integers(1, 20), replace=False))
    counts = rng.integers(1, 4, known.size)
    offsets = np.append(0, np.cumsum(counts))
    groups = rng.integers(0, 11, offsets[-1]).astype(np.uint16)
    limit = rng.integers(0, 60)
    direct = np.zeros(limit, dtype=np.int32)
    direct[known[known < limit]] = np.arange(1, 1 + (known < limit).sum())
    citing, others = rng.integers(-1, 60, (2, 30))
    links = np.zeros((11, 2), dtype=np.uint8)
    used = mark_links(citing, others, direct, known, offsets, groups, links)
    expected = np.zeros((11, 11), dtype=bool)
    both = 0
    for a, b in zip(citing.tolist(), others.tolist(), strict=True):
        if a in known and b in known:
            both += 1
            p, q = known.tolist().index(a), known.tolist().index(b)
            for row in groups[offsets[p] : offsets[p + 1]]:
                expected[row, groups[offsets[q] : offsets[q + 1]]] = True
    assert used == both
    np.testing.assert_array_equal(np.unpackbits(links, axis=1, bitorder="little")[:, :11], expected)
