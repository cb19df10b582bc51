"""What README and documentation show is run; `running` says how."""

import sys
from contextlib import ExitStack

import pytest
from pages import NOTEBOOK, ROOT, blocks, pages
from running import Runner
from stages import STAGES, registries_restored

pytestmark = pytest.mark.docs

PAGES = {
    name: [block for block in blocks(path.read_text("utf-8")) if not block.is_directive]
    for name, path in pages().items()
}
WITH_BLOCKS = sorted(name for name, found in PAGES.items() if found and name != NOTEBOOK)


def test_every_page_with_blocks_has_a_stage_and_no_other():
    assert sorted(STAGES) == WITH_BLOCKS


@pytest.mark.parametrize("name", WITH_BLOCKS)
def test_blocks_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{ROOT / 'src'}")
    monkeypatch.setenv("ELBMF_DATA", str(tmp_path / "prepared"))
    loaded = set(sys.modules)
    with ExitStack() as stack:
        stack.enter_context(registries_restored())
        runner = Runner(STAGES[name], stack)
        for block in PAGES[name]:
            try:
                runner.run(block)
            except BaseException as error:
                error.add_note(f"{name}, line {block.line}")
                raise
        runner.check_replacements()
    for module in set(sys.modules) - loaded:
        if str(tmp_path) in (getattr(sys.modules[module], "__file__", None) or ""):
            del sys.modules[module]
