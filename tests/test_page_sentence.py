"""In the browser, the sentence view: whom a token looks at, who looks at it, and all the ways to ask."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
from playwright.sync_api import expect

import eyeline as el
from eyeline.masks import Causal
from eyeline.traces import TokenizedText
from eyeline.traces.tokenized_text import Word
from eyeline.views.labels import percent, printable
from tests.pages import FLIES, HOSTILE, line, trace, words
from tests.taken import numbers, picture

WORDS = FLIES.split()


def matrix(trace, layer, head, kind="words"):
    """What each unit gives to each, (U, U), of one head, the "mean" or the "max" of all."""

    def spans(line):
        return [word.tokens for word in line.words] if kind == "words" else [(at, at + 1) for at in range(len(line))]

    rows, columns = spans(trace.queries), spans(trace.across)
    found = []
    for number in range(trace.model.heads) if isinstance(head, str) else [head]:
        weights = trace.weights(layer, number).astype(np.float64)
        summed = np.stack([weights[:, first:last].sum(axis=1) for first, last in columns], axis=1)
        found.append(np.stack([summed[first:last].mean(axis=0) for first, last in rows]))
    return np.max(found, axis=0) if head == "max" else np.mean(found, axis=0)


def shares(weights, shown):
    """Rows of weights as shares of what they give to the units that are shown; NaN for the others."""
    result = np.full(weights.shape, np.nan)
    result[:, shown] = weights[:, shown] / weights[:, shown].sum(axis=1, keepdims=True)
    return result


def token(page, text):
    return page.locator(".token").get_by_text(text, exact=True)


def go(page, words):
    """Have a page show the state that words say."""
    page.evaluate("(words) => { location.hash = words; }", words.replace(" ", "&"))


def bars(page):
    """The list of the strongest: names and percents."""
    return list(
        zip(
            page.locator(".bars .bar-name").all_inner_texts(),
            [share.removeprefix("» ") for share in page.locator(".bars .bar-share").all_inner_texts()],
            strict=True,
        )
    )


def looked_at(shares, own, names):
    """The same, of a row of shares."""
    order = np.argsort(-shares, kind="stable")
    return [("itself" if at == own else names[at], percent(shares[at])) for at in order]


@pytest.fixture
def flies():
    return trace()


@pytest.fixture
def expected(flies):
    """The shares of the words, (5, 5), of the mean of the last layer's heads."""
    return shares(matrix(flies, 1, "mean"), [1, 2, 3, 4, 5])[1:6, 1:6]


def test_unasked_it_shows_what_each_word_gets_on_average(page_of, flies, expected):
    page = page_of(flies)
    received = expected.mean(axis=0)
    top = WORDS[int(received.argmax())]
    expect(page.locator(".found")).to_contain_text(
        f"{top} is looked at most, {percent(received.max())} of a row on average."
    )
    assert bars(page) == looked_at(received, None, WORDS)
    rows = numbers(page)
    assert [row["key"] for row in rows] == WORDS
    np.testing.assert_allclose([float(row["share"]) for row in rows], received, rtol=0, atol=1e-5)


def test_pointing_at_a_word_shows_whom_it_looks_at_and_leaving_it_ends_that(page_of, flies, expected):
    page = page_of(flies)
    expect(page.locator(".links path")).to_have_count(0)
    token(page, "flies").hover()
    first, second = looked_at(expected[1], 1, WORDS)[:2]
    sentence = f"flies takes most from {first[0]} ({first[1]}) and {second[0]} ({second[1]})."
    expect(page.locator(".found")).to_have_text(sentence)
    assert bars(page) == looked_at(expected[1], 1, WORDS)
    links = page.locator(".links path")
    full = max(expected[1].max(), 2 / 5)
    strong = int((expected[1] >= 0.04 * full).sum())
    expect(links).to_have_count(strong)
    widths = [float(one.get_attribute("stroke-width")) for one in links.all()]
    np.testing.assert_allclose(
        widths, 1 + 4.5 * np.sort(expected[1] / full)[-strong:], rtol=0, atol=0.01
    )  # drawn from the thinnest to the widest
    page.locator(".found").hover()
    expect(page.locator(".found")).to_contain_text("on average")
    expect(links).to_have_count(0)


