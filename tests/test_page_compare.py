"""The compare view in the browser: two places side by side, every number the library's, and their difference."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import numpy as np
import pages
import pytest
from playwright.sync_api import expect

from eyeline import reference
from eyeline.masks import Causal
from eyeline.views.page import Page
from tests.taken import taken

WITHIN = {"rtol": 1e-5, "atol": 1e-5}
TIME, FRUIT = "time flies like an arrow", "fruit flies like a banana"


@pytest.fixture
def compare(page_of):
    """Opens a page on a comparison, and waits for it."""

    def opened(traces, words="", **options):
        page = page_of(Page(traces), words=f"view=compare layer=0 head=mean token=none {words}".strip(), **options)
        page.locator(".butterfly").wait_for()
        return page

    return opened


def weights(trace, layer=0, head=None, causal=False):
    """The reference's weights of a head, or the mean of all, between words: queries' pieces averaged, keys' added."""
    part = trace.layer(layer)
    group = trace.model.heads // trace.model.key_heads
    heads = range(trace.model.heads) if head is None else [head]
    found = [
        reference.steps(
            part.q[one], part.k[one // group], part.k[one // group], mask=Causal() if causal else None, scale=part.scale
        ).weights
        for one in heads
    ]
    both = np.mean(found, axis=0)
    queries, keys = trace.queries.words, trace.across.words
    return np.array(
        [[both[slice(*query.tokens), slice(*key.tokens)].sum(axis=1).mean() for key in keys] for query in queries]
    )


def words_of(line, special=False):
    """The words that are drawn, and their places."""
    kept = [at for at in range(len(line.words)) if special or at not in line.aside]
    return [line.text[slice(*line.words[at].span)] for at in kept], kept


def shares(row, kept):
    return row[kept] / row[kept].sum()


def rows(page, aside=False):
    """The table: [first number, words, second number, difference] of each row; None where there is none.

    Without the last row, that of special tokens; with `aside`, that row alone.
    """
    number = "(cell) => cell.querySelector('data') ? Number(cell.querySelector('data').value) : null"
    return page.eval_on_selector_all(
        ".butterfly tbody tr.aside" if aside else ".butterfly tbody tr:not(.aside)",
        f"""all => all.map((row) => {{
          const number = {number};
          const [one, word, two, difference] = row.children;
          const words = [...word.querySelectorAll('bdi')].map((part) => part.textContent);
          return [number(one), words, number(two), number(difference)];
        }})""",
    )


def numbers(page):
    found = json.loads(taken(page, "json"))
    return [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]


def pinned(page):
    return page.locator(".side .wordline [aria-checked=true]").all_inner_texts()


def two(**options):
    return [pages.trace(TIME, **options), pages.trace(FRUIT, seed=1, **options)]


# Two texts


def test_the_same_word_is_found_in_two_texts_and_what_it_looks_at_is_the_librarys(compare):
    traces = two()
    page = compare(traces)
    assert pinned(page) == ["flies", "flies"]
    (first, kept), (second, _) = words_of(traces[0].queries), words_of(traces[1].queries)
    one, two_ = (weights(trace)[2][kept] for trace in traces)
    found = rows(page)
    assert [row[1] for row in found] == [["time", "fruit"], ["flies"], ["like"], ["an", "a"], ["arrow", "banana"]]
    np.testing.assert_allclose([row[0] for row in found], one, **WITHIN)
    np.testing.assert_allclose([row[2] for row in found], two_, **WITHIN)
    same = [at for at in range(5) if first[at] == second[at]]
    assert [at for at in range(5) if found[at][3] is not None] == same
    np.testing.assert_allclose([found[at][3] for at in same], (two_ - one)[same], **WITHIN)
    ((left, _, right, difference),) = rows(page, aside=True)
    np.testing.assert_allclose([left, right], [1 - one.sum(), 1 - two_.sum()], **WITHIN)
    assert difference == pytest.approx(right - left)


def test_bars_are_as_long_as_their_numbers_on_one_scale_that_is_stated(compare):
    page = compare(two())
    for words in ("grey", "out"):
        page.evaluate(f"location.hash = 'view=compare&layer=0&head=mean&special={words}'")
        expect(page.locator(".butterfly tr.aside")).to_have_count(1 if words == "grey" else 0)
        numbers = np.array(
            [number for row in rows(page) + rows(page, True) for number in row[::2] if number is not None]
        )
        whole = min(end for end in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1) if end >= numbers.max())
        assert page.locator(".butterfly .axis-ends.to-right").inner_text().split() == ["0", f"{whole:.0%}"]
        drawn = page.eval_on_selector_all(
            ".butterfly .run:has(.reach)",
            """all => all.map((run) => [
              run.querySelector('.reach').getBoundingClientRect().width,
              run.clientWidth - parseFloat(getComputedStyle(run).getPropertyValue('--figures')),
              Number(run.querySelector('data').value),
            ])""",
        )
        assert len(drawn) == len(numbers)
        for width, room, number in drawn:
            assert width == pytest.approx(room * number / whole, abs=0.6)


