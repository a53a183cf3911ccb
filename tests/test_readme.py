"""The README: short, and the same in every language; what moved on in English is named."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench import beside as table
from docs import readme

ROOT = Path(__file__).parent.parent
ENGLISH = readme.ENGLISH.read_text("utf-8")


def test_it_has_120_lines_at_most():
    assert len(ENGLISH.splitlines()) <= 120


@pytest.mark.parametrize("path", readme.TRANSLATED, ids=lambda path: path.name)
def test_a_translation_is_of_the_english_text_as_it_is(path):
    assert readme.moved_on(ENGLISH, path.read_text("utf-8")) == []


@pytest.mark.parametrize("path", [readme.ENGLISH, *readme.TRANSLATED], ids=lambda path: path.name)
def test_its_links_are_there(path):
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text("utf-8"))
    assert len(links) > 12
    assert [link for link in links if not (ROOT / link).exists()] == []


@pytest.mark.parametrize("path", readme.TRANSLATED, ids=lambda path: path.name)
def test_languages_link_and_run_the_same(path):
    theirs = path.read_text("utf-8")
    targets = [
        sorted(re.findall(r"\]\((docs/[^)]+|examples/[^)]+|CONTRIBUTING[^)]+)\)", text)) for text in (ENGLISH, theirs)
    ]
    assert targets[0] == targets[1]
    code = [
        re.sub(r"\s+#.*", "", "".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL)))
        for text in (ENGLISH, theirs)
    ]
    assert code[0] == code[1]


def test_what_moved_on_is_named():
    english = (
        "# A\n\none\n\n## B\n\ntwo\n\n```sh\n# no heading\n```\n\n## C\n\n<!-- beside: x -->\n1\n<!-- /beside -->\n"
    )
    theirs = readme.stamped(english, "# Á\n\nmột\n\n## Bê\n\nhai\n\n## Cê\n")
    assert readme.moved_on(english, theirs) == []
    assert readme.stamped(english, theirs) == theirs
    assert readme.moved_on(english.replace("two", "2"), theirs) == ["## B"]
    assert readme.moved_on(english.replace("\n1\n", "\n2\n"), theirs) == []  # measured anew, in both
    assert readme.moved_on(english + "\n## D\n", theirs) == ["# A", "## B", "## C", "## D"]
    assert readme.moved_on(english.replace("one", "1"), readme.stamped(english.replace("one", "1"), theirs)) == []


def test_every_word_of_the_table_has_its_translation():
    texts = [what for *_, what in (*table.MODELS, *table.KERNELS, table.SURVEY)]
    assert [text for text in texts if text not in table.VIETNAMESE] == []
    (path,) = (ROOT / "bench" / "results").glob("*.json")
    rows = [table.beside(json.loads(path.read_text()), language).splitlines() for language in ("en", "vi")]
    numbers = [[re.sub(r"[^\d.×]", "", line.split("|")[-2]) for line in lines if "**" in line] for lines in rows]
    assert numbers[0] == numbers[1]
    assert len(numbers[0]) == len(texts)


def test_tables_are_written_by_their_script():
    done = subprocess.run(
        [sys.executable, "bench/table.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
