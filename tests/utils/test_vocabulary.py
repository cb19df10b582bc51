"""The words of a field, in place of rows, columns and components."""

import pytest

from elbmf.errors import InputError
from elbmf.utils.vocabulary import VOCABULARIES, Vocabulary


@pytest.mark.parametrize(
    ("words", "text", "expected"),
    [
        (None, "3 rows of a component", "3 rows of a component"),
        ("roles", "Component 3: 1 row shares 2 columns", "Role 3: 1 user shares 2 permissions"),
        ("roles", "rows.csv has 3 rows", "rows.csv has 3 users"),
        (
            "roles",
            "--row-weights, rows:0.8, 'row', 'row.csv'",
            "--row-weights, rows:0.8, 'row', 'row.csv'",
        ),
        (
            "roles",
            "2 ones are missed, 1 zero is covered",
            "2 permissions are missing from roles, 1 permission is too many",
        ),
        ("baskets", "a component, a row; a column", "an itemset, a basket; an item"),
        ("roles", "an own component of a row", "an own role of a user"),
        ("person/people,key,duty", "rows, columns and components", "people, keys and duties"),
        ("biology", "Rows (3) of components.", "Samples (3) of programs."),
    ],
)
def test_texts(words, text, expected):
    assert Vocabulary.of(words).spoken(text) == expected


def test_all_that_are_ready_read_well():
    for words in VOCABULARIES:
        table = Vocabulary.of(words).table
        assert {"row", "rows", "column", "columns", "component", "components"} <= {*table}
        assert (
            Vocabulary.of(words).spoken("thrown brows of subcomponents")
            == "thrown brows of subcomponents"
        )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("rolls", "roles, biology, baskets or three words"),
        ("user,permission", "three words"),
        ("users,permission,role", "word for one; got 'users'"),
        ("user,,role", "expected a word"),
        ("user,per/,role", "expected a word"),
        ("user,<b>,role", "expected a word"),
    ],
)
def test_what_is_no_vocabulary(words, message):
    with pytest.raises(InputError, match=message):
        Vocabulary.of(words)