def test_special_tokens_are_one_by_one_or_left_out_as_the_state_says(compare):
    traces = two()
    page = compare(traces, "special=shown")
    found = rows(page)
    assert [row[1][0] for row in found][::6] == ["[CLS]", "[SEP]"]
    np.testing.assert_allclose([row[0] for row in found], weights(traces[0])[2], **WITHIN)
    page = compare(traces, "special=out")
    _, kept = words_of(traces[0].queries)
    np.testing.assert_allclose([row[0] for row in rows(page)], shares(weights(traces[0])[2], kept), **WITHIN)
    assert "Shares of the words" in page.locator(".butterfly caption").inner_text()


def test_a_sentence_says_whom_the_word_takes_most_from(compare):
    traces = two()
    page = compare(traces)
    said = []
    for trace in traces:
        names, kept = words_of(trace.queries)
        whole = weights(trace)[2]
        row = whole[kept]
        top = np.argsort(-row, kind="stable")[:2]
        named = ", ".join(f"{'itself' if at == 1 else names[at]} ({row[at]:.0%})" for at in top)
        said.append(f"{named} and special tokens ({whole.sum() - row.sum():.0%})")
    want = f"In “{TIME}”, flies takes most from {said[0]}; in “{FRUIT}”, from {said[1]}."
    assert page.locator(".said").inner_text() == want


def test_other_words_are_matched_and_any_can_be_chosen(compare):
    traces = two()
    page = compare(traces)
    sides = page.locator(".side")
    sides.nth(0).get_by_role("radio", name="like").click()
    assert pinned(page) == ["like", "like"]
    sides.nth(0).get_by_role("radio", name="arrow").click()
    assert pinned(page) == ["arrow", "banana"]
    assert "another word than arrow" in page.locator(".also").first.inner_text()
    sides.nth(1).get_by_role("radio", name="fruit").click()
    assert pinned(page) == ["arrow", "fruit"]
    _, kept = words_of(traces[1].queries)
    np.testing.assert_allclose([row[2] for row in rows(page)], weights(traces[1])[1][kept], **WITHIN)
    assert "partner=1" in page.url
    sides.nth(0).get_by_role("radio", name="flies").click()
    assert pinned(page) == ["flies", "flies"]


def test_of_several_alike_the_one_that_comes_as_late_is_taken(compare):
    page = compare([pages.trace("flies see flies"), pages.trace("Flies eat FLIES and flies", seed=1)], words="token=3")
    chosen = page.locator(".side").nth(1).get_by_role("radio")
    assert [one.get_attribute("aria-checked") for one in chosen.all()].index("true") == 3


def test_texts_that_differ_have_two_pictures_and_no_difference(compare):
    page = compare(two())
    assert page.locator("canvas.grid").count() == 2
    assert "no difference of their pictures" in page.locator(".pictures").inner_text()


# One text


def test_two_layers_of_one_text_and_their_difference(compare):
    trace = pages.trace(TIME, layers=3, pieces=2)
    page = compare([trace], words="layer=2 token=3")
    _, kept = words_of(trace.queries)
    word = next(at for at, one in enumerate(trace.queries.words) if one.tokens[0] <= 3 < one.tokens[1])
    one, before = (weights(trace, layer)[word][kept] for layer in (2, 1))
    found = rows(page)
    np.testing.assert_allclose([row[0] for row in found], one, **WITHIN)
    np.testing.assert_allclose([row[2] for row in found], before, **WITHIN)
    np.testing.assert_allclose([row[3] for row in found], before - one, **WITHIN)
    assert page.locator("canvas.grid").count() == 3


