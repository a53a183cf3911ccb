"""A survey's page in Python: its header has the survey's numbers; its report is one small file that fetches nothing."""

from __future__ import annotations

import base64
import json
import re
import shutil
import struct
import zlib
from html.parser import HTMLParser

import numpy as np
import pytest

from eyeline.surveys import SurveyError
from eyeline.surveys.loading import load_survey
from eyeline.surveys.tally import MEASURES
from eyeline.views.page.joining import SURVEY, bare, joined
from eyeline.views.page.requests.request import RequestError
from eyeline.views.surveys import SurveyPage
from eyeline.views.surveys.header import corpus_name, header_of
from eyeline.views.surveys.report import report
from eyeline.words import choose, page_table
from tests.pages import HOSTILE
from tests.surveys import made_survey

LAYERS, HEADS = 3, 4


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return made_survey(tmp_path_factory.mktemp("survey") / "made", layers=LAYERS, heads=HEADS, examples=6)


def opened(data):
    """The blocks of a file, by name, and the file's text."""
    text = data.decode()
    found = re.findall(r'<script type="application/octet-stream" id="eyeline-([\w-]+)">([^<]*)</script>', text)
    return {name: zlib.decompress(base64.b64decode(block), -15) for name, block in found}, text


def reply_of(block):
    """The JSON of a framed reply."""
    (length,) = struct.unpack_from("<I", block)
    return json.loads(block[4 : 4 + length])


def header_in(blocks):
    return json.loads(blocks["header"])[0]


# The header


def test_the_header_has_the_numbers_of_the_heads_table(made):
    (entry,) = SurveyPage(made).header()["surveys"]
    rows = made.heads(arrow=True).to_pylist()
    assert len(rows) == LAYERS * HEADS
    assert list(entry["measures"]) == [*MEASURES, "induction"]
    for name, values in entry["measures"].items():
        assert values == [float(f"{row[name]:.5g}") for row in rows]
    for name, values in entry["spread"].items():
        assert values == [float(f"{row[f'{name}_sd']:.5g}") for row in rows]
    for side in ("to", "received"):
        assert list(entry[side]) == list(made.types)
        for at, kind in enumerate(made.types):
            assert entry[side][kind] == [float(f"{row[side][at]:.5g}") for row in rows]
    for name in ("offsets", "entropies", "largest"):
        np.testing.assert_allclose(entry[name], [row[name] for row in rows], rtol=1e-3)
        assert len(entry[name][0]) == len(entry["scales"][name]) - 1


def test_kinds_have_the_short_names_that_the_page_has_texts_for(made):
    (entry,) = SurveyPage(made).header()["surveys"]
    found = {kind for kinds in entry["kinds"] for kind in kinds}
    assert found <= {key.removeprefix("kind.") for key in page_table() if re.fullmatch(r"kind\.\w+", key)}
    assert len(found) > 2
    assert {label["key"] for label in entry["labels"]} >= found - {"mixed"}
    labels = {label["key"]: label for label in entry["labels"]}
    for at, kinds in enumerate(entry["kinds"]):
        for kind in set(kinds) - {"mixed"}:
            assert entry["measures"][labels[kind]["measure"]][at] > labels[kind]["above"] - 1e-4


def test_what_there_is_no_number_for_is_null(made):
    page = SurveyPage(made)

    class WithoutPunctuation:
        info, model, types, complete, folder = made.info, made.model, made.types, True, made.folder

        def heads(self, arrow):
            table = made.heads(arrow=arrow)
            nothing = type(table.column("punctuation").to_pylist()[0])("nan")
            place = table.column_names.index("punctuation")
            import pyarrow as pa

            return table.set_column(place, "punctuation", pa.array([nothing] * table.num_rows))

    page.surveys[0] = WithoutPunctuation()
    header = page.header()
    assert header["surveys"][0]["measures"]["punctuation"] == [None] * (LAYERS * HEADS)
    json.dumps(header, allow_nan=False)


def test_a_survey_that_is_running_shows_what_there_is(tmp_path):
    running = made_survey(tmp_path / "running", layers=2, heads=2, documents=30, examples=2, state="running")
    (entry,) = SurveyPage(running).header()["surveys"]
    assert entry["complete"] is False
    assert entry["counts"]["documents"] == 20  # two of three blocks
    assert len(entry["kinds"]) == 4
    assert all(one is not None for one in entry["measures"]["entropy"])


