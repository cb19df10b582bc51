"""How fast delimited text is read, beside pyarrow, polars and the csv module of Python.

Files are generated: wide tables of zeros and ones, wide tables with missing cells and names in
quotes, pairs of names, and pairs of numbers. Every reader goes the whole way, from the file to a
`LabelledMatrix` with the same names, each time in a process of its own, the readers in turn. CPU
time is that of all threads; memory is what the process took beyond what it had before. Then each
is given the same file with one bad cell: what it says is printed as it is.
"""

import argparse
import csv
import gzip
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from common import machine, peak_of_process
from elbmf.io import LabelledMatrix, read
from elbmf.io.table import CsrBuilder, csr_from_pairs

DENSITY = 0.05
MISSING = 0.02
USERS, ITEMS = 70_000, 10_000
ROWS, COLUMNS = 17_770, 480_189
AT_ONCE = 1_000_000


# Files.


def generate_wide(path: Path, rows: int, columns: int, *, odd: bool = False) -> None:
    """Write a table of zeros and ones; an odd one has empty cells and commas in its names."""
    generator = np.random.default_rng(0)
    name = '"{}, {}"' if odd else "{}{}"
    with open(path, "wb") as stream:
        titles = ",".join(name.format("gene", j) for j in range(columns))
        stream.write(f"id,{titles}\n".encode())
        for row in range(rows):
            cells = np.full((columns, 2), ord(","), dtype=np.uint8)
            draws = generator.random(columns)
            cells[:, 0] = ord("0") + (draws < DENSITY)
            cells[-1, 1] = ord("\n")
            if odd:
                kept = np.ones((columns, 2), dtype=bool)
                kept[draws > 1 - MISSING, 0] = False
                text = cells[kept].tobytes()
            else:
                text = cells.tobytes()
            stream.write(name.format("patient", row).encode() + b"," + text)


def generate_pairs(path: Path, lines: int, line: str, shape: tuple[int, int]) -> None:
    """Write pairs, some rows and columns much more often than others."""
    generator = np.random.default_rng(0)
    with opened(path, "wt") as stream:
        for begin in range(0, lines, AT_ONCE):
            draws = generator.random((2, min(AT_ONCE, lines - begin)))
            rows = (shape[0] * draws[0] ** 2).astype(int).tolist()
            columns = (shape[1] * draws[1] ** 1.7).astype(int).tolist()
            stream.writelines(line.format(i, j) for i, j in zip(rows, columns, strict=True))


def generate(case: str, path: Path, size: float) -> None:
    """Write the file of a case, ``size`` times as long as it is by default."""
    if case == "wide":
        generate_wide(path, int(20_000 * size), 2000)
    elif case == "very wide":
        generate_wide(path, int(2000 * size), 20_000)
    elif case == "wide, odd":
        generate_wide(path, int(20_000 * size), 2000, odd=True)
    elif case == "names":
        generate_pairs(path, int(10_000_000 * size), "user{}\titem_ab{}\n", (USERS, ITEMS))
    else:
        generate_pairs(path, int(20_000_000 * size), "{}\t{}\n", (ROWS, COLUMNS))


CASES = {
    "wide": "wide.csv",
    "very wide": "very_wide.csv",
    "wide, odd": "odd.csv",
    "names": "names.tsv",
    "numbers": "numbers.tsv",
    "numbers, gzipped": "numbers.tsv.gz",
}


def is_wide(path: Path) -> bool:
    return ".csv" in path.suffixes


def opened(path: Path, mode: str) -> Any:
    return gzip.open(path, mode) if path.suffix == ".gz" else open(path, mode, newline="")


# Readers.


def read_elbmf(path: Path) -> LabelledMatrix:
    return read(path, layout="wide" if is_wide(path) else "pairs")


