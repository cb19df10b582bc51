"""Packed arrays read back, as the page reads them."""

import base64
import json
import zlib

import numpy as np


def unpacked(packed):
    """Return the array or the list that was packed; None stays None."""
    if packed is None:
        return None
    content = zlib.decompress(base64.b64decode(packed["data"]), wbits=-zlib.MAX_WBITS)
    if packed["type"] == "json":
        values = json.loads(content)
    else:
        values = np.frombuffer(content, dtype=f"<{packed['type']}")
        values = values.astype(np.float64 if packed["type"] == "f4" else np.int64)
    assert len(values) == packed["length"]
    return values


def grid_of(matrix):
    """Return the grids of a matrix by name, each as an array of its bins."""
    shape = matrix["rows"], matrix["columns"]
    grids = {name: unpacked(matrix[name]) for name in ("hit", "missed", "extra")}
    return {name: None if grid is None else grid.reshape(shape) for name, grid in grids.items()}


def lines_of(axis):
    """Return for each line that is kept its position, its components, and its ones in each."""
    kept = unpacked(axis["kept"])
    held, holders = unpacked(axis["held"]), unpacked(axis["holders"])
    edges = np.concatenate([[0], np.cumsum(held)])
    support = unpacked(axis["support"])
    positions = np.arange(axis["count"]) if kept is None else kept
    return [
        (
            int(line),
            holders[low:high].tolist(),
            None if support is None else support[low:high].tolist(),
        )
        for line, low, high in zip(positions, edges[:-1], edges[1:], strict=True)
    ]
