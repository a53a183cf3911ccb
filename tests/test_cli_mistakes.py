"""A mistake on the command line gets one line that says what to type."""

from __future__ import annotations

import shlex

import pytest

from eyeline.cli.mistakes import quoted

FLIES = "time flies like an arrow"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            ("explain", *FLIES.split()),
            f'text must be in quotes, got 5 words without; put it in: eyeline explain "{FLIES}"',
        ),
        (
            ("explain", "time", "flies", "--token", "flies", "--steps", "--layer=2"),
            'text must be in quotes, got 2 words without; put it in: eyeline explain "time flies" --token flies '
            "--steps --layer=2",
        ),
        (
            ("explain", "--head", "3", "it's", "$5"),
            "text must be in quotes, got 2 words without; put it in: eyeline explain 'it'\"'\"'s $5' --head 3",
        ),
        (
            ("--lang", "en", "heads", "time", "flies"),
            'text must be in quotes, got 2 words without; put it in: eyeline heads "time flies"',
        ),
        (
            ("view", "time", "flies"),
            'text must be in quotes, got 2 words without; put it in: eyeline view "time flies"',
        ),
        (
            ("compare", *FLIES.split(), "--token", "flies"),
            "both texts must be in quotes, got 5 words without; put them in: eyeline compare "
            '"time ..." "... arrow" --token flies',
        ),
        (("lesson", "--html", "l.txt"), "--html must be a file name that ends in .html, got 'l.txt'"),
        (("lesson", "--half"), "--half must come with --html, whose numbers it keeps in float16"),
        (
            ("lesson", "--html", "l.html", "--port", "80"),
            "--port and --html can't go together; leave out one of them",
        ),
        (
            ("lesson", "--html", "l.html", "--no-browser"),
            "--no-browser and --html can't go together; leave out one of them",
        ),
        (("explain", FLIES, "--mask", "window"), "--mask must be causal, got 'window'"),
        (
            ("heads", FLIES, "--label", "none"),
            "--label must be one of induction, previous, next, same, punctuation, separator, sink, broad, mixed, got "
            "'none'",
        ),
        (("explain", FLIES, "--special", "--shares"), None),
    ],
)
def test_one_line_says_what_to_type(say, given, says):
    code, out, err = say(*given)
    says = says or (
        "special and shares can't both be given: special tokens are drawn one by one, or left out; leave out --special "
        "or --shares"
    )
    assert (code, out, err) == (2, "", f"eyeline: {says}\n")


def test_several_files_are_no_text_without_quotes(say, tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(FLIES)
    code, _, err = say("heads", str(tmp_path / "a.txt"), str(tmp_path / "b.txt"))
    assert code == 2
    assert "quotes" not in err
    assert "b.txt" in err


def test_what_was_quoted_is_what_was_meant():
    for words in (["time", "flies"], ["it's"], ["say", '"no"'], ["$HOME", "`x`"], ["a\\b", "!"]):
        assert shlex.split(quoted(" ".join(words))) == [" ".join(words)]


@pytest.mark.parametrize(
    "command",
    [(), ("explain",), ("compare",), ("heads",), ("view",), ("models",), ("models", "get"), ("bench", "growth")],
)
def test_h_is_help(say, command):
    code, out, err = say(*command, "-h")
    assert (code, err) == (0, "")
    assert out == say(*command, "--help")[1]
    assert f"Usage: {' '.join(('eyeline', *command))}" in out


def test_layers_are_from_0_as_the_help_says(say):
    help_text = " ".join(say("explain", "--help")[1].replace("│", " ").split())
    assert "Layer, from 0." in help_text
    assert "· L0H0 of" not in say("explain", FLIES, "--layer", "0")[1]
    assert "L0H0 of L0 to L5, H0 to H11" in say("explain", FLIES, "--layer", "0", "--head", "0")[1]
    assert say("explain", FLIES, "--layer", "6")[2] == (
        "eyeline: layer must be from 0 to 5 in minilm, got 6; the last is 5\n"
    )


def test_steps_in_a_narrow_terminal_have_all_columns(say, monkeypatch):
    def columns(width):
        monkeypatch.setenv("COLUMNS", str(width))
        out = say("explain", FLIES, "--token", "flies", "--steps")[1]
        assert max(map(len, out.split("\n"))) <= width
        return out

    narrow, wide = columns(60), columns(80)
    for name in ("q·k", "÷ √32", "softmax", "|value|", "|w×value|"):
        heads = [line for line in narrow.split("\n") if line.endswith(name) or f"{name} " in line]
        assert heads, name
    for number in ("15.84", "69.4%", "5.87", "4.076"):
        assert number in narrow
        assert number in wide
    assert narrow.count("• flies") == 2
    assert wide.count("• flies") == 1
    assert "0 ──" in narrow
    assert " 4.08" in narrow