def read_pyarrow(path: Path) -> LabelledMatrix:
    import pyarrow
    from pyarrow import csv as arrow

    if is_wide(path):
        with open(path, newline="") as stream:
            names = next(csv.reader(stream))
        types = dict.fromkeys(names[1:], pyarrow.int8()) | {names[0]: pyarrow.string()}
        convert = arrow.ConvertOptions(column_types=types)
        block = arrow.ReadOptions(block_size=4 << 20)
        row_names: list[str] = []
        builder = CsrBuilder(len(names) - 1)
        for batch in arrow.open_csv(path, convert_options=convert, read_options=block):
            row_names += batch.column(0).to_pylist()
            columns = [column.to_numpy(zero_copy_only=False) for column in batch.columns[1:]]
            builder.add(np.stack(columns, axis=1))
        return LabelledMatrix(builder.build(), row_names, names[1:])
    names = ["row", "column"]
    kind = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    table = arrow.read_csv(
        path,
        read_options=arrow.ReadOptions(column_names=names),
        parse_options=arrow.ParseOptions(delimiter="\t"),
        convert_options=arrow.ConvertOptions(column_types=dict.fromkeys(names, kind)),
    ).unify_dictionaries()
    codes = [
        np.concatenate([chunk.indices.to_numpy() for chunk in table.column(name).chunks])
        for name in names
    ]
    both = [table.column(name).chunk(0).dictionary.to_pylist() for name in names]
    del table
    return labelled(codes, both)


def read_polars(path: Path) -> LabelledMatrix:
    import polars

    if is_wide(path):
        with open(path, newline="") as stream:
            names = next(csv.reader(stream))
        types = {names[0]: polars.String} | dict.fromkeys(names[1:], polars.Int8)
        frame = polars.read_csv(path, schema=types)
        row_names = frame[:, 0].to_list()
        frame = frame[:, 1:]
        if any(column.null_count() for column in frame):
            frame = frame.cast(polars.Float32)
        cells = frame.to_numpy()
        del frame
        builder = CsrBuilder(len(names) - 1)
        for start in range(0, len(row_names), 1000):
            builder.add(cells[start : start + 1000])
        return LabelledMatrix(builder.build(), row_names, names[1:])
    frame = polars.read_csv(
        path,
        has_header=False,
        separator="\t",
        schema={"row": polars.Categorical, "column": polars.Categorical},
    )
    codes, both = [], []
    for name in ("row", "column"):
        physical = frame[name].to_physical().to_numpy()
        # Numbers of categories are not in the order in which they come: the last to be written
        # is the first that came.
        first = np.full(int(physical.max()) + 1, -1)
        first[physical[::-1]] = np.arange(physical.size)[::-1]
        used = np.flatnonzero(first >= 0)
        order = used[np.argsort(first[used])]
        position = np.empty(first.size, dtype=np.int64)
        position[order] = np.arange(order.size)
        codes.append(position[physical])
        both.append(frame[name][first[order]].to_list())
    del frame
    return labelled(codes, both)


def read_standard(path: Path) -> LabelledMatrix:
    with opened(path, "rt") as stream:
        if is_wide(path):
            reader = csv.reader(stream)
            names = next(reader)
            values = {"0": 0.0, "1": 1.0, "": np.nan}
            builder, row_names = CsrBuilder(len(names) - 1), []
            for fields in reader:
                row_names.append(fields.pop(0))
                builder.add(np.fromiter(map(values.__getitem__, fields), np.float64)[None])
            return LabelledMatrix(builder.build(), row_names, names[1:])
        known: tuple[dict[str, int], ...] = ({}, {})
        codes: tuple[list[np.ndarray], ...] = ([], [])
        reader = csv.reader(stream, delimiter="\t")
        while block := list(islice(reader, AT_ONCE)):
            for side, names_of, texts in zip(codes, known, zip(*block, strict=True), strict=True):
                numbers = [names_of.setdefault(text, len(names_of)) for text in texts]
                side.append(np.array(numbers, dtype=np.int32))
        return labelled([np.concatenate(side) for side in codes], [list(each) for each in known])


def labelled(codes: Any, names: Any) -> LabelledMatrix:
    """Return the matrix of pairs."""
    matrix, _ = csr_from_pairs(codes[0], codes[1], None, (len(names[0]), len(names[1])))
    return LabelledMatrix(matrix, *names)


