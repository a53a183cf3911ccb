"""In the browser: a head's page in a survey. Its numbers are the survey's, its examples are drawn as they are seen."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import expect

from eyeline.serving import SurveySession
from eyeline.surveys.loading import load_survey
from eyeline.surveys.running import survey
from eyeline.views.surveys import SurveyPage
from tests.pages import HOSTILE
from tests.served import Served
from tests.surveys import made_survey

LAYERS, HEADS, EXAMPLES = 2, 3, 1500
PLACE = "view=head layer=1 head=2"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("survey") / "made"
    return made_survey(folder, model="minilm", layers=LAYERS, heads=HEADS, examples=EXAMPLES)


@pytest.fixture(scope="module")
def served(made):
    with Served(SurveySession(SurveyPage(made))) as serving:
        yield serving


@pytest.fixture
def opened(open_page):
    def open_at(served, words=PLACE, **options):
        address = f"http://{served.host}/"
        page = open_page(address, words=words, within=(address,), **options)
        page.wait_for_selector(".example .look-line")
        return page

    return open_at


@pytest.fixture
def shown(opened, served):
    return opened(served)


def row(page, rank):
    return page.locator(f".example[data-rank='{rank}']")


def test_measures_are_the_surveys_with_their_place_among_all_heads(shown, made):
    heads = made.heads(arrow=True).to_pylist()
    own = heads[1 * HEADS + 2]
    for name in ("previous", "punctuation", "sink"):
        found = shown.locator(f".measure-row[data-measure={name}]")
        width = found.locator(".measure-fill").evaluate("e => e.style.width")
        assert float(width.removesuffix("%")) == pytest.approx(100 * own[name], rel=1e-3)
        place = sum(one[name] > own[name] for one in heads) + 1
        text = found.locator(".measure-place").inner_text()
        if place <= LAYERS * HEADS / 2:
            assert text == {1: "largest of 6", 2: "2nd largest of 6", 3: "3rd largest of 6"}[place]
        else:
            assert text == {6: "smallest of 6", 5: "2nd smallest of 6", 4: "3rd smallest of 6"}[place]
    assert f"{own['entropy']:.2f} nats" in shown.locator(".measure-row[data-measure=entropy]").inner_text()


def test_what_it_looks_at_is_on_the_stated_scale(shown, made):
    own = made.heads(arrow=True).to_pylist()[1 * HEADS + 2]
    end = next(end for end in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1) if max(own["to"]) <= end)
    assert f"0 – {100 * end:g}%" in shown.locator(".type-table thead").inner_text()
    for at, name in enumerate(made.types):
        width = shown.locator(f".type-table tr[data-type={name}] .measure-fill").first.evaluate("e => e.style.width")
        assert float(width.removesuffix("%")) == pytest.approx(100 * own["to"][at] / end, rel=1e-3, abs=0.01)


def test_the_table_by_looking_token_has_the_means_of_each_cell(shown, made):
    rows = made.tokens(1, 2, arrow=True).to_pylist()
    shown.get_by_label("What the colours are").select_option("to.punctuation")
    cells = shown.locator(".heat-table td.painted")
    expect(cells).to_have_count(len(rows))
    at = made.types.index("punctuation")
    one = next(found for found in rows if found["type"] == "word" and found["position"] == 4)
    cell = shown.locator(".heat-table td[title^='word, position 4–7: ']")
    assert f": {round(100 * one['to'][at])}%; {one['count']} tokens" in cell.get_attribute("title")


def test_examples_are_drawn_as_they_come_into_sight(shown, made):
    tokens = made.examples(1, 2, "largest", arrow=True).to_pylist()
    assert row(shown, 0).get_attribute("aria-setsize") == str(EXAMPLES)
    assert shown.locator(".example").count() < 40
    shown.locator(".example-list").focus()
    shown.keyboard.press("End")
    last = row(shown, EXAMPLES - 1)
    expect(last).to_have_attribute("aria-selected", "true")
    expect(last.locator(".look-about")).to_contain_text("1,500.")
    assert shown.locator(".example").count() < 40
    found = tokens[EXAMPLES - 1]
    query = found["positions"].index(found["query"])
    expect(shown.locator(".example-detail .query")).to_have_text(found["tokens"][query].strip())
    shown.keyboard.press("ArrowUp")
    expect(row(shown, EXAMPLES - 2)).to_have_attribute("aria-selected", "true")
    assert "example=1498" in shown.evaluate("location.hash")
    shown.reload()
    expect(row(shown, EXAMPLES - 2)).to_have_attribute("aria-selected", "true")


def test_an_examples_weights_are_links_and_shades_on_one_scale(shown, made):
    found = made.examples(1, 2, "largest", arrow=True).to_pylist()[0]
    expect(shown.locator(".example-detail h3")).to_contain_text("1. “")
    keys = sorted((weight, at) for at, weight in enumerate(found["weights"]) if weight > 0)[::-1]
    bars = shown.locator(".detail-keys .measure-fill").evaluate_all("all => all.map(e => parseFloat(e.style.width))")
    assert bars == pytest.approx([100 * weight for weight, _ in keys], rel=1e-3, abs=0.01)
    expect(shown.locator(".example-detail svg.links path")).to_have_count(len(keys))
    heads, documents = made.heads(arrow=True).to_pylist(), made.documents(1, 2, arrow=True).to_pylist()
    own, all_ = documents[found["document"]]["entropy"], heads[1 * HEADS + 2]["entropy"]
    expect(shown.locator(".detail-facts")).to_contain_text(f"entropy {own:.2f} nats ({all_:.2f} nats)")
    strongest = shown.locator(".example-detail .look-token.key").first
    assert re.fullmatch(r".+ \d+%", strongest.get_attribute("title"))


def test_a_uniform_sample_is_said_to_be_one(shown, made):
    expect(shown.locator(".examples > p").first).to_contain_text("strongest first")
    shown.get_by_role("button", name="A uniform sample").click()
    expect(shown.locator(".examples > p").first).to_contain_text("each as likely as any other")
    found = made.examples(1, 2, "sample", arrow=True).to_pylist()[0]
    query = found["tokens"][found["positions"].index(found["query"])]
    expect(row(shown, 0).locator(".query")).to_have_text(query.strip())
    assert "sort=sample" in shown.evaluate("location.hash")


@pytest.mark.parametrize("kind", ["CSV", "JSON"])
def test_examples_are_kept_as_a_file(shown, made, kind):
    with shown.expect_download() as waited:
        shown.locator(".examples").get_by_role("button", name=kind, exact=True).click()
    text = waited.value.path().read_text("utf-8")
    assert waited.value.suggested_filename.startswith("eyeline-examples-largest-minilm-L1H2")
    if kind == "CSV":
        rows = list(csv.DictReader(io.StringIO(text)))
        ranks, weights = [int(one["rank"]) for one in rows], [float(one["weight"]) for one in rows]
    else:
        found = json.loads(text)
        places = [found["columns"].index(name) for name in ("rank", "weight")]
        ranks, weights = ([one[place] for one in found["rows"]] for place in places)
    table = made.examples(1, 2, "largest", arrow=True)
    assert ranks == list(range(EXAMPLES))
    assert weights == pytest.approx(table["weight"].to_pylist(), rel=1e-5)


def test_another_head_begins_with_its_first_example(shown):
    row(shown, 3).click()
    expect(row(shown, 3)).to_have_attribute("aria-selected", "true")
    shown.keyboard.press("]")  # there is no further layer
    shown.keyboard.press("{")
    expect(shown.locator(".headline")).to_contain_text("L1H1")
    expect(row(shown, 0)).to_have_attribute("aria-selected", "true")


def test_strange_texts_are_inert_and_read_in_their_direction(tmp_path, opened):
    folder = tmp_path / "made"
    made_survey(folder, layers=1, heads=1, examples=4)
    table = pq.read_table(folder / "examples.parquet")
    rows = table.to_pylist()
    texts = ["العنكبوت", " يسير", " ببطء", "\u202e", *HOSTILE.values()]
    for found in rows:
        n = len(texts)
        found |= {"tokens": texts, "positions": list(range(n)), "weights": [0.5, 0.25] + [0.0] * (n - 2)}
        found |= {"special": [False] * n, "query": 1, "key": 0, "file": "<img src=x onerror=alert(1)>.txt"}
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), folder / "examples.parquet")
    with Served(SurveySession(SurveyPage(load_survey(folder)))) as serving:
        page = opened(serving, "view=head layer=0 head=0")
        line = page.locator(".example-detail .look-line")
        expect(line).to_contain_text("العنكبوت")
        assert line.evaluate("e => getComputedStyle(e).direction") == "rtl"
        assert page.locator(".example-detail img, .example-detail script, .example img").count() == 0
        boxes = [line.locator(".look-token").nth(at).bounding_box()["x"] for at in (0, 1)]
        assert boxes[0] > boxes[1]
        page.goto("about:blank")


def test_a_survey_that_vanishes_is_said(tmp_path, opened):
    made_survey(tmp_path / "made", layers=1, heads=2, examples=4)
    with Served(SurveySession(SurveyPage(load_survey(tmp_path / "made")))) as serving:
        page = opened(serving, "view=head layer=0 head=0", ours=lambda message: "409" not in message.text)
        (tmp_path / "made").rename(tmp_path / "gone")
        page.keyboard.press("}")
        expect(page.locator(".examples > .trouble")).to_contain_text("must be as it was")
        expect(page.locator(".by-token")).to_contain_text("must be as it was")
        page.goto("about:blank")


def test_an_examples_document_opens_at_its_head_and_token_and_back_returns(tmp_path, tiny_folder, opened):
    texts = ["the cat ran after the other cat, and then another one", "fly the flag of France: a fact of the land"]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    survey(str(tmp_path / "corpus.jsonl"), model=str(tiny_folder), out=tmp_path / "survey", examples=5)
    found = load_survey(tmp_path / "survey")
    with contextlib.ExitStack() as stack:
        serving = stack.enter_context(Served(SurveySession(SurveyPage(found))))
        page = opened(serving, "view=head layer=1 head=2 example=3")
        page.get_by_role("button", name="Open this document").click()
        page.wait_for_url("**/text/#*")
        query = found.examples(1, 2, "largest", arrow=True).to_pylist()[3]["query"]
        asked = page.locator(".token[data-kind~=pinned]")
        expect(asked).to_have_count(1)
        assert {"layer=1", "head=2", f"token={query}"} <= set(page.evaluate("location.hash.slice(1)").split("&"))
        page.go_back()
        expect(row(page, 3)).to_have_attribute("aria-selected", "true")
        page.goto("about:blank")
