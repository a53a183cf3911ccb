"""The cost of attention in the browser: counts and areas are the formulas', times measured or called estimates."""

from __future__ import annotations

import re

import pages
import pytest
from browser import settled
from playwright.sync_api import expect

from eyeline.views import kept_growth
from eyeline.views.measurements import Curve, Growth, Point
from tests.taken import numbers, picture

WIDTH, HEADS = 512, 8


@pytest.fixture
def growth(monkeypatch, tmp_path):
    """Where a page finds what was measured: nothing, until something is kept."""
    monkeypatch.setattr(kept_growth, "path", lambda: tmp_path / "growth.json")

    def keep():
        attention = Curve("attention", [Point(256, 0.001, None), Point(1024, 0.016, None)])
        recurrent = Curve("a GRU (torch)", [Point(256, 0.01, None), Point(1024, 0.04, None)])
        kept_growth.keep(Growth(attention, recurrent, []), threads=2, heads=HEADS, head_dim=64)

    return keep


@pytest.fixture
def opened(page_of, growth):
    def call(words="", **options):
        shown = page_of(pages.trace(), words=f"view=cost {words}".strip(), **options)
        settled(shown)
        return shown

    return call


def n_of(shown):
    return int(shown.get_by_role("textbox").input_value().replace(",", ""))


def columns(shown):
    """The numbers of the table: attention's and the RNN's, by row."""
    return [[float(row[name]) if row[name] else None for name in ("attention", "rnn")] for row in numbers(shown)]


@pytest.mark.parametrize("n", [8, 1000, 123456])
def test_counts_are_the_formulas(opened, n):
    found = columns(opened(f"n={n}"))
    expected = [
        [n * n, n],
        [2 * n * n * WIDTH, 3 * n * WIDTH**2],
        [4 * n * WIDTH**2, 3 * n * WIDTH**2],
        [HEADS * n * n * 4, None],
        [4 * n * (WIDTH + HEADS), 4 * n * WIDTH],
        [1, n],
        [2 * n * n * WIDTH / 5e10, 3 * n * WIDTH**2 / 1e10],
    ]
    for row, wanted in zip(found, expected, strict=True):
        assert row == [None if one is None else pytest.approx(one, rel=1e-6) for one in wanted]


@pytest.mark.parametrize("n", [10, 300, 1000])
def test_areas_are_numbers_of_cells_on_one_scale(opened, n):
    shown = opened(f"n={n}")
    sides = {
        kind: float(shown.locator(f".squares rect.{kind}").get_attribute("width"))
        for kind in ("frame", "of-attention", "of-recurrent")
    }
    frame = int(shown.locator(".squares text").first.text_content().split()[3].replace(",", ""))
    assert sides["of-attention"] / sides["frame"] == pytest.approx(n / frame)
    assert sides["of-attention"] ** 2 / sides["of-recurrent"] ** 2 == pytest.approx(n)


def test_twice_the_length_is_four_times_the_cells(opened):
    shown = opened("n=300")
    factors = shown.locator(".factor b")
    assert factors.all_inner_texts() == ["4 ×", "2 ×"]
    shown.get_by_role("button", name="Twice the length").click()
    assert (n_of(shown), factors.all_inner_texts()) == (600, ["4 ×", "2 ×"])
    expect(shown.locator(".doubling p").first).to_have_text("From 300 to 600 tokens, the cells became")
    big, ghost = (
        float(shown.locator(f".squares .{kind}").first.get_attribute("width")) for kind in ("of-attention", "ghost")
    )
    assert big == pytest.approx(2 * ghost)
    # Small n: most multiplications are the projections', which grow as n.
    n = WIDTH
    ratio = (2 * (2 * 300) ** 2 * n + 4 * 600 * n * n) / (2 * 300**2 * n + 4 * 300 * n * n)
    expect(shown.locator(".doubling")).to_contain_text(f"projections included: {ratio:.1f} × and 2 ×.")
    assert "n=600" in shown.url
    shown.reload()
    settled(shown)
    assert n_of(shown) == 600
    shown.get_by_role("button", name="Half the length").click()
    assert n_of(shown) == 300


