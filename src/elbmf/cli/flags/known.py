"""Flags about what is known of rows and columns: labels, and sets of names."""

import argparse

__all__ = ["add_label_column", "add_name_matching"]


def add_label_column(parser: argparse.ArgumentParser) -> None:
    """Add the flag that chooses among several labellings of a table."""
    parser.add_argument(
        "--column", metavar="NAME", help="which column has the labels (default: the second)"
    )


def add_name_matching(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say when a name in a set is that of a column."""
    parser.add_argument(
        "--ignore-case", action="store_true", help="in sets, Tp53 and TP53 are the same name"
    )
    parser.add_argument(
        "--cut-at",
        metavar="TEXT",
        help="for sets, what comes from there on is no part of a column's name, e.g. '|' for "
        "TP53|7157",
    )
