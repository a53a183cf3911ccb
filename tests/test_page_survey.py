"""In the browser: the map of a survey's heads. Its colours and words are the survey's numbers."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from playwright.sync_api import expect

from eyeline.surveys.loading import load_survey
from eyeline.views.surveys import SurveyPage
from eyeline.views.surveys.report import report
from eyeline.words import page_table
from tests.pages import HOSTILE
from tests.surveys import made_survey

LAYERS, HEADS = 4, 6


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return made_survey(tmp_path_factory.mktemp("survey") / "made", model="minilm", layers=LAYERS, heads=HEADS)


@pytest.fixture(scope="module")
def rows(made):
    return made.heads(arrow=True).to_pylist()


@pytest.fixture(scope="module")
def changed(made):
    """The survey, each measure of its heads half as large: as of another corpus."""
    return measured(made, lambda name, values: values * 0.5 if name in ("entropy", "previous") else values)


def measured(made, change, layers=LAYERS, heads=HEADS):
    """A survey of these sizes, with the rows of another, again and again, and with columns changed."""
    table = made.heads(arrow=True)
    places = np.arange(layers * heads)
    table = table.take(places % table.num_rows)
    values = {"layer": places // heads, "head": places % heads}
    for at, field in enumerate(table.schema):
        if pa.types.is_floating(field.type):
            table = table.set_column(at, field, pa.array(change(field.name, table.column(at).to_numpy())))
        elif field.name in values:
            table = table.set_column(at, field, pa.array(values[field.name], field.type))
    info = json.loads(json.dumps(made.info))
    info["model"] |= {"layers": layers, "heads": heads}
    model = SimpleNamespace(name=made.model.name, layers=layers, heads=heads)
    return SimpleNamespace(
        info=info, model=model, types=made.types, complete=True, folder="other", heads=lambda arrow: table
    )


@pytest.fixture
def shown(open_page, tmp_path):
    """Opens the page of surveys, as a file without examples."""

    def open_it(*surveys, **options):
        path = tmp_path / f"survey-{len(list(tmp_path.iterdir()))}.html"
        path.write_bytes(report(SurveyPage(*surveys), 0))
        # Tests read canvases again and again, which the browser remarks on.
        page = open_page(path, ours=lambda message: "willReadFrequently" not in message.text, **options)
        page.locator(".map-cursor").first.wait_for()
        return page

    return open_it


COLOUR = """([board, x, y]) => {
  const canvas = document.querySelectorAll(".map-stage canvas")[board];
  const at = canvas.getContext("2d").getImageData(x, y, 1, 1).data;
  return [0, 1, 2].map((part) => 255 + (at[part] - 255) * at[3] / 255); // on white
}"""
RAMP = """() => {
  const ramp = document.querySelector(".map-legend canvas");
  return [...ramp.getContext("2d").getImageData(0, 5, ramp.width, 1).data];
}"""


def colour(page, layer, head, board=0):
    """The colour of a head's cell, in its middle above: beside its sign, name and number."""
    width, height = (
        page.locator(".map-cursor").nth(board).evaluate(f"e => parseFloat(e.style.{side})")
        for side in ("width", "height")
    )
    left, top = 34 + (head + 1) * (width + 2) - 6, 18 + layer * (height + 2) + 3
    return page.evaluate(COLOUR, [board, left, top])


def ramp(page):
    found = page.evaluate(RAMP)
    return [found[at : at + 3] for at in range(0, len(found), 4)]


def near(one, other):
    return max(abs(a - b) for a, b in zip(one, other, strict=True)) <= 6


@pytest.mark.parametrize("dark", [False, True])
def test_colours_are_the_measure_on_the_stated_scale(shown, made, rows, dark):
    page = shown(made, dark=dark)
    expect(page.locator(".map-legend .scale")).to_contain_text("entropy")
    end = float(page.locator(".map-legend .scale").inner_text().split()[-2])
    most = max(row["entropy"] for row in rows)
    assert most <= end <= 1.6 * most
    colours = ramp(page)
    for row in rows[:: LAYERS + 1]:
        wanted = colours[round(row["entropy"] / end * (len(colours) - 1))]
        assert near(colour(page, row["layer"], row["head"]), wanted), row


