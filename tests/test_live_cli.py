"""`eyeline live`: a file or a folder, whole or not at all; one line for a mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from answers import Blocks
from encoders import save_encoder
from tiny import save_decoder


def test_a_file_is_written_and_its_size_is_said(say, tmp_path):
    path = tmp_path / "dates.html"
    code, out, err = say("--lang", "vi", "live", "--out", str(path), "--model", "dates")
    assert (code, out) == (0, "")
    assert err.splitlines()[-1] == f"đã ghi {path}: {path.stat().st_size / 1e6:.1f} MB"
    blocks = Blocks(path.read_bytes())
    assert [one["name"] for one in blocks.contents["live"]["models"]] == ["dates"]
    assert {kind for kind, *_ in blocks.contents["live"]["models"][0]["tensors"].values()} == {"float16", "float32"}
    assert blocks.header["state"]["language"] == "vi"
    assert blocks.header["lesson"] is None
    assert [trace["name"] for trace in blocks.header["traces"]] == ["encoder", "decoder", "cross"]
    assert [file.name for file in tmp_path.iterdir()] == ["dates.html"]


def test_weights_of_the_asked_kind(say, tmp_path):
    path = tmp_path / "dates.html"
    assert say("live", "--out", str(path), "--model", "dates", "--weights", "int8")[0] == 0
    (model,) = Blocks(path.read_bytes()).contents["live"]["models"]
    assert model["name"] == "dates int8"
    assert model["tensors"]["letters.weight"][0] == "int8"


def test_a_folder_is_made(say, tmp_path):
    folder = tmp_path / "site"
    code, _, err = say("live", "--folder", str(folder), "--model", "dates")
    assert code == 0, err
    index, weights = sorted(folder.iterdir())
    assert err.splitlines()[-2:] == [f"wrote {path}: {path.stat().st_size / 1e6:.1f} MB" for path in (index, weights)]
    source = Blocks(index.read_bytes()).contents["live"]["source"]
    assert source == {"file": weights.name, "size": weights.stat().st_size}
    # Written again into what is there: the same files, and others stay.
    (folder / "notes.txt").write_text("mine")
    assert say("live", "--folder", str(folder), "--model", "dates")[0] == 0
    assert sorted(path.name for path in folder.iterdir()) == sorted([index.name, weights.name, "notes.txt"])


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ((), "--out must name a file, or --folder a folder, got 0 of the two; give one"),
        (
            ("--out", "a.html", "--folder", "b"),
            "--out must name a file, or --folder a folder, got 2 of the two; give one",
        ),
        (("--out", "a.txt"), "--out must be a file name that ends in .html, got 'a.txt'"),
        (("--out", "no/a.html"), "--out must be in a folder that exists, got 'no/a.html'; make no first"),
        (("--folder", "no/site"), "--folder must be in a folder that exists, got 'no/site'; make no first"),
        (("--folder", "file"), "--folder must be a folder, got 'file', a file; name another"),
        (("--out", "a.html", "--weights", "int4"), "--weights must be one of int8, float16, got 'int4'"),
        (("--out", "a.html", "--model", "nonesuch"), "there is no model or folder named 'nonesuch'"),
    ],
)
def test_a_mistake_is_one_line_before_anything_runs(say, tmp_path, monkeypatch, given, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    code, out, err = say("live", *given)
    assert (code, out) == (2, "")
    assert err.startswith(f"eyeline: {says}")
    assert len(err.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_models_that_no_page_runs_are_refused(say, tmp_path):
    decoder, encoder = tmp_path / "decoder", tmp_path / "encoder"
    for folder, save in ((decoder, save_decoder), (encoder, save_encoder)):
        folder.mkdir()
        save(folder)
    out = tmp_path / "a.html"
    code, _, err = say("live", "--out", str(out), "--model", str(decoder))
    assert (code, err.splitlines()[-1]) == (
        2,
        f"eyeline: model must be an encoder for a live page, such as minilm, got {decoder}, a decoder (llama); eyeline "
        "view shows it, and what it writes",
    )
    code, _, err = say("live", "--out", str(out), "--model", str(encoder))
    assert code == 2
    assert "must be a tokenizer like BERT's" in err.splitlines()[-1]
    assert not out.exists()


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (OSError(28, "No space left on device"), 2)])
@pytest.mark.parametrize(
    ("option", "name", "fails_at"), [("--out", "a.html", 1), ("--folder", "site", 1), ("--folder", "site", 2)]
)
def test_an_interruption_or_a_full_disk_leaves_nothing(say, tmp_path, monkeypatch, option, name, fails_at, error, code):
    writes = []
    write = Path.write_bytes

    def failing(path, data):
        if path.parent not in (tmp_path, tmp_path / name):
            return write(path, data)
        writes.append(path)
        write(path, data[: len(data) // 2])
        if len(writes) == fails_at:
            raise error
        return len(data)

    monkeypatch.setattr(Path, "write_bytes", failing)
    assert say("live", option, str(tmp_path / name), "--model", "dates")[0] == code
    assert len(writes) == fails_at
    assert list(tmp_path.iterdir()) == []
