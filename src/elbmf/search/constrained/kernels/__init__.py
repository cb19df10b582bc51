"""Compiled kernels of the search for factors that meet constraints."""
