"""Making a report: from a model and its data to a file."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from elbmf.analysis.enrichment import NamedSet
from elbmf.io.files import replacing
from elbmf.report.content import MOST_BYTES, Content
from elbmf.report.inputs import ReportSubject, subject_of
from elbmf.report.known import KnownLabels, KnownSets
from elbmf.report.written import WrittenReport

__all__ = ["MOST_PAGE_BYTES", "write_report", "write_subject"]

MOST_PAGE_BYTES = 9_500_000
"""What a page takes at most."""


def write_report(
    path: str | os.PathLike[str],
    model: Any,
    A: Any = None,
    *,
    labels: KnownLabels | Sequence[Any] | None = None,
    sets: KnownSets | Sequence[NamedSet] | None = None,
    title: str | None = None,
    vocabulary: str | None = None,
    n_jobs: int | None = None,
) -> WrittenReport:
    """Write a page about a factorization: one file for a browser, that needs no network.

    Parameters
    ----------
    path : path-like
        The file, which is replaced as a whole or not touched at all.
    model : SavedModel, BooleanFactorizer or RankSearch
        As `elbmf.io.load_model` returns it, or a fitted estimator.
    A : array-like, sparse matrix, data frame, AnnData, BooleanMatrix or LabelledMatrix, optional
        What it was fitted to. Without it, the page shows the components, but not where they err.
        The names of a data frame are shown; where the model has names, too, rows and columns may
        come in any order.
    labels : sequence or KnownLabels, optional
        What is known of each row, to be compared with the components: text or numbers; None, NaN
        and empty text stand for what is not known. A column of a data frame is matched by its
        index where rows have names, all else by position.
    sets : sequence of NamedSet or KnownSets, optional
        Known sets of columns, e.g. from `elbmf.io.read_gmt`, to find in the components.
    title : str, optional
        Of the page.
    vocabulary : str, optional
        What rows, columns and components are called: ``"roles"`` (users, permissions, roles),
        ``"biology"`` (samples, genes, programs), ``"baskets"`` (baskets, items, itemsets), or three
        words such as ``"user,permission,role"``. By default what the model notes, if anything.
    n_jobs : int, optional
        Threads. All cores by default.

    Returns
    -------
    WrittenReport
        The file, which is a path like any other. A notebook shows the page where a cell ends with
        it; ``.open()`` opens it in a browser.

    Raises
    ------
    InputError
        If model, data, labels and sets do not go together, or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from elbmf import ELBMF
    >>> from elbmf.datasets import make_tiles
    >>> A = make_tiles((60, 50), 3, height=(15, 20), noise=0.05, random_state=0).A
    >>> model = ELBMF(n_components=3, random_state=0).fit(A)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = write_report(f"{folder}/report.html", model, A)
    ...     report.path.name
    'report.html'
    """
    if labels is not None and not isinstance(labels, KnownLabels):
        name = getattr(labels, "name", None)  # of a column of a data frame
        labels = KnownLabels(labels, "label" if name is None else str(name))
    if sets is not None and not isinstance(sets, KnownSets):
        sets = KnownSets(sets)
    subject = subject_of(model, A, n_jobs)
    write_subject(
        path,
        subject,
        labels=labels,
        sets=sets,
        title=title,
        vocabulary=vocabulary,
        n_jobs=n_jobs,
    )
    return WrittenReport(Path(path))


def write_subject(
    path: str | os.PathLike[str],
    subject: ReportSubject,
    *,
    labels: KnownLabels | None = None,
    sets: KnownSets | None = None,
    title: str | None = None,
    vocabulary: str | None = None,
    notes: Sequence[str] = (),
    n_jobs: int | None = None,
) -> None:
    """Write a page about what was read already, see `write_report`; notes are more warnings."""
    from elbmf.report.page import render

    content = Content(
        subject.model,
        subject.A,
        described=subject.described,
        labels=labels,
        sets=sets,
        ranks=subject.ranks,
        title=title,
        vocabulary=vocabulary,
        notes=notes,
        n_jobs=n_jobs,
    )
    room = MOST_BYTES
    while True:
        said = content.within(room)
        text = render(said).encode("utf-8", "backslashreplace")
        if len(text) <= MOST_PAGE_BYTES:
            break
        # What the page adds is known only now.
        room = len(json.dumps(said)) - (len(text) - MOST_PAGE_BYTES)
    with replacing(Path(path), compress=False) as stream:
        stream.write(text)
