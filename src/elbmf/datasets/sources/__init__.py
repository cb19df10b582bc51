"""Readers of the files that owners of data sets publish, one file for each owner.

Each has a function ``load(path, ...)`` that returns a `PreparedData`. It streams: memory is that of
the ones it keeps, never that of the dense matrix. A damaged file gets a `FileFormatError` that says
which file, line and field.
"""
