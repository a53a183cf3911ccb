"""In the browser, the sentence view: its numbers, and that all it draws is these numbers on one stated scale."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
from playwright.sync_api import expect

import eyeline as el
from eyeline.masks import Causal
from tests.pages import FLIES, line, trace, words
from tests.sentence_view import (
    WORDS,
    bar_lengths,
    bars,
    go,
    looked_at,
    luminance,
    matrix,
    numbers_beneath,
    plainly,
    ribbon_widths,
    scale_end,
    shares,
    token,
    told,
    written,
)
from tests.taken import numbers

SHOWN = [1, 2, 3, 4, 5]  # the words among the tokens


@pytest.fixture
def page_of(page_of):
    return lambda traces, **options: page_of(plainly(traces), **options)


@pytest.fixture
def flies():
    return trace()


@pytest.fixture
def weights(flies):
    """The weights between all tokens, (7, 7), the mean of the last layer's heads."""
    return matrix(flies, 1, "mean")


def test_unasked_it_shows_what_each_word_receives_on_average(page_of, flies, weights):
    page = page_of(flies, words="token=none")
    received = weights[1:6, 1:6].mean(axis=0)
    top, aside = WORDS[int(received.argmax())], 1 - received.sum()
    expect(page.locator(".says")).to_have_text(
        f"On average “{top}” is looked at most ({written(received.max())}); special tokens take {written(aside)}."
    )
    assert bars(page) == looked_at(received, None, WORDS)
    expect(page.locator(".legend")).to_contain_text("Weight received, on average")
    rows = numbers(page)
    assert [row["key"] for row in rows] == WORDS
    np.testing.assert_allclose([float(row["weight"]) for row in rows], received, rtol=0, atol=1e-5)


def test_a_row_of_weights_sums_to_1_with_a_grey_part(page_of, flies, weights):
    page = page_of(flies, words="token=2")
    row, aside = weights[2, 1:6], weights[2, [0, 6]].sum()
    names = looked_at(row, 1, WORDS)
    expect(page.locator(".says")).to_have_text(told("looks mostly at", "flies", names, aside))
    assert bars(page) == names
    expect(page.locator(".bars .aside")).to_contain_text("special tokens")
    expect(page.locator(".bars .aside .bar-share")).to_have_text(written(aside))
    expect(page.locator(".basis")).to_contain_text("the whole row sums to 100%")
    expect(page.locator(".basis")).to_contain_text("In grey: [CLS] and [SEP].")
    parts = page.locator(".row-bar span").evaluate_all("all => all.map((one) => one.getBoundingClientRect().width)")
    wide = page.locator(".row-bar").evaluate("bar => bar.clientWidth")
    np.testing.assert_allclose(np.array(parts) / wide, [*np.sort(row)[::-1], aside], rtol=0, atol=0.003)
    expect(page.locator(".row-bar span").last).to_have_class("aside")
    said = ", ".join(f"{WORDS[at]} {written(row[at])}" for at in np.argsort(-row, kind="stable"))
    expect(page.locator(".row-bar")).to_have_attribute("aria-label", f"{said}, special tokens {written(aside)}")


@pytest.mark.parametrize("special", ["grey", "shown", "out"])
def test_fills_bars_links_and_numbers_are_one_number_on_one_scale(page_of, flies, weights, special):
    page = page_of(flies, words=f"token=2 links=all special={special}")
    shown = range(7) if special == "shown" else SHOWN
    names = ["[CLS]", *WORDS, "[SEP]"]
    row = shares(weights, SHOWN)[2] if special == "out" else weights[2]
    row = {at: row[at] for at in shown}
    end = scale_end(list(row.values()))
    expect(page.locator(".legend")).to_contain_text(
        "Share of the words" if special == "out" else "Weight, of the whole"
    )
    expect(page.locator(".legend span").last).to_have_text(f"{int(100 * end)}%")
    ordered = sorted(row, key=lambda at: -row[at])
    assert [name for name, _ in bars(page)] == ["itself" if at == 2 else names[at] for at in ordered]
    np.testing.assert_allclose(bar_lengths(page), [row[at] / end for at in ordered], rtol=0, atol=0.003)
    widths = ribbon_widths(page)
    assert widths.keys() == row.keys()
    most = max(row, key=row.__getitem__)
    for at, width in widths.items():
        assert width / widths[most] == pytest.approx(row[at] / row[most], abs=0.05)
    boxes = [page.locator(f".token[data-unit='{at}']").bounding_box() for at in shown]
    assert numbers_beneath(page) == [
        (written(row[at]), pytest.approx(box["x"] + box["width"] / 2, abs=8))
        for at, box in zip(shown, boxes, strict=True)
    ]
    fills = page.locator(".token").evaluate_all("all => all.map((one) => getComputedStyle(one).backgroundColor)")
    assert list(np.argsort([luminance(fill) for fill in fills])) == list(np.argsort([-row[at] for at in shown]))
    aside = 1 - weights[2, SHOWN].sum()
    expect(page.locator(".bars .aside")).to_have_count(1 if special == "grey" else 0)
    if special == "out":
        expect(page.locator(".basis")).to_contain_text(
            f"Left out: [CLS] and [SEP], which take {written(aside)} of the whole row."
        )
        expect(page.locator(".says")).not_to_contain_text("special tokens")


