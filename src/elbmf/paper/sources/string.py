"""STRING: which proteins interact, by experiments."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.errors import FileFormatError, InputError
from elbmf.io import LabelledMatrix
from elbmf.io.text.fields import Column, FieldReader, header_fields
from elbmf.io.text.lines import decoded, shown
from elbmf.io.text.naming import NameCodes
from elbmf.paper.catalog.prepared import PreparedData
from elbmf.paper.sources.places import Place
from elbmf.paper.sources.published import told_apart

__all__ = ["load"]

_LINKS = ("*protein.links.detailed.*", "*protein.links.full.*", "*protein.links.*")
_PROTEINS = ("protein1", "protein2")
_ADVICE = "Give the file of links as STRING publishes it, or download it again."

# The same evidence has other names in other files.
_ALIASES = {"experimental": "experiments", "experiments": "experimental"}


def load(
    path: str | os.PathLike[str], *, evidence: str = "experimental", above: int = 0
) -> PreparedData:
    """Read the network of the proteins of an organism.

    Parameters
    ----------
    path : path-like
        A file such as 9606.protein.links.detailed.v11.5.txt.gz, protein.links.full or
        protein.links, gzipped or not; or the folder it lies in.
    evidence : str, default="experimental"
        The column of the score that decides: experimental (in protein.links.full: experiments),
        database, coexpression, textmining, …, or combined_score, the score of all evidence.
    above : int, default=0
        A link with a score above this is a one.

    Returns
    -------
    PreparedData
        Rows and columns are all proteins in the file, also those without a one, in the order of
        their ids; their names are those of genes where the file protein.info lies beside it.

    Notes
    -----
    The paper says that it keeps links with experimental evidence. The 19385 proteins and
    11938498 ones of its Table 1 are all links of human proteins in version 11.5, whatever
    their evidence, which ``evidence="combined_score"`` reads.

    References
    ----------
    D. Szklarczyk et al. The STRING database in 2021. Nucleic Acids Research 49(D1), 2021.
    """
    place = Place(path)
    found = [place.file] if place.file else place.need("a file of links", *_LINKS)
    if len(found) > 1:
        raise InputError(
            f"{place.path}: has several files of links: {', '.join(found[:5])}. Name one of them."
        )
    name = found[0]
    file = place.label(name)
    known = NameCodes(file)
    pairs: tuple[list[NDArray[np.int32]], ...] = ([], [])
    links = 0
    with place.open(name) as stream:
        head = stream.readline()
        if not head.strip():
            raise FileFormatError(f"{file}, line 1: expected a header, found nothing. {_ADVICE}")
        names = header_fields(file, head, b" ", _PROTEINS)
        score = _column(file, names, evidence)
        kinds = {"protein1": "text", "protein2": "text", score: "whole"}
        columns = [Column(each, kinds.get(each, "skip")) for each in names]
        reader = FieldReader(file, b" ", columns, _ADVICE, line=2)
        for _, values in reader.blocks(stream):
            kept = values[score] > above
            links += kept.size
            for side, protein in zip(pairs, _PROTEINS, strict=True):
                side.append(known.codes(values[protein])[kept].astype(np.int32))
    if not links:
        raise FileFormatError(f"{file}: has a header and no links. {_ADVICE}")
    ids = known.names
    order = np.array(sorted(range(len(ids)), key=ids.__getitem__))
    position = np.empty(order.size, dtype=np.int32)
    position[order] = np.arange(order.size, dtype=np.int32)
    rows, columns_ = (position[np.concatenate(side)] for side in pairs)
    ones = np.ones(rows.size, dtype=np.bool_)
    values_ = sparse.csr_array((ones, (rows, columns_)), shape=(len(ids), len(ids)))
    ids = [ids[code] for code in order.tolist()]
    genes = _read_info(place, name)
    titles = told_apart([genes.get(each, "") for each in ids], ids)
    notes = [
        f"{links} links of {len(ids)} proteins, {values_.nnz} of them with {score} above {above}."
    ]
    if not genes:
        notes.append("No names of genes: the file protein.info does not lie beside the links.")
    table = LabelledMatrix(values_, titles, titles)
    return PreparedData(table, {"protein": ids}, {"protein": ids}, notes)


def _column(file: str, names: list[str], evidence: str) -> str:
    for name in (evidence, _ALIASES.get(evidence, evidence)):
        if name in names and name not in _PROTEINS:
            return name
    scores = ", ".join(name for name in names if name not in _PROTEINS)
    raise InputError(
        f"{file}, line 1: has no column {evidence!r}; scores it has: {scores}. Give the file "
        "protein.links.detailed, or choose one of these with the option evidence."
    )


def _read_info(place: Place, links: str) -> dict[str, str]:
    """Return the names of genes by the ids of proteins; nothing where there is no such file."""
    base = os.path.basename(links)
    organism, _, rest = base.partition("protein.links")
    version = rest.partition(".v")[2].partition(".txt")[0]
    found = place.find(f"{organism}protein.info.v{version}*", f"{organism}protein.info*")
    if not found:
        return {}
    file = place.label(found[0])
    genes: dict[str, str] = {}
    with place.open(found[0]) as stream:
        for number, line in enumerate(stream, 1):
            fields = decoded(file, number, line).rstrip("\r\n").split("\t")
            if len(fields) < 2:
                raise FileFormatError(
                    f"{file}, line {number}: expected the id and the name of a protein separated "
                    f"by a tab, found {shown(fields[0])}. Download it again, or remove it: "
                    "proteins then have their ids as names."
                )
            if number > 1:
                genes[fields[0]] = fields[1]
    return genes
