"""A third language is one more file: in the terminal, in errors and in the page; no code knows its name."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

import eyeline
from eyeline.words.translations import entries

SOURCE = Path(eyeline.__file__).parent
CODE, NAME = "eo", "Esperanto"
ASKED = ("explain", "time flies like an arrow", "--token", "flies", "--mask", "causal")


def made_up(english, context):
    """A text of the made-up language: the English one in quotation marks."""
    if context == "own name":
        return NAME
    if context == "page.number.thousands":
        return "1'000"
    if re.match(r"page\.keys\.", context or ""):
        keys, _, text = english.partition(": ")
        return f"{keys}: «{text}»"
    return f"«{english}»"


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The package with one more file; all else in it is that of the checkout."""
    folder = tmp_path_factory.mktemp("third")
    inside = folder / "eyeline"
    inside.mkdir()
    for part in SOURCE.iterdir():
        if part.name not in ("words", "__pycache__"):
            (inside / part.name).symlink_to(part)
    shutil.copytree(SOURCE / "words", inside / "words", ignore=shutil.ignore_patterns("__pycache__"))
    lines = ['msgid ""', f'msgstr "Language: {CODE}\\n"', ""]
    for one in entries("vi"):
        parts = (("msgctxt", one.context), ("msgid", one.english), ("msgstr", made_up(one.english, one.context)))
        lines += [f"{part} {json.dumps(text, ensure_ascii=False)}" for part, text in parts if text]
        lines.append("")
    path = inside / "words" / CODE / "LC_MESSAGES" / "eyeline.po"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(lines), "utf-8")
    return folder


@pytest.fixture(scope="module")
def said(package):
    """The command of that package in another process: exit code, stdout, stderr."""

    def call(*arguments, **variables):
        environment = {**os.environ, "PYTHONPATH": str(package), "COLUMNS": "200", "LC_ALL": "C.UTF-8", **variables}
        command = [sys.executable, "-P", "-c", "from eyeline.cli import main; raise SystemExit(main())", *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    return call


def test_the_terminal_and_its_errors(said, say):
    code, out, err = said("--lang", CODE, "toy", "--q", "1,0;0,1")
    assert (code, err) == (0, "")
    assert "«" in out
    english = say("toy", "--q", "1,0;0,1")[1]
    numbers = r"-?\d+\.\d+"
    assert re.findall(numbers, out) == re.findall(numbers, english)
    assert "«Usage:» eyeline explain" in said("explain", "-h", EYELINE_LANG=CODE)[1]
    assert "«the page, in your browser»" in said(LC_ALL="eo_XX.UTF-8")[1]
    code, out, err = said("--lang", CODE, "toy", "--mask", "nonsense")
    assert (code, out) == (2, "")
    assert err.startswith("eyeline: «")
    there = f"en (English), {CODE} ({NAME}), vi (Tiếng Việt)"
    assert said("--lang", "fr", "toy")[2] == f"eyeline: --lang must be one of {there}, got 'fr'\n"


def test_the_page(said, open_page, tmp_path):
    path = tmp_path / "toy.html"
    assert said("toy", "--html", str(path))[0] == 0
    page = open_page(path, words="view=toy")
    expect(page.locator(".eyeline")).to_have_attribute("lang", "en")
    control = page.get_by_role("combobox", name="Language")
    assert control.locator("option").all_inner_texts() == ["English", NAME, "Tiếng Việt"]
    control.select_option(CODE)
    expect(page.locator(".eyeline")).to_have_attribute("lang", CODE)
    expect(page.get_by_role("combobox", name="«Language»")).to_have_value(CODE)
    assert f"language={CODE}" in page.url
    tabs = page.get_by_role("tab").all_inner_texts()
    assert tabs
    assert all(re.fullmatch("«.+»", tab) for tab in tabs)
    page.get_by_role("tab", name="«Cost»").click()
    expect(page.locator(".says")).to_contain_text(re.compile(r"n = \d+'\d{3}\b|n = \d{1,3}\b"))
    own = open_page(path, words="view=toy", language=f"{CODE}-XX")  # the browser's own language, unasked
    expect(own.locator(".eyeline")).to_have_attribute("lang", CODE)


def test_no_code_names_a_language():
    """But for English, which the texts of the code are in."""
    found = []
    for path in [*SOURCE.rglob("*.py"), *SOURCE.rglob("*.js"), *SOURCE.rglob("*.d.ts")]:
        text = re.sub(r"^\s*(?:>>>|\(').*$|//.*$|\"\"\".*?\"\"\"", "", path.read_text("utf-8"), flags=re.M | re.S)
        if re.search(r"""["'](?:vi|Tiếng Việt)["']""", text):
            found.append(str(path.relative_to(SOURCE)))
    assert found == []
