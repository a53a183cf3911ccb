"""In the browser, the sentence view of all kinds of texts: scripts, pieces, split characters, two lines."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
from playwright.sync_api import expect

from eyeline.traces import TokenizedText
from eyeline.traces.tokenized_text import Word
from eyeline.views.labels import printable
from tests.pages import FLIES, HOSTILE, line, trace
from tests.sentence_view import bars, go, looked_at, matrix, plainly, token
from tests.taken import numbers, picture


@pytest.fixture
def page_of(page_of):
    return lambda traces, **options: page_of(plainly(traces), **options)


def test_pieces_stand_together_as_typed(page_of):
    page = page_of(trace("uncommonly so", pieces=3))
    expect(page.locator(".tokens")).to_have_text("uncommonly so")
    expect(page.locator(".token")).to_have_text(["uncommonly", "so"])
    page.locator(".of-tokens summary").click()
    page.get_by_label("Units").select_option("pieces")
    expect(page.locator(".token")).to_have_count(5)
    assert page.locator(".tokens").inner_text() == "uncommonly so"
    expect(page.locator(".token").nth(1)).to_have_attribute("aria-label", re.compile(r", piece 2 of 5"))
    left = page.locator(".token").nth(0).bounding_box()
    right = page.locator(".token").nth(1).bounding_box()
    assert abs(left["x"] + left["width"] - right["x"]) < 1  # nothing between them


def test_the_text_stands_as_typed(page_of):
    typed = line("one,  two; \n\n three  –  four", special=False)
    page = page_of(trace(replace(typed, aside=(2,))))  # the line ends, a token of their own
    expect(page.locator(".token")).to_have_text(["one,", "two;", "three", "–", "four"])
    assert page.locator(".tokens").inner_text().split() == ["one,", "two;", "three", "–", "four"]
    second, third = (token(page, word).bounding_box() for word in ("two;", "four"))
    assert third["y"] > second["y"] + second["height"]


def test_text_from_right_to_left(page_of):
    page = page_of(trace("הזמן עף כמו חץ"))
    expect(page.locator(".token")).to_have_count(4)
    boxes = [one.bounding_box() for one in page.locator(".token").all()]
    assert all(first["x"] > second["x"] for first, second in itertools.pairwise(boxes))
    page.locator(".token[tabindex='0']").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(":focus")).to_have_text("עף")
    expect(page.locator(".says")).to_contain_text(re.compile("^“\u2068?עף\u2069?” looks mostly at"))


def test_scripts_mixed_in_a_line_stand_as_their_own_text_does(page_of):
    text = "הזמן flies (in 2024), والوقت יטוס"
    page = page_of(trace(text), words="special=shown")
    expect(page.locator(".token")).to_have_count(8)
    drawn = page.locator(".token:not(.label)").evaluate_all("all => all.map((one) => one.getBoundingClientRect().left)")
    page.evaluate(
        """(text) => {
          const plain = document.createElement("p");
          plain.id = "plain";
          plain.dir = "auto";
          for (const word of text.split(/( )/)) {
            const span = document.createElement("span");
            span.textContent = word;
            plain.append(span);
          }
          document.body.append(plain);
        }""",
        text,
    )
    plain = page.locator("#plain span:nth-child(odd)").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect().left)"
    )
    assert list(np.argsort(drawn)) == list(np.argsort(plain))


def over_one_character(text, cut, count):
    """A line of a text one of whose characters, [first, last), is cut over several tokens of one word."""
    first, last = cut
    spans, found = [], []
    for match in re.finditer(r"\S+", text):
        start, end = match.span()
        parts = [(start, end)] if not start <= first < end else [(first, last)] * count
        found.append(Word((len(spans), len(spans) + len(parts)), (start, end)))
        spans += parts
    return TokenizedText(
        text, tuple(range(len(spans))), tuple(f"<{n}>" for n in range(len(spans))), tuple(spans), tuple(found), ()
    )


def test_an_emoji_over_three_pieces_is_drawn_once(page_of):
    page = page_of(trace(over_one_character("a 🦜 flies", (2, 3), 3)), words="unit=pieces")
    expect(page.locator(".whole")).to_have_count(1)
    expect(page.locator(".glyph")).to_have_text("🦜")
    expect(page.locator(".token.part")).to_have_text(["1", "2", "3"])
    page.locator(".token.part").nth(1).click()
    expect(page.locator(".says")).to_contain_text("“🦜 2/3” looks mostly at")
    expect(page.locator(".token[aria-selected=true]")).to_have_attribute(
        "aria-label", re.compile(r"^🦜 2/3, piece 3 of 5: looks")
    )
    page.locator(".of-tokens summary").click()
    page.get_by_label("Units").select_option("words")
    expect(page.locator(".whole")).to_have_count(0)
    expect(page.locator(".token")).to_have_text(["a", "🦜", "flies"])


@pytest.mark.parametrize("text", ["👩\u200d🚀", "e\u0301", "👍🏽", "🇻🇳"])
def test_no_character_is_cut_in_two(page_of, text):
    """Pieces that end within what a reader takes for one character share its picture."""
    half = len(text) // 2
    spans = ((0, half), (half, len(text)))
    found = TokenizedText(text, (1, 2), ("x", "##y"), spans, (Word((0, 2), (0, len(text))),), ())
    page = page_of(trace(found), words="unit=pieces")
    expect(page.locator(".glyph")).to_have_text(text)
    expect(page.locator(".token.part")).to_have_text(["1", "2"])


def test_what_was_generated_is_marked(page_of):
    page = page_of(trace(line(FLIES, special=False, prompt=3)), words="token=1")
    expect(page.locator(".token.generated")).to_have_text(["an", "arrow"])
    expect(page.locator(".basis")).to_contain_text("Underlined: what the model went on with.")


def test_hostile_texts_are_text(page_of):
    names = sorted(HOSTILE)
    page = page_of([trace(HOSTILE[name]) for name in names])
    for place, name in enumerate(names):
        for pinned in ("", " token=1"):
            go(page, f"trace={place} special=shown{pinned}")
            expect(page.locator("[data-kind~=pinned]")).to_have_count(1 if pinned else 0)
        drawn = "".join(page.locator(".token:not(.label, .part), .glyph").all_text_contents())
        typed = "".join(printable(word) for word in HOSTILE[name].split(" "))
        assert drawn.replace(" ", "") == typed.replace(" ", ""), name
        known = {"svg", "title", "defs", "pattern", "rect", "g", "path", "text", "image"}
        assert {part.tag.rpartition("}")[2] for part in picture(page).iter()} <= known, name
    assert page.evaluate("window.ran") is None


def test_two_lines_where_one_looks_at_another(page_of):
    found = trace("the cat sat", line("die Katze saß da", special=False))
    page = page_of(found)
    expect(page.get_by_role("listbox")).to_have_count(2)
    above, below = page.get_by_role("listbox").all()
    expect(above).to_have_accessible_name("Who looks (queries)")
    expect(below).to_have_accessible_name("Who is looked at (keys)")
    weights = matrix(found, 1, "mean")
    token(page, "cat").click()
    expect(page.locator(".says")).to_contain_text("“cat” looks mostly at")
    names = ["die", "Katze", "saß", "da"]
    assert bars(page) == looked_at(weights[2], None, names)
    filled = "all => all.filter((one) => getComputedStyle(one).backgroundColor !== 'rgba(0, 0, 0, 0)').length"
    assert above.locator(".token").evaluate_all(filled) == 0
    assert below.locator(".token").evaluate_all(filled) == 4
    link = page.locator(".links path").last.bounding_box()
    assert link["y"] >= token(page, "cat").bounding_box()["y"]
    token(page, "Katze").click()
    assert "toward=to" in page.url
    expect(page.locator(".says")).to_contain_text("“Katze” is looked at most by")
    assert bars(page) == looked_at(weights[1:4, 1], None, ["the", "cat", "sat"])
    rows = numbers(page)
    assert [row["query"] for row in rows] == ["[CLS]", "the", "cat", "sat", "[SEP]"]
    np.testing.assert_allclose([float(row["weight"]) for row in rows], weights[:, 1], rtol=0, atol=1e-5)