def test_two_surveys_that_have_one_name_are_told_apart_by_their_folders(made, tmp_path):
    other = made_survey(tmp_path / "other", layers=LAYERS, heads=HEADS, examples=2, documents=9)
    names = [entry["name"] for entry in SurveyPage(made, other).header()["surveys"]]
    assert names == ["sentences.jsonl (made)", "sentences.jsonl (other)"]
    assert [entry["name"] for entry in SurveyPage(made).header()["surveys"]] == ["sentences.jsonl"]


@pytest.mark.parametrize(
    ("paths", "name"),
    [
        ([], "texts"),
        ([""], "texts"),
        (["a/b/news.jsonl"], "news.jsonl"),
        (["news/a.txt", "news/b.txt", "news/c.txt"], "news (3)"),
        (["a.txt", "b.txt"], "a.txt (2)"),
        (["x" * 80], "x" * 59 + "…"),
        (["tab\tand\nline"], "tab and line"),
        (["\x1b[31mred\u202e"], "␛[31mred\\u202e"),
    ],
)
def test_a_corpus_is_named_by_its_files(paths, name):
    assert corpus_name({"corpus": {"files": [{"path": path} for path in paths]}}) == name


def test_what_is_no_survey_is_refused(made):
    with pytest.raises(SurveyError, match=r"^survey must be a survey, got 'survey/'; eyeline\.load_survey\(folder\)"):
        SurveyPage("survey/")
    with pytest.raises(SurveyError, match=r"^other must be a survey, got 3;"):
        SurveyPage(made, 3)


@pytest.mark.parametrize(
    ("request_", "argument"),
    [({"id": "x", "kind": "tokens"}, "id"), ({"id": 1, "kind": "head"}, "kind"), ({"id": 1}, "kind"), ([], "request")],
)
def test_a_request_that_is_none_is_refused(made, request_, argument):
    with pytest.raises(RequestError) as refused:
        SurveyPage(made).answer(request_)
    assert refused.value.argument == argument


# The report


def test_a_report_holds_all_that_finds_room(made, tmp_path):
    page = SurveyPage(made)
    page.save(tmp_path / "report.html")
    data = (tmp_path / "report.html").read_bytes()
    assert len(data) < 5_000_000
    blocks, _ = opened(data)
    assert header_in(blocks)["surveys"][0]["examples"] == {"kept": LAYERS * HEADS, "of": LAYERS * HEADS}
    for layer, head in np.ndindex(LAYERS, HEADS):
        for kind in ("tokens", "examples"):
            asked = {"id": 0, "kind": kind, "other": 0, "layer": layer, "head": head}
            got = reply_of(blocks[f"{kind}-0-{layer}-{head}"])
            got.pop("lengths")
            assert got == json.loads(json.dumps(page.answer(asked)[0]))
    assert len(got["examples"]) == 12


def test_a_report_with_less_room_holds_fewer_heads_and_says_how_many(made):
    page = SurveyPage(made)
    whole = report(page, 5_000_000)
    fixed = len(report(page, 0))
    for room in (fixed + 8_000, fixed + 20_000, len(whole) - 1):
        data = report(page, room)
        assert len(data) <= room
        blocks, _ = opened(data)
        held = {name.removeprefix("examples-") for name in blocks if name.startswith("examples-")}
        assert held == {name.removeprefix("tokens-") for name in blocks if name.startswith("tokens-")}
        entry = header_in(blocks)["surveys"][0]
        assert entry["examples"] == {"kept": len(held), "of": LAYERS * HEADS}
        # Heads of a kind come before those that are mixed.
        told = {f"0-{at // HEADS}-{at % HEADS}" for at, kinds in enumerate(entry["kinds"]) if kinds != ["mixed"]}
        assert told <= held or held < told
    assert header_in(opened(report(page, 0))[0])["surveys"][0]["examples"]["kept"] == 0


def test_where_room_is_short_heads_have_fewer_examples(made):
    page = SurveyPage(made)
    whole = report(page, 5_000_000)
    blocks, _ = opened(report(page, len(whole) - 3_000))
    counts = {len(reply_of(block)["examples"]) for name, block in blocks.items() if name.startswith("examples-")}
    assert counts == {8}  # four of each sort
    assert {reply_of(blocks["examples-0-0-0"])["totals"][sort] for sort in ("largest", "sample")} == {6}


