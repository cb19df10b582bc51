"""Compiled loops: the only numba in the project.

Each kernel does one thing on plain arrays, releases the GIL, and has a slow, obvious twin in
``tests/naive.py``. Kernels know nothing of slabs, factors or schedules.
"""
