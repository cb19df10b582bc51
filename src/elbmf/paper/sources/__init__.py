"""Readers of the files that owners of data sets publish, one file for each owner.

Each has a function ``load(path, ...)`` that returns a `PreparedData`. It streams: memory is that of
the ones it keeps, not that of the dense matrix; but for GRAND, where which weights are high is told
from all of a network at once. A damaged file gets a `FileFormatError` that says which file, line
and field.
"""
