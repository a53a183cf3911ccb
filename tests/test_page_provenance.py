"""Whatever leaves the page says what it is of: text, model, layer, head, mask and changes, quantity, unit, version."""

from __future__ import annotations

import csv
import io
import json
from xml.etree import ElementTree

import pages
import pytest
from browser import settled
from playwright.sync_api import expect

from eyeline.masks import Causal
from eyeline.version import VERSION
from eyeline.views.page import Page

SVG = "{http://www.w3.org/2000/svg}"
ORIGIN = ["input", "model", "layer", "head", "mask", "quantity", "unit", "special", "version"]


@pytest.fixture
def taken(page_of):
    """What a page lets be saved in a state: the text of the file, and its name."""

    def take(shown, words, kind):
        page = page_of(shown, words=words)
        settled(page)
        page.get_by_role("button", name="Save and share", exact=True).click()
        with page.expect_download() as waited:
            page.get_by_role("button", name=f"as {kind.upper()}").click()
        return waited.value.path().read_text("utf-8"), waited.value.suggested_filename

    return take


def rows(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def written(text):
    """The lines below a picture, as one."""
    root = ElementTree.fromstring(text)
    lines = [part.text for part in root.iter(f"{SVG}text") if part.get("class") == "provenance"]
    assert root.find(f"{SVG}title").text == " · ".join(lines)
    return " · ".join(lines)


def test_each_row_of_a_table_says_what_it_is_of(taken):
    text, name = taken(pages.trace(pieces=2), "view=matrix layer=0 head=1", "csv")
    assert name == "eyeline-matrix-random-L0H1-time-flies-like-an-arrow.csv"
    found = rows(text)
    assert len(found) == 5
    assert list(found[0])[: len(ORIGIN)] == ORIGIN
    values = [pages.FLIES, "random", "0", "1", "none", "weight", "words", "grey", VERSION]
    assert [[row[name] for name in ORIGIN] for row in found] == [values] * 5


def test_changes_and_shares_are_in_the_table_and_in_its_name(taken):
    words = "view=matrix layer=0 head=1 special=out ahead=no padded=2"
    text, name = taken(pages.trace(pieces=1), words, "csv")
    assert name == "eyeline-matrix-random-L0H1-ahead-no-padded-2-shares-time-flies-like-an-arrow.csv"
    row = rows(text)[0]
    assert (row["changes"], row["quantity"], row["special"]) == ("ahead=no padded=2", "share of the words", "out")
    found = json.loads(taken(pages.trace(pieces=1), words, "json")[0])
    assert (found["changes"], found["quantity"]) == ({"ahead": False, "padded": 2}, "share of the words")
    assert (found["text"], found["model"], found["layer"], found["head"]) == (pages.FLIES, "random", 0, 1)
    assert (found["mask"], found["version"]) == ("none", VERSION)


def test_the_steps_of_a_mean_name_the_head_that_they_are_of(taken):
    text, name = taken(pages.trace(pieces=1), "view=steps layer=1 head=mean token=3", "json")
    found = json.loads(text)
    assert found["layer"] == 1
    assert found["head"] in (0, 1, 2)
    assert f"-L1H{found['head']}-" in name
    picture, name = taken(pages.trace(pieces=1), "view=steps layer=1 head=mean token=3", "svg")
    assert f"-L1H{found['head']}-" in name
    assert f"L1H{found['head']}" in written(picture).split(" · ")


def test_a_decoders_mask_is_named(taken):
    text, _ = taken(pages.trace(mask=Causal()), "view=matrix layer=0 head=1", "csv")
    assert rows(text)[0]["mask"] == "causal"
    picture, _ = taken(pages.trace(mask=Causal()), "view=matrix layer=0 head=1", "svg")
    assert "causal mask" in written(picture).split(" · ")


def test_both_sides_of_a_comparison_are_named(taken):
    two = Page([pages.trace(), pages.trace("fruit flies like a banana", seed=1, model="other")])
    words = "view=compare trace=0 layer=1 head=0 other=1,0,2"
    text, name = taken(two, words, "csv")
    row = rows(text)[0]
    assert (row["input"], row["model"], row["layer"], row["head"]) == (pages.FLIES, "random", "1", "0")
    other = [row[f"other_{name}"] for name in ("input", "model", "layer", "head")]
    assert other == ["fruit flies like a banana", "other", "0", "2"]
    assert name == "eyeline-compare-random-L1H0-L0H2-time-flies-like-an-arrow.csv"
    found = json.loads(taken(two, words, "json")[0])
    assert [(one["text"], one["layer"]) for one in found["others"]] == [("fruit flies like a banana", 0)]
    said = written(taken(two, words, "svg")[0])
    assert said.startswith(f"{pages.FLIES} · random · L1H0 · fruit flies like a banana · other · L0H2 · no mask")


def test_an_overview_is_of_all_heads(taken):
    text, name = taken(pages.trace(), "view=overview", "csv")
    found = rows(text)
    assert [row["layer"] + row["head"] for row in found] == ["00", "01", "02", "10", "11", "12"]
    assert found[0]["input"] == pages.FLIES
    assert name == "eyeline-overview-random-time-flies-like-an-arrow.csv"
    assert "L0 to L1, H0 to H2" in written(taken(pages.trace(), "view=overview", "svg")[0])


@pytest.mark.parametrize("view", ["sentence", "steps", "matrix", "overview", "compare"])
def test_every_picture_has_its_line_and_letters_as_on_the_page(taken, view):
    text, _ = taken(pages.trace(), f"view={view} layer=0 head=1 token=2 language=en", "svg")
    said = written(text).split(" · ")
    assert {pages.FLIES, "random", "no mask", f"Eyeline {VERSION}"} <= set(said)
    assert "textLength" not in text  # it stretches letters wherever other fonts are found
    families = {part.get("font-family") for part in ElementTree.fromstring(text).iter() if part.get("font-family")}
    assert all("," in one for one in families)  # not only a generic one, which is another font everywhere


def test_a_long_text_is_whole_in_json_and_short_in_each_row(taken):
    words = pages.words(60)
    trace = pages.trace(words, pieces=1)
    table = rows(taken(trace, "view=matrix layer=0 head=1", "csv")[0])
    assert table[0]["input"] == f"{words[:79]}…"
    assert json.loads(taken(trace, "view=matrix layer=0 head=1", "json")[0])["text"] == words


def test_the_printed_page_says_it_too(page_of):
    page = page_of(pages.trace(), words="view=matrix layer=0 head=1 ahead=no")
    settled(page)
    expect(page.locator(".imprint")).to_have_text(
        f"{pages.FLIES} · random · L0H1 · no mask · future hidden · weights of the whole row · "
        f"words · special tokens in grey · Eyeline {VERSION}"
    )
