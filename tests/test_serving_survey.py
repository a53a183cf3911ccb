"""A survey served: its page, its requests, and its examples' documents opened in the page of texts beside it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from eyeline.serving import SurveySession
from eyeline.surveys.loading import load_survey
from eyeline.surveys.running import survey
from eyeline.views.surveys import SurveyPage
from tests.served import Served, unframed
from tests.surveys import made_survey

TEXTS = [
    "the cat ran after the other cat, and then another one",
    "fly the flag of France: a fact of the land",
    "then they ran and ran and ran, " * 9,
]
EXAMPLE = {"other": 0, "layer": 1, "head": 2, "sort": "largest", "rank": 0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, tiny_folder):
    """A survey of the tiny model over a file, beside which it lies."""
    place = tmp_path_factory.mktemp("surveyed")
    (place / "corpus.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    survey(str(place / "corpus.jsonl"), model=str(tiny_folder), out=place / "survey", window=64, overlap=8, examples=40)
    return place / "survey"


@pytest.fixture(scope="module")
def shared(folder):
    with Served(SurveySession(SurveyPage(load_survey(folder)))) as served:
        yield served


def test_the_page_is_a_surveys_with_nothing_inline(shared):
    status, _, html = shared.ask("GET", "/")
    assert status == 200
    assert html.count(b"<script") == 1
    module = shared.ask("GET", "/page.js")[2]
    assert b"survey_server" in module
    assert b"createPrompt" not in module
    assert b".example-list" in shared.ask("GET", "/page.css")[2]
    assert b".example-list" not in shared.ask("GET", "/text/page.css")[2]


def test_the_header_says_that_documents_can_be_opened(shared):
    header = shared.ask("GET", "/api/header")[2]
    assert header["can"] == {"run": False, "models": [], "open": ["yes"]}
    assert header["surveys"][0]["counts"]["documents"] == len(TEXTS)


def test_a_reply_is_the_pages(shared):
    request = {"id": 7, "kind": "examples", "other": 0, "layer": 2, "head": 3, "sort": "sample", "first": 1, "count": 2}
    status, _, data = shared.ask("POST", "/api/answer", request)
    assert status == 200
    assert unframed(data) == (json.loads(json.dumps(shared.session.page.answer(request)[0])), [])
    shared.refused(400, "sort", "POST", "/api/answer", {**request, "sort": "most"})
    shared.refused(400, "kind", "POST", "/api/answer", {**request, "kind": "overview"})


@pytest.mark.parametrize("sort", ["largest", "sample"])
@pytest.mark.parametrize("rank", [0, 17, 39])
def test_an_examples_document_opens_with_the_weights_that_the_survey_measured(shared, sort, rank):
    asked = EXAMPLE | {"sort": sort, "rank": rank}
    status, _, said = shared.ask("POST", "/api/documents", asked)
    assert status == 202
    report = shared.over(said["job"])
    assert report["state"] == "done", report
    example = load_survey(shared.session.page.surveys[0].folder).examples(1, 2, sort, arrow=True).to_pylist()[rank]
    assert report["token"] == example["query"]
    trace = shared.session.texts.page.traces[report["trace"]]
    assert shared.ask("GET", "/text/api/header")[2]["traces"][report["trace"]]["queries"]["text"] == trace.queries.text
    weights = trace.weights(1, 2, queries=[example["query"]])[0]
    for at, weight in zip(example["positions"], example["weights"], strict=True):
        assert weight == 0 or weights[at] == pytest.approx(weight, abs=1e-5)
    assert np.argmax(weights) == example["key"]


@pytest.mark.parametrize(
    ("changes", "argument"),
    [
        ({"other": 1}, "other"),
        ({"layer": None}, "layer"),
        ({"head": 99}, "head"),
        ({"sort": None}, "sort"),
        ({"rank": None}, "rank"),
        ({"rank": -1}, "rank"),
        ({"rank": 40}, "rank"),
        ({"rank": "0"}, "rank"),
        ({"path": "/etc/passwd"}, "path"),
    ],
)
def test_what_names_no_example_is_refused(shared, changes, argument):
    shared.refused(400, argument, "POST", "/api/documents", EXAMPLE | changes)


def test_other_origins_open_nothing(shared):
    shared.refused(403, "Origin", "POST", "/api/documents", EXAMPLE, origin="http://elsewhere.example")
    shared.refused(421, "Host", "GET", "/text/", host="elsewhere.example")
    shared.refused(404, "path", "GET", "/text")
    shared.refused(404, "path", "GET", "/text/api/header/")


@pytest.fixture
def moved(folder, tmp_path):
    """The survey, served from a copy beside which another corpus may lie."""
    info = json.loads((folder / "survey.json").read_text())
    info["corpus"]["files"][0]["path"] = "corpus.jsonl"
    copy = tmp_path / "survey"
    copy.mkdir()
    for name in ("heads.parquet", "tokens.parquet", "examples.parquet"):
        (copy / name).write_bytes((folder / name).read_bytes())
    (copy / "survey.json").write_text(json.dumps(info))
    return copy


def test_a_corpus_that_changed_isnt_shown(folder, tmp_path):
    with Served(SurveySession(SurveyPage(load_survey(folder)))) as served:
        corpus = folder.parent / "corpus.jsonl"
        kept = corpus.read_text()
        for text, why in (
            (kept.replace("the", "tha"), "is another"),
            (kept + "\n", "isn't; put it back"),
            (None, "isn't"),
        ):
            corpus.unlink() if text is None else corpus.write_text(text)
            report = served.over(served.ask("POST", "/api/documents", EXAMPLE)[2]["job"])
            corpus.write_text(kept)
            assert report["state"] == "failed"
            assert why in report["error"]["message"]


def test_only_the_listed_corpus_is_read(folder, moved):
    # Of a folder from elsewhere, whose examples name a file that its survey.json doesn't list.
    with Served(SurveySession(SurveyPage(load_survey(moved)))) as served:
        report = served.over(served.ask("POST", "/api/documents", EXAMPLE)[2]["job"])
        assert "must be there as it was" in report["error"]["message"]


def test_a_model_of_elsewhere_opens_nothing(tmp_path):
    with Served(SurveySession(SurveyPage(made_survey(tmp_path / "made", layers=1, heads=1)))) as served:
        assert served.ask("GET", "/api/header")[2]["can"]["open"] == ["model"]
        served.refused(404, "path", "POST", "/api/documents", EXAMPLE)
        served.refused(404, "path", "GET", "/text/")


def test_a_survey_that_is_written_anew_is_loaded_anew(tmp_path):
    made_survey(tmp_path / "made", layers=1, heads=2, documents=8, examples=4)
    request = {"id": 1, "kind": "tokens", "other": 0, "layer": 0, "head": 1}
    with Served(SurveySession(SurveyPage(load_survey(tmp_path / "made")))) as served:
        served.ask("GET", "/api/header")
        assert served.ask("POST", "/api/answer", request)[0] == 200
        made_survey(tmp_path / "made", layers=1, heads=2, documents=20, examples=4)
        assert "load this page again" in served.refused(409, "other", "POST", "/api/answer", request)
        assert served.ask("GET", "/api/header")[2]["surveys"][0]["counts"]["documents"] == 20
        assert served.ask("POST", "/api/answer", request)[0] == 200
        (tmp_path / "made").rename(tmp_path / "gone")
        assert "must be" in served.refused(409, "other", "POST", "/api/answer", request)
