"""What a report says, as plain data: the one thing that its content and its page agree on.

`elbmf.report.content` makes a `Document`, `elbmf.report.page` writes it into the page as JSON, and
the scripts of the page show it. Lines (rows and columns) are told by their position from 0 in the
matrix, components by their number. What is not known is None; shares are from 0 to 1.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

__all__ = [
    "Axis",
    "Component",
    "Consensus",
    "Curve",
    "Document",
    "Enriched",
    "LabelClass",
    "Labels",
    "Matrix",
    "Overlap",
    "Packed",
    "Rank",
    "Recipe",
    "Summary",
    "Told",
    "Trace",
]

FORMAT_VERSION = 1

Share = float | None

Member = (
    tuple[int, Share] | tuple[int, Share, float | None] | tuple[int, Share, float | None, float]
)
"""A line, and of the component's other side the share that it has ones in; None without data.

Then, where they are known, its margin, by how much the loss would go up without it, and the share
of fits of resampled data in which it returns.
"""

Span = tuple[int, int]
"""From a place to before another, in the order in which the matrix is shown."""


class Packed(TypedDict):
    """An array or text, compressed (raw deflate) and written in base64.

    ``u1``, ``u2``, ``u4`` are unsigned integers and ``f4`` floats, little-endian; ``json`` is text
    to parse.
    """

    type: Literal["u1", "u2", "u4", "f4", "json"]
    length: int
    data: str


class Curve(TypedDict):
    """What was looked at to choose the number of components; stability where it was assessed."""

    ranks: list[int]
    relative_loss: list[float | None]
    criterion: list[float | None]
    stability: list[float | None] | None
    title: str
    unit: str


class Rank(TypedDict):
    """How the number of components came about."""

    chosen: bool
    text: str
    curve: Curve | None


class Summary(TypedDict):
    """The first screen.

    ``sentences`` say in words what was factorized and how well; ``warnings`` what is to be known
    before anything is believed, such as those of the fit, or that the data could not be found.
    """

    rows: int
    columns: int
    components: int
    used: int
    ones: int | None
    missing: int
    density: float | None
    missed: int | None
    extra: int | None
    measures: dict[str, float] | None
    method: str
    seconds: float | None
    rank: Rank
    sentences: list[str]
    warnings: list[str]


class Axis(TypedDict):
    """The rows or the columns: names, and which components hold each.

    Of very many lines only some are ``kept``, those that matter most: their positions, ascending
    (None where all are); every array below has an entry for each of these. ``names`` is JSON, a
    list of text with long names shortened (None where lines have no names). ``place`` is where in
    the order the line is shown. ``ones`` counts its ones (None without data). ``held`` counts the
    components it is in, whose numbers follow each other in ``holders``, and beside them in
    ``support`` the ones of the line among the component's other side (None without data), in
    ``margin`` by how much the loss would go up without it there (None without data), and in
    ``returns`` the share of fits of resampled data that hold it (None where that is not noted).
    ``nearest`` is the component that a line in none would fit best (65535 if there is none such),
    ``nearest_support`` its ones there.
    """

    count: int
    kept: Packed | None
    names: Packed | None
    place: Packed
    ones: Packed | None
    held: Packed
    holders: Packed
    support: Packed | None
    margin: Packed | None
    returns: Packed | None
    nearest: Packed | None
    nearest_support: Packed | None


class Matrix(TypedDict):
    """A grid of bins over rows and columns in their block order, row by row from the top.

    ``row_edges`` and ``column_edges`` are the places at which bins begin, and the end. ``hit``,
    ``missed``, ``extra`` (u1) are shares of the cells of a bin: ones covered, ones not covered,
    zeros covered, in 255ths, at least 1 where there is any. Without data, ``hit`` is what is
    covered, and the others are None.
    """

    rows: int
    columns: int
    row_edges: Packed
    column_edges: Packed
    hit: Packed
    missed: Packed | None
    extra: Packed | None


class Consensus(TypedDict):
    """How often rows are in a component together, in fits of resampled data.

    ``shares`` (u1) are those of the runs, in 254ths: means of ``side`` by ``side`` blocks of rows,
    where rows that are often together are next to each other. 255 is where no run saw both.
    """

    runs: int
    cophenetic: float | None
    side: int
    shares: Packed


class Overlap(TypedDict):
    """What a component shares with another."""

    component: int
    rows: int
    columns: int
    cells: int


class Enriched(TypedDict):
    """A set of lines that a component has more of than chance: a label, or a known set of columns.

    ``size`` lines are in the set, ``overlap`` of these in the component. ``log10_p`` is adjusted.
    """

    name: str
    size: int
    overlap: int
    fold: float
    log10_p: float
    nmi: NotRequired[float]
    members: NotRequired[list[str]]


class Component(TypedDict):
    """One component.

    ``covered`` ones of the matrix are inside, ``alone`` of these in no other component;
    ``precision`` is the share of its cells that are ones, ``recall`` of all ones those it covers.
    ``recurrence`` is its mean similarity with its matches in fits of resampled data, ``found_in``
    the share of these that have a match, ``p_value`` that of saving as much in random data; None
    where they are not noted. ``top_*`` are its members, those first that belong most firmly;
    ``weak_*`` those that hardly belong; ``near_*`` lines outside that would fit best. ``row_spans``
    and ``column_spans`` are the runs of its lines in the order in which the matrix is shown, the
    longest ones, the longest first. ``block`` is a grid of the component alone, its members in the
    same order. ``doubts`` says why it may be chance, in a few words each; nothing for most.
    """

    component: int
    rows: int
    columns: int
    covered: int | None
    alone: int | None
    precision: float | None
    recall: float | None
    bits_saved: float | None
    recurrence: float | None
    found_in: float | None
    p_value: float | None
    doubts: list[str]
    top_rows: list[Member]
    top_columns: list[Member]
    weak_rows: list[Member]
    weak_columns: list[Member]
    near_rows: list[Member]
    near_columns: list[Member]
    row_spans: list[Span]
    column_spans: list[Span]
    overlaps: list[Overlap]
    block: Matrix | None
    labels: list[Enriched]
    sets: list[Enriched]


class Told(TypedDict):
    """What a component tells about a label.

    Of its ``component_rows`` with a known label, ``overlap`` have this one: the share ``inside``,
    beside that ``outside``, among all other rows. ``log10_p`` is adjusted.
    """

    component: int
    nmi: float
    overlap: int
    component_rows: int
    share_inside: float
    share_outside: float
    fold: float
    log10_p: float


class LabelClass(TypedDict):
    """A label, and the component that tells most about it by having more of it than elsewhere.

    ``absence`` is a component that tells more by having less of it. Both are None if there is none.
    """

    name: str
    size: int
    best: Told | None
    absence: Told | None


class Labels(TypedDict):
    """Known labels of the rows against components: ``nmi[component][class]``.

    It is below 0 where the label is rarer in the component than elsewhere. ``order`` puts
    components so that the greatest nmi are on a diagonal.
    """

    title: str
    classes: list[LabelClass]
    nmi: list[list[float]]
    order: list[int]
    mean_nmi: float
    unlabelled: int


class Trace(TypedDict):
    """Figures of the epochs, thinned out where there are many: columns of the same length."""

    name: str
    columns: dict[str, list[float | None]]


class Recipe(TypedDict):
    """What makes the result again.

    ``command`` is a command line or None, ``code`` Python or None; ``names`` of everything else is
    as the model notes it.
    """

    command: str | None
    code: str | None
    parameters: dict[str, str]
    seed: str | None
    versions: dict[str, str]
    data: dict[str, str]
    stages: list[tuple[str, int]]
    run_losses: list[int]


class Document(TypedDict):
    """A whole report.

    What it says is in the words of matrices, which the page puts into those of ``vocabulary``, as
    `elbmf.utils.vocabulary.Vocabulary.of` reads it. ``components`` are in the order of the model.
    ``label_of_rows`` (u2) has for each row that is kept the position of its label in
    ``labels["classes"]``, 65535 for none. ``sets_title`` names the file of known sets of columns.
    """

    format: Literal["elbmf-report"]
    format_version: int
    title: str
    vocabulary: str | None
    summary: Summary
    rows: Axis
    columns: Axis
    components: list[Component]
    matrix: Matrix
    consensus: Consensus | None
    labels: Labels | None
    label_of_rows: Packed | None
    sets_title: str | None
    trace: Trace | None
    recipe: Recipe
