"""The export of what a page shows: pictures, numbers, links and words; and the list of keys."""

from __future__ import annotations

import csv
import io
import json
import re
import struct
import zlib
from xml.etree import ElementTree

import numpy as np
import pages
import pytest
from browser import settled

from eyeline.masks import Causal
from eyeline.views.page import Page

SVG = "{http://www.w3.org/2000/svg}"
STATES = [
    "view=matrix",
    "view=overview layer=0 head=1 order=entropy language=vi theme=dark",
    "view=matrix head=max unit=pieces special=shown token=2 toward=to scale=log clipped=1,2 box=1.5,0,4.25,3",
    "view=steps layer=0 token=3 ahead=no scaled=no removed=1,4 links=all",
    "view=compare trace=1 other=0,1,mean",
    "view=compare other=1,0,2 scale=rank theme=light language=en",
]


@pytest.fixture
def shown(page_of):
    def opened(trace=None, words="view=matrix", **options):
        page = page_of(trace or pages.trace(), words=words, **options)
        if "view=matrix" in words:
            page.locator("canvas[data-state=done]").wait_for()
        return page

    return opened


def taken(page, kind):
    """The bytes of a file that the page makes, and its name."""
    if not page.get_by_role("dialog").is_visible():
        page.get_by_role("button", name="Save and share", exact=True).click()
    with page.expect_download() as waited:
        page.get_by_role("button", name=f"as {kind.upper()}").click()
    return waited.value.path().read_bytes(), waited.value.suggested_filename


def words_of(page):
    return page.evaluate("location.hash.slice(1)").split("&")


def test_numbers_as_csv_are_the_librarys(shown):
    trace = pages.trace("time flies like an arrow", pieces=1, mask=Causal(), special=False)
    page = shown(trace, "view=matrix head=1 special=shown layer=0")
    data, name = taken(page, "csv")
    assert name == "eyeline-matrix-random-L0H1-time-flies-like-an-arrow.csv"
    assert data.count(b"\r\n") == data.count(b"\n") == 6
    whole = list(csv.reader(io.StringIO(data.decode("utf-8"), newline="")))
    first = len(whole[0]) - 6  # the columns that say what the numbers are of
    head, *rows = [row[first:] for row in whole]
    assert head == ["query", "0 time", "1 flies", "2 like", "3 an", "4 arrow"]
    weights = trace.weights(0, 1)
    for place, row in enumerate(rows):
        assert row[place + 2 :] == [""] * (4 - place)  # not allowed, and no zero
        np.testing.assert_allclose([float(one) for one in row[1 : place + 2]], weights[place, : place + 1], atol=1e-6)


def test_numbers_as_json_say_what_they_are_of(shown):
    trace = pages.trace("time flies")
    page = shown(trace, "view=matrix special=shown clipped=1")
    data, name = taken(page, "json")
    assert name.endswith("-L1-mean-time-flies.json")
    found = json.loads(data)
    assert (found["model"], found["text"], found["head"], found["layer"]) == ("random", "time flies", "mean", 1)
    assert found["words"].split() == words_of(page)
    assert [len(row) for row in found["rows"]] == [len(found["columns"])] * 4
    for row in found["rows"]:
        assert sum(row[1:]) == pytest.approx(1, abs=1e-5)


def test_only_the_cells_that_are_seen_are_taken(shown):
    page = shown(pages.trace(pages.words(40), pieces=1), "view=matrix box=10,5,16,11")
    data, _ = taken(page, "csv")
    rows = list(csv.reader(io.StringIO(data.decode("utf-8"))))
    first = rows[0].index("query")
    assert [row[first].split()[0] for row in rows[1:]] == [str(number) for number in range(11, 17)]
    assert [one.split()[0] for one in rows[0][first + 1 : -1]] == [str(number) for number in range(6, 12)]
    assert rows[0][-1] == "special tokens"


def test_csv_quotes_and_runs_no_formula(shown):
    page = shown()
    text = written(
        page,
        ["=1+1", "a,b", 'say "so"', "two\nlines", "-ing", "+1", "@x", " edge "],
        [[-1.5, None, "=HYPERLINK(1)", 0.1 + 0.2, "plain", "5", "", "\tx"]],
    )
    read = list(csv.reader(io.StringIO(text, newline="")))
    assert read[0] == ["version", "'=1+1", "a,b", 'say "so"', "two\nlines", "'-ing", "'+1", "'@x", " edge "]
    assert read[1] == ["9", "-1.5", "", "'=HYPERLINK(1)", "0.3", "plain", "5", "", "'\tx"]
    assert text.startswith('version,\'=1+1,"a,b","say ""so""","two\nlines",')


