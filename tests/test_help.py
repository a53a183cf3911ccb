"""Help: in every language, with examples that run; what `eyeline` alone says; completion of the shell."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import pytest
import typer

from eyeline import words
from eyeline.cli import app
from eyeline.cli.examples import EXAMPLES, first_look
from eyeline.cli.help import translated

ROOT = typer.main.get_command(app)
OF_COMMANDS = dict(ROOT.commands)
NAMES = [*OF_COMMANDS, *(f"{name} {sub}" for name, one in OF_COMMANDS.items() for sub in getattr(one, "commands", {}))]
#: Examples that take seconds at most, and need no file of the user's.
QUICK = [
    example
    for name in ("explain", "compare", "heads", "why", "toy", "models", "doctor")
    for example in EXAMPLES[name]
    if not any(word in example for word in ("smollm2", "notes.txt", " get "))
]


def plain(text):
    """A help text without the frame that is drawn around it."""
    return " ".join(text.replace("│", " ").split())


def test_every_command_has_examples():
    assert sorted(EXAMPLES) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_help_ends_with_examples(say, name):
    code, out, err = say(*name.split(), "--help")
    assert (code, err) == (0, "")
    assert out.rstrip().endswith(EXAMPLES[name][-1])
    assert "\n Examples\n" in out
    for example in EXAMPLES[name]:
        assert f"   {example}\n" in out  # in one line, to be copied


@pytest.mark.parametrize("name", NAMES)
def test_help_is_in_the_language_of_texts(say, name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "240")  # no text is broken beside a list of choices
    _, english, _ = say(*name.split(), "-h")
    code, out, _ = say("--lang", "vi", *name.split(), "-h")
    assert code == 0
    command = ROOT
    for part in name.split():
        command = command.commands[part]
    words.choose("vi")
    try:
        texts = [command.help, *(getattr(one, "help", None) for one in command.params)]
        wanted = [(text, translated(text)) for text in texts if text]
    finally:
        words.choose(None)
    assert wanted
    for text, theirs in wanted:
        first = plain(theirs.split("\n\n")[0])
        assert first in plain(out), text
        assert plain(text.split("\n\n")[0]) in plain(english)
    for word in ("Cách dùng: eyeline", "Tùy chọn", "Hiện trợ giúp này rồi thoát.", "Ví dụ"):
        assert word in out
    for word in ("Usage", "Options", "Arguments", "Show this", "default:", "required", "Examples"):
        assert word not in out
    assert say(*name.split(), "-h")[1] == english  # the next help is in English again


def test_the_list_of_commands_is_translated(say):
    out = say("--lang", "vi", "--help")[1]
    assert "Các lệnh" in out
    assert "Cho biết một token nhìn những từ nào" in plain(out)
    assert "Show which" not in out


def test_the_command_alone_shows_five_examples(say):
    code, out, err = say()
    assert (code, out, err) == (0, first_look() + "\n", "")
    shown = [line.strip() for line in out.splitlines() if line.startswith("    eyeline ")]
    assert len(shown) == 5
    assert set(shown) <= {one for there in EXAMPLES.values() for one in there}
    assert "một từ nhìn từ nào" in say("--lang", "vi")[1]


@pytest.mark.parametrize("example", QUICK)
def test_an_example_runs(say, example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = say(*shlex.split(example)[1:])
    assert code == 0, err
    assert out


@pytest.mark.parametrize("example", [one for there in EXAMPLES.values() for one in there])
def test_an_example_is_understood(example):
    program, *given = shlex.split(example)
    assert program == "eyeline"
    context = ROOT.make_context("eyeline", given, resilient_parsing=True)
    command, rest = ROOT, given
    while hasattr(command, "commands") and rest and rest[0] in command.commands:
        command, rest = command.commands[rest[0]], rest[1:]
    assert command is not ROOT
    command.make_context("eyeline", list(rest), parent=context)  # raises for an option that there is not


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_completes_commands(shell, monkeypatch):
    environment = {
        "bash": {"COMP_WORDS": "eyeline ex", "COMP_CWORD": "1"},
        "zsh": {"_TYPER_COMPLETE_ARGS": "eyeline ex"},
        "fish": {"_TYPER_COMPLETE_ARGS": "eyeline ex", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }[shell]
    for name, value in {**environment, "_EYELINE_COMPLETE": f"complete_{shell}", "PATH": "/usr/bin:/bin"}.items():
        monkeypatch.setenv(name, value)
    command = [sys.executable, "-c", "from eyeline.cli import main; raise SystemExit(main())"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "explain" in done.stdout
    assert "compare" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "theirs", "ours"),
    [
        (("models",), ["bộ mã hóa câu", "Đường dẫn đến một thư mục"], r"encoder|layers|heads|The path|here"),
        (
            ("doctor",),
            ["phiên bản", "độ rộng vectơ", "gói tùy chọn"],
            r"versions|caches|extras|vector|threads|not installed",
        ),
        (
            ("heads", "time flies like an arrow; fruit flies"),
            [
                "Trong 72 đầu chú ý: dồn vào token đầu",
                "token trước",
                "Các đầu chú ý rõ nhất",
                "Clark và cộng sự (2019)",
            ],
            r"\b(above|Of|heads?|kind|token sink|clearest|Means|what|none of)\b",
        ),
    ],
)
def test_an_answer_has_no_english_left(say, arguments, theirs, ours):
    code, out, err = say("--lang", "vi", *arguments)
    assert (code, err) == (0, "")
    assert [text for text in theirs if text not in plain(out)] == []
    assert re.findall(ours, out) == []
    assert re.search(ours, say(*arguments)[1])


def test_lines_of_progress_are_in_the_language_of_texts(say, tmp_path):
    lines, vectors, page = tmp_path / "lines.txt", tmp_path / "vectors.npy", tmp_path / "page.html"
    lines.write_text("time flies\nan arrow\n")
    assert say("--lang", "vi", "embed", str(lines), "-o", str(vectors))[2].endswith(
        f"đã ghi {vectors}: 2 vectơ, mỗi vectơ 384 số\n"
    )
    assert say("--lang", "vi", "toy", "--html", str(page))[2] == f"đã ghi {page}\n"
