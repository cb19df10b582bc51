"""The nine data sets of the paper (Table 1): where to get them, and what it makes of them.

The files belong to their owners and are not part of this package. A loader in
`elbmf.paper.sources` reads each as its owner publishes it.
"""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from elbmf.errors import InputError

if TYPE_CHECKING:
    from elbmf.paper.catalog.prepared import PreparedData

__all__ = ["DATA_SETS", "DataSet", "RemoteFile", "data_folder", "get", "load", "loader_of"]

_SOURCES = "elbmf.paper.sources"

# What the paper sets on most data sets, and on those from GRAND.
_USUAL = {"kappa": 0.005, "lam": 0.001, "rate": 1.0033, "max_iter": 1500}
_GRAND = {"kappa": 0.001, "lam": 0.001, "rate": 1.0015, "max_iter": 1500}


@dataclass(frozen=True)
class RemoteFile:
    """A file that its owner publishes.

    Parameters
    ----------
    url : str
        Where.
    checksum : str, optional
        Algorithm and digest, such as ``"md5:ce57…"``, if the owner publishes one.
    """

    url: str
    checksum: str | None = None

    @property
    def name(self) -> str:
        """What the file is called."""
        return self.url.rpartition("/")[2]


@dataclass(frozen=True)
class DataSet:
    """A data set of the paper.

    Parameters
    ----------
    name : str
        What the user types.
    title : str
        What it is, in a few words.
    domain : str
        As in the paper.
    source : str
        The page of the owner.
    files : str
        Which files to get, by the names that the owner gives them, and from where.
    access : str
        On what terms: licence, account, agreement.
    preparation : str
        How zeros and ones come about.
    rows, columns, ones, rank : int
        As in the paper's table; the ones follow from its density.
    loader : str
        The module whose function ``load`` reads the files.
    parameters : mapping
        Parameters of `ELBMF` that the paper states for it.
    remark : str
        What else to know.
    downloads : tuple of RemoteFile
        Files that may be downloaded without more ado; the first is what the loader reads.
    """

    name: str
    title: str
    domain: str
    source: str
    files: str
    access: str
    preparation: str
    rows: int
    columns: int
    ones: int
    rank: int
    loader: str
    parameters: Mapping[str, float] = field(default_factory=dict)
    remark: str = ""
    downloads: tuple[RemoteFile, ...] = ()

    @property
    def density(self) -> float:
        """Share of ones in the paper's table."""
        return self.ones / (self.rows * self.columns)

    def as_dict(self) -> dict[str, Any]:
        """Return all there is to say as plain values."""
        told = {**asdict(self), "density": self.density, "parameters": dict(self.parameters)}
        told["downloads"] = [remote.url for remote in self.downloads]
        return told


def _grand(name: str, title: str, file: str, shape: tuple[int, int], ones: int, rank: int) -> Any:
    return DataSet(
        name=name,
        title=title,
        domain="biomedical",
        source="https://grand.networkmedicine.org",
        files=f"{file}, the network made by PANDA",
        access="Open to all; cite the paper of GRAND (Ben Guebila et al., NAR 2022) and PANDA.",
        preparation="Rows are transcription factors, columns genes. Weights are between -20 and "
        "20; a weight whose z-score lies in the upper 5 % is a one.",
        rows=shape[0],
        columns=shape[1],
        ones=ones,
        rank=rank,
        loader=f"{_SOURCES}.grand",
        parameters=_GRAND,
        remark="Ones are z-scores above 1.645, the upper 5 % of a normal distribution. The table's "
        "density is above 5 %, so that no quantile of the weights can be meant; --upper 0.05 "
        "takes one all the same.",
    )


