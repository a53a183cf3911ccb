"""The Python in the README and the pages of docs runs as it stands, and the README's sample is what is printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [
    page for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if "```python" in page.read_text()
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
@pytest.mark.filterwarnings("ignore")  # of others: examples are written for reading
def test_the_python_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where it may write files
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        exec(compile(block, page.name, "exec", dont_inherit=True), names)
    assert names


def test_the_readmes_sample_is_what_the_command_prints(say):
    sample = re.search(r"```text\n(time flies.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert sample is not None
    code, out, _ = say("explain", "time flies like an arrow", "--token", "flies")
    assert code == 0
    assert out.startswith(sample[1])
