"""How the documentation is built: ``make docs``, offline, with warnings as errors."""

import re
import sys
from pathlib import Path
from typing import Any

from pygments.lexers import TextLexer

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

from elbmf import __version__  # noqa: E402
from elbmf.paper.catalog import prepared_sets  # noqa: E402

project = "elbmf"
author = "The elbmf developers"
copyright = author
version = release = __version__
html_title = f"elbmf {__version__}"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "command_reference",
    "build_pictures",
]
exclude_patterns = ["_build", "_pictures", "gallery/*.py", "gallery/*.ipynb", "gallery/*.zip"]

# Pages are Markdown that also reads well where it is not built.
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

# Two hyphens are a flag, not a dash.
smartquotes = False

# The docstrings are numpydoc: their types are words for people, not names to be looked up. What
# stands in single backticks is linked where it is public.
default_role = "py:obj"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {
    "members": True,
    # What scikit-learn adds by itself.
    "exclude-members": ", ".join(
        f"set_{method}_request" for method in ("fit", "partial_fit", "score", "transform")
    ),
}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_param = False
napoleon_custom_sections = [("Attributes", "params_style")]
add_module_names = False
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"
nitpicky = True
# Names of other projects, private ones, and words.
nitpick_ignore_regex = [("py:(class|obj)", r"(?!elbmf\.).*"), ("py:obj", r"elbmf\..*")]

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"

# Only what follows a prompt is copied.
copybutton_prompt_text = "$ "
copybutton_selector = "div:not(.highlight-output):not(.highlight-csv) > div.highlight pre"


def runnable_examples() -> str:
    """Return a pattern of the examples whose data is on this machine; others are only shown.

    An example says what it needs in a comment: ``# Needs the data set NAME.``
    """
    there = prepared_sets()
    names = []
    for path in sorted((HERE.parent / "examples").glob("*.py")):
        needed = re.findall(r"^# Needs the data set (\w+)\.$", path.read_text("utf-8"), re.M)
        if all(name in there for name in needed):
            names.append(re.escape(path.name))
    return rf"[\\/]({'|'.join(names)})$"


sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": runnable_examples(),
    "download_all_examples": False,
    "show_memory": False,
    # Its page would ask for scripts from elsewhere.
    "write_computation_times": False,
    "min_reported_time": 1e9,
    "plot_gallery": "True",
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "backreferences_dir": None,
    "capture_repr": (),
    "within_subsection_order": "ExampleTitleSortKey",
}


def setup(app: Any) -> None:
    """Let tables of text be shown as they are."""
    app.add_lexer("csv", TextLexer)