def test_a_small_number_has_a_small_bar(page_of):
    """0.003 % isn't two thirds of 100 %: no bar is cut, none is longer than its number."""
    page = page_of(trace(spread=30, special=False), words="token=1 head=0")
    row = matrix(trace(spread=30, special=False), 1, 0)[1]
    assert row.max() > 0.99
    assert 0 < np.sort(row)[-2] < 0.01
    expect(page.locator(".bars li").first).to_contain_text("100%")
    np.testing.assert_allclose(bar_lengths(page)[:2], np.sort(row)[::-1][:2], rtol=0, atol=0.002)
    assert "»" not in page.locator(".eyeline").inner_text()


def test_special_tokens_that_take_most_dont_flatten_the_rest(page_of):
    """The scale is that of the words; what is longer has its place in the bar of the whole row, and says so."""
    q = np.ones((1, 1, 6, 4), np.float32)
    k = np.zeros((1, 1, 6, 4), np.float32)
    k[0, 0, 0] = 3  # [CLS]
    made = replace(el.Trace.of(q, k, queries=["[CLS]", *"abcd", "[SEP]"]), queries=line("a b c d"))
    page = page_of(made, words="token=2 head=0")
    row = matrix(made, 0, 0)[2]
    assert row[0] > 0.9
    assert scale_end(row[1:5]) < 0.1
    expect(page.locator(".bars .aside .bar-fill")).to_have_count(0)
    expect(page.locator(".bars .aside")).to_contain_text("see the whole row above")
    expect(page.locator(".row-bar .aside")).to_contain_text("special tokens")


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


def test_the_numbers_are_those_of_explain(page_of):
    seen = el.explain(FLIES, "flies", layer=3, head=6)
    page = page_of(el.record(FLIES), words="token=2 layer=3 head=6")
    expect(page.locator(".says")).to_contain_text("“flies” looks mostly at")
    rows = numbers(page)
    assert [row["key"] for row in rows] == ["[CLS]", *WORDS, "[SEP]"]
    assert {(row["layer"], row["head"], row["query"]) for row in rows} == {("3", "6", "flies")}
    assert rows[0]["share"] == rows[-1]["share"] == ""
    np.testing.assert_allclose([float(row["share"]) for row in rows[1:-1]], seen.shares, rtol=0, atol=1e-5)
    np.testing.assert_allclose([float(row["weight"]) for row in rows[1:-1]], seen.weights, rtol=0, atol=1e-5)
    aside = 1 - float(np.sum(seen.weights))
    taken = written(aside, scale_end(seen.weights))
    expect(page.locator(".says")).to_contain_text(f"special tokens take {taken}.")


@pytest.mark.parametrize("special", ["grey", "shown"])
@pytest.mark.parametrize("toward", ["from", "to"])
def test_numbers_both_ways(page_of, special, toward):
    found = trace("uncommonly long words here", pieces=2, spread=3)
    page = page_of(found)
    for unit, head in itertools.product(["words", "pieces"], [1, "mean", "max"]):
        go(page, f"layer=0 head={head} unit={unit} token=3 toward={toward} special={special}")
        expect(page.locator("[data-kind~=pinned]")).to_have_text("long" if unit == "words" else "lo")
        given = matrix(found, 0, head, unit)
        own = 2 if unit == "words" else 3
        shown = np.arange(len(given)) if special == "shown" else np.arange(1, len(given) - 1)
        wanted = shares(given, shown)
        wanted, given = (wanted[own], given[own]) if toward == "from" else (wanted[:, own], given[:, own])
        if toward == "to":
            wanted[np.setdiff1d(np.arange(len(wanted)), shown)] = np.nan
        rows = numbers(page)
        while {row["head"] for row in rows} != {str(head)}:
            rows = numbers(page)  # those of the head before, the new ones being on their way
        assert {row["layer"] for row in rows} == {"0"}
        np.testing.assert_allclose([float(row["share"] or "nan") for row in rows], wanted, rtol=0, atol=1e-5)
        np.testing.assert_allclose([float(row["weight"]) for row in rows], given, rtol=0, atol=1e-5)


