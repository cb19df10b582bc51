"""The page on notebooks is run as one: what its cells show, and what they do not show twice."""

import io
from base64 import b64decode
from collections import defaultdict

import numpy as np
import pytest
from matplotlib.image import imread
from pages import NOTEBOOK, blocks, pages

from elbmf.plots import FIGURES

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")

# In one process, for there is one kernel.
pytestmark = [pytest.mark.home, pytest.mark.slow, pytest.mark.xdist_group("notebook")]

CELLS = [block.text.strip() for block in blocks(pages()[NOTEBOOK].read_text("utf-8"))]

# Whether pyplot was needed for any of it; then, pictures beside what pyplot shows by itself.
NO_PYPLOT = "import sys\n'matplotlib.pyplot' in sys.modules"
WITH_PYPLOT = [
    "%matplotlib inline\nimport matplotlib.pyplot as plt",
    "plots.factorization(model, table)",
    "plots.row_map(model)",
    "plots.figure_of(plots.row_map(model))",
    "plots.factorization(model, table, axes=plt.subplots(1, 3)[1])",
    "plots.row_map(model, ax=plt.subplots()[1])",
]


class _Client(nbclient.NotebookClient):
    """Keeps what lines that change have said."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.told = defaultdict(list)

    def process_message(self, message, cell, index):
        if message["header"]["msg_type"] in ("display_data", "update_display_data"):
            self.told[cell.source].append(message["content"]["data"].get("text/plain"))
        return super().process_message(message, cell, index)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebook")
    cells = map(nbformat.v4.new_code_cell, [*CELLS, NO_PYPLOT, *WITH_PYPLOT])
    notebook = nbformat.v4.new_notebook(cells=[*cells])
    client = _Client(
        notebook,
        timeout=600,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()
    return client


@pytest.fixture
def shown(client):
    """What each cell shows, in the order of the cells: by its kinds, for each of its outputs."""
    return {
        cell.source: [output.data for output in cell.outputs if "data" in output]
        for cell in client.nb.cells
    }


def _cells(word):
    return [cell for cell in CELLS if word in cell]


def _pictures(outputs):
    return [
        imread(io.BytesIO(b64decode(each["image/png"]))) for each in outputs if "image/png" in each
    ]


def _is_drawn_on(picture):
    colours = (255 * picture[..., :3]).astype(np.int64) @ [1 << 16, 1 << 8, 1]
    return len(np.unique(colours)) > 20 and (colours != colours[0, 0]).mean() > 0.01


def test_every_figure_of_a_model_is_on_the_page():
    assert len(CELLS) >= 15
    drawn = {each.function.partition(":")[2] for each in FIGURES.values()}
    for name in (*drawn, "rank_curve"):
        # What needs labels or sets is drawn of what was found out about these.
        assert _cells(f"plots.{name.removeprefix('result_')}("), name


@pytest.mark.parametrize("cell", _cells("plots."))
def test_a_picture_is_shown_once(cell, shown):
    (picture,) = _pictures(shown[cell])
    height, width = picture.shape[:2]
    assert 700 < width < 2200
    assert 200 < height < 2200
    assert _is_drawn_on(picture)


def test_pyplot_is_not_needed_and_shows_nothing_again(shown):
    assert shown[NO_PYPLOT][0]["text/plain"] == "False"
    for cell in WITH_PYPLOT[1:]:
        (picture,) = _pictures(shown[cell])
        assert _is_drawn_on(picture)


def test_models_frames_and_reports_are_pages(shown):
    assert "wrong cells" in shown["model"][0]["text/html"]
    assert "chosen by" in shown["search"][0]["text/html"]
    assert "recurrence" in shown["sure"][0]["text/html"]
    (report,) = _cells("write_report")
    page = shown[report][0]["text/html"]
    assert '<a href="shopping.html"' in page
    assert "<iframe" in page
    for cell in _cells("_frame("):
        assert "<table" in shown[cell][0]["text/html"]


def test_progress_is_one_line_that_is_gone_in_the_end(client, shown):
    watched = _cells("verbose=True")
    assert len(watched) == 3
    for cell in watched:
        told = client.told[cell]
        assert told[0] == "preparing …"
        assert any("relative loss" in line or "runs" in line for line in told), told
        lines = [each for each in shown[cell] if "image/png" not in each]
        assert [dict(each) for each in lines] == [{"text/plain": ""}]


def test_nothing_is_said_but_that_kernels_are_compiled(client):
    said = [output.text for cell in client.nb.cells for output in cell.outputs if "text" in output]
    assert not [each for each in said if not each.startswith("elbmf: compiling kernels, once")]
