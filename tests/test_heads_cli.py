"""`eyeline heads` and `eyeline explain --rollout`: options, files, pipes and mistakes."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

import eyeline
from eyeline import cli
from eyeline.answers.behaviour.head_labels import LABELS
from eyeline.answers.behaviour.head_measures import MEASURES
from eyeline.cli.heads import LabelName, MeasureName
from eyeline.models import load
from tests.test_cli import run

GONE = "\r\x1b[1A\x1b[2K"  # up to the bar's line, which is erased
TEXT = "Time flies like an arrow; fruit flies like a banana. "


@pytest.fixture(scope="module")
def minilm():
    return load()


@pytest.fixture(scope="module", autouse=True)
def loaded_once(minilm):
    """The command takes the model of these tests, which is loaded and tested for induction once."""

    def once(name, progress=None):
        return minilm if name == "minilm" else load(name, progress=progress)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("eyeline.traces.folders.load", once)
        yield


def test_in_a_process_of_its_own():
    ran = run("heads", TEXT)
    assert (ran.returncode, ran.stderr) == (0, b"")
    text = ran.stdout.decode()
    assert "Of 72 heads: first-token sink 22, previous token 1, next token 1, mixed 48." in text
    assert "\x1b" not in text
    ran = run("heads", TEXT, env={"PYTHONIOENCODING": "ascii"})
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert b"< previous token" in ran.stdout


def test_nothing_heavy_is_loaded_for_it():
    code = (
        "import sys; from eyeline.cli import main; main(['heads', 'time flies']); "
        "print([m for m in ('torch', 'transformers', 'matplotlib', 'pandas') if m in sys.modules], file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert ran.stderr.strip() == "[]"


def test_json_and_csv_equal_the_library(say, minilm):
    found = eyeline.heads(TEXT, model=minilm)
    code, out, err = say("heads", TEXT, "--json")
    assert (code, err, json.loads(out)) == (0, "", found.document())
    assert say("heads", TEXT, "--csv") == (0, found.to_csv(), "")


def test_a_file_and_a_pipe_are_read(say, minilm, tmp_path):
    file = tmp_path / "some text.txt"
    file.write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    want = eyeline.heads(TEXT, model=minilm).document()
    assert json.loads(say("heads", str(file), "--json")[1]) == want
    ran = run("heads", "-", "--json", input=TEXT.strip().encode())
    assert json.loads(ran.stdout) == eyeline.heads(TEXT.strip(), model=minilm).document()
    assert json.loads(say("heads", "either/or is fine", "--json")[1])["text"] == "either/or is fine"


def rows(out):
    """The lines of the table: layer, head and the rest of each."""
    found = re.findall(r"^  L(\d+)H(\d+) +[^ ] (.*)$", out, re.MULTILINE)
    return [(int(layer), int(head), rest) for layer, head, rest in found]


def test_the_table_is_sorted_and_filtered(say, minilm):
    heads = eyeline.heads(TEXT, model=minilm).document()["heads"]
    out = say("heads", TEXT, "--sort", "distance")[1]
    ordered = sorted(heads, key=lambda entry: -entry["distance"])
    assert [row[:2] for row in rows(out)] == [(entry["layer"], entry["head"]) for entry in ordered]
    assert "72 heads · most distance first" in out
    out = say("heads", TEXT, "--layer", "2")[1]
    assert [row[:2] for row in rows(out)] == [(2, head) for head in range(12)]
    out = say("heads", TEXT, "--label", "sink", "--layer", "3")[1]
    want = [(3, entry["head"]) for entry in heads if entry["layer"] == 3 and entry["label"] == "first-token sink"]
    assert [row[:2] for row in rows(out)] == want
    out = say("heads", TEXT, "--label", "mixed")[1]
    assert len(rows(out)) == 48
    clearest = rows(say("heads", TEXT)[1])
    assert len(clearest) == 5
    assert clearest[0][:2] == (0, 2)


def test_every_number_and_label_can_be_asked_for():
    assert [name.value for name in MeasureName] == [measure.name for measure in MEASURES]
    assert [name.value for name in LabelName] == [*(label.key for label in LABELS), "mixed"]


def test_png(say, tmp_path):
    pytest.importorskip("matplotlib")
    target = tmp_path / "heads.png"
    code, out, err = say("heads", TEXT, "--png", str(target), "--csv")
    assert (code, err) == (0, f"wrote {target}\n")
    assert out.startswith("layer,head,label")
    assert target.read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir()] == ["heads.png"]


def test_an_interrupt_is_quiet_and_leaves_nothing(say, monkeypatch, tmp_path):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("eyeline.models.Model.layers", interrupted)
    assert say("heads", TEXT, "--png", str(tmp_path / "heads.png")) == (130, "", "")
    assert say("explain", TEXT, "--rollout") == (130, "", "")
    assert not list(tmp_path.iterdir())


def test_layers_are_counted_on_a_terminal_alone(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert cli.main(["heads", TEXT, "--csv"]) == 0
    err = capsys.readouterr().err
    assert [f"{done} of 6 layers" in err for done in range(1, 7)] == [True] * 6
    assert err.endswith(GONE)


def test_rollout(say, minilm):
    code, out, err = say("explain", TEXT, "--token", "arrow", "--rollout")
    found = eyeline.rollout(TEXT, "arrow", model=minilm)
    assert (code, err) == (0, "")
    assert "arrow is made of" in out
    _, out, _ = say("explain", TEXT, "--token", "arrow", "--rollout", "--json")
    assert json.loads(out) == found.document()
    assert "Who is made of whom" in say("explain", TEXT, "--rollout")[1]
    _, out, _ = say("explain", TEXT, "--rollout", "--json", "--special", "--layer", "2", "--pieces")
    assert json.loads(out) == eyeline.rollout(TEXT, special=True, layer=2, pieces=True, model=minilm).document()
    _, out, _ = say("explain", TEXT, "--token", "flies", "--nth", "2", "--rollout", "--json")
    assert json.loads(out)["question"]["nth"] == 2


MISTAKES = [
    (["heads", ""], "text must have at least one word, got ''"),
    (["heads", "notes.txt"], "got 'notes.txt', where there is no file; check the path"),
    (["heads", "some/where"], "got 'some/where', where there is no file"),
    (["heads", "my notes.md"], "got 'my notes.md', where there is no file"),
    (["heads", "."], "text must be a sentence or a file, got the folder ."),
    (["heads", "bytes"], "bytes must be UTF-8 text, got byte 0xe9 at 3"),
    (["heads", "empty"], "text must have at least one word, got ''"),
    (["heads", "word " * 600], "got 602 tokens (special ones too); --first 512 runs the first 512 tokens"),
    (["heads", TEXT, "--first", "0"], "first must be from 3 to 512 tokens in minilm, got 0"),
    (["heads", TEXT, "--layer", "6"], "layer must be from 0 to 5 in minilm, got 6; the last is 5"),
    (["heads", TEXT, "--sort", "size"], "--sort"),
    (["heads", TEXT, "--label", "deep"], "--label"),
    (["heads", TEXT, "--json", "--csv"], "--json and --csv can't go together"),
    (["heads", TEXT, "--png", "x.svg"], "--png must be a file name that ends in .png, got 'x.svg'"),
    (["heads", TEXT, "--png", "no/such/x.png"], "no/such/x.png: No such file or directory"),
    (["heads", TEXT, "--model", "minilmm"], "minilmm"),
    (["heads"], "TEXT|FILE"),
    (["explain", TEXT, "--rollout", "--head", "2"], "--rollout and --head can't go together"),
    (["explain", TEXT, "--rollout", "--csv"], "--rollout and --csv can't go together"),
    (["explain", TEXT, "--rollout", "--layer", "6"], "layer must be from 0 to 5"),
    (["explain", TEXT, "--rollout", "--nth", "1"], "add --token WORD"),
    (["explain", TEXT, "--rollout", "--token", "x"], "token must be a word of the text"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_a_mistake_is_one_line_and_exit_code_2(say, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bytes").write_bytes(b"caf\xe9")
    (tmp_path / "empty").write_bytes(b"")
    code, out, err = say(*arguments)
    assert code == 2
    assert out == ""
    assert re.fullmatch(r"eyeline: [^\n\x1b]+\n", err)
    assert message in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bytes", "empty"]


def test_more_tokens_than_can_be_rolled_out_at_once(monkeypatch, minilm):
    monkeypatch.setattr("eyeline.answers.attention_rollout.MOST", 5)
    with pytest.raises(ValueError, match=r"text must be 5 tokens at most to roll out all of them, got 14; say which"):
        eyeline.rollout(TEXT, model=minilm)
    assert eyeline.rollout(TEXT, "arrow", model=minilm).words[3] == "an"
