"""Folders with wrong content and right checksums, as somebody might make them on purpose.

Each function changes a good folder in one way, which a generator chooses. What is read from it must
be a clean error, or an answer: never more than that.
"""

import hashlib
import io
import json
import zlib

import numpy as np

from elbmf.matrix.array_files import BLOCK

# What nobody expects in the place of a number, a text, a list or an object.
ODD = (
    None,
    True,
    -1,
    0,
    1,
    7,
    255,
    1 << 31,
    (1 << 63) - 1,
    1 << 63,
    -(1 << 63),
    10**30,
    -0.5,
    0.5,
    1e308,
    float("nan"),
    float("inf"),
    -float("inf"),
    "",
    "x",
    "inf",
    "../../x",
    "\x1b[2J\0",
    "|O",
    "<i8",
    "<u2",
    ">i4",
    [],
    [0],
    [-1, 5],
    [[]],
    ["a", "b"],
    {},
    {"a": 1},
)


def chosen(generator, values):
    """Return one of some values."""
    return values[int(generator.integers(len(values)))]


def places(value, above=()):
    """Return where something is in what JSON holds: the keys on the way to each."""
    found = [above] if above else []
    inner = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        # Of long lists, the first and the last do.
        inner = [(at, value[at]) for at in {0, len(value) // 2, len(value) - 1} if value]
    for key, each in inner:
        found += places(each, (*above, key))
    return found


def forge_json(generator, value, within=()):
    """Change, remove or add something in what JSON holds; return what was done."""
    for key in within:
        value = value[key]
    if not (found := places(value)):
        return "nothing"
    *way, last = chosen(generator, found)
    for key in way:
        value = value[key]
    how = chosen(generator, ["odd", "odd", "odd", "near", "gone", "added", "deep", "more"])
    if how == "near" and isinstance(value[last], int | float):
        value[last] += chosen(generator, [-1, 1, 2, 10, -10, 1000])
    elif how == "gone":
        del value[last]
    elif how == "added" and isinstance(value, dict):
        value["odd"] = chosen(generator, ODD)
    elif how == "deep":
        deep = []
        for _ in range(500):
            deep = [deep]
        value[last] = deep
    elif how == "more" and isinstance(value[last], list) and value[last]:
        value[last] += value[last]
    else:
        how, value[last] = "odd", chosen(generator, ODD)
    return f"{'.'.join(map(str, (*within, *way, last)))}: {how}"


def forge_array(generator, array):
    """Return an array that differs in its entries, or its type or shape, and what was done."""
    array = array.copy()
    how = chosen(generator, ["entries", "entries", "entries", "order", "type", "shape", "all"])
    flat = array.reshape(-1)
    if how == "order" and flat.size > 1:
        first, second = generator.integers(flat.size, size=2)
        flat[[first, second]] = flat[[second, first]]
    elif how == "type":
        array = array.astype(
            chosen(generator, ["i1", "u1", "<i2", "<i4", ">i8", "<f8", "S3", "b1"])
        )
    elif how == "shape":
        longer = np.concatenate([flat, flat])
        array = chosen(generator, [flat[:-1], flat[:0], longer, longer.reshape(2, -1), flat[1:]])
    elif flat.size:
        at = slice(None) if how == "all" else generator.integers(flat.size, size=3)
        limits = (0, 2) if array.dtype.kind == "b" else (0, 1)
        if array.dtype.kind in "iu":
            limits = np.iinfo(array.dtype).min, np.iinfo(array.dtype).max
        values = [*limits, 0, 1, 2, 3, 29, 30, 31, 39, 40, 41, 64, 200]
        if array.dtype.kind == "f":
            values += [np.nan, np.inf, -np.inf, 1e300]
        with np.errstate(all="ignore"):
            flat[at] = np.array(chosen(generator, values)).astype(array.dtype)
    return array, how


def write_array(path, array):
    """Write an array, and return what to note of it."""
    np.save(path, array, allow_pickle=False)
    data = array.tobytes()
    blocks = [data[start : start + BLOCK] for start in range(0, len(data), BLOCK)]
    return {"dtype": array.dtype.str, "length": array.size, "crc32": [*map(zlib.crc32, blocks)]}


def forge_matrix(generator, folder):
    """Change a matrix folder."""
    path = folder / "matrix.json"
    note = json.loads(path.read_text())
    name = chosen(generator, sorted(note["arrays"]))
    kind = chosen(generator, ["note", "array", "array", "array", "header"])
    if kind == "note":
        how = forge_json(generator, note)
    elif kind == "header":
        file = folder / f"{name}.npy"
        data = bytearray(file.read_bytes())
        data[int(generator.integers(128))] ^= 1 << int(generator.integers(8))
        file.write_bytes(data)
        how = f"{name}: a bit of its header"
    else:
        file = folder / f"{name}.npy"
        array, how = forge_array(generator, np.load(file))
        kept = note["arrays"][name]
        note["arrays"][name] = write_array(file, array)
        if how == "type" and generator.random() < 0.5:
            note["arrays"][name]["dtype"] = kept["dtype"]
        if name.endswith("starts") and generator.random() < 0.3:
            note["missing" if "missing" in name else "ones"] = sum(map(int, array.flat[-1:]))
        how = f"{name}: {how}"
    path.write_text(json.dumps(note))
    return how


def checksum(content):
    """Return that of a checkpoint."""
    return zlib.crc32(json.dumps(content, sort_keys=True).encode())


def forge_checkpoint(generator, folder):
    """Change the last checkpoint of a folder; the one before is removed."""
    notes = sorted(folder.glob("checkpoint-*.json"), key=lambda path: int(path.stem[11:]))
    for former in notes[:-1]:
        former.unlink()
    content = json.loads(notes[-1].read_text())
    names = sorted(content["arrays"])
    kind = chosen(generator, ["facts", "facts", "facts", "note", "array"])
    if kind == "array" and names:
        name = chosen(generator, names)
        file = folder / f"{notes[-1].stem}.{name}.npy"
        array, how = forge_array(generator, np.load(file))
        content["arrays"][name] = {**write_array(file, array), "shape": [*array.shape]}
        how = f"{name}: {how}"
    else:
        how = forge_json(generator, content, ("facts",) if kind == "facts" else ())
    if isinstance(content, dict):
        content.pop("crc32", None)
        content = {"crc32": checksum(content), **content}
    notes[-1].write_text(json.dumps(content))
    return how


def forge_npz(generator, path):
    """Change an array of an npz file."""
    with np.load(path) as archive:
        arrays = dict(archive)
    name = chosen(generator, sorted(arrays))
    arrays[name], how = forge_array(generator, arrays[name])
    if generator.random() < 0.1:
        how = "gone"
        del arrays[name]
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    path.write_bytes(stream.getvalue())
    return f"{name}: {how}"


def forge_model(generator, folder):
    """Change a saved model."""
    path, factors = folder / "model.json", folder / "factors.npz"
    description = json.loads(path.read_text())
    if generator.random() < 0.25:
        how = forge_npz(generator, factors)
        description["factors_sha256"] = hashlib.sha256(factors.read_bytes()).hexdigest()
    else:
        how = forge_json(generator, description, ("info",) if generator.random() < 0.9 else ())
    path.write_text(json.dumps(description))
    return how


def forge_steps(generator, folder):
    """Change what a search over ranks keeps of its steps."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".npz", ".json"))
    path = chosen(generator, files)
    if path.suffix == ".npz":
        return f"{path.name}: {forge_npz(generator, path)}"
    content = [json.loads(path.read_text())]
    how = forge_json(generator, content)
    path.write_text(json.dumps(content[0] if content else None))
    return f"{path.name}: {how}"