def test_backgrounds_are_darker_the_more_is_given(page_of, flies, expected):
    page = page_of(flies, words="token=2")
    expect(page.locator(".token[aria-selected=true]")).to_have_text("flies")
    fills = page.locator(".token").evaluate_all("all => all.map((one) => getComputedStyle(one).backgroundColor)")
    light = [sum(map(int, re.findall(r"\d+", fill)[:3])) for fill in fills]
    assert list(np.argsort(light)) == list(np.argsort(-expected[1]))


@pytest.mark.parametrize("dark", [False, True])
def test_words_can_be_read_on_their_backgrounds(page_of, dark):
    page = page_of(trace(words(40), spread=3), words="token=8", dark=dark)
    expect(page.locator(".token[aria-selected=true]")).to_have_count(1)
    colours = page.locator(".token").evaluate_all(
        """(all) => all.map((one) => [getComputedStyle(one).color, getComputedStyle(one).backgroundColor,
          getComputedStyle(one.closest(".eyeline")).backgroundColor])"""
    )
    seen = set()
    for text, fill, ground in colours:
        fill = ground if fill == "rgba(0, 0, 0, 0)" else fill
        seen.add(fill)
        above, below = sorted((luminance(text), luminance(fill)), reverse=True)
        assert (above + 0.05) / (below + 0.05) >= 4.5
    assert len(seen) > 10


def luminance(colour):
    parts = np.array(re.findall(r"\d+", colour)[:3], float) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_the_numbers_are_those_of_explain(page_of):
    seen = el.explain(FLIES, "flies", layer=3, head=6)
    page = page_of(el.record(FLIES), words="token=2 layer=3 head=6")
    expect(page.locator(".found")).to_contain_text("flies takes most from")
    rows = numbers(page)
    assert [row["key"] for row in rows] == ["[CLS]", *WORDS, "[SEP]"]
    assert {(row["layer"], row["head"], row["query"]) for row in rows} == {("3", "6", "flies")}
    assert rows[0]["share"] == rows[-1]["share"] == ""
    np.testing.assert_allclose([float(row["share"]) for row in rows[1:-1]], seen.shares, rtol=0, atol=1e-5)
    np.testing.assert_allclose([float(row["weight"]) for row in rows[1:-1]], seen.weights, rtol=0, atol=1e-5)
    aside = 1 - float(np.sum(seen.weights))
    expect(page.locator(".basis")).to_contain_text(f"[CLS] and [SEP], set aside, took {percent(aside)} of it all.")


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("toward", ["from", "to"])
def test_numbers_both_ways(page_of, special, toward):
    found = trace("uncommonly long words here", pieces=2, spread=3)
    page = page_of(found)
    for unit, head in itertools.product(["words", "pieces"], [1, "mean", "max"]):
        said = f"layer=0 head={head} unit={unit} token=3 toward={toward}"
        go(page, f"{said} special={'yes' if special else 'no'}")
        expect(page.locator("[data-kind~=pinned]")).to_have_text("long" if unit == "words" else "lo")
        weights = matrix(found, 0, head, unit)
        own = 2 if unit == "words" else 3
        shown = np.arange(len(weights)) if special else np.arange(1, len(weights) - 1)
        wanted = shares(weights, shown)
        wanted, weights = (wanted[own], weights[own]) if toward == "from" else (wanted[:, own], weights[:, own])
        if toward == "to":
            wanted[np.setdiff1d(np.arange(len(wanted)), shown)] = np.nan
        rows = numbers(page)
        while {row["head"] for row in rows} != {str(head)}:
            rows = numbers(page)  # those of the head before, the new ones being on their way
        assert {row["layer"] for row in rows} == {"0"}
        np.testing.assert_allclose([float(row["share"] or "nan") for row in rows], wanted, rtol=0, atol=1e-5)
        np.testing.assert_allclose([float(row["weight"]) for row in rows], weights, rtol=0, atol=1e-5)


