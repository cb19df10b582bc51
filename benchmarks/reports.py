"""Reports of data of all sizes: time to make one, its size, and the time until it is seen.

Digits and real data are fitted with few epochs, generated matrices are described by the groups that
were planted in them. Where there is a browser, it opens each page, and the time from the start of
its loading to its first screen is told.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

from common import data_argument, load, machine, peak_of_process
from elbmf import ELBMF
from elbmf.datasets import load_digits
from elbmf.errors import InputError
from elbmf.estimators.saving import data_notes, saved_model
from elbmf.io import SavedModel
from elbmf.io.side_tables import SIDES, read_side
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.report import KnownLabels, write_report

BROWSER, DRIVER = Path("/usr/bin/chromium"), Path("/usr/bin/chromedriver")
FLAGS = "headless no-sandbox disable-gpu disable-quic no-first-run disable-background-networking"
EPOCHS = 60

Case = tuple[SavedModel, BooleanMatrix, KnownLabels | None]


def fitted(values: object, k: int, rows: list[str] | None, columns: list[str] | None) -> Case:
    A = BooleanMatrix.from_array(values)
    model = ELBMF(k, max_iter=EPOCHS, n_init=1, effort=0, random_state=0).fit(A)
    return saved_model(model, A, rows, columns, {"data": data_notes(None, A)}), A, None


def digits(_: Path) -> Case:
    values, columns, labels = load_digits()
    model, A, _none = fitted(values, 20, None, columns)
    return model, A, KnownLabels([str(digit) for digit in labels], "digit")


def real(name: str, k: int) -> Callable[[Path], Case]:
    def prepare(folder: Path) -> Case:
        values = load(folder, name)
        rows, columns = (
            read_side(folder / f"{name}{suffix}", values.shape[axis])
            for axis, suffix in enumerate(SIDES)
        )
        model, A, _none = fitted(values, k, next(iter(rows.values())), next(iter(columns.values())))
        title, labels = list(rows.items())[1]
        return model, A, KnownLabels(labels, title)

    return prepare


def planted(
    shape: tuple[int, int], k: int, ones: int, name: Callable[[int], str] = "line_{}".format
) -> Callable[[Path], Case]:
    """Return how to make groups of rows that have most of their ones in columns of their own."""

    def prepare(_: Path) -> Case:
        generator = np.random.default_rng(0)
        n, m = shape
        width = max(2, min(m // 4, 4 * ones // (3 * n)))
        V = np.zeros((k, m), dtype=np.bool_)
        for component in V:
            component[generator.choice(m, width, replace=False)] = True
        of_row = generator.integers(0, k, n)
        members = [np.flatnonzero(component).astype(np.int32) for component in V]
        indptr = np.zeros(n + 1, dtype=np.int64)
        rows = []
        for i in range(n):
            own = members[of_row[i]]
            inside = own[generator.random(own.size) < 0.9]
            others = generator.integers(0, m, max(0, ones // n - inside.size), dtype=np.int32)
            rows.append(np.unique(np.concatenate([inside, others])))
            indptr[i + 1] = indptr[i] + rows[-1].size
        A = BooleanMatrix(shape, indptr, np.concatenate(rows))
        U = sparse.csr_array((np.ones(n, dtype=np.bool_), of_row, np.arange(n + 1)), shape=(n, k))
        names = [[name(at) for at in range(length)] for length in shape]
        info = {"method": "elbmf", "data": data_notes("generated", A)}
        return SavedModel(U, sparse.csr_array(V), *names, info), A, None

    return prepare


def long_name(at: int) -> str:
    return np.random.default_rng(at).bytes(5000).hex()


def random_name(at: int) -> str:
    return f"rs{(at * 2654435761) % 2**32}"


CASES: dict[str, Callable[[Path], Case]] = {
    "digits": digits,
    "newsgroups20": real("newsgroups20", 30),
    "genomes1k_peddy": real("genomes1k_peddy", 20),
    "large": planted((20_000, 500_000), 20, 57_000_000, random_name),
    "tall": planted((2_000_000, 50), 20, 20_000_000),
    "components": planted((20_000, 5_000), 2_000, 2_000_000),
    "names": planted((20_000, 20_000), 20, 2_000_000, long_name),
}


def first_view(page: Path) -> float | None:
    """Return the seconds until a browser shows the first screen; None without one."""
    if not (BROWSER.exists() and DRIVER.exists()):
        return None
    from selenium import webdriver
    from selenium.webdriver.support.ui import WebDriverWait

    options = webdriver.ChromeOptions()
    options.binary_location = str(BROWSER)
    for flag in FLAGS.split():
        options.add_argument(f"--{flag}")
    shown = 'return performance.getEntriesByName("elbmf-shown").map(each => each.startTime)[0]'
    with tempfile.TemporaryDirectory() as profile:
        options.add_argument(f"--user-data-dir={profile}")
        browser = webdriver.Chrome(options, webdriver.ChromeService(str(DRIVER)))
        browser.get(page.resolve().as_uri())
        try:
            return WebDriverWait(browser, 60).until(lambda it: it.execute_script(shown)) / 1000
        finally:
            browser.quit()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    data_argument(parser)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--keep", type=Path, help="folder to write the pages to")
    arguments = parser.parse_args()
    unknown = {*arguments.cases} - {*CASES}
    if unknown:
        raise InputError(f"no such case: {', '.join(unknown)}. There are {', '.join(CASES)}.")
    print(machine())
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        for name in arguments.cases or CASES:
            model, A, labels = CASES[name](arguments.data)
            before = peak_of_process()
            page = folder / f"{name}.html"
            began = time.perf_counter()
            write_report(page, model, A, labels=labels)
            seconds = time.perf_counter() - began
            seen = first_view(page)
            print(
                f"{name}: {A.shape[0]}×{A.shape[1]}, {A.ones} ones, {model.shape[1]} components: "
                f"{page.stat().st_size / 1e6:.2f} MB in {seconds:.1f} s; "
                f"peak {before:.0f} MB before, {peak_of_process():.0f} MB after; first view "
                + ("not measured" if seen is None else f"after {seen:.2f} s"),
                flush=True,
            )


if __name__ == "__main__":
    main()