def written(page, columns, rows):
    """What the page's own module makes of numbers."""
    import base64

    from eyeline.views.page.joining import HERE

    module = base64.b64encode((HERE / "export" / "formats.js").read_bytes()).decode()
    # In a page of its own, whose policy lets a module be loaded from data.
    other = page.context.new_page()
    other.goto("about:blank")
    nowhere = {"places": [], "changes": {}, "quantity": None, "unit": None, "special": None, "version": "9"}
    return other.evaluate(
        "async ([module, about, table]) => (await import(`data:text/javascript;base64,${module}`)).csv(about, table)",
        [module, nowhere, {"columns": columns, "rows": rows}],
    )


def pixels(data):
    """A PNG's width and height, once its parts are sound."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, kinds, raw = 8, [], b""
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0]
        kinds.append(kind)
        raw += body if kind == b"IDAT" else b""
        at += 12 + length
    assert kinds[0] == b"IHDR"
    assert kinds[-1] == b"IEND"
    assert len(set(zlib.decompress(raw))) > 20  # a picture, not one colour
    return struct.unpack(">II", data[16:24])


def test_pictures_are_sound_and_the_png_has_twice_the_svgs_pixels(shown):
    page = shown(words="view=matrix clipped=2 token=1")
    svg, name = taken(page, "svg")
    assert name.endswith(".svg")
    root = ElementTree.fromstring(svg)
    texts = [part.text for part in root.iter(f"{SVG}text")]
    assert {"time", "flies", "like", "an", "arrow"} <= set(texts)
    assert any(text.startswith("≥ ") for text in texts)
    assert any("random · L1, mean of H0 to H2" in text for text in texts)
    png, name = taken(page, "png")
    assert name.endswith(".png")
    width, height = pixels(png)
    assert (width, height) == (round(2 * float(root.get("width"))), round(2 * float(root.get("height"))))


def test_a_sentences_picture_has_no_room_around_what_is_drawn(shown):
    page = shown(words="view=sentence token=1")
    root = ElementTree.fromstring(taken(page, "svg")[0])
    panel = page.locator(".panel").bounding_box()
    assert float(root.get("width")) <= panel["width"] + 40
    assert float(root.get("height")) <= panel["height"] + 80


@pytest.mark.parametrize("text", pages.HOSTILE.values(), ids=pages.HOSTILE)
def test_pictures_of_hostile_texts_are_inert_xml(shown, text):
    page = shown(
        pages.trace(text, pieces=1, heads=1, name="</svg><script>window.ran=1</script>"), "view=matrix special=shown"
    )
    svg, _ = taken(page, "svg")
    names = {part.tag.removeprefix(SVG) for part in ElementTree.fromstring(svg).iter()}
    assert names <= {"svg", "title", "rect", "text", "image", "g", "linearGradient", "stop"}
    assert not re.search(rb"<script|<img|<svg [^x]|\x00", svg)
    data, name = taken(page, "csv")
    assert not re.search(r"[\x00-\x1f/\\:*?\"<>|\u202e]", name)
    assert len(name) < 100
    rows = list(csv.reader(io.StringIO(data.decode("utf-8"), newline="")))
    assert len({len(row) for row in rows}) == 1
    assert len(rows) == len(rows[0]) - rows[0].index("query")
    assert page.evaluate("window.ran") is None


@pytest.mark.parametrize("view", ["sentence", "steps", "matrix", "overview", "compare"])
def test_every_view_is_taken_away_in_all_kinds(shown, view):
    trace = pages.trace("one </text><script>window.ran=1</script> & 'two' =3", pieces=1)
    page = shown(trace, f"view={view} layer=0 head=1 token=2")
    settled(page)
    root = ElementTree.fromstring(taken(page, "svg")[0])
    assert not {"script", "foreignObject", "img"} & {part.tag.removeprefix(SVG) for part in root.iter()}
    pixels(taken(page, "png")[0])
    rows = list(csv.reader(io.StringIO(taken(page, "csv")[0].decode("utf-8"), newline="")))
    assert len(rows) > 3
    assert not [one for row in rows for one in row if one[:1] in ("=", "@", "+")]
    found = json.loads(taken(page, "json")[0])
    assert rows[0][-len(found["columns"]) :] == [f"'{one}" if one[0] in "=@+" else one for one in found["columns"]]
    assert len(found["rows"]) == len(rows) - 1
    assert page.evaluate("window.ran") is None


@pytest.mark.parametrize("words", STATES)
def test_words_restore_the_exact_state(shown, words):
    traces = [pages.trace(), pages.trace(name="causal", seed=1)]
    page = shown(traces, words)
    assert sorted(words_of(page)) == sorted(words.split())
    page.locator(".plain[aria-haspopup=dialog]").first.click()
    kept, link = page.locator(".export input[readonly]").evaluate_all("(all) => all.map((one) => one.value)")
    assert sorted(kept.split()) == sorted(words.split())
    assert link == page.url
    page.keyboard.press("Escape")
    page.evaluate("location.hash = 'view=sentence'")
    for pasted in (kept, link):
        page.locator(".plain[aria-haspopup=dialog]").first.click()
        box = page.locator(".export input:not([readonly])")
        box.fill(pasted)
        box.press("Enter")
        assert page.get_by_role("dialog").count() == 0
        assert sorted(words_of(page)) == sorted(words.split())
        page.evaluate("location.hash = 'view=sentence'")


def test_words_and_the_state_in_python_have_the_same_numbers(page_of):
    state = {"view": "steps", "layer": 0, "head": 1, "token": 2, "key": 3, "coordinate": 4, "passed": 5, "removed": [1]}
    words = "view=steps layer=0 head=1 token=2 key=3 coordinate=4 passed=5 removed=1"
    texts = []
    for page in (page_of(Page([pages.trace()], state)), page_of(pages.trace(), words=words)):
        settled(page)
        texts.append(page.locator(".steps").inner_text())
    assert texts[0] == texts[1]
    assert "L0H1" in texts[0]


def test_words_that_say_nothing_are_told_so(shown):
    page = shown()
    page.get_by_role("button", name="Save and share").click()
    page.get_by_role("textbox", name="Paste words or a link").fill("lorem ipsum = 5")
    page.get_by_role("button", name="Restore").click()
    assert page.get_by_role("status").inner_text() == "These words name no setting of this page."
    assert page.get_by_role("dialog").is_visible()


def test_a_copy_that_is_refused_is_said_and_the_words_are_selected(shown):
    page = shown(words="view=matrix token=2")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.get_by_role("button", name="Save and share").click()
    page.get_by_role("button", name="Copy: Words").click()
    page.get_by_role("status").get_by_text("press Ctrl+C").wait_for()
    assert page.evaluate("document.activeElement.value.slice(0, document.activeElement.selectionEnd)") == (
        "view=matrix token=2"
    )


def test_a_copy_is_in_the_clipboard(shown):
    page = shown(words="view=matrix token=2", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Save and share").click()
    page.get_by_role("button", name="Copy: Link").click()
    page.get_by_role("status").get_by_text("Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_too_many_cells_for_a_table_are_refused_in_words(shown):
    trace = pages.trace(pages.words(2100), pieces=1, heads=1, layers=1, head_dim=2, value_dim=None)
    page = shown(trace)
    page.get_by_role("button", name="Save and share").click()
    page.get_by_role("button", name="as CSV").click()
    page.get_by_role("status").get_by_text("too many cells").wait_for()


def test_the_dialog_is_reached_and_left_by_keyboard(shown):
    page = shown()
    opener = page.get_by_role("button", name="Save and share")
    opener.focus()
    page.keyboard.press("Enter")
    assert page.get_by_role("dialog", name="Save and share").is_visible()
    page.keyboard.press("2")  # the page's own keys rest
    assert "view=matrix" in words_of(page)
    page.keyboard.press("Escape")
    assert page.get_by_role("dialog").count() == 0
    assert opener.evaluate("(one) => one === document.activeElement")


@pytest.mark.parametrize(("language", "title", "view"), [("en-US", "Keys", "Matrix"), ("vi-VN", "Phím tắt", "Ma trận")])
def test_a_question_mark_lists_all_keys(shown, language, title, view):
    page = shown(language=language)
    page.get_by_role("application").focus()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name=title)
    assert view in dialog.locator("h3").all_inner_texts()
    assert {"[", "]", "{", "}", "?", "+", "C", "Esc"} <= set(dialog.locator("kbd").all_inner_texts())
    page.keyboard.press("Escape")
    page.get_by_role("button", name=title).click()
    assert dialog.is_visible()