def test_a_click_pins_and_a_second_lets_go(page_of, flies):
    page = page_of(flies)
    token(page, "like").click()
    expect(token(page, "like")).to_have_attribute("aria-selected", "true")
    assert "token=3" in page.url
    token(page, "an").hover()  # what is pinned stays
    expect(page.locator(".found")).to_contain_text("like takes most from")
    expect(page.locator(".bars li[data-pointed] .bar-name")).to_have_text("an")
    token(page, "like").click()
    expect(page.locator(".token[aria-selected=true]")).to_have_count(0)
    assert "token" not in page.url


def test_escape_lets_go(page_of, flies):
    page = page_of(flies)
    token(page, "like").click()
    page.keyboard.press("Escape")
    expect(page.locator(".token[aria-selected=true]")).to_have_count(0)
    page.mouse.move(0, 0)
    expect(page.locator(".found")).to_contain_text("on average")


def test_a_tap_pins(page_of, flies):
    page = page_of(flies, has_touch=True, width=390)
    token(page, "an").tap()
    expect(page.locator(".found")).to_contain_text("an takes most from")
    assert "token=4" in page.url


def test_keys_step_through_the_words_and_a_screen_reader_is_told(page_of, flies, expected):
    page = page_of(flies)
    expect(page.locator(".bars li")).to_have_count(5)
    assert page.locator(".token[tabindex='0']").all_inner_texts() == ["time"]
    page.locator(".token[tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    names = looked_at(expected[1], 1, WORDS)[:3]
    told = ", ".join(f"{name} {share}" for name, share in names)
    expect(page.locator(":focus")).to_have_attribute("aria-label", f"flies, word 2 of 5: looks at {told}")
    expect(page.locator(".found")).to_contain_text("flies takes most from")
    for key, word in [("End", "arrow"), ("ArrowRight", "arrow"), ("ArrowLeft", "an"), ("Home", "time")]:
        page.keyboard.press(key)
        expect(page.locator(":focus")).to_have_text(word)
    page.keyboard.press("Enter")
    expect(token(page, "time")).to_have_attribute("aria-selected", "true")
    expect(page.locator("[aria-live=polite].unseen")).to_have_text(page.locator(".found").inner_text())
    page.keyboard.press("ArrowRight")  # the pin goes along
    expect(token(page, "flies")).to_have_attribute("aria-selected", "true")
    share = expected[1, 0]
    expect(token(page, "time")).to_have_attribute("aria-label", f"time, word 1 of 5: {percent(share)}")
    page.keyboard.press("Space")
    expect(page.locator(".token[aria-selected=true]")).to_have_count(0)


def test_up_and_down_go_to_the_nearest_word_of_the_next_line(page_of):
    page = page_of(trace(words(60)), width=600)
    page.locator(".token").nth(3).click()

    def place():
        return page.locator(":focus").bounding_box()

    start = place()
    page.keyboard.press("ArrowDown")
    page.wait_for_function("y => document.activeElement.getBoundingClientRect().top > y", arg=start["y"] + 5)
    below = place()
    assert abs(below["x"] + below["width"] / 2 - start["x"] - start["width"] / 2) < 60
    page.keyboard.press("ArrowUp")
    page.wait_for_function("y => document.activeElement.getBoundingClientRect().top < y", arg=below["y"] - 5)


def test_it_can_be_turned_round(page_of, flies, expected):
    page = page_of(flies, words="token=2")
    expect(page.locator(".found")).to_contain_text("flies takes most from")
    page.get_by_role("button", name="who looks at it").click()
    first, second = looked_at(expected[:, 1], 1, WORDS)[:2]
    expect(page.locator(".found")).to_have_text(
        f"flies is looked at most by {first[0]} ({first[1]}) and {second[0]} ({second[1]})."
    )
    assert bars(page) == looked_at(expected[:, 1], 1, WORDS)
    expect(page.get_by_role("button", name="who looks at it")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("f")
    expect(page.locator(".found")).to_contain_text("flies takes most from")
    expect(page.get_by_role("button", name="whom it looks at")).to_have_attribute("aria-pressed", "true")


def test_only_links_above_the_threshold_are_drawn(page_of, flies, expected):
    page = page_of(flies, words="token=2")
    expect(page.locator(".token[aria-selected=true]")).to_have_count(1)
    slider = page.get_by_role("slider")
    expect(slider).to_have_attribute("aria-valuetext", "any share")
    for share, text in [(0.1, "10%"), (0.3, "30%"), (0.5, "50%")]:
        while float(slider.get_attribute("aria-valuetext").rstrip("%").replace("any share", "0")) < 100 * share:
            slider.press("ArrowRight")
        expect(slider).to_have_attribute("aria-valuetext", text)
        expect(page.locator(".links path")).to_have_count(int((expected[1] >= share).sum()))
    assert len(bars(page)) == 5


def test_what_may_not_be_looked_at_is_marked_and_is_no_0(page_of):
    page = page_of(trace(mask=Causal(), special=False), words="token=2")
    expect(page.locator("[data-kind~=barred]")).to_have_text(["an", "arrow"])
    expect(token(page, "an")).to_have_attribute("aria-label", "an, word 4 of 5: not allowed")
    assert "gradient" in token(page, "an").evaluate("one => getComputedStyle(one).backgroundImage")
    assert [name for name, _ in bars(page)].count("an") == 0
    expect(page.locator(".basis")).to_contain_text("Hatched: where it may not look.")
    page.keyboard.press("f")  # nothing has the focus
    page.get_by_role("button", name="who looks at it").click()
    expect(page.locator("[data-kind~=barred]")).to_have_text(["time", "flies"])  # like, of course, sees itself


def test_the_first_word_of_a_decoder_is_set_aside_until_it_is_asked_about(page_of):
    found = trace(mask=Causal(), special=False)
    page = page_of(found, words="token=2")
    expect(page.locator(".basis")).to_contain_text("time (the first), set aside, took")
    weights = matrix(found, 1, "mean")
    assert "time" not in [name for name, _ in bars(page)]
    token(page, "time").click()
    expect(page.locator(".found")).to_have_text("time takes most from itself (100%).")
    page.get_by_label("Special tokens").select_option("shown")
    token(page, "like").click()
    expect(page.locator(".found")).to_contain_text("like takes most from")
    assert bars(page) == looked_at(weights[2, :3], 2, WORDS)


def test_special_tokens_are_labels_where_they_are_shown(page_of, flies):
    page = page_of(flies)
    expect(page.locator(".token")).to_have_text(WORDS)
    page.get_by_label("Special tokens").select_option("shown")
    expect(page.locator(".token.label")).to_have_text(["[CLS]", "[SEP]"])
    expect(page.locator(".token.label").first).to_have_attribute("aria-label", re.compile(r"^\[CLS\], a special token"))


def test_pieces_stand_together_as_typed(page_of):
    page = page_of(trace("uncommonly so", pieces=3))
    expect(page.locator(".tokens")).to_have_text("uncommonly so")
    expect(page.locator(".token")).to_have_text(["uncommonly", "so"])
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
    width = page.locator(".stage").bounding_box()
    assert boxes[0]["x"] + boxes[0]["width"] > width["x"] + width["width"] - 20  # begins at the right
    page.locator(".token[tabindex='0']").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(":focus")).to_have_text("עף")
    expect(page.locator(".found")).to_contain_text("עף takes most from")


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
    expect(page.locator(".found")).to_contain_text("🦜 2/3 takes most from")
    expect(page.locator(".token[aria-selected=true]")).to_have_attribute(
        "aria-label", re.compile(r"^🦜 2/3, piece 3 of 5: looks")
    )
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
        known = {"svg", "title", "defs", "pattern", "rect", "g", "path", "text"}
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
    expect(page.locator(".found")).to_contain_text("cat takes most from")
    names = ["die", "Katze", "saß", "da"]
    assert bars(page) == looked_at(weights[2], None, names)
    filled = "all => all.filter((one) => getComputedStyle(one).backgroundColor !== 'rgba(0, 0, 0, 0)').length"
    assert above.locator(".token").evaluate_all(filled) == 0
    assert below.locator(".token").evaluate_all(filled) == 4
    link = page.locator(".links path").last.bounding_box()
    assert link["y"] >= token(page, "cat").bounding_box()["y"]
    token(page, "Katze").click()
    assert "toward=to" in page.url
    expect(page.locator(".found")).to_contain_text("Katze is looked at most by")
    assert bars(page) == looked_at(weights[1:4, 1], None, ["the", "cat", "sat"])
    rows = numbers(page)
    assert [row["query"] for row in rows] == ["[CLS]", "the", "cat", "sat", "[SEP]"]
    np.testing.assert_allclose([float(row["weight"]) for row in rows], weights[:, 1], rtol=0, atol=1e-5)


@pytest.fixture
def long():
    return trace(line(words(1200), special=False), layers=1, heads=2, head_dim=4, value_dim=None, spread=4)


def test_of_a_long_text_a_window_is_drawn(page_of, long):
    page = page_of(long)
    pager = page.locator(".pager")
    expect(pager).to_contain_text("words 1 to 240 of 1,200")
    assert page.locator("*").count() < 1000
    expect(page.get_by_label("Back in the text")).to_be_disabled()
    page.get_by_label("On in the text").click()
    expect(pager).to_contain_text("words 241 to 480 of 1,200")
    expect(page.locator(".token").first).to_have_attribute("data-unit", "240")
    page.locator(".token").first.focus()
    page.locator(".token").first.press("ArrowLeft")  # over the edge
    expect(page.locator(":focus")).to_have_attribute("data-unit", "239")
    strip = page.locator(".minimap")
    strip.click(position={"x": strip.bounding_box()["width"] * 0.75, "y": 10})
    expect(pager).to_contain_text("words 781 to 1,020 of 1,200")


def test_what_stands_outside_the_window_is_listed_and_can_be_gone_to(page_of, long):
    page = page_of(long, words="token=599")
    expect(page.locator(".token[aria-selected=true]")).to_have_attribute("data-unit", "599")
    found = shares(matrix(long, 0, "mean"), np.arange(1200))[599]
    best = np.argsort(-found, kind="stable")[:8]
    assert [share for _, share in bars(page)] == [percent(found[at]) for at in best]
    outside = next(place for place, at in enumerate(best) if not 479 <= at < 719)
    row = page.locator(".bars li").nth(outside)
    expect(row).to_contain_text(f"no. {best[outside] + 1:,}")
    row.get_by_role("button").click()
    expect(page.locator(".token[aria-selected=true]")).to_have_attribute("data-unit", str(best[outside]))
    expect(page.locator(":focus")).to_have_attribute("data-unit", str(best[outside]))


def test_a_word_of_a_long_text_can_be_found(page_of, long):
    wanted = long.queries.text.split()[900]
    places = [at for at, word in enumerate(long.queries.text.split()) if wanted in word]
    page = page_of(long)
    box = page.get_by_label("Find a word")
    box.fill(wanted.upper())
    for place in [*places, places[0]]:  # and round again
        box.press("Enter")
        expect(page.locator(".token[aria-selected=true]")).to_have_attribute("data-unit", str(place))
    if len(places) > 1:
        box.press("Shift+Enter")
        expect(page.locator(".token[aria-selected=true]")).to_have_attribute("data-unit", str(places[-1]))
    box.fill("not there at all")
    box.press("Enter")
    expect(page.locator(".pager")).to_contain_text("not there")


def test_who_looks_in_a_long_text(page_of, long):
    page = page_of(long, words="token=6 toward=to head=0")
    found = shares(matrix(long, 0, 0), np.arange(1200))[:, 6]
    best = np.argsort(-found, kind="stable")[:8]
    expect(page.locator(".bars li")).to_have_count(8)
    assert [share for _, share in bars(page)] == [percent(found[at]) for at in best]


def test_the_list_is_reached_by_keys_and_goes_to_its_word(page_of, flies, expected):
    page = page_of(flies)
    page.locator(".token[tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".found")).to_contain_text("flies takes most from")
    page.keyboard.press("Tab")
    expect(page.locator(".bar-name").first).to_be_focused()
    expect(page.locator(".found")).to_contain_text("flies takes most from")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    at = np.argsort(-expected[1], kind="stable")[1]
    expect(page.locator(".token[aria-selected=true]")).to_have_text(WORDS[at])
    expect(token(page, WORDS[at])).to_be_focused()


def test_another_head_shows_its_own_numbers(page_of, flies):
    page = page_of(flies, words="token=2")
    for layer, head in [(0, 0), (0, 2), (1, 1)]:
        page.get_by_label("Layer", exact=True).select_option(str(layer))
        page.get_by_label("Head", exact=True).select_option(str(head))
        row = shares(matrix(flies, layer, head), [1, 2, 3, 4, 5])[2, 1:6]
        first = looked_at(row, 1, WORDS)[0]
        expect(page.locator(".found")).to_contain_text(f"flies takes most from {first[0]} ({first[1]})")
        assert bars(page) == [bar for bar in looked_at(row, 1, WORDS) if bar[1] != "0%"]


def test_another_text_is_begun_at_its_beginning(page_of, long):
    page = page_of([long, trace(line(words(400, seed=1), special=False))], words="token=599")
    expect(page.locator("[data-kind~=pinned]")).to_have_attribute("data-unit", "599")
    page.get_by_label("Text", exact=True).select_option("1")
    expect(page.locator(".pager")).to_contain_text("words 1 to 240 of 400")
    expect(page.locator(".found")).to_contain_text("on average")
    expect(page.locator("[data-kind~=pinned]")).to_have_count(0)


def test_what_is_pointed_at_stays_so_with_another_head(page_of, flies):
    page = page_of(flies)
    token(page, "like").hover()
    for head, presses in [("mean", 0), (0, 2), (1, 1)]:  # the largest of all stands between
        for _ in range(presses):
            page.locator(".token[tabindex='0']").press("}")
        row = shares(matrix(flies, 1, head), [1, 2, 3, 4, 5])[3, 1:6]
        drawn = [re.compile(f"^(» )?{share}$") for _, share in looked_at(row, 2, WORDS)]
        expect(page.locator(".bars .bar-share")).to_have_text(drawn)
        expect(page.locator(".found")).to_contain_text("like takes most from")


def test_in_vietnamese(page_of, flies):
    page = page_of(flies, language="vi-VN", words="token=2")
    expect(page.locator(".found")).to_contain_text("flies lấy nhiều nhất từ")
    expect(page.get_by_role("button", name="từ nào nhìn vào nó")).to_be_visible()
    expect(token(page, "time")).to_have_attribute("aria-label", re.compile("^time, từ 1 trên 5"))


def test_its_picture_shows_the_words_the_links_and_the_bars(page_of):
    page = page_of(trace(mask=Causal(), special=False), words="token=3")
    expect(page.locator(".token[aria-selected=true]")).to_have_text("an")
    found = picture(page)
    space = "{http://www.w3.org/2000/svg}"
    texts = [part.text for part in found.iter(f"{space}text")]
    assert texts[:5] == WORDS
    assert "".join(texts).find("an takes most from") > 0
    assert len(list(found.iter(f"{space}path"))) == page.locator(".links path").count() > 0
    assert sum(part.get("fill") == "url(#eyeline-hatch)" for part in found.iter(f"{space}rect")) == 1  # arrow
    left = [float(part.get("x")) for part in found.iter(f"{space}text")][:5]
    assert left == sorted(left)


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_window(page_of, width):
    page = page_of(trace("w" * 300 + " and " + words(60)), words="token=2", width=width)
    expect(page.locator(".token[aria-selected=true]")).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
