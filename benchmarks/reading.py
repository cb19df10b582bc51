"""How fast the files of Movielens, Netflix and STRING are read, and in what memory.

Files of the same form are generated; each is read in a process of its own. CPU time is that of
the whole process, from opening the file to the matrix with its names.
"""

import argparse
import gzip
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from common import machine, peak_of_process
from elbmf.io.files import open_bytes
from elbmf.io.text.fields import Column, FieldReader
from elbmf.io.text.naming import NameCodes
from elbmf.paper.catalog.sets import loader_of

AT_ONCE = 500_000
FEW = {
    "movielens": ("ratings.dat", "1::2::5::3\n1::3::1::4\n"),
    "netflix": ("combined_data_1.txt", "1:\n5,4,2005-01-01\n"),
    "string": ("links.txt", "protein1 protein2 experimental\na b 4\n"),
    "pairs": ("pairs.tsv", "a\tb\n"),
}


def portions(lines: int) -> Iterator[tuple[int, int]]:
    for begin in range(0, lines, AT_ONCE):
        yield begin, min(AT_ONCE, lines - begin)


def generate_movielens(folder: Path, lines: int, generator: np.random.Generator) -> Path:
    path = folder / "ml-10m.zip"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("ml-10M100K/ratings.dat", "w", force_zip64=True) as stream,
    ):
        for begin, count in portions(lines):
            users = np.sort(generator.integers(begin // 140, (begin + count) // 140 + 1, count)) + 1
            movies = (65133 * generator.random(count) ** 3).astype(np.int64) + 1
            stars = generator.integers(1, 11, count) / 2
            times = generator.integers(8 * 10**8, 12 * 10**8, count)
            columns = (users.tolist(), movies.tolist(), stars.tolist(), times.tolist())
            text = "".join(
                [f"{u}::{m}::{s:g}::{t}\n" for u, m, s, t in zip(*columns, strict=False)]
            )
            stream.write(text.encode())
    return path


def generate_netflix(folder: Path, lines: int, generator: np.random.Generator) -> Path:
    customers = np.sort(generator.choice(2649429, 480189, replace=False)) + 1
    movies = max(1, lines // 5650)
    with open(folder / "combined_data_1.txt", "w") as stream:
        for movie in range(1, movies + 1):
            ids = generator.choice(customers, lines // movies).tolist()
            stars = generator.integers(1, 6, len(ids)).tolist()
            dated = [f"{c},{s},2005-0{s}-1{s}\n" for c, s in zip(ids, stars, strict=True)]
            stream.write(f"{movie}:\n" + "".join(dated))
    return folder


def generate_string(folder: Path, lines: int, generator: np.random.Generator) -> Path:
    path = folder / "9606.protein.links.detailed.v11.5.txt.gz"
    names = [f"9606.ENSP00000{i:06d}" for i in np.sort(generator.choice(10**6, 19385, False))]
    with gzip.open(path, "wt", compresslevel=6) as stream:
        stream.write("protein1 protein2 neighborhood fusion cooccurence coexpression ")
        stream.write("experimental database textmining combined_score\n")
        for name in names:
            others = np.sort(generator.integers(0, 19385, lines // 19385)).tolist()
            scores = (generator.integers(0, 900, (len(others), 2)) // 3 * 3).tolist()
            stream.writelines(
                f"{name} {names[other]} 0 0 0 {a} {b * (b > 700)} 0 {a} {a + 99}\n"
                for other, (a, b) in zip(others, scores, strict=True)
            )
    return path


def generate_pairs(folder: Path, lines: int, generator: np.random.Generator) -> Path:
    path = folder / "pairs.tsv.gz"
    with gzip.open(path, "wt", compresslevel=6) as stream:
        for _, count in portions(lines):
            users = generator.integers(0, 70_000, count).tolist()
            items = generator.integers(0, 10_000, count).tolist()
            stream.writelines(f"user{u}\titem{i}\n" for u, i in zip(users, items, strict=True))
    return path


def load_pairs(path: Path) -> None:
    columns = [Column("row", "text"), Column("column", "text")]
    codes = [NameCodes(str(path)) for column in columns]
    reader = FieldReader(str(path), b"\t", columns, "Generate it again.")
    with open_bytes(path) as stream:
        for _, values in reader.blocks(stream):
            for column, numbered in zip(columns, codes, strict=True):
                numbered.codes(values[column.name])


GENERATORS = {
    "movielens": generate_movielens,
    "netflix": generate_netflix,
    "string": generate_string,
    "pairs": generate_pairs,
}


def read_one(name: str, path: Path, lines: int) -> None:
    def read(source: Path) -> None:
        if name == "pairs":
            load_pairs(source)
        else:
            loader_of(name)(source)

    with tempfile.TemporaryDirectory() as folder:
        file, text = FEW[name]
        (Path(folder) / file).write_text(text)
        read(Path(folder) / file)  # compiles
    before = peak_of_process()
    wall, cpu = time.perf_counter(), time.process_time()
    read(path)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = peak_of_process()
    print(
        f"{name}: {lines} lines in {wall:.1f} s, {cpu:.1f} s of them CPU: {lines / cpu / 1e6:.2f} "
        f"million lines per second and core; peak {peak:.0f} MB, {before:.0f} MB of "
        "them before",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, help="where to put files (default: a temporary one)")
    parser.add_argument("--read", nargs=2, metavar=("NAME", "PATH"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.read:
        read_one(arguments.read[0], Path(arguments.read[1]), arguments.lines)
        return
    print(machine(), flush=True)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        paths = {}
        for name, generate in GENERATORS.items():
            own = Path(folder) / name
            own.mkdir()
            paths[name] = generate(own, arguments.lines, np.random.default_rng(0))
        for _ in range(2):
            for name, path in paths.items():
                command = [sys.executable, __file__, "--lines", str(arguments.lines)]
                subprocess.run([*command, "--read", name, str(path)], check=True)


if __name__ == "__main__":
    main()
