"""The requests of a survey's page: each reply against the tables themselves, what is read for it, and bad requests."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from pyarrow.parquet import ParquetFile

import eyeline
from eyeline.surveys import SurveyError
from eyeline.surveys.loading import load_survey
from eyeline.views.page.requests.request import RequestError
from eyeline.views.surveys.requests import KINDS
from tests.surveys import made_survey

LAYERS, HEADS, EXAMPLES, DOCUMENTS = 2, 3, 2100, 23
PLACE = {"other": 0, "layer": 1, "head": 2}


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    folder = tmp_path_factory.mktemp("survey") / "made"
    return made_survey(folder, layers=LAYERS, heads=HEADS, examples=EXAMPLES, documents=DOCUMENTS, blocks=4)


@pytest.fixture(scope="module")
def page(survey):
    return SimpleNamespace(surveys=[survey])


def ask(page, kind, **request):
    reply, arrays = KINDS[kind](page, {**PLACE, **request})
    assert arrays == []
    return json.loads(json.dumps(reply, allow_nan=False))


def near(found, table):
    """Whether numbers of six digits are those of a table; None stands for NaN."""
    for one, other in zip(found, table, strict=True):
        if isinstance(other, list):
            near(one, other)
        elif isinstance(other, float):
            assert one == (None if other != other else pytest.approx(other, rel=1e-5))
        else:
            assert one == other


def test_tokens_are_the_heads_own_rows(page, survey):
    reply = ask(page, "tokens")
    table = survey.tokens(1, 2, arrow=True)
    assert list(reply) == ["type", "position", "count", "entropy", "distance", "received", "to"]
    assert len(reply["type"]) == table.num_rows > 10
    for name, column in reply.items():
        near(column, table[name].to_pylist())


@pytest.mark.parametrize("sort", ["largest", "sample"])
@pytest.mark.parametrize(("first", "count"), [(0, 1), (1000, 100), (1023, 2), (2090, 50), (2100, 5)])
def test_examples_are_by_rank_from_the_first(page, survey, sort, first, count):
    reply = ask(page, "examples", sort=sort, first=first, count=count)
    assert reply["totals"] == {"largest": EXAMPLES, "sample": EXAMPLES}
    assert reply["first"] == first
    rows = survey.examples(1, 2, sort, arrow=True).slice(first, count).to_pylist()
    assert [one["rank"] for one in reply["examples"]] == list(range(first, min(first + count, EXAMPLES)))
    for one, row in zip(reply["examples"], rows, strict=True):
        near(list(one.values()), [row[name] for name in one])
        assert {"tokens", "positions", "weights", "special", "file", "place", "query"} <= set(one)


def test_examples_without_a_sort_are_the_first_of_both(page):
    found = ask(page, "examples")["examples"]
    assert [(one["sort"], one["rank"]) for one in found] == [(s, n) for s in ("largest", "sample") for n in range(256)]


@pytest.mark.parametrize(("first", "count"), [(0, 256), (3, 4), (5, 1), (11, 7), (22, 9), (23, 1)])
def test_documents_are_by_number_with_the_heads_measures(page, survey, first, count):
    reply = ask(page, "documents", first=first, count=count)
    table = survey.documents(1, 2, arrow=True).slice(first, count)
    for name in ("document", "file", "place", "tokens", "entropy", "punctuation", "sink"):
        near(reply[name], table[name].to_pylist())


def test_only_the_row_groups_that_hold_the_answer_are_read(tmp_path, monkeypatch):
    survey = made_survey(tmp_path / "made", layers=LAYERS, heads=HEADS, examples=EXAMPLES, blocks=4)
    page, reads, whole = SimpleNamespace(surveys=[survey]), [], ParquetFile.read_row_group

    def counted(file, number, columns=None, **settings):
        reads.append((number, "tokens" in columns or "to" in columns or "documents" in columns))
        return whole(file, number, columns=columns, **settings)

    monkeypatch.setattr(ParquetFile, "read_row_group", counted)
    # A head has five groups of at most 1,024 rows here; which rows of the third are of which sort is found out once.
    first, mixed = 5 * 5, 5 * 5 + 2
    ask(page, "examples", sort="largest", first=500, count=20)
    assert reads == [(first, True), (mixed, False)]
    reads.clear()
    ask(page, "examples", sort="largest", first=1020, count=20)
    assert reads == [(first + 1, True)]
    ask(page, "examples", sort="largest", first=1030, count=20)
    assert len(reads) == 1
    reads.clear()
    ask(page, "tokens")
    ask(page, "tokens")
    assert reads == [(5, True)]
    reads.clear()
    ask(page, "documents", first=26, count=2)  # of the third of four parts of 12 and 13 documents
    assert reads == [(0, True)]


@pytest.mark.parametrize(
    ("kind", "changes", "argument"),
    [
        ("tokens", {"other": 1}, "other"),
        ("tokens", {"other": None}, "other"),
        ("tokens", {"layer": LAYERS}, "layer"),
        ("tokens", {"layer": -1}, "layer"),
        ("tokens", {"head": "0"}, "head"),
        ("tokens", {"head": 0.5}, "head"),
        ("examples", {"sort": "smallest"}, "sort"),
        ("examples", {"sort": ["largest"]}, "sort"),
        ("examples", {"first": -1}, "first"),
        ("examples", {"first": 1e300}, "first"),
        ("examples", {"count": 0}, "count"),
        ("examples", {"count": 257}, "count"),
        ("documents", {"first": 0, "count": 1000}, "count"),
        ("documents", {"count": 3}, "first"),
    ],
)
def test_a_wrong_request_names_its_key(page, kind, changes, argument):
    with pytest.raises(RequestError) as caught:
        KINDS[kind](page, {**PLACE, **changes})
    assert caught.value.argument == argument
    assert caught.value.message.startswith(f"{argument} must be ")
    assert "\n" not in caught.value.message


def test_a_survey_that_vanishes_or_is_damaged_is_said_in_one_line(tmp_path):
    survey = made_survey(tmp_path / "made", layers=1, heads=1, documents=4)
    page = SimpleNamespace(surveys=[survey])
    request = {"other": 0, "layer": 0, "head": 0}
    (tmp_path / "made" / "tokens.parquet").write_bytes(b"PAR1 no more PAR1")
    with pytest.raises(RequestError, match=r"^\S*tokens\.parquet must be a table of a survey, and can't be read: .+$"):
        KINDS["tokens"](page, request)
    (tmp_path / "made").rename(tmp_path / "gone")
    with pytest.raises(RequestError, match=r"^\S*examples\.parquet must be there, and isn't: .+$") as caught:
        KINDS["examples"](page, request)
    assert caught.value.argument == "other"


def test_a_copy_of_a_surveys_figures_says_that_it_lacks_the_rest(tmp_path):
    made_survey(tmp_path / "made", layers=1, heads=1, documents=4)
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("survey.json", "heads.parquet"):
        (copy / name).write_bytes((tmp_path / "made" / name).read_bytes())
    page = SimpleNamespace(surveys=[load_survey(copy)])
    for kind, name in (("tokens", "tokens.parquet"), ("examples", "examples.parquet")):
        with pytest.raises(RequestError, match=f"has no {name}: it is a copy of the survey's figures$") as caught:
            KINDS[kind](page, {"other": 0, "layer": 0, "head": 0})
        assert caught.value.argument == "file"
    eyeline.view(load_survey(copy)).save(tmp_path / "report.html")
    assert b"eyeline-examples-" not in (tmp_path / "report.html").read_bytes()
    assert (
        ask(SimpleNamespace(surveys=[load_survey(copy)]), "documents", layer=0, head=0, first=0, count=1)["document"]
        == []
    )


def test_a_file_that_was_written_anew_is_read_anew(tmp_path):
    made_survey(tmp_path / "made", layers=1, heads=1, documents=4, examples=3)
    page = SimpleNamespace(surveys=[load_survey(tmp_path / "made")])
    request = {"other": 0, "layer": 0, "head": 0}
    assert KINDS["examples"](page, request)[0]["totals"]["largest"] == 3
    made_survey(tmp_path / "made", layers=1, heads=1, documents=4, examples=5)
    assert KINDS["examples"](page, request)[0]["totals"]["largest"] == 5


def test_a_running_survey_is_told_of_or_asked_as_it_is_so_far(tmp_path):
    running = made_survey(tmp_path / "made", layers=1, heads=2, documents=8, state="running")
    request = {"other": 0, "layer": 0, "head": 1}
    with pytest.raises(RequestError, match="isn't complete"):
        KINDS["tokens"](SimpleNamespace(surveys=[running]), request)
    page = SimpleNamespace(surveys=[running.so_far()])
    assert len(KINDS["tokens"](page, request)[0]["type"]) > 5
    assert KINDS["examples"](page, {**request, "sort": "sample", "first": 2, "count": 2})[0]["examples"][0]["rank"] == 2
    assert len(KINDS["documents"](page, {**request, "first": 0, "count": 9})[0]["document"]) == 5


def test_view_makes_the_page_of_one_survey_or_of_two(survey, tmp_path):
    other = made_survey(tmp_path / "other", layers=LAYERS, heads=HEADS, examples=2)
    assert eyeline.view(survey).surveys == [survey]
    page = eyeline.view([survey, other], state={"measure": "sink"})
    assert (page.surveys, page.header()["state"]) == ([survey, other], {"measure": "sink"})
    for wrong, line in (
        (lambda: eyeline.view([survey] * 3), "shown must be one survey, or two, got 3"),
        (lambda: eyeline.view(survey, mask="causal"), "mask can't go with a survey"),
        (lambda: eyeline.view(survey, model="smollm2"), "model can't go with a survey"),
        (lambda: eyeline.view([survey, "time flies"]), "other must be a survey, got 'time flies'"),
    ):
        with pytest.raises(SurveyError, match=line):
            wrong()
