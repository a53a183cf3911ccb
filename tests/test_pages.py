"""Every block of code in the guide, the README and CONTRIBUTING runs as it stands, and prints what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from page_blocks import RUN, Block, blocks, run, same

ROOT = Path(__file__).parent.parent
PAGES = [
    *(ROOT / name for name in ("README.md", "README.vi.md", "CONTRIBUTING.md") if (ROOT / name).exists()),
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if "surveys" not in path.parts),
]
#: The blocks of each language beside those that run; what a page shows and nobody types.
DATA = {"text", "json", "js", "html", "sql", "toml", "bibtex"}
#: How many blocks of each page aren't run; each says why above it.
NOT_RUN = {
    "README.md": 2,
    "README.vi.md": 2,
    "docs/guide/errors.md": 1,
    "docs/guide/first-look.md": 1,
    "docs/guide/own-model.md": 1,
    "CONTRIBUTING.md": 1,
    "docs/cluster.md": 3,
    "docs/looking-and-mattering.md": 1,
    "docs/what-heads-do.md": 1,
}


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=named)
@pytest.mark.filterwarnings("ignore")  # of others: examples are written for reading
def test_the_blocks_of_a_page_run_and_print_what_it_says(page, tmp_path, monkeypatch):
    for name in ("docs", "examples"):  # commands of the guide stand in the root of a checkout
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.syspath_prepend(str(ROOT))
    run(page)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_no_block_is_left_out_in_silence(page):
    found = blocks(page.read_text("utf-8"))
    assert {one.language for one in found} <= {*RUN, *DATA}
    assert sum(one.not_run is not None for one in found) == NOT_RUN.get(named(page), 0)


def test_a_block_that_fails_or_prints_something_else_is_found(tmp_path):
    page = tmp_path / "page.md"
    for wrong in (
        "```python\nprint(1)\n```\n\n```text\n2\n```\n",
        "```python\n>>> 1\n2\n```\n",
        "```python\nassert False\n```\n",
        "```console\n$ echo one\ntwo\n```\n",
        "```sh\nfalse\n```\n",
        "```sh\neyeline explain time flies\n```\n",
        "```python\nprint(1)\n```\n",
        "- a list:\n\n  ```sh\n  false\n  ```\n",
    ):
        page.write_text(wrong)
        with pytest.raises(AssertionError):
            run(page)
    page.write_text(
        "```python\na = 1\n```\n\nand then\n\n```python\n>>> print(a, 2)\n1 …\n```\n\n```console\n$ echo b\nb\n```\n"
    )
    run(page)


def test_a_block_is_read_with_its_reason():
    page = "# A\n\n<!-- not run: needs\na cluster -->\n```sh\nray\n```\n\n```json\n{}\n```\n\n```{live} lesson\n```\n"
    assert blocks(page) == [Block("sh", "ray\n", 5, "needs a cluster"), Block("json", "{}\n", 9)]
    assert same("a … z", "a\n b  z")
    assert not same("a", "a b")


def test_the_readmes_sample_is_what_the_command_prints(say):
    sample = re.search(r"```text\n(time flies.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert sample is not None
    code, out, _ = say("explain", "time flies like an arrow", "--token", "flies")
    assert code == 0
    assert out.startswith(sample[1])
