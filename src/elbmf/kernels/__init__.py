"""Compiled loops: the only numba in the project.

Each kernel does one thing on plain arrays, releases the GIL, and has a slow, obvious twin in
``tests/naive.py``. Kernels know nothing of slabs, factors or schedules.

Compiled code is cached on disk per source file, so a change in :mod:`elbmf.kernels.simd` reaches
the kernels built on it only once their own files change or the cache is cleared.
"""
