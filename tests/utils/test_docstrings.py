"""Docstrings of classes that share parameters and attributes with their bases."""

from elbmf.utils.docstrings import entries, with_inherited

BASE = """A base.

    Parameters
    ----------
    shared : int, default=1
        What all have.

        In two paragraphs.
    other : str, optional
        What only some take.

    Attributes
    ----------
    found_ : int
        What all leave.
    steps_ : int
        Steps.
    """

CLASS = """A class.

    Parameters
    ----------
    own : int, default=2
        What it has.
    shared

    Attributes
    ----------
    more_ : int
        Its own.
    found_ : int
        What it leaves.

    Notes
    -----
    None.
    """


def test_a_class_says_what_its_bases_say() -> None:
    whole = with_inherited(CLASS, [BASE], ["own", "shared"])
    assert list(entries(whole)) == ["own", "shared"]
    assert entries(whole)["shared"] == entries(BASE)["shared"]
    found = entries(whole, "Attributes")
    assert list(found) == ["found_", "steps_", "more_"]
    assert found["found_"] == ("found_ : int", "    What it leaves.")
    assert whole.startswith("A class.\n\nParameters\n----------\nown")
    assert whole.endswith("Its own.\n\nNotes\n-----\nNone.")


def test_what_is_not_named_is_added_where_it_belongs() -> None:
    whole = with_inherited("A class.\n\nNotes\n-----\nNone.\n", [BASE], ["other"])
    assert list(entries(whole)) == ["other"]
    assert whole.index("Parameters") < whole.index("Attributes") < whole.index("Notes")


def test_the_nearest_base_is_heeded() -> None:
    nearer = "B.\n\nParameters\n----------\nshared : int\n    Otherwise.\n"
    whole = with_inherited("A.", [nearer, BASE], ["other", "shared"])
    assert entries(whole)["shared"] == ("shared : int", "    Otherwise.")
    assert list(entries(whole)) == ["shared", "other"]