def test_the_first_screen_says_which_kinds_there_are_and_how_many(shown, made, rows):
    page = shown(made)
    kinds = [row["kinds"][0] for row in rows]
    pills = page.locator(".map-kinds button")
    expect(pills.first).to_have_text(f"all heads {LAYERS * HEADS}")
    counted = {text.rsplit(" ", 1)[0]: int(text.rsplit(" ", 1)[1]) for text in pills.all_text_contents()[1:]}
    assert counted == {kind: kinds.count(kind) for kind in set(kinds)}
    said = page.locator(".says").inner_text()
    assert said.startswith(f"Of {LAYERS * HEADS} heads: ")
    assert f"{kinds.count('mixed')} are mixed" in said
    least = min(rows, key=lambda row: row["entropy"])
    assert f"{least['entropy']:.2f} nats in L{least['layer']}H{least['head']}" in said
    expect(page.locator("h1")).to_contain_text("sentences.jsonl")
    expect(page.locator("h1")).to_contain_text("50 documents, 3 skipped")
    expect(page).to_have_title(re.compile(r"^sentences\.jsonl · minilm · 50 documents"))


def test_a_kind_fades_the_others_and_shows_its_measure(shown, made, rows):
    page = shown(made)
    kind = next(row["kinds"][0] for row in rows if row["kinds"][0] == "first-token sink")
    page.locator(".map-kinds button", has_text=kind).click()
    expect(page.locator(".map-kinds [aria-pressed=true]")).to_contain_text(kind)
    expect(page.get_by_role("combobox", name="Measure")).to_have_value("sink")
    assert re.search(r"measure=sink&kind=sink", page.evaluate("location.hash"))
    expect(page.locator(".says")).to_contain_text(f"of {LAYERS * HEADS} heads are of the kind “first-token sink”")
    colours, end = (
        ramp(page),
        float(page.locator(".map-legend .scale").inner_text().split()[-1].removesuffix("%")) / 100,
    )
    for row in rows:
        found, wanted = colour(page, row["layer"], row["head"]), colours[round(row["sink"] / end * (len(colours) - 1))]
        if row["kinds"][0] != kind:
            wanted = [255 - 0.16 * (255 - part) for part in wanted]
        assert near(found, wanted), row
    page.locator(".map-kinds button", has_text=kind).click()
    expect(page.locator(".map-kinds [aria-pressed=true]")).to_contain_text("all heads")


def test_keys_go_from_head_to_head_and_open_one_and_back_leads_back(shown, made, rows):
    page = shown(made)
    cursor = page.locator(".map-cursor")
    cursor.focus()
    for key in (
        "ArrowRight",
        "ArrowRight",
        "ArrowDown",
        "ArrowLeft",
        "ArrowUp",
        "ArrowUp",
        "End",
        "PageDown",
        "ArrowLeft",
    ):
        page.keyboard.press(key)
    place = (LAYERS - 1, HEADS - 2)
    expect(cursor).to_have_attribute("aria-label", re.compile(rf"^L{place[0]}H{place[1]} .*entropy: [\d.]+ nats"))
    expect(page.locator("[aria-live=polite]")).to_contain_text(f"L{place[0]}H{place[1]} ")
    expect(page.locator(".map-tip")).to_contain_text(f"L{place[0]}H{place[1]} ")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text(f"L{place[0]}H{place[1]}")
    expect(page.get_by_role("combobox", name="Layer")).to_have_value(str(place[0]))
    page.keyboard.press("{")
    expect(page.get_by_role("combobox", name="Head", exact=True)).to_have_value(str(place[1] - 1))
    page.go_back()
    expect(page.get_by_role("combobox", name="Head", exact=True)).to_have_value(str(place[1]))
    page.go_back()
    expect(page.locator(".map-cursor")).to_be_visible()
    page.go_forward()
    page.get_by_role("button", name="All heads").click()
    expect(page.locator(".map-cursor")).to_be_visible()


def test_a_press_on_a_cell_opens_its_head(shown, made):
    page = shown(made)
    box = page.locator(".map-stage").bounding_box()
    cell = page.locator(".map-cursor").bounding_box()
    page.mouse.click(box["x"] + 34 + 2.5 * (cell["width"] + 2), box["y"] + 18 + 1.5 * (cell["height"] + 2))
    expect(page.locator("h1")).to_contain_text("L1H2")
    assert "view=head&layer=1&head=2" in page.evaluate("location.hash")


@pytest.mark.parametrize("order", ["layer", "all"])
def test_heads_are_sorted_by_the_measure_the_largest_first(shown, made, rows, order):
    page = shown(made, words=f"order={order} measure=distance")
    page.locator(".map-table summary").click()
    expect(page.locator(".map-table tbody tr")).to_have_count(LAYERS * HEADS)
    names = page.locator(".map-table tbody th").all_inner_texts()
    key = {"layer": lambda row: (row["layer"], -row["distance"]), "all": lambda row: -row["distance"]}[order]
    assert names == [f"L{row['layer']}H{row['head']}" for row in sorted(rows, key=key)]
    expect(page.locator(".map-table thead")).to_contain_text("distance")