def test_n_is_dragged_typed_and_stepped(opened):
    shown = opened()
    slider = shown.get_by_role("slider")
    box = slider.bounding_box()
    middle = box["y"] + box["height"] / 2
    shown.mouse.move(box["x"] + 0.435 * box["width"], middle)
    shown.mouse.down()
    seen = []
    for share in (0.5, 0.6, 0.7):
        shown.mouse.move(box["x"] + share * box["width"], middle, steps=4)
        seen.append(n_of(shown))
    shown.mouse.up()
    assert seen == sorted(seen)
    assert seen[2] > 3 * seen[0]
    assert all(re.fullmatch(r"\d\d?0*", str(one)) for one in seen)  # two digits
    slider.focus()
    for key, expected in (
        ("Home", 8),
        ("ArrowRight", 9),
        ("PageUp", 18),
        ("ArrowRight", 19),
        ("End", 1_000_000),
        ("ArrowLeft", 990_000),
    ):
        shown.keyboard.press(key)
        assert n_of(shown) == expected, key
    assert shown.evaluate("document.activeElement.type") == "range"
    assert slider.get_attribute("aria-valuetext") == "990,000 tokens, a shelf of novels"
    field = shown.get_by_role("textbox")
    field.fill("12,345")
    field.press("Enter")
    assert "n=12345" in shown.url
    for wrong in ("7", "x", "2000000", ""):
        field.fill(wrong)
        field.press("Tab")
        assert field.get_attribute("aria-invalid") == "true"
        assert "n=12345" in shown.url


@pytest.mark.parametrize("wrong", ["7", "1000001", "1.5", "x", "-8"])
def test_a_wrong_n_in_the_address_is_the_default(opened, wrong):
    assert n_of(opened(f"n={wrong}")) == 1000


def test_without_a_measurement_it_is_an_estimate(opened):
    shown = opened()
    basis = shown.locator(".basis")
    expect(basis).to_contain_text("The times are estimates, not measured")
    expect(basis).to_contain_text("divided by 50 billion a second; by 10 billion a second for the RNN")
    assert shown.locator(".costs tbody tr").last.inner_text().split("\t") == ["time, estimated", "≈ 20 ms", "≈ 79 ms"]
    assert shown.locator(".cost-curves .dot:not(.now)").count() == 0


def test_measured_times_are_shown_and_those_beyond_are_marked(opened, growth):
    growth()
    shown = opened("n=512")
    row = shown.locator(".costs tbody tr").last
    assert row.inner_text().split("\t") == ["time", "4 ms", "20 ms"]
    expect(shown.locator(".basis")).to_contain_text("of a GRU (torch) were measured by “eyeline bench growth” on")
    expect(shown.locator(".basis")).to_contain_text("2 threads")
    expect(shown.locator(".basis")).to_contain_text("from 256 to 1,024 tokens")
    assert shown.locator(".cost-curves .dot:not(.now)").count() == 4
    shown.get_by_role("textbox").fill("4096")
    shown.get_by_role("textbox").press("Enter")
    assert row.inner_text().split("\t") == ["time", "≈ 256 ms", "≈ 160 ms"]
    shown.get_by_role("textbox").fill("128")
    shown.get_by_role("textbox").press("Enter")
    assert row.inner_text().split("\t") == ["time", "≈ 250 µs", "≈ 5 ms"]


@pytest.mark.parametrize(
    ("language", "sentence", "line", "long"),
    [
        (
            "en",
            "n = 120,000: attention compares 14.4 billion pairs at once; an RNN takes 120,000 steps in a row.",
            "One layer's matrices fit into a phone up to n = 16,384, into a 24 GiB GPU up to n = 28,377.",
            "as long as a novel",
        ),
        (
            "vi",
            "n = 120\u202f000: attention so 14.4 tỷ cặp cùng lúc; RNN đi 120\u202f000 bước nối tiếp.",
            "Ma trận của một tầng vừa một chiếc điện thoại tới n = 16\u202f384, "
            "vừa một GPU 24 GiB tới n = 28\u202f377.",
            "dài bằng một tiểu thuyết",
        ),
    ],
)
def test_it_says_what_one_sees(opened, language, sentence, line, long):
    shown = opened(f"n=120000 language={language}")
    expect(shown.locator(".says")).to_have_text(sentence)
    expect(shown.locator(".fits")).to_have_text(line)
    expect(shown.locator(".cost .long")).to_have_text(long)


def test_a_narrow_page_and_a_picture(opened):
    shown = opened(width=390, height=844)
    assert shown.evaluate("document.documentElement.scrollWidth") <= 390
    texts = ["".join(one.itertext()) for one in picture(opened()).iter("{http://www.w3.org/2000/svg}text")]
    assert {"1.02 billion", "attention", "4 ×"} <= set(texts)