_ALL = (
    DataSet(
        name="genomes",
        title="1000 Genomes, variants of people",
        domain="biomedical",
        source="https://www.internationalgenome.org",
        files="ALL.chr1.phase3_shapeit2_mvncall_integrated_v5b.20130502.genotypes.vcf.gz and so on "
        "for each chromosome, and integrated_call_samples_v3.20130502.ALL.panel for the "
        "populations, from https://ftp.1000genomes.ebi.ac.uk/vol1/ftp/release/20130502/",
        access="Open to all (IGSR); cite the project (Nature 526, 2015).",
        preparation="Rows are people, columns variants; a one is a person with a variant. The "
        "paper takes the variants that Fischer and Vreeken (KDD 2021) chose.",
        rows=2504,
        columns=226623,
        ones=59197986,
        rank=28,
        loader=f"{_SOURCES}.genomes",
        parameters=_USUAL,
        remark="Which of the 84 million variants the 226623 are, the paper does not say.",
    ),
    DataSet(
        name="string",
        title="STRING, interactions of human proteins",
        domain="biomedical",
        source="https://string-db.org",
        files="9606.protein.links.detailed.v11.5.txt.gz, and 9606.protein.info.v11.5.txt.gz beside "
        "it for the names of genes, from https://string-db.org/cgi/download",
        access="Creative Commons Attribution 4.0; cite Szklarczyk et al. (NAR 2021).",
        preparation="Rows and columns are proteins; a one is a link with experimental evidence "
        "above zero.",
        rows=19385,
        columns=19385,
        ones=11938498,
        rank=100,
        loader=f"{_SOURCES}.string",
        remark="The paper states no parameters for it. Its table counts all links of version 11.5, "
        "not only those with experimental evidence, which its text says it keeps: --evidence "
        "combined_score makes the matrix of the table.",
        downloads=tuple(
            RemoteFile(
                f"https://stringdb-downloads.org/download/{kind}.v11.5/9606.{kind}.v11.5.txt.gz"
            )
            for kind in ("protein.links.detailed", "protein.info")
        ),
    ),
    _grand(
        "gbm",
        "Gene regulation in glioblastoma",
        "https://granddb.s3.us-east-2.amazonaws.com/cancer/aggnets/networks/panda_GBM.csv",
        (650, 10701),
        394023,
        100,
    ),
    _grand(
        "lgg",
        "Gene regulation in lower grade glioma",
        "https://granddb.s3.us-east-2.amazonaws.com/cancer/aggnets/networks/panda_LGG.csv",
        (644, 29374),
        1379808,
        32,
    ),
    _grand(
        "cerebellum",
        "Gene regulation in the cerebellum",
        "Brain_Cerebellum.csv (under Tissues on the page of downloads)",
        (644, 30243),
        1602957,
        450,
    ),
    DataSet(
        name="tcga",
        title="TCGA, gene expression of cancer patients",
        domain="biomedical",
        source="https://www.cancer.gov/tcga",
        files="EB++AdjustPANCAN_IlluminaHiSeq_RNASeqV2.geneExp.xena.gz, and "
        "TCGA_phenotype_denseDataOnlyDownload.tsv.gz for the types of cancer, from the cohort TCGA "
        "Pan-Cancer (PANCAN) on https://xenabrowser.net/datapages/",
        access="Open to all (NCI, GDC); cite the TCGA Research Network.",
        preparation="Rows are samples, columns genes. Of log10(x + 1), a value whose z-score "
        "within its gene lies in the upper 5 % (above 1.645) is a one.",
        rows=10459,
        columns=20530,
        ones=10750856,
        rank=33,
        loader=f"{_SOURCES}.tcga",
        parameters=_USUAL,
    ),
    DataSet(
        name="movielens",
        title="MovieLens 10M, users and movies",
        domain="entertainment",
        source="https://grouplens.org/datasets/movielens/10m/",
        files="ml-10m.zip, from https://files.grouplens.org/datasets/movielens/",
        access="For research; not to be redistributed, and no commercial use without permission. "
        "Cite Harper and Konstan (ACM TiiS 2015).",
        preparation="Rows are users, columns movies; a one is a rating of more than 3.5 stars.",
        rows=71567,
        columns=65133,
        ones=5005684,
        rank=20,
        loader=f"{_SOURCES}.movielens",
        parameters=_USUAL,
        remark="The table has a row and column for every id from 1 to the greatest, also those "
        "without ratings; --no-all-ids leaves these out.",
        downloads=(
            RemoteFile(
                "https://files.grouplens.org/datasets/movielens/ml-10m.zip",
                "md5:ce571fd55effeba0271552578f2648bd",
            ),
        ),
    ),
    DataSet(
        name="netflix",
        title="Netflix Prize, movies and customers",
        domain="entertainment",
        source="https://www.kaggle.com/datasets/netflix-inc/netflix-prize-data",
        files="combined_data_1.txt to combined_data_4.txt and movie_titles.csv (in one zip), or "
        "training_set.tar and movie_titles.txt of the original",
        access="Needs an account at Kaggle. For research; not to be redistributed, and no "
        "commercial use without permission.",
        preparation="Rows are movies, columns customers; a one is a rating of more than 3.5 stars.",
        rows=17770,
        columns=480189,
        ones=56919190,
        rank=20,
        loader=f"{_SOURCES}.netflix",
        parameters=_USUAL,
    ),
    DataSet(
        name="patents",
        title="PatentsView, citations between groups of patents",
        domain="innovation",
        source="https://patentsview.org/download/data-download-tables",
        files="g_us_patent_citation.tsv.zip and g_cpc_current.tsv.zip in one folder",
        access="Creative Commons Attribution 4.0. The tables now are on https://data.uspto.gov, "
        "which needs an account.",
        preparation="Rows and columns are groups of the patent classification (CPC); a one is a "
        "group that cites another at least once.",
        rows=10499,
        columns=10511,
        ones=14404416,
        rank=136,
        loader=f"{_SOURCES}.patents",
        parameters=_USUAL,
        remark="The tables grow with every release, and the paper does not say which one it took.",
    ),
)