@pytest.mark.parametrize(("lacks", "held"), [(("tokens", "examples"), set()), (("examples",), {"tokens"})])
def test_a_copy_without_the_tables_of_heads_has_the_map(made, tmp_path, lacks, held):
    copy = tmp_path / "copy"
    shutil.copytree(made.folder, copy)
    shutil.rmtree(copy / "parts")
    for name in lacks:
        (copy / f"{name}.parquet").unlink()
    page = SurveyPage(load_survey(copy))
    entry = header_in(opened(report(page, 5_000_000))[0])["surveys"][0]
    assert set(entry["holds"]) == held
    assert entry["examples"] is None
    assert entry["measures"] == SurveyPage(made).header()["surveys"][0]["measures"]
    blocks, _ = opened(report(page, 5_000_000))
    assert {name.partition("-")[0] for name in blocks if name[-1].isdigit()} == held


def test_a_report_of_two_surveys_has_the_heads_of_both(made, tmp_path):
    other = made_survey(tmp_path / "other", layers=1, heads=2, examples=3)
    blocks, _ = opened(report(SurveyPage(made, other), 5_000_000))
    assert {name for name in blocks if name.startswith("examples-1")} == {"examples-1-0-0", "examples-1-0-1"}
    assert [entry["examples"]["kept"] for entry in header_in(blocks)["surveys"]] == [LAYERS * HEADS, 2]
    assert reply_of(blocks["examples-1-0-1"])["totals"] == {"largest": 3, "sample": 3}


def test_a_report_of_a_running_survey_has_the_map_alone(tmp_path):
    running = made_survey(tmp_path / "running", layers=2, heads=2, documents=30, examples=2, state="running")
    blocks, _ = opened(report(SurveyPage(running), 5_000_000))
    assert set(blocks) == {"header", "style", "module"}
    assert header_in(blocks)["surveys"][0]["holds"] == []


def test_nothing_runs_but_the_page_and_nothing_is_fetched(made):
    _, text = opened(report(SurveyPage(made), 5_000_000))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src &#x27;none&#x27;; script-src &#x27;sha256-")
    assert policy[1].count("sha256-") == 3
    assert not re.search(r"(src|href)=", text)
    module = bare(joined("hosts/file.js", entry=SURVEY))
    assert opened(text.encode())[0]["module"].decode() == module
    assert set(re.findall(r"https?://[^\s\"'`)]+", module)) == {"http://www.w3.org/2000/svg"}


def named(made, text):
    """The survey, its corpus and its model of this name."""
    survey = load_survey(made.folder)
    survey.info["corpus"]["files"][0]["path"] = text
    survey.info["model"]["name"] = text
    return survey


class Tags(HTMLParser):
    """The tags of a document, and the names of their attributes."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes = set(), set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_names_are_text(made, kind):
    plain, hostile = (Tags(report(SurveyPage(named(made, text)), 0).decode()) for text in ("name", HOSTILE[kind]))
    assert (hostile.tags, hostile.attributes) == (plain.tags, plain.attributes)
    assert "img" not in hostile.tags
    blocks, _ = opened(report(SurveyPage(named(made, HOSTILE[kind])), 0))
    assert header_in(blocks)["surveys"][0]["model"]["name"] == HOSTILE[kind]


def test_without_scripts_one_sees_how_many_heads_are_of_each_kind(made):
    entry = header_of([made], {})["surveys"][0]
    counts = {kind: sum(kinds[0] == kind for kinds in entry["kinds"]) for kind in {own[0] for own in entry["kinds"]}}
    texts = page_table()
    for at, language in enumerate(("en", "vi")):
        choose(language)
        try:
            text = report(SurveyPage(made), 0).decode()
        finally:
            choose(None)
        still = text[text.index('<div id="eyeline-still">') : text.index('<div id="eyeline">')]
        assert f'<section lang="{language}">' in still
        for kind, count in counts.items():
            name = texts[f"kind.{kind}"][at]
            assert re.search(rf"<bdi>{name}</bdi></td><td>.*?</td><td align=\"right\">{count}</td>", still), kind


def test_a_notebook_shows_it_in_a_frame_that_may_run_scripts_alone(made):
    shown = SurveyPage(made)._repr_html_()
    assert shown.startswith('<iframe sandbox="allow-scripts allow-downloads"')
    assert len(shown) < 2_600_000
    assert shown.count("<iframe") == 1
    assert "<script" not in shown


def test_it_says_what_it_is_of(made):
    assert repr(SurveyPage(made)) == "<SurveyPage of 'sentences.jsonl' (tiny)>"
    assert SurveyPage(made).header()["title"] == "sentences.jsonl · tiny"
