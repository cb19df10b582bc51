"""Compiled loops that read the files of the owners of data."""