def test_the_maximum_of_heads_is_no_distribution_and_says_so(page_of, flies):
    page = page_of(flies, words="token=2 head=max")
    row = matrix(flies, 1, "max")[2, 1:6]
    expect(page.locator(".says")).to_have_text(told("looks mostly at", "flies", looked_at(row, 1, WORDS)))
    assert bars(page) == looked_at(row, 1, WORDS)
    expect(page.locator(".row-bar")).to_be_hidden()
    expect(page.locator(".bars .aside")).to_have_count(0)
    expect(page.locator(".legend")).to_contain_text("Largest weight of the heads")
    expect(page.locator(".basis")).to_contain_text("no distribution: the numbers don't sum to 100%")


def test_it_can_be_turned_round(page_of, flies, weights):
    page = page_of(flies, words="token=2")
    expect(page.locator(".says")).to_contain_text("“flies” looks mostly at")
    page.get_by_role("button", name="who looks at it").click()
    column = weights[1:6, 2]
    names = looked_at(column, 1, WORDS)
    expect(page.locator(".says")).to_have_text(told("is looked at most by", "flies", names))
    assert bars(page) == names
    expect(page.locator(".row-bar")).to_be_hidden()
    expect(page.locator(".basis")).to_contain_text("in a row of its own, so that they don't sum to 100%")
    expect(page.get_by_role("button", name="who looks at it")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("f")
    expect(page.locator(".says")).to_contain_text("“flies” looks mostly at")
    expect(page.get_by_role("button", name="whom it looks at")).to_have_attribute("aria-pressed", "true")


def test_the_five_strongest_links_are_drawn_unless_all_are_asked_for(page_of):
    found = trace(words(9))
    page = page_of(found, words="token=2")
    row = matrix(found, 1, "mean")[2, 1:10]
    strongest = 1 + np.argsort(-row, kind="stable")[:5]
    expect(page.locator(".links path")).to_have_count(5)
    assert ribbon_widths(page).keys() == set(strongest)
    weakest = int(1 + row.argmin())
    page.locator(f".token[data-unit='{weakest}']").hover()  # and the one that is pointed at
    expect(page.locator(".links path")).to_have_count(6)
    page.get_by_role("group", name="Links").get_by_role("button", name="all").click()
    expect(page.locator(".links path")).to_have_count(9)
    assert "links=all" in page.url


def test_links_taper_towards_the_word_that_looks(page_of, flies):
    page = page_of(flies, words="token=2")
    for toward, kind in (("from", "whom it looks at"), ("to", "who looks at it")):
        page.get_by_role("button", name=kind).click()
        expect(page.locator(f"[data-kind~={toward}]")).to_have_text("flies")
        path = page.locator(".links path[data-unit='5']")
        points = [tuple(map(float, point.split())) for point in re.findall(r"[-\d.]+ [-\d.]+", path.get_attribute("d"))]
        stage = page.locator(".stage").bounding_box()
        [wide, tip] = [np.mean([points[0], points[-1]], axis=0), points[len(points) // 2]]
        seen, looker = ("arrow", "flies") if toward == "from" else ("flies", "arrow")
        for place, word in ((wide, seen), (tip, looker)):
            box = token(page, word).bounding_box()
            assert box["x"] <= stage["x"] + place[0] <= box["x"] + box["width"], (toward, word)
            assert stage["y"] + place[1] <= box["y"] + 1


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("text", [words(5), words(30), "הזמן עף כמו חץ " * 7], ids=["one line", "several", "leftward"])
def test_links_and_numbers_are_never_over_words(page_of, width, text):
    """Of a text in one line and in several, that of each link's points within a word's box there are none."""
    page = page_of(trace(text.strip(), spread=2.5), words="token=4", width=width)
    expect(page.locator(".links path")).to_have_count(5)
    over = page.evaluate(
        """() => {
          const boxes = (name) => [...document.querySelectorAll(name)].flatMap((one) => [...one.getClientRects()]);
          const [words, numbers] = [boxes(".token"), boxes(".beneath span")];
          const stage = document.querySelector(".stage").getBoundingClientRect();
          const within = (x, y) => words.some((box) =>
            x > box.left + 1 && x < box.right - 1 && y > box.top + 2 && y < box.bottom - 2);
          const points = [...document.querySelectorAll(".links path")].flatMap((path) => {
            const length = path.getTotalLength();
            return Array.from({ length: 200 }, (_, at) => path.getPointAtLength((at * length) / 200));
          });
          const meet = (one, other) => one !== other && one.left < other.right && other.left < one.right &&
            one.top < other.bottom && other.top < one.bottom;
          return [
            points.filter(({ x, y }) => within(x + stage.left, y + stage.top)).length,
            numbers.filter((box) => within((box.left + box.right) / 2, (box.top + box.bottom) / 2)).length,
            numbers.filter((box) => numbers.some((other) => meet(box, other))).length,
            points.some(({ x }) => x < 0 || x > stage.width),
          ];
        }"""
    )
    assert over == [0, 0, 0, False]


def test_five_words_fill_the_width(page_of, flies):
    for width, least in ((1280, 70), (390, 21)):
        page = page_of(flies, width=width)
        expect(page.locator(".token")).to_have_count(5)
        size = page.locator(".tokens").evaluate("one => parseFloat(getComputedStyle(one).fontSize)")
        assert size >= least
        boxes = [one.bounding_box() for one in page.locator(".token").all()]
        assert boxes[-1]["x"] + boxes[-1]["width"] - boxes[0]["x"] > 0.85 * (width - 40)
        assert len({box["y"] for box in boxes}) == 1


def test_what_may_not_be_looked_at_is_marked_and_is_no_0(page_of):
    page = page_of(trace(mask=Causal(), special=False), words="token=2")
    expect(page.locator("[data-kind~=barred]")).to_have_text(["an", "arrow"])
    expect(token(page, "an")).to_have_attribute("aria-label", "an, word 4 of 5: not allowed")
    assert "gradient" in token(page, "an").evaluate("one => getComputedStyle(one).backgroundImage")
    assert [name for name, _ in bars(page)].count("an") == 0
    expect(page.locator(".basis")).to_contain_text("Hatched: where it may not look.")
    page.get_by_role("button", name="who looks at it").click()
    expect(page.locator("[data-kind~=barred]")).to_have_text(["time", "flies"])  # like, of course, sees itself


def test_the_first_word_of_a_decoder_is_set_aside_until_it_is_asked_about(page_of):
    found = trace(mask=Causal(), special=False)
    page = page_of(found, words="token=2")
    weights = matrix(found, 1, "mean")
    expect(page.locator(".bars .aside .bar-name")).to_have_text("“time”, the first word")
    expect(page.locator(".bars .aside .bar-share")).to_have_text(written(weights[2, 0]))
    expect(page.locator(".says")).to_contain_text(f"; “time”, the first word, takes {written(weights[2, 0])}.")
    assert "time" not in [name for name, _ in bars(page)]
    token(page, "time").click()
    expect(page.locator(".says")).to_have_text("“time” looks mostly at itself (100%).")
    go(page, "token=2 special=shown")
    expect(page.locator(".says")).to_contain_text("“like” looks mostly at")
    assert bars(page) == looked_at(weights[2, :3], 2, WORDS)


def test_the_pieces_of_a_first_word_are_no_control_characters(page_of):
    page = page_of(trace(mask=Causal(), special=False, pieces=2), words="unit=pieces token=4")
    expect(page.locator(".basis")).to_contain_text("“ti”, the first word and “me”, the first word")
    expect(page.locator(".basis")).not_to_contain_text("control characters")


def test_special_tokens_are_labels_where_they_are_shown(page_of, flies):
    page = page_of(flies)
    expect(page.locator(".token")).to_have_text(WORDS)
    page.locator(".of-tokens summary").click()
    page.get_by_label("Special tokens", exact=True).select_option("shown")
    expect(page.locator(".token.label")).to_have_text(["[CLS]", "[SEP]"])
    expect(page.locator(".token.label").first).to_have_attribute("aria-label", re.compile(r"^\[CLS\], a special token"))


def test_another_head_shows_its_own_numbers(page_of, flies):
    page = page_of(flies, words="token=2")
    for layer, head in [(0, 0), (0, 2), (1, 1)]:
        page.get_by_label("Layer", exact=True).select_option(str(layer))
        page.get_by_label("Head", exact=True).select_option(str(head))
        row = matrix(flies, layer, head)[2, 1:6]
        first = looked_at(row, 1, WORDS)[0]
        name = first[0] if first[0] == "itself" else f"“{first[0]}”"
        expect(page.locator(".says")).to_contain_text(f"“flies” looks mostly at {name} ({first[1]})")
        assert bars(page) == looked_at(row, 1, WORDS)
