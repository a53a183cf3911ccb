"""`eyeline embed`: lines in, an array out, whole or not at all; one line for a mistake."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest

import eyeline as el


@pytest.fixture
def lines(tmp_path):
    """Writes a file of these bytes, and gives its path."""

    def write(data: bytes) -> str:
        path = tmp_path / "texts.txt"
        path.write_bytes(data)
        return str(path)

    return write


def test_a_vector_for_each_line(say, lines, tmp_path):
    file = lines("\ufefftime flies\r\n\nViệt \u2028 Nam\n".encode())
    out = str(tmp_path / "vectors.npy")
    code, printed, said = say("embed", file, "-o", out)
    assert (code, printed, said) == (0, "", f"wrote {out}: 3 vectors of 384 numbers\n")
    np.testing.assert_array_equal(np.load(out), el.embed(["time flies", "", "Việt \u2028 Nam"]))


def test_stdin_and_another_model(say, tmp_path, monkeypatch):
    from encoders import WIDTH, save_encoder

    folder = tmp_path / "model"
    folder.mkdir()
    save_encoder(folder)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"w5 w6")))
    code, _, said = say("embed", "-", "--output", str(tmp_path / "v.npy"), "--model", str(folder))
    assert code == 0, said
    assert np.load(tmp_path / "v.npy").shape == (1, WIDTH)


def test_no_lines_are_no_vectors(say, lines, tmp_path):
    assert say("embed", lines(b""), "-o", str(tmp_path / "v.npy"))[0] == 0
    assert np.load(tmp_path / "v.npy").shape == (0, 384)


@pytest.mark.filterwarnings("default::UserWarning")
def test_cut_texts_are_counted(say, lines, tmp_path):
    code, _, said = say("embed", lines(b"fly " * 300 + b"\nfly\n"), "-o", str(tmp_path / "v.npy"))
    assert code == 0
    assert said.startswith(
        "eyeline: 1 of 2 texts had more than 256 tokens, as many as minilm embeds, and were cut there"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{file}"], "--output must be given"),
        (["{file}", "-o", "{folder}/v.txt"], "--output must be a file name that ends in .npy, got '{folder}/v.txt'"),
        (["{file}", "-o", "{folder}/no/v.npy"], "--output must be in a folder that exists, got '{folder}/no/v.npy'"),
        (["{folder}/none.txt", "-o", "{folder}/v.npy"], "{folder}/none.txt: No such file or directory"),
        (["{folder}", "-o", "{folder}/v.npy"], "{folder}: Is a directory"),
        (["{file}", "-o", "{folder}/v.npy", "--model", "nothing"], "there is no model or folder named 'nothing'"),
        (["{file}", "-o", "{folder}/v.npy", "--model", "smollm2"], "model must be an encoder to embed texts, got"),
    ],
)
def test_mistakes_are_one_line(say, lines, tmp_path, arguments, message):
    names = {"file": lines(b"time flies"), "folder": str(tmp_path)}
    code, printed, said = say("embed", *(argument.format(**names) for argument in arguments))
    assert (code, printed) == (2, "")
    assert said.startswith(f"eyeline: {message.format(**names)}")
    assert said.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["texts.txt"]


def test_bytes_that_are_no_text_are_named(say, lines, tmp_path):
    file = lines(b"caf\xe9")
    code, _, said = say("embed", file, "-o", str(tmp_path / "v.npy"))
    assert (code, said) == (2, f"eyeline: {file} must be UTF-8 text, got byte 0xe9 at 3\n")


@pytest.mark.parametrize("where", ["eyeline.models.embed", "numpy.save"])
def test_an_interrupt_leaves_nothing_and_an_old_file_as_it_was(say, lines, tmp_path, monkeypatch, where):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    file, out = lines(b"time flies"), tmp_path / "v.npy"
    out.write_bytes(b"old")
    monkeypatch.setattr(where, interrupted)
    assert say("embed", file, "-o", str(out)) == (130, "", "")
    assert out.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["texts.txt", "v.npy"]