def test_all_numbers_are_given_away(compare):
    trace = pages.trace(TIME, layers=2)
    page = compare([trace], words="layer=1 head=0 other=0,0,2 token=2")
    names, kept = words_of(trace.queries)
    one, two_ = weights(trace, 1, 0), weights(trace, 0, 2)
    found = numbers(page)
    looks = [row for row in found if row["what"] == "looks"]
    assert [row["key"] for row in looks] == [row["key_second"] for row in looks] == names
    assert {(row["query"], row["query_second"]) for row in looks} == {("flies", "flies")}
    for name, want in {
        "first": one[2, kept],
        "second": two_[2, kept],
        "difference": two_[2, kept] - one[2, kept],
        "share_first": shares(one[2], kept),
        "share_second": shares(two_[2], kept),
        "share_difference": shares(two_[2], kept) - shares(one[2], kept),
    }.items():
        np.testing.assert_allclose([row[name] for row in looks], want, **WITHIN)
    pictured = [row for row in found if row["what"] == "picture"]
    region = np.ix_(kept, kept)
    np.testing.assert_allclose([row["first"] for row in pictured], one[region].ravel(), **WITHIN)
    np.testing.assert_allclose([row["second"] for row in pictured], two_[region].ravel(), **WITHIN)
    np.testing.assert_allclose([row["difference"] for row in pictured], (two_ - one)[region].ravel(), **WITHIN)


def test_each_side_has_its_own_pickers(compare):
    traces = two(layers=3)
    page = compare(traces)
    first, second = page.locator(".side").all()
    assert page.locator(".controls").get_by_label("Layer").count() == 0
    second.get_by_label("Layer", exact=True).select_option(label="L2")
    second.get_by_label("Head", exact=True).select_option(label="H1")
    _, kept = words_of(traces[1].queries)
    expect(page).to_have_url(re.compile("other=1,2,1"))
    np.testing.assert_allclose([row[2] for row in rows(page)], weights(traces[1], 2, 1)[2][kept], **WITHIN)
    np.testing.assert_allclose([row[0] for row in rows(page)], weights(traces[0])[2][kept], **WITHIN)
    first.get_by_label("The layer after").click()
    expect(page.locator(".side").first.get_by_label("Layer", exact=True)).to_have_value("1")
    np.testing.assert_allclose([row[0] for row in rows(page)], weights(traces[0], 1)[2][kept], **WITHIN)
    np.testing.assert_allclose([row[2] for row in rows(page)], weights(traces[1], 2, 1)[2][kept], **WITHIN)
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "The layer after"


def test_the_same_text_as_trained_and_causal(compare):
    traces = [pages.trace(TIME), pages.trace(TIME, mask=Causal(), name="causal")]
    page = compare(traces, words="token=2")
    found = rows(page)
    shown = {row[1][-1]: row for row in found}
    assert "not allowed" in page.locator(".butterfly tbody tr:not(.aside)").last.inner_text()
    assert shown["arrow"][2] == 0
    _, kept = words_of(traces[1].queries)
    causal = weights(traces[1], causal=True)[2]
    names = [row[1][-1] for row in found if row[1] and row[2] is not None]
    want = dict(zip(words_of(traces[1].queries)[0], causal[kept], strict=True))
    np.testing.assert_allclose([shown[name][2] for name in names], [want[name] for name in names], **WITHIN)


def test_cross_attention_compares_heads_of_two_lines(compare):
    trace = pages.trace("le temps passe", "time flies like an arrow", heads=2, special=False)
    page = compare([trace], words="head=0 other=0,0,1 token=1")
    kept = list(range(5))
    one, two_ = weights(trace, 0, 0)[1], weights(trace, 0, 1)[1]
    found = rows(page)
    assert [row[1] for row in found] == [[word] for word in ["time", "flies", "like", "an", "arrow"]]
    np.testing.assert_allclose([row[0] for row in found], shares(one, kept), **WITHIN)
    np.testing.assert_allclose([row[3] for row in found], two_ - one, **WITHIN)
    assert pinned(page) == ["temps", "temps"]


