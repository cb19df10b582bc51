"""The catalog, the folder of prepared data, and stand-ins."""

import gzip
import inspect
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from elbmf import ELBMF
from elbmf.errors import FileFormatError, InputError
from elbmf.estimators.schedule_flags import parameters_from_flags
from elbmf.io import LabelledMatrix, read
from elbmf.paper.catalog import (
    DATA_SETS,
    PreparedData,
    data_folder,
    find,
    open_prepared,
    prepare,
    prepare_stand_in,
    prepared_sets,
    save_prepared,
    stand_in,
    store,
)
from elbmf.paper.catalog import (
    sets as catalog,
)
from strategies import examples

SHARED = Path(__file__).parents[3] / "shared" / "data"

DENSITIES = {  # as Table 1 prints them
    "genomes": 0.1043,
    "string": 0.0318,
    "gbm": 0.0566,
    "lgg": 0.0729,
    "cerebellum": 0.0823,
    "tcga": 0.0501,
    "movielens": 0.0011,
    "netflix": 0.0067,
    "patents": 0.1305,
}


def test_the_catalog_is_the_papers_table():
    assert list(DATA_SETS) == list(DENSITIES)
    for name, density in DENSITIES.items():
        assert round(DATA_SETS[name].density, 4) == density
    ranks = [data_set.rank for data_set in DATA_SETS.values()]
    assert ranks == [28, 100, 100, 32, 450, 33, 20, 20, 136]


@pytest.mark.parametrize("data_set", DATA_SETS.values(), ids=list(DATA_SETS))
def test_an_entry_says_all_there_is_to_know(data_set):
    for field in ("title", "domain", "files", "access", "preparation"):
        assert getattr(data_set, field), field
    assert data_set.source.startswith("https://")
    assert json.loads(json.dumps(data_set.as_dict()))["name"] == data_set.name
    ELBMF(data_set.rank, **parameters_from_flags(ELBMF, data_set.parameters))._validate_params()
    if not data_set.parameters:
        assert "no parameters" in data_set.remark
    for remote in data_set.downloads:
        assert remote.url.startswith("https://")
        assert remote.name in data_set.files


@pytest.mark.parametrize("data_set", DATA_SETS.values(), ids=list(DATA_SETS))
def test_every_loader_takes_a_path_and_options(data_set):
    path, *options = inspect.signature(catalog.loader_of(data_set.name)).parameters.values()
    assert path.name == "path"
    assert all(option.kind is inspect.Parameter.KEYWORD_ONLY for option in options)


@pytest.mark.parametrize("data_set", DATA_SETS.values(), ids=list(DATA_SETS))
def test_the_documentation_has_every_data_set(data_set):
    text = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")
    assert f"| `{data_set.name}` | {data_set.rows}×{data_set.columns} |" in text
    assert f"elbmf data prepare {data_set.name} " in text
    assert data_set.source.removeprefix("https://").removeprefix("www.") in text


def test_names():
    assert catalog.get("NETFLIX").name == "netflix"
    with pytest.raises(InputError, match=r"no data set 'netlfix'. Did you mean netflix\?"):
        catalog.get("netlfix")
    with pytest.raises(InputError, match=r"no data set 'zzz'. Data sets: genomes, string"):
        catalog.get("zzz")


names = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8))


@examples(20)
@given(rows=names, columns=names, data=st.data())
def test_what_is_saved_is_opened(tmp_path_factory, rows, columns, data):
    folder = tmp_path_factory.mktemp("data") / "new"
    values = np.random.default_rng(0).random((len(rows), len(columns))) < 0.4
    kept = data.draw(st.booleans())
    labels = {"kind": [f"\t{name}" for name in rows]} if data.draw(st.booleans()) else {}
    table = LabelledMatrix(sparse.csr_array(values), rows if kept else None, columns)
    save_prepared(folder, "a.b", PreparedData(table, labels, {}, ["A note."]), {"source": "me"})
    assert prepared_sets([folder]) == {"a.b": folder / "a.b.npz"}
    again = open_prepared(find("a.b", [folder]))
    np.testing.assert_array_equal(again.matrix.values.toarray(), values)
    ids = [str(i) for i in range(len(rows))]
    assert again.matrix.row_names == (rows if kept else ids if labels else None)
    assert again.matrix.column_names == columns
    assert (again.row_labels, again.column_labels) == (labels, {})
    assert again.notes == ["A note."]
    info = store.prepared_info(folder / "a.b")
    assert (info["source"], info["ones"], info["shape"]) == (
        "me",
        int(values.sum()),
        list(values.shape),
    )


@pytest.fixture
def tiny():
    table = LabelledMatrix(np.eye(2, dtype=bool), ["a", "b"], None)
    return PreparedData(table, {"kind": ["x", "y"]})


def test_nothing_is_replaced_unasked(tmp_path, tiny):
    save_prepared(tmp_path, "s", tiny)
    with pytest.raises(InputError, match=r"exists already.*overwrite=True"):
        save_prepared(tmp_path, "s", tiny)
    bare = PreparedData(LabelledMatrix(np.ones((3, 1), dtype=bool)))
    save_prepared(tmp_path, "s", bare, overwrite=True)
    # Labels of the former do not stay.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.json", "s.npz"]
    assert open_prepared(tmp_path / "s").matrix.shape == (3, 1)


def test_what_was_interrupted_is_not_prepared(tmp_path, tiny):
    save_prepared(tmp_path, "s", tiny)
    (tmp_path / "s.json").unlink()
    assert prepared_sets([tmp_path]) == {}