DATA_SETS: dict[str, DataSet] = {data_set.name: data_set for data_set in _ALL}
"""The data sets by name, in the order of the paper's table."""


def get(name: str) -> DataSet:
    """Return a data set by its name.

    Parameters
    ----------
    name : str
        Its name, in any case.

    Raises
    ------
    InputError
        When there is none of this name.
    """
    found = DATA_SETS.get(name.lower())
    if found is None:
        close = difflib.get_close_matches(name.lower(), DATA_SETS, n=3)
        hint = f" Did you mean {' or '.join(close)}?" if close else ""
        raise InputError(f"there is no data set {name!r}.{hint} Data sets: {', '.join(DATA_SETS)}.")
    return found


def loader_of(name: str) -> Callable[..., PreparedData]:
    """Return the function that reads the files of a data set.

    Its first parameter is a path, its options are keyword-only.
    """
    return cast("Callable[..., PreparedData]", importlib.import_module(get(name).loader).load)


def load(name: str, path: str | os.PathLike[str], **options: Any) -> PreparedData:
    """Read the files of a data set as its owner publishes them.

    Parameters
    ----------
    name : str
        Name of the data set.
    path : path-like
        The file, archive or folder.
    **options
        Options of the loader.
    """
    return loader_of(name)(path, **options)


def data_folder() -> Path:
    """Return the folder of prepared data, which need not exist.

    That is what the environment variable ``ELBMF_DATA`` says, or else a folder of the user: under
    ``XDG_DATA_HOME`` or ``~/.local/share`` on Linux, ``~/Library/Application Support`` on macOS,
    ``%LOCALAPPDATA%`` on Windows.
    """
    chosen = os.environ.get("ELBMF_DATA", "").strip()
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Application Support")
    else:
        base = os.environ.get("XDG_DATA_HOME", "")
        if not os.path.isabs(base):  # The standard says to ignore what is not.
            base = str(Path.home() / ".local" / "share")
    return Path(base) / "elbmf" / "data"