def test_a_text_of_one_word(compare):
    page = compare([pages.trace("hi", special=False, layers=1, heads=1)])
    ((one, words, other, difference),) = rows(page)
    assert (one, words, other, difference) == (pytest.approx(1), ["hi"], pytest.approx(1), 0)
    said = "In L0, mean of the heads, hi takes most from itself (100%); in L0H0, from itself (100%)."
    assert page.locator(".said").inner_text() == said


# Pictures


def reading(page):
    return page.locator(".cell-said").inner_text()


def test_cells_are_read_where_they_are_pointed_at(compare):
    trace = pages.trace(TIME, layers=2)
    page = compare([trace], words="layer=1 head=0 other=0,0,2 token=2")
    one, two_ = weights(trace, 1, 0), weights(trace, 0, 2)
    grid = page.locator("canvas.grid").nth(2)
    box = grid.bounding_box()
    cell = box["width"] / 7  # six columns, and labels
    grid.hover(position={"x": box["width"] - 16 - 1.5 * cell, "y": box["height"] - cell / 2})
    first, second = one[5, 5], two_[5, 5]
    difference = f"{100 * (second - first):+.1f}".replace("-", "−")
    assert reading(page) == f"arrow → arrow: {first:.1%} in L1H0, {second:.1%} in L0H2, difference {difference}"
    grid.hover(position={"x": box["width"] - cell / 2, "y": box["height"] - cell / 2})
    left, right = 1 - one[5, 1:6].sum(), 1 - two_[5, 1:6].sum()
    assert reading(page).startswith(f"arrow → special tokens: {left:.1%} in L1H0, {right:.1%} in L0H2, difference ")


def test_arrow_keys_go_from_cell_to_cell(compare):
    traces = two()
    page = compare(traces)
    page.locator("canvas.grid").nth(1).focus()
    page.keyboard.press("ArrowRight")
    assert reading(page) == f"“{FRUIT}”: flies → fruit: {weights(traces[1])[2, 1]:.1%}"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert reading(page) == f"“{FRUIT}”: like → flies: {weights(traces[1])[3, 2]:.1%}"
    for _ in range(9):
        page.keyboard.press("ArrowDown")
    assert reading(page).startswith(f"“{FRUIT}”: banana → flies")


def test_a_row_that_is_clicked_is_chosen(compare):
    page = compare(two())
    grid = page.locator("canvas.grid").first
    box = grid.bounding_box()
    grid.click(position={"x": box["width"] - 45, "y": box["height"] - 45})
    assert pinned(page)[0] == "arrow"


def test_of_long_texts_what_is_near_is_drawn(compare):
    text = pages.words(400)
    trace = pages.trace(text, head_dim=8, layers=2)
    page = compare([trace], words="layer=1 token=199")
    row, before = weights(trace, 1)[199], weights(trace, 0)[199]
    _, kept = words_of(trace.queries)
    found = numbers(page)
    np.testing.assert_allclose([one["first"] for one in found if one["what"] == "looks"], row[kept], **WITHIN)
    pictured = [one for one in found if one["what"] == "picture"]
    assert len(pictured) == 121 * 121
    region = slice(139, 260)
    want = weights(trace, 1)[region, region].ravel()
    np.testing.assert_allclose([one["first"] for one in pictured], want, **WITHIN)
    assert len(rows(page)) == 40
    greatest = np.maximum(row[kept], before[kept])
    least = np.sort(greatest)[-40]
    assert all(max(one[0], one[2]) >= least - 1e-9 for one in rows(page))
    assert page.evaluate("document.querySelectorAll('*').length") < 2500


def test_a_picture_of_it_is_svg_with_its_words_and_numbers(compare):
    page = compare([pages.trace("time <b>flies</b> & arrow"), pages.trace("fruit <b>flies</b>", seed=1)])
    text = taken(page, "svg")
    words = [one.text for one in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")]
    assert words.count("<b>flies</b>") >= 3
    assert re.findall(r'href="(?!data:)', text) == []
    assert text.count("<image") == 4  # two pictures, and a colour scale for each


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_page(compare, width, dark):
    page = compare([pages.trace("time flies " + "w" * 200), pages.trace("fruit flies", seed=1)], width=width, dark=dark)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