def test_looking_in_several_folders(tmp_path, tiny):
    for folder, name in (("1", "a"), ("2", "a"), ("2", "b")):
        save_prepared(tmp_path / folder, name, tiny)
    folders = [tmp_path / "1", tmp_path / "2", tmp_path / "3"]
    found = prepared_sets(folders)
    assert list(found) == ["a", "b"]
    assert found["a"] == find("a", folders) == tmp_path / "1" / "a.npz"
    with pytest.raises(InputError, match=r"'bb' is not prepared in .*1, .*Did you mean b\?"):
        find("bb", folders)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        (
            "s.rows.tsv.gz",
            gzip.compress(b"id\tkind\na\tx\n", mtime=0),
            r"expected 2 lines .* found 1",
        ),
        (
            "s.rows.tsv.gz",
            gzip.compress(b"id\tkind\na\tx\nb\n", mtime=0),
            r"line 3: expected 2 fields",
        ),
        (
            "s.rows.tsv.gz",
            gzip.compress(b"id\tkind\na\t\xff\nb\ty\n", mtime=0),
            r"line 2: expected text in the encoding utf-8",
        ),
        ("s.rows.tsv.gz", gzip.compress(b"", mtime=0), r"is empty"),
        ("s.rows.tsv.gz", gzip.compress(b"id\n" * 99, mtime=0)[:25], r"damaged or cut off"),
        ("s.json", b"{", r"s.json: not a JSON file"),
        ("s.json", b"[]", r"s.json: expected a JSON object"),
        ("s.npz", b"PK\x03\x04", r"s.npz: not a valid npz"),
    ],
)
def test_damaged_folders(tmp_path, tiny, file, content, message):
    save_prepared(tmp_path, "s", tiny)
    (tmp_path / file).write_bytes(content)
    with pytest.raises(FileFormatError, match=message):
        open_prepared(tmp_path / "s.npz")


def test_places_that_cannot_be_written(tmp_path, tiny):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot be written: .*file is no folder"):
        save_prepared(tmp_path / "file" / "below", "s", tiny)


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {"XDG_DATA_HOME": "/x"}, "/x/elbmf/data"),
        ("linux", {"XDG_DATA_HOME": "relative"}, "{home}/.local/share/elbmf/data"),
        ("linux", {}, "{home}/.local/share/elbmf/data"),
        ("darwin", {}, "{home}/Library/Application Support/elbmf/data"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/elbmf/data"),
        ("win32", {}, "{home}/AppData/Local/elbmf/data"),
        ("win32", {"ELBMF_DATA": "/mine"}, "/mine"),
        ("linux", {"ELBMF_DATA": "~/mine"}, "{home}/mine"),
    ],
)
def test_the_folder_of_the_user(monkeypatch, platform, environment, expected):
    for name in ("ELBMF_DATA", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert data_folder() == Path(expected.format(home=Path.home()))


def test_prepare(tmp_path, monkeypatch):
    monkeypatch.setenv("ELBMF_DATA", str(tmp_path / "data"))
    source = tmp_path / "ratings.dat"
    source.write_text("1::1::5::3\n2::2::3::4\n")
    path = prepare("movielens", source, threshold=2)
    assert path == find("movielens") == tmp_path / "data" / "movielens.npz"
    assert read(path).row_names == ["1", "2"]
    info = store.prepared_info(path)
    assert info["options"] == {"threshold": 2, "all_ids": True}
    assert info["made_of"]["bytes"] == 22
    assert len(info["made_of"]["sha256"]) == 64
    assert info["paper"]["rank"] == 20
    assert (info["ones"], info["density"]) == (2, 0.5)
    assert info["source"].startswith("https://grouplens.org")
    with pytest.raises(InputError, match="exists already"):
        prepare("movielens", tmp_path / "is not read")
    prepare("movielens", tmp_path, overwrite=True)
    assert "sha256" not in store.prepared_info(path)["made_of"]


@pytest.mark.parametrize("name", DATA_SETS)
def test_stand_ins_have_the_density_of_the_data(tmp_path, name):
    data_set = DATA_SETS[name]
    scale = 0.2 if name == "gbm" else 0.05
    path = prepare_stand_in(name, tmp_path, scale=scale, random_state=0)
    assert path.name == f"{name}-standin.npz"
    data = open_prepared(path)
    assert data.matrix.shape == (round(data_set.rows * scale), round(data_set.columns * scale))
    info = store.prepared_info(path)
    assert info["generated"]
    assert info["density"] == pytest.approx(data_set.density, rel=0.1)
    assert len(data.row_labels["tiles"]) == data.matrix.shape[0]


def test_stand_ins_follow_the_seed():
    one, same, other = (
        stand_in((200, 100), 0.1, 5, random_state=seed).matrix.values for seed in (1, 1, 2)
    )
    assert (one != same).nnz == 0
    assert (one != other).nnz > 0
    with pytest.raises(InputError, match="scale must be"):
        stand_in((200, 100), 0.1, 5, scale=0)


@pytest.mark.skipif(not SHARED.is_dir(), reason="no real data beside the checkout")
def test_real_data_beside_the_checkout():
    sets = prepared_sets([SHARED])
    data = open_prepared(sets["chess"])
    assert data.matrix.shape == (3196, 75)
    assert data.matrix.values.dtype == bool
    assert set(data.row_labels) == {"class"}
    assert "1" in data.matrix.column_names
