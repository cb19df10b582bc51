"""How fast pairs in gzipped text become a matrix folder, and in what memory.

Files are generated: ids as numbers and as names, in any order and sorted by rows, with and without
a third field. Each is converted by the command, in a process of its own; CPU time and memory are
those of the whole process, from the start of Python to its end.
"""

import argparse
import gzip
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from common import machine

ROWS, COLUMNS = 17_770, 480_189
AT_ONCE = 1_000_000


def pairs(lines: int, *, in_order: bool) -> Iterator[tuple[list[int], list[int]]]:
    """Draw pairs, some rows and columns much more often than others."""
    generator = np.random.default_rng(0)
    for begin in range(0, lines, AT_ONCE):
        count = min(AT_ONCE, lines - begin)
        draws = generator.random((2, count))
        if in_order:
            rows = np.sort((begin + count * draws[0]) * ROWS / lines)
        else:
            rows = ROWS * draws[0] ** 2
        yield rows.astype(int).tolist(), (COLUMNS * draws[1] ** 1.7).astype(int).tolist()


def generate(path: Path, lines: int, line: str, *, in_order: bool = False) -> None:
    with gzip.open(path, "wt", compresslevel=1) as stream:
        for rows, columns in pairs(lines, in_order=in_order):
            stream.writelines(line.format(i, j) for i, j in zip(rows, columns, strict=True))


FILES = {
    "numbers": ("{}\t{}\n", False),
    "names": ("user{}\titem_ab{}\n", False),
    "numbers in order": ("{}\t{}\n", True),
    "numbers with values": ("{}\t{}\t1\n", False),
    "names in quotes": ('"user{}"\t"item, {}"\n', False),
}


def convert(path: Path, target: Path) -> None:
    command = [sys.executable, "-m", "elbmf", "convert", str(path), str(target), "--quiet"]
    subprocess.run([*command, "--layout", "pairs"], check=True)


def measure(path: Path, target: Path, lines: int) -> str:
    """Convert, as the only child of this process so far, and tell what that took."""
    began = time.perf_counter()
    convert(path, target)
    wall = time.perf_counter() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime
    return (
        f"{lines} lines in {wall:.0f} s, {cpu:.1f} s of CPU: {lines / cpu / 1e6:.2f} million pairs "
        f"per second and core; peak {used.ru_maxrss / 1024:.0f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, help="where to put files (default: a temporary one)")
    parser.add_argument("--file", choices=FILES, action="append", help="only such files")
    parser.add_argument("--one", nargs=2, type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(measure(*arguments.one, arguments.lines), flush=True)
        return
    print(machine(), flush=True)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        generate(folder / "few.tsv.gz", 10, "{}\t{}\n")
        convert(folder / "few.tsv.gz", folder / "few.matrix")  # compiles
        for kind in arguments.file or FILES:
            line, in_order = FILES[kind]
            path, target = folder / "pairs.tsv.gz", folder / "pairs.matrix"
            generate(path, arguments.lines, line, in_order=in_order)
            print(f"{kind}: ", end="", flush=True)
            command = [sys.executable, __file__, "--lines", str(arguments.lines)]
            subprocess.run([*command, "--one", str(path), str(target)], check=True)
            shutil.rmtree(target)


if __name__ == "__main__":
    main()