def test_every_measure_has_its_words_and_a_scale(shown, made):
    page = shown(made)
    options = page.get_by_role("combobox", name="Measure").locator("option")
    names = [one.get_attribute("value") for one in options.all()]
    assert names[:11] == [*list(SurveyPage(made).header()["surveys"][0]["measures"])]
    assert {"to.word", "received.word"} < set(names)
    for name in names:
        page.get_by_role("combobox", name="Measure").select_option(name)
        end = page.locator(".map-legend .scale").inner_text().split("0 ", 1)[-1].strip()
        assert re.fullmatch(r"(\d+%|[\d.]+ (nats|tokens|×))", end), name


# Two surveys


def test_two_surveys_stand_side_by_side_on_one_scale(shown, made, changed, rows):
    page = shown(made, changed)
    expect(page.locator(".map-board")).to_have_count(2)
    colours, end = ramp(page), float(page.locator(".map-legend .scale").inner_text().split()[-2])
    for row in rows[:: LAYERS + 2]:
        for board, times in enumerate((1, 0.5)):
            wanted = colours[round(row["entropy"] * times / end * (len(colours) - 1))]
            assert near(colour(page, row["layer"], row["head"], board), wanted), row
    page.locator(".map-cursor").nth(1).press("Enter")
    expect(page.locator("h1")).to_contain_text("L0H0")
    assert "survey=1" in page.evaluate("location.hash")


def test_their_difference_is_the_second_less_the_first(shown, made, changed, rows):
    page = shown(made, changed, words="sides=difference measure=previous")
    most = max(rows, key=lambda row: row["previous"])
    place = f"L{most['layer']}H{most['head']}"
    expect(page.locator(".says")).to_contain_text(f"from {place} −{50 * most['previous']:.1f} to ")
    expect(page.locator(".map-legend .scale")).to_contain_text("percentage points")
    colours = ramp(page)
    assert near(colour(page, most["layer"], most["head"])[:1], colours[0][:1]) or most["previous"] < 0.8
    page.locator(".map-table summary").click()
    expect(page.locator(".map-table tbody tr")).to_have_count(LAYERS * HEADS)
    texts = page.locator(".map-table tbody tr").all_inner_texts()
    found = {text.split("\t")[0]: text.split("\t")[-1] for text in texts}
    assert found[place] == f"−{50 * most['previous']:.1f} percentage points"


def test_models_of_other_sizes_have_no_difference_and_it_says_why(shown, made):
    other = measured(made, lambda name, values: values, layers=2, heads=3)
    page = shown(made, other, words="sides=difference")
    expect(page.locator(".map-board")).to_have_count(2)
    expect(page.get_by_role("combobox", name="Two surveys")).to_have_count(0)
    expect(page.locator(".notes")).to_contain_text("can't be subtracted head by head")


# What leaves the page


def saved(page, kind):
    page.get_by_role("button", name="Save and share").click()
    with page.expect_download() as download:
        page.get_by_role("button", name=f"as {kind}", exact=False).click()
    page.keyboard.press("Escape")
    return download.value.suggested_filename, download.value.path().read_bytes()


def test_numbers_leave_with_what_they_are_of(shown, made, rows):
    page = shown(made, words="measure=previous order=all")
    name, data = saved(page, "CSV")
    assert name == "eyeline-map-minilm-sentences-jsonl.csv"
    found = list(csv.DictReader(io.StringIO(data.decode())))
    by = sorted(rows, key=lambda row: -row["previous"])
    assert [(int(one["layer"]), int(one["head"])) for one in found] == [(row["layer"], row["head"]) for row in by]
    for one, row in zip(found, by, strict=True):
        assert float(one["previous"]) == float(f"{row['previous']:.5g}")
        assert (one["input"], one["model"], one["documents"], one["window"]) == (
            "sentences.jsonl",
            "minilm",
            "50",
            "512",
        )
    _, data = saved(page, "JSON")
    about = json.loads(data)
    assert about["surveys"][0]["settings"]["overlap"] == 64
    assert (about["measure"], about["difference"], about["words"]) == ("previous", False, "measure=previous order=all")
    assert len(about["rows"]) == LAYERS * HEADS