READERS: dict[str, Callable[[Path], LabelledMatrix]] = {
    "elbmf": read_elbmf,
    "pyarrow": read_pyarrow,
    "polars": read_polars,
    "csv module": read_standard,
}


# Measuring.


def fingerprint(table: LabelledMatrix) -> str:
    """Tell results apart: the shape, where the ones and missing cells are, and the names."""
    csr, names = table.values, [*(table.row_names or []), *(table.column_names or [])]
    data = np.isnan(csr.data.astype(float)).tobytes()
    parts = csr.shape, hash_of(csr.indices.astype(np.int64).tobytes() + data), csr.nnz
    return f"{parts} {hash_of(chr(10).join(names).encode())}"


def hash_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]


def measure(reader: str, path: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        few = Path(folder) / path.name
        text = "id,a,b\nx,0,1\ny,,1\n" if is_wide(path) else "a\tb\nc\td\n"
        with opened(few, "wt") as stream:
            stream.write(text)
        READERS[reader](few)  # compiles and imports
    before = peak_of_process()
    wall, cpu = time.perf_counter(), time.process_time()
    table = READERS[reader](path)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {
        "wall": wall,
        "cpu": cpu,
        "peak": peak_of_process() - before,
        "result": fingerprint(table),
    }


def complaint(reader: str, path: Path) -> str:
    """Return what a reader says of a file whose line 3 is bad."""
    try:
        READERS[reader](path)
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    return "nothing"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=float, default=1, help="how many times as long the files")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where to put files (default: a temporary one)")
    parser.add_argument("--case", choices=CASES, action="append", help="only such files")
    parser.add_argument("--reader", choices=READERS, action="append", help="only these")
    parser.add_argument("--one", nargs=2, metavar=("READER", "PATH"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.one[0], Path(arguments.one[1]))), flush=True)
        return
    print(machine(), flush=True)
    readers = arguments.reader or list(READERS)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for case in arguments.case or CASES:
            path = Path(folder) / CASES[case]
            generate(case, path, arguments.size)
            best: dict[str, dict[str, Any]] = {}
            for _ in range(arguments.rounds):
                for reader in readers:
                    command = [sys.executable, __file__, "--one", reader, str(path)]
                    done = subprocess.run(command, capture_output=True, text=True, check=False)
                    if done.returncode:
                        said = done.stderr.splitlines() or [f"ended with {done.returncode}"]
                        print(f"{case}, {reader}: {said[-1][:200]}", flush=True)
                        continue
                    found = json.loads(done.stdout.splitlines()[-1])
                    kept = best.setdefault(reader, found)
                    if kept["result"] != found["result"]:
                        print(f"{case}, {reader}: the result changes", flush=True)
                    for what in ("wall", "cpu", "peak"):
                        kept[what] = min(kept[what], found[what])
            print(f"\n{case}: {path.stat().st_size / 1e6:.0f} MB", flush=True)
            results = {kept["result"] for kept in best.values()}
            print("  all give the same" if len(results) == 1 else f"  results differ: {results}")
            for reader, kept in best.items():
                print(
                    f"  {reader:10} CPU {kept['cpu']:6.2f} s, wall {kept['wall']:6.2f} s, "
                    f"peak {kept['peak']:6.0f} MB",
                    flush=True,
                )
            path.unlink()
        bad = {
            "bad.csv": "id,a,b\nx,0,1\ny,0,x1\n",
            "ragged.csv": "id,a,b\nx,0,1\ny,0,1,1\n",
            "quotes.csv": 'id,a,b\nx,0,1\ny,"0,1\n',
            "ragged.tsv": "a\tb\na\tc\na\n",
            "bytes.tsv": "a\tb\na\tc\na\t\udcff\n",
        }
        for name, text in bad.items():
            path = Path(folder) / name
            path.write_bytes(text.encode(errors="surrogateescape"))
            print(f"\n{text!r}")
            for reader in readers:
                print(f"  {reader:10} {complaint(reader, path).replace(str(path), name)}")


if __name__ == "__main__":
    main()
