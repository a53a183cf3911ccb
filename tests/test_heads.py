"""`eyeline.heads` with the real model: its numbers, its documents and its pictures."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import shutil
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import eyeline as el
from eyeline.answers import QuestionError
from eyeline.answers.behaviour import induction
from eyeline.answers.behaviour.head_labels import MIXED
from eyeline.answers.behaviour.head_measures import MEASURES
from eyeline.answers.behaviour.token_groups import groups_of
from eyeline.models import load
from eyeline.views.signs import SIGNS
from tests.test_head_measures import brute
from tests.test_views import HOSTILE, drawn, read

rich_cells = pytest.importorskip("rich.cells")

TEXT = "Time flies like an arrow; fruit flies like a banana. "
DOCS = (Path(__file__).parent.parent / "docs" / "json.md").read_text("utf-8")


@pytest.fixture(scope="module")
def minilm():
    return load()


@pytest.fixture(scope="module")
def short(minilm):
    return el.heads(TEXT, model=minilm)


@pytest.fixture(scope="module")
def long(minilm):
    return el.heads(TEXT * 9, model=minilm)


def labels_of(found, layer, head):
    return found.heads[12 * layer + head].labels


def dense(model, tokens):
    """All weights of all layers."""
    return [layer.weights.astype(np.float64) for layer in model.run([tokens.ids], weights=True).layers]


@pytest.mark.parametrize("times", [1, 9])
def test_every_number_is_that_of_the_models_own_weights(minilm, times):
    tokens = minilm.tokens(TEXT * times)
    found = el.heads(TEXT * times, model=minilm)
    for layer, weights in enumerate(dense(minilm, tokens)):
        for name, values in brute(weights[0], groups_of(tokens)).items():
            np.testing.assert_allclose(found.table[name][layer], values, rtol=1e-4, atol=1e-5, err_msg=name)
    assert found.sink_tokens == min(len(tokens), 64)


def test_induction_is_measured_between_the_special_tokens(minilm, short):
    rng = np.random.default_rng(0)
    draws = [rng.choice(minilm.config.vocabulary_size, 50, replace=False).tolist() for _ in range(8)]
    run = minilm.run([[101, *drawn, *drawn, 102] for drawn in draws], weights=True)
    for layer, weights in enumerate(layer.weights for layer in run.layers):
        want = np.mean([weights[:, :, i, i - 49] for i in range(51, 101)], axis=(0, 1))
        np.testing.assert_allclose(short.table["induction"][layer], want, rtol=1e-4, atol=1e-6)
    assert (short.repeated_tokens, short.repeated_draws) == (50, 8)


def test_known_heads_of_the_model(short, long):
    for found in (short, long):
        assert found.label[0, 2] == "previous token"
        assert found.label[1, 8] == "next token"
    assert found.label[1, 11] == "first-token sink"
    assert "broad" in labels_of(long, 0, 11)
    assert not any("broad" in entry.labels for entry in short.heads)
    assert short.causal is False
    assert not any("induction" in entry.labels for found in (short, long) for entry in found.heads)


def test_labels_are_what_the_thresholds_say_of_the_numbers(long):
    for layer in range(6):
        for head in range(12):
            want = [one.label for one in long.labels if long.table[one.measure][layer, head] > one.above]
            assert list(labels_of(long, layer, head)) == (want or [MIXED])


def test_the_first_tokens_alone(minilm):
    found = el.heads(TEXT * 9, first=20, model=minilm)
    assert (found.token_count, found.whole_count) == (20, 110)
    assert list(found.trace.queries.ids) == [*minilm.tokens(TEXT * 9).ids[:19], 102]
    again = el.heads(found.text, model=minilm)
    for name, values in again.table.items():
        np.testing.assert_array_equal(found.table[name], values)
    assert "the first 20 of 110 tokens" in str(found)
    assert el.heads(TEXT, first=512, model=minilm).whole_count == 14


@pytest.mark.parametrize(
    ("text", "asked", "message"),
    [
        (
            "word " * 600,
            {},
            r"must fit the 512 positions of minilm, got 602 .*; first=512 runs the first 512 tokens",
        ),
        (TEXT, {"first": 2}, r"first must be from 3 to 512 tokens in minilm, got 2"),
        (TEXT, {"first": 513}, r"first must be from 3 to 512 tokens in minilm, got 513"),
        (TEXT, {"first": True}, r"first must be from 3 to 512 tokens in minilm, got True"),
        (" \n", {}, r"text must have at least one word, got ' \\n'"),
        (3, {}, r"text must be a string, got int"),
    ],
)
def test_wrong_questions_say_what_to_do(minilm, text, asked, message):
    with pytest.raises(QuestionError, match=message):
        el.heads(text, model=minilm, **asked)


def test_each_layer_is_reported_as_it_is_done(minilm):
    seen = []
    el.heads(TEXT, model=minilm, layer_done=lambda *counts: seen.append(counts))
    assert seen == [(layer, 6) for layer in range(1, 7)]


def test_induction_is_tested_once_for_a_model_and_its_weights(minilm, monkeypatch):
    tested, real = [], induction._scores
    monkeypatch.setattr(induction, "_scores", lambda *given: tested.append(given[0].state) or real(*given))
    texts = ("time flies", "fruit flies like a banana", "time flies")
    found = [el.heads(text, model=minilm) for text in texts]
    assert len(tested) <= 1  # another test may have been first
    for one in found[1:]:
        np.testing.assert_array_equal(one.table["induction"], found[0].table["induction"])


def test_a_model_that_each_question_opens_is_tested_for_induction_once(tiny_folder, tmp_path, monkeypatch):
    folder = shutil.copytree(tiny_folder, tmp_path / "model")
    tested, real = [], induction._scores
    monkeypatch.setattr(induction, "_scores", lambda *given: tested.append(given[0].name) or real(*given))
    found = [el.heads(text, model=folder).table["induction"] for text in ("the cat", "and the cat", "the cat")]
    assert len(tested) == 1
    np.testing.assert_array_equal(found[0], found[2])
    file = folder / "model.safetensors"
    os.utime(file, ns=(0, file.stat().st_mtime_ns + 10**9))
    el.heads("the cat", model=folder)
    assert len(tested) == 2  # the files may hold other weights


def test_what_there_is_none_of_is_no_number(minilm):
    found = el.heads("time flies", model=minilm)
    assert all(math.isnan(value) for value in found.table["punctuation"].ravel())
    assert all(entry["punctuation"] is None for entry in found.document()["heads"])
    assert all(row["punctuation"] == "" for row in csv.DictReader(io.StringIO(found.to_csv())))
    assert "punctuation: none in this text" in str(found)
    assert found.frame()["punctuation"].isna().all()


def test_the_document_holds_every_number(long):
    document = json.loads(long.json())
    assert document == long.document()
    assert [entry["layer"] for entry in document["heads"]] == [layer for layer in range(6) for _ in range(12)]
    for entry in document["heads"]:
        at = entry["layer"], entry["head"]
        assert entry["label"] == long.label[at] == entry["labels"][0]
        for measure in MEASURES:
            assert entry[measure.name] == pytest.approx(long.table[measure.name][at], rel=1e-6)
    rows = list(csv.DictReader(io.StringIO(long.to_csv())))
    for row, entry in zip(rows, document["heads"], strict=True):
        assert {name: entry[name] for name in ("layer", "head")} == {name: int(row[name]) for name in ("layer", "head")}
        assert row["labels"].split("; ") == entry["labels"]
        assert all(float(row[measure.name]) == entry[measure.name] for measure in MEASURES)


def test_the_frame_has_a_row_for_each_head(long):
    pytest.importorskip("pandas")
    frame = long.frame()
    assert len(frame) == 72
    row = frame[(frame["layer"] == 1) & (frame["head"] == 8)].iloc[0]
    assert (row["label"], row["labels"]) == ("next token", labels_of(long, 1, 8))
    assert row["next"] == long.table["next"][1, 8]


def test_without_pandas_it_says_what_to_install(short, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="frame needs pandas, which isn't installed; pip install pandas"):
        short.frame()


def test_docs_name_every_key(short):
    section = DOCS.split("## `eyeline.heads/2`")[1].split("\n## `")[0]
    named = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    assert named == [*short.document(), *short.document()["heads"][0]]
    for part in ("measures", "labels"):
        text = section.split(f"Each of the `{part}`:")[1].split("\n\n")[0]
        assert set(short.document()[part][0]) <= set(re.findall(r"`(\w+)`", text))
    assert f"`{short.to_csv().splitlines()[0]}`" in DOCS


@pytest.mark.parametrize("width", [40, 80, 120, 200])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "cp437"])
def test_lines_fit_any_terminal(minilm, long, width, encoding):
    for found in (long, el.heads(HOSTILE, model=minilm)):
        text = drawn(found, width, encoding)
        lines = text.split("\n")
        assert max(map(rich_cells.cell_len, lines)) <= width
        assert all(line == line.rstrip() for line in lines)
        assert "\x1b" not in text


def test_the_picture_is_the_labels(long):
    for width, encoding in ((80, "utf-8"), (80, "ascii"), (40, "utf-8")):
        lines = [line for line in drawn(long, width, encoding).split("\n") if re.match("    L[0-5] ", line)]
        signs = {name: sign.sign if encoding == "utf-8" else sign.plain for name, sign in SIGNS.items()}
        assert len(lines) == 6
        for row, line in zip(long.label, lines, strict=True):
            cells = line.ljust(width)[7:]
            step = 3 if width == 80 else 2
            start = 1 if step == 3 else 0
            assert [cells[start + step * head] for head in range(12)] == [signs[name] for name in row]


def test_the_sentence_and_the_legend_count_the_labels(long):
    text = drawn(long, 100)
    counts = Counter(long.label.ravel().tolist())
    for name, count in counts.items():
        assert f"{name} {count}" in " ".join(text.split("Of 72 heads: ")[1].split())
    for label in long.labels:
        assert re.search(rf"{label.label} +{counts[label.label]} +{label.measure} above {label.above}", text)


def test_a_notebook_shows_it_and_nothing_in_it_runs(minilm, long):
    tags = read(long._repr_html_())
    assert tags.tags <= {"div", "bdi", "b", "table", "tr", "td", "span"}
    assert tags.attributes <= {"style", "class", "title"}
    words = "".join(tags.words)
    assert "previous token1previous above 0.5" in words
    assert "<script>alert(1)</script>" in "".join(read(el.heads(HOSTILE, model=minilm)._repr_html_()).words)


def test_the_png_is_there_whole_or_not_at_all(long, tmp_path):
    pytest.importorskip("matplotlib")
    image = pytest.importorskip("PIL.Image")
    assert long.save_png(tmp_path / "heads.png") == []
    with image.open(tmp_path / "heads.png") as picture:
        picture.verify()
        assert picture.width > picture.height > 800
    with pytest.raises(FileNotFoundError):
        long.save_png(tmp_path / "no" / "heads.png")
    with pytest.raises(ValueError, match=r"must be a file name that ends in \.png"):
        long.save_png(tmp_path / "heads.pdf")
    assert [path.name for path in tmp_path.iterdir()] == ["heads.png"]