def test_the_picture_has_every_cell_and_what_it_is_of(shown, made, changed):
    page = shown(made, changed, words="measure=sink")
    _, data = saved(page, "SVG")
    picture = ET.fromstring(data.decode())
    texts = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {"L3", "H5", "first-token sink", "0", "mean of the layer"} < set(texts)
    boxes = list(picture.iter("{http://www.w3.org/2000/svg}rect"))
    assert len(boxes) > 2 * LAYERS * HEADS
    signed = " ".join(text or "" for text in texts)
    assert f"{made.info['counts']['tokens']:,} tokens" in signed
    assert "windows of 512 tokens, 64 in common" in signed
    name, data = saved(page, "PNG")
    assert (name.endswith(".png"), data[:4]) == (True, b"\x89PNG")


# Everywhere


def test_it_speaks_vietnamese_on_a_phone_and_stays_within_it(shown, made, changed):
    page = shown(made, changed, width=390, height=800, language="vi", words="kind=sink measure=sink")
    assert page.locator(".eyeline").get_attribute("lang") == "vi"
    expect(page.locator(".says")).to_contain_text("Số đầu chú ý theo loại")
    english = {
        texts[0] for key, texts in page_table().items() if key.startswith("survey.") and texts[0] not in texts[1:]
    }
    written = page.locator(".eyeline").inner_text()
    assert not [text for text in english if "{" not in text and len(text) > 8 and text in written]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Điều chỉnh").click()
    parts = page.locator(".eyeline :is(button, select, summary, input)")
    assert parts.evaluate_all("all => all.filter(one => !(one.ariaLabel || one.textContent.trim()))") == []
    page.get_by_role("combobox", name="Thứ tự").select_option("all")
    page.keyboard.press("Escape")
    page.locator(".map-cursor").first.press("Enter")
    page.get_by_role("button", name="Mọi đầu chú ý").click()  # within reach, not in the drawer
    expect(page.locator(".map-cursor").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_large_model_is_drawn_without_thousands_of_elements(shown, made):
    page = shown(measured(made, lambda name, values: values, layers=80, heads=64))
    assert page.evaluate("document.querySelectorAll('*').length") < 400
    page.locator(".map-cursor").press("Control+End")  # not ours
    page.locator(".map-cursor").press("PageDown")
    expect(page.locator(".map-cursor")).to_have_attribute("aria-label", re.compile("^L79H0 "))
    page.locator(".map-table summary").click()
    expect(page.locator(".map-table tbody tr")).to_have_count(50)
    page.get_by_role("button", name="The heads after").click()
    expect(page.locator(".map-table")).to_contain_text("51 to 100 of 5120")


@pytest.mark.parametrize("kind", ["markup", "steering", "long"])
def test_hostile_names_stay_text(shown, made, kind):
    survey = load_survey(made.folder)
    survey.info["corpus"]["files"][0]["path"] = survey.info["model"]["name"] = HOSTILE[kind]
    page = shown(survey, width=390)
    assert page.evaluate("[window.ran, document.images.length]") == [None, 0]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator(".map-cursor").press("Enter")
    assert page.evaluate("[window.ran, document.images.length]") == [None, 0]


def test_on_paper_it_is_light_and_says_what_it_is_of(shown, made):
    page = shown(made, dark=True)
    page.emulate_media(media="print")
    expect(page.locator(".imprint")).to_contain_text("windows of 512 tokens")
    expect(page.locator(".controls")).to_be_hidden()
    first = "document.querySelector('.map-legend canvas').getContext('2d').getImageData(0, 5, 1, 1).data[0]"
    page.wait_for_function(f"() => {first} > 245")


def test_a_survey_of_nothing_is_hatched_and_says_so(shown, made):
    page = shown(measured(made, lambda name, values: values * np.nan, layers=1, heads=1))
    expect(page.locator(".map-legend")).to_contain_text("nothing to measure")
    expect(page.locator(".map-cursor")).to_have_attribute("aria-label", re.compile("entropy: nothing to measure$"))
    page.locator(".map-table summary").click()
    expect(page.locator(".map-table tbody tr")).to_have_text(re.compile("^L0H0.*–$"))


def test_types_of_a_users_own_are_measures_whatever_they_are_called(shown, made):
    survey = measured(made, lambda name, values: values)
    survey.types = (*made.types[:-2], "word/a & <b>=100%", "__proto__")
    page = shown(survey, words="measure=to.word/a_<b>=100_")
    chosen = page.get_by_role("combobox", name="Measure")
    expect(chosen).to_have_value("to.word/a_<b>=100_")
    expect(page.locator(".map-legend strong")).to_have_text("weight on type “word/a & <b>=100%”")
    chosen.select_option("received.__proto__")
    expect(page.locator(".map-legend strong")).to_have_text("weight that type “__proto__” receives")
    page.reload()
    expect(chosen).to_have_value("received.__proto__")
