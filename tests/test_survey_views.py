"""A survey as it is shown: in a terminal, in a notebook, in one line and as CSV; and its page of docs."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from rich.console import Console

import eyeline
import eyeline.views.attach_survey  # so that surveys print themselves
from eyeline import words
from eyeline.surveys.folder import ABOUT
from eyeline.surveys.loading import load_survey
from eyeline.surveys.tables import documents_schema, examples_schema, heads_schema, tokens_schema
from eyeline.views.advice import on_command_line
from eyeline.views.survey_findings import extremes
from tests.surveys import made_survey

DOCS = (Path(__file__).parent.parent / "docs" / "surveys.md").read_text("utf-8")
JSON_DOCS = (Path(__file__).parent.parent / "docs" / "json.md").read_text("utf-8")
EIGHTHS = " ▏▎▍▌▋▊▉█"


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    return made_survey(tmp_path_factory.mktemp("surveys") / "made", documents=30, examples=2)


@pytest.fixture
def vietnamese():
    words.choose("vi")
    yield
    words.choose(None)


def shown(survey, width=80):
    return survey.__rich__().plain(width)


def line_of(text, name):
    return next(line for line in text.splitlines() if re.match(rf"  \S {name} ", line))


def test_its_size_is_told_first(survey):
    counts = survey.info["counts"]
    first, second = shown(survey, 200).splitlines()[:2]
    assert first == f"tiny over 30 documents, {counts['tokens']:,} tokens"
    assert second == (
        f"6 layers × 12 heads · {counts['text_tokens']:,} tokens of text · 30 windows of at most 512 tokens · "
        f"corpus/sentences.jsonl · eyeline {eyeline.__version__}"
    )


def test_bars_are_the_numbers_of_heads_on_the_stated_scale(survey):
    text = shown(survey)
    counts = Counter(survey.heads()["kind"])
    assert len(counts) >= 4
    for kind in (*(one["label"] for one in survey.info["labels"]["kinds"]), "mixed"):
        line = line_of(text, kind)
        bar, count = line[21:37], line[37:40]
        assert int(count) == counts[kind], kind
        eighths = sum(EIGHTHS.index(sign) for sign in bar)
        assert eighths == round(counts[kind] / 72 * 16 * 8), kind
    axis = next(line for line in text.splitlines() if line.strip().startswith("0 ─"))
    start = len("  X ") + len("first-token sink") + 1
    assert (axis.index("0"), axis.index("72") + 2) == (start, start + 16)


def test_the_clearest_heads_of_each_kind_are_named(survey):
    heads = survey.heads()
    for kind in survey.info["labels"]["kinds"]:
        own = heads[heads["kind"] == kind["label"]].sort_values(kind["measure"], ascending=False, kind="stable")
        if not len(own) or kind["measure"] == "entropy":
            continue
        named = re.findall(r"(L\d+H\d+) (\d+)%", line_of(shown(survey, 120), kind["label"]))
        expected = [
            (f"L{row.layer}H{row.head}", f"{getattr(row, kind['measure']):.0%}") for row in own[:3].itertuples()
        ]
        assert [(head, f"{share}%") for head, share in named] == expected


def test_the_ends_are_named_with_their_deviations(survey):
    heads, text = survey.heads(), shown(survey, 120)
    for title, measure, ascending, digits in (
        ("widest", "entropy", False, 2), ("sharpest", "entropy", True, 2), ("farthest", "distance", False, 1),
    ):  # fmt: skip
        own = heads.sort_values(measure, ascending=ascending, kind="stable")[:3]
        expected = ", ".join(
            f"L{row.layer}H{row.head} {getattr(row, measure):.{digits}f} ± {getattr(row, f'{measure}_sd'):.{digits}f}"
            for row in own.itertuples()
        )
        assert re.search(rf"^  {title} +{re.escape(expected)} ", text, re.MULTILINE)


def test_a_deviation_has_the_digits_of_its_mean():
    rows = [{"layer": 0, "head": 1, "entropy": 5.0, "entropy_sd": 0.125, "distance": 185.4, "distance_sd": 3.75}]
    assert extremes(rows)[1:] == [("sharpest", "L0H1 5.00 ± 0.12 nats"), ("farthest", "L0H1 185 ± 4 tokens")]


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_line_is_wider_than_the_terminal(survey, width):
    assert max(len(line) for line in shown(survey, width).splitlines()) <= width


def test_a_terminal_of_ascii_gets_ascii(survey):
    paper = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    Console(file=paper, width=80, color_system=None).print(survey)
    paper.flush()
    text = paper.buffer.getvalue().decode("ascii")
    assert re.search(r"# first-token sink #+ +\d+", text)


def test_what_was_skipped_is_told(survey):
    assert "Skipped: 3 (empty: 3); survey.json lists the first of them." in shown(survey)


def test_workers_that_were_lost_are_told(survey, monkeypatch):
    assert "Workers lost" not in shown(survey)
    monkeypatch.setitem(survey.info["counts"], "workers_lost", 2)
    assert "Workers lost on the way: 2; others measured their blocks." in shown(survey)
    assert "Workers lost on the way: 2; others measured their blocks." in survey._repr_html_()


def test_hostile_names_move_no_cursor_and_make_no_markup(tmp_path):
    made_survey(tmp_path, layers=1, heads=2, documents=2, examples=1, model="<b>\x1b[31mred\u202e")
    path = tmp_path / ABOUT
    info = json.loads(path.read_text("utf-8"))
    info["corpus"]["files"] = [{"path": f"<script>{n}\x1b\n"} for n in range(5)]
    info["skipped"]["counts"]["<i>\x07"] = 2
    path.write_text(json.dumps(info), "utf-8")
    survey = load_survey(tmp_path)
    text = shown(survey)
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", text)
    assert "3 files more" in text.replace("\n", " ")
    page = survey._repr_html_()
    assert "<script" not in page
    assert "<b>" not in page
    assert html.escape("<b>␛[31mred\\u202e") in page


def test_a_running_survey_says_how_far_it_is_and_is_not_merged(tmp_path, monkeypatch):
    running = made_survey(tmp_path, layers=1, heads=2, documents=6, examples=1, state="running")
    monkeypatch.setattr("eyeline.surveys.loading.merge", None)
    text = str(running)
    assert text.splitlines()[0] == "tiny over a corpus of 6 documents"
    assert "Not complete: 2 of 3 blocks are measured." in text
    assert "The same survey goes on where it was; .so_far() has what there is." in text
    assert repr(running) == "<Survey of tiny over a corpus of 6 documents: Not complete: 2 of 3 blocks are measured.>"
    assert "Not complete: 2 of 3 blocks are measured." in running._repr_html_()
    with on_command_line():
        assert "The same command goes on where it was." in str(running)


def test_what_there_is_so_far_is_shown_as_such(tmp_path):
    running = made_survey(tmp_path, layers=1, heads=2, documents=6, examples=1, state="running")
    text = str(running.so_far())
    assert text.splitlines()[0].startswith("tiny over 4 documents, ")
    assert "Not complete: 2 of 3 blocks are measured." in text
    assert "widest" in text


def test_a_survey_of_no_documents_is_shown(tmp_path):
    text = str(made_survey(tmp_path, layers=1, heads=2, documents=0))
    assert text.splitlines()[0] == "tiny over 0 documents, 0 tokens"
    assert "Nothing was measured: there was no document with text." in text
    assert "nan" not in text


def test_one_line_counts_the_kinds(survey):
    counts = Counter(survey.heads()["kind"])
    line = repr(survey)
    assert line.startswith("<Survey of tiny over 30 documents, ")
    assert f"Of 72 heads: {max((count, kind) for kind, count in counts.items() if kind != 'mixed')[1]} " in line
    assert line.endswith(f", mixed {counts['mixed']}.>")


def test_the_notebook_has_the_same_numbers(survey):
    page = html.unescape(survey._repr_html_())
    for kind, count in Counter(survey.heads()["kind"]).items():
        assert re.search(
            rf">{kind}</td><td[^>]*>{count}</td><td[^>]*><div style=\"width:{240 * count / 72:.1f}px", page
        )
    assert "widest" in page


def test_advice_on_the_command_line_names_options(survey):
    with on_command_line():
        text = " ".join(str(survey).split())
    assert f"eyeline view {survey.folder} shows it; --csv and --json give every number." in text


def test_the_csv_has_a_row_for_each_head_and_what_it_is_of(survey):
    rows = list(csv.DictReader(io.StringIO(survey.to_csv())))
    heads = survey.heads()
    assert len(rows) == 72
    for row, (_, head) in zip(rows, heads.iterrows(), strict=True):
        assert (row["kind"], row["kinds"]) == (head["kind"], "; ".join(head["kinds"]))
        assert float(row["entropy_sd"]) == pytest.approx(head["entropy_sd"], rel=1e-6)
        assert (row["model"], row["documents"]) == ("tiny", "30")


def test_vietnamese_is_whole(survey, vietnamese):
    text = shown(survey, 100)
    tokens = f"{survey.info['counts']['tokens']:,}".replace(",", "\u202f")
    assert text.splitlines()[0] == f"tiny trên 30 tài liệu, {tokens} token"
    assert re.search(r"^  trải rộng nhất +L\dH\d+ \d\.\d\d ± \d\.\d\d", text, re.MULTILINE)
    assert "Đã bỏ qua: 3 (trống: 3)" in text
    assert "dồn vào token đầu" in text
    for english in (" documents", "windows", "widest", "Skipped", "Means", "shows"):
        assert english not in text


def test_docs_name_every_column_and_key(survey):
    for title, schema in (
        ("heads.parquet", heads_schema()),
        ("tokens.parquet", tokens_schema()),
        ("examples.parquet", examples_schema()),
        ("parts/", documents_schema(72)),
    ):
        section = DOCS.split(f"\n## {title}\n")[1].split("\n## ")[0]
        said = set(re.findall(r"`(\w+)`", section))
        for name in schema.names:
            known = name in said or (name.endswith("_sd") and {"entropy_sd", "sink_sd"} <= said)
            assert known or title == "parts/", name
    keys = set(re.findall(r"`(\w+)`", DOCS.split("\n## survey.json\n")[1].split("\n## ")[0]))
    assert set(survey.info) <= keys
    for key in ("model", "corpus", "settings", "scales", "labels", "counts", "skipped", "induction"):
        assert set(survey.info[key]) <= keys, key
    section = JSON_DOCS.split("## `eyeline.survey/1`")[1].split("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(survey.document())
