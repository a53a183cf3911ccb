"""The catalogue of words: whole in every language, the code's own, standard gettext, and chosen as it is said."""

from __future__ import annotations

import ast
import re
import shutil
import string
import subprocess
from collections import Counter
from pathlib import Path

import pytest
import typer

import eyeline
from eyeline import words
from eyeline.cli import app
from eyeline.words.language import HERE
from eyeline.words.po_file import messages
from eyeline.words.translations import entries

SOURCE = Path(eyeline.__file__).parent
OTHERS = words.languages()[1:]
LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")


def calls(function="worded"):
    """Every call of a function of the room of words in the package: where, the call."""
    for path in sorted(SOURCE.rglob("*.py")):
        if path == HERE / "translations.py":
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            name = getattr(node, "func", None)
            if isinstance(node, ast.Call) and function in (getattr(name, "id", None), getattr(name, "attr", None)):
                yield f"{path.relative_to(SOURCE)}:{node.lineno}", node


COMMANDS = {command.name for command in typer.main.get_command(app).commands.values()}


def helps():
    """The help of commands and options in cli/: literals where they are written, translated as they are shown."""
    for path in sorted((SOURCE / "cli").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", None) in ("Option", "Argument", "Typer"):
                for keyword in node.keywords:
                    if keyword.arg == "help":
                        yield f"{path.name}:{node.lineno}", keyword.value
            elif isinstance(node, ast.FunctionDef) and ast.get_docstring(node):
                decorated = {getattr(getattr(one, "func", None), "attr", None) for one in node.decorator_list}
                if decorated & {"command", "callback"} or (node.name == path.stem and path.stem in COMMANDS):
                    yield f"{path.name}:{node.lineno}", ast.Constant(ast.get_docstring(node))


def texts():
    marked = {call.args[0].value for function in ("worded", "noted") for _, call in calls(function)}
    return marked | {text.value for _, text in helps()}


def test_helps_are_plain_texts():
    found = list(helps())
    assert len(found) > 100
    assert [where for where, text in found if not isinstance(text, ast.Constant)] == []


def places(text):
    return sorted(re.findall(r"\{(\w+)[^{}]*\}", text))


def test_texts_of_the_code_are_plain_and_get_what_they_name():
    found = list(calls())
    assert len(found) > 10
    for where, call in found:
        assert len(call.args) == 1, where
        assert isinstance(call.args[0], ast.Constant), where
        named = {name for _, name, _, _ in string.Formatter().parse(call.args[0].value) if name}
        given = {keyword.arg for keyword in call.keywords}
        assert None in given or named == given, where  # None: **values


@pytest.mark.parametrize("code", OTHERS)
def test_nothing_is_untranslated_and_nothing_is_left_over(code):
    plain = [one for one in entries(code) if one.context is None]
    assert texts() - {one.english for one in plain} == set()
    assert {one.english for one in plain} - texts() == set()
    assert [one.english for one in entries(code) if not one.translated] == []


@pytest.mark.parametrize("code", OTHERS)
def test_a_translation_names_the_same_places_and_each_text_is_there_once(code):
    for one in entries(code):
        assert places(one.english) == places(one.translated), one
        for text in (one.english, one.translated):
            assert text.strip() == text != "", one
    counts = Counter((one.context, one.english if one.context is None else "") for one in entries(code))
    assert [key for key, count in counts.items() if count > 1] == []


def test_languages_have_the_same_texts():
    tables = [{(one.context, one.english) for one in entries(code)} for code in OTHERS]
    assert all(table == tables[0] for table in tables)
    assert all(len(row) == len(words.languages()) for row in words.page_table().values())


@pytest.mark.parametrize("code", OTHERS)
def test_the_file_is_gettext_s(code, tmp_path):
    path = HERE / code / "LC_MESSAGES" / "eyeline.po"
    if shutil.which("msgfmt"):
        subprocess.run(["msgfmt", "--check", "-o", str(tmp_path / "x.mo"), str(path)], check=True)
    pofile = pytest.importorskip("babel.messages.pofile")
    with path.open("rb") as file:
        read = [(one.context, one.id, one.string) for one in pofile.read_po(file) if one.id]
    assert [tuple(one) for one in entries(code)] == read


@pytest.mark.parametrize("line", ['msgid "x', "msgid x", '"x"', 'msgid_plural "x"', "nonsense"])
def test_a_line_that_the_reader_does_not_know_is_refused(line):
    with pytest.raises(ValueError, match=r"line 1 of a \.po file must be"):
        messages(line)


# Which language


@pytest.fixture
def environment(monkeypatch):
    """Sets the variables that choose a language, and no other."""

    def set_to(**values):
        for name in (words.VARIABLE, *LOCALE):
            monkeypatch.delenv(name, raising=False)
        for name, value in values.items():
            monkeypatch.setenv(name, value)

    set_to()
    return set_to


@pytest.mark.parametrize(
    ("values", "language"),
    [
        ({}, "en"),
        ({"LANG": "vi_VN.UTF-8"}, "vi"),
        ({"LANG": "vi_VN.UTF-8", "LC_MESSAGES": "en_GB"}, "en"),
        ({"LANG": "en_US", "LC_MESSAGES": "vi"}, "vi"),
        ({"LANG": "vi", "LC_MESSAGES": "vi", "LC_ALL": "C"}, "en"),
        ({"LANG": "vi", "LC_ALL": ""}, "vi"),
        ({"LANG": "fr_FR"}, "en"),
        ({"LC_ALL": "vi", "EYELINE_LANG": "en"}, "en"),
        ({"LC_ALL": "C", "EYELINE_LANG": "vi-VN"}, "vi"),
    ],
)
def test_the_first_that_says_a_language_decides(environment, values, language):
    environment(**values)
    assert words.language() == language


def test_what_is_chosen_comes_before_the_environment(environment):
    environment(EYELINE_LANG="en")
    words.choose("vi")
    try:
        assert words.worded("{count} more", count="{x}") == "{x} more"  # no text of the catalogue
        assert words.worded("embedding") == "embedding"
        assert words.worded("{before} and {last}", before="a", last="{b}") == "a và {b}"
    finally:
        words.choose(None)
    assert words.language() == "en"


VIETNAMESE = "flies nhìn"


def test_the_command_chooses_in_this_order(say, environment):
    asked = ("explain", "time flies", "--token", "flies")
    environment(LANG="vi_VN.UTF-8")
    assert VIETNAMESE in say(*asked)[1]
    environment(LANG="vi_VN.UTF-8", EYELINE_LANG="en")
    assert VIETNAMESE not in say(*asked)[1]
    assert VIETNAMESE in say("--lang", "vi", *asked)[1]
    assert words.language() == "en"  # it was chosen for that command alone
    environment(EYELINE_LANG="vi")
    assert VIETNAMESE not in say("--lang", "en", *asked)[1]


def test_a_language_that_there_is_not_is_a_mistake(say, environment):
    there = "en (English), vi (Tiếng Việt)"
    want = f"eyeline: --lang must be one of {there}, got 'fr'\n"
    assert say("--lang", "fr", "explain", "time flies") == (2, "", want)
    environment(EYELINE_LANG="fr")
    want = f"eyeline: EYELINE_LANG must be one of {there}, got 'fr'\n"
    assert say("explain", "time flies") == (2, "", want)
    assert say("--lang", "en", "models")[0] == 0
    environment(LANG="fr_FR.UTF-8")
    assert say("models")[0] == 0


def test_another_language_changes_no_number(say):
    asked = ("explain", "time flies like an arrow", "--token", "flies")
    texts = [say("--lang", code, *asked)[1] for code in words.languages()]
    numbers = [re.findall(r"L\d+H\d+|L\d+|\d+%|\d\.\d{3}", text) for text in texts]
    assert all(found == numbers[0] for found in numbers)
    json = [say("--lang", code, *asked, "--json")[1] for code in words.languages()]
    assert all(found == json[0] for found in json)


@pytest.mark.parametrize(
    ("code", "thousands", "decimals"), [("en", "1,234,567", "1,234.50"), ("vi", "1\u202f234\u202f567", "1\u202f234.50")]
)
def test_numbers_have_a_decimal_point_in_every_language(code, thousands, decimals):
    words.choose(code)
    try:
        assert words.local_number(1234567) == thousands
        assert words.local_number(1234.5, 2) == decimals
        assert words.local_number(999) == "999"
    finally:
        words.choose(None)


def test_the_mark_between_thousands_is_all_that_a_language_says_of_numbers():
    assert all(re.fullmatch(r"1\D000", text) for text in words.page_table()["number.thousands"])


def test_no_other_place_writes_thousands():
    """A comma between thousands is English, and `toLocaleString` has a decimal comma: each side has one function."""

    def found(pattern, suffix):
        paths = sorted(SOURCE.rglob(f"*.{suffix}"))
        return {path.relative_to(SOURCE).as_posix() for path in paths if re.search(pattern, path.read_text("utf-8"))}

    commas = found(r":,(?:\.\d*f|\.\{|d|\})", "py")
    no_texts = {"kernels/wasm/__main__.py", "edits/mean_output.py"}  # a build's sizes, a repr: not of the catalogue
    reasons = {name for name in commas if name.startswith("surveys/corpus/")}  # kept in a survey's file, in English
    assert commas - no_texts - reasons == {"words/numbers.py"}
    assert found(r"toLocaleString|NumberFormat\(", "js") == {"views/page/language.js"}
