"""What holds for every view: size, languages, contrast, names, keys, narrow windows, dark ones."""

from __future__ import annotations

import re
from dataclasses import replace

import pages
import pytest
from browser import VIEWS, each_view, settled
from playwright.sync_api import expect

from eyeline.masks import Causal
from eyeline.views.page import Page
from eyeline.views.page.joining import HERE, style
from eyeline.words import page_table

#: The views that show no text.
TEXTLESS = ("toy", "positions", "cost")
ARABIC = "الكلب يطارد القطة 🦜 in the garden"


@pytest.fixture(scope="module")
def two():
    """Two short texts, of a decoder and an encoder, of which words are cut into pieces."""
    first = pages.trace(mask=Causal(), pieces=2, key_heads=1, model="mini")
    return Page([first, pages.trace("fruit flies like a banana", pieces=2, seed=1)])


@pytest.fixture(scope="module")
def crossing():
    return Page([pages.trace("ein Pfeil fliegt schnell", "an arrow flies fast", name="cross")])


@pytest.mark.parametrize(("tokens", "layers", "unit"), [(2048, 6, "words"), (512, 12, "pieces")])
def test_no_view_grows_beyond_a_few_thousand_elements(page_of, tokens, layers, unit):
    text = pages.words(tokens - 2) if unit == "words" else pages.words((tokens - 2) // 2)
    trace = pages.trace(text, pieces=1 if unit == "words" else 2, layers=layers, heads=12, head_dim=4, value_dim=4)
    shown = page_of(trace, words=f"unit={unit} head=2 token={tokens // 2}")
    shown.set_default_timeout(60_000)
    for view in each_view(shown):
        assert shown.evaluate("document.querySelectorAll('*').length") < 3000, view


def test_every_rule_of_the_style_is_for_pages_alone(page_of, two):
    text = style()
    assert text.count("{") == text.count("}")
    shown = page_of(two)
    settled(shown)
    rules = shown.evaluate(
        """() => {
          const of = (rule) => rule.selectorText ? [rule.selectorText] : [...(rule.cssRules ?? [])].flatMap(of);
          return [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules].flatMap(of));
        }"""
    )
    assert len(rules) > 100
    assert [
        rule for rule in rules for one in re.split(r",(?![^(]*\))", rule) if not one.strip().startswith(".eyeline")
    ] == []


# Languages


@pytest.fixture
def words():
    """The page's texts in the catalogue: by key, in each language."""
    return page_table()


def test_no_text_lacks_and_none_is_left_over(words):
    code = "\n".join(path.read_text("utf-8") for path in sorted(HERE.rglob("*.js")) if path.name != "words.js")
    assert set(re.findall(r'say\(\s*"([^"]+)"', code)) <= set(words)
    whole = set(re.findall(r'"([a-z][\w.]*)"', code))
    # Those that are put together, such as `view.${name}`.
    made = [re.sub(r"\\\$\\\{.*?\\\}", ".+", re.escape(text)) for text in re.findall(r"`([\w.]*\$\{[^`]*)`", code)]
    made = [text for text in made if re.search(r"[a-z]\\\.|\\\.[a-z]", text)]
    made.append(r"keys\..+")  # the list of keys takes all of its own
    assert [key for key in words if key not in whole and not any(re.fullmatch(text, key) for text in made)] == []


def test_what_the_vocabulary_lacks_is_said_in_every_view(page_of):
    trace = pages.trace("I love 爱 and 爱 and 🇻🇳")
    line = replace(
        trace.queries, unknown=tuple(place for place, piece in enumerate(trace.queries.pieces) if piece == "爱")
    )
    shown = page_of(replace(trace, queries=line))
    note = shown.locator(".unknown")
    for view in each_view(shown):
        if view in TEXTLESS:
            continue
        expect(note).to_have_text("Read as 爱, since the vocabulary has no pieces for it: 爱.")
    shown.keyboard.press("1")
    shown.get_by_role("combobox", name="Language").select_option("vi")
    expect(note).to_have_text("Được đọc là 爱, vì bộ từ vựng không có mảnh nào cho: 爱.")
    expect(page_of(trace).locator(".unknown")).to_have_count(0)


@pytest.mark.parametrize("which", ["two", "crossing"])
def test_a_vietnamese_page_says_nothing_in_english(page_of, words, which, request):
    english = [
        texts[0] for texts in words.values() if texts[0] != texts[1] and "{" not in texts[0] and len(texts[0]) > 6
    ]
    shown = page_of(request.getfixturevalue(which), language="vi-VN", words="token=2 special=shown")
    for view in each_view(shown):
        assert shown.locator(".eyeline").get_attribute("lang") == "vi"
        text = shown.inner_text(".eyeline") + " ".join(
            shown.evaluate(
                "[...document.querySelectorAll('.eyeline [aria-label], .eyeline [title]')]"
                ".flatMap((one) => [one.ariaLabel ?? '', one.title ?? ''])"
            )
        )
        assert [one for one in english if re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text)] == [], view
        assert not re.search(r"\{\w+\}|undefined|NaN|\[object", text), view
    shown.get_by_role("combobox", name="Ngôn ngữ").select_option("en")
    settled(shown)
    assert shown.locator(".eyeline").get_attribute("lang") == "en"
    assert shown.get_by_role("tab").all_inner_texts() == [words[f"view.{view}"][0] for view in VIEWS]


# Colours

# Of every text that is seen: its contrast with what lies behind it, where that is less than WCAG 2.2 asks for at AA.
FAINT = """() => {
  const numbers = (colour) => {
    const [r, g, b, a = 1] = colour.match(/[\\d.e-]+/g).map(Number);
    return colour.startsWith("color(srgb") ? [255 * r, 255 * g, 255 * b, a] : [r, g, b, a];
  };
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a)];
  const linear = (part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const behind = (one) => {
    const layers = [];
    for (let at = one; at; at = at.parentElement) layers.push(numbers(getComputedStyle(at).backgroundColor));
    return layers.reduceRight((below, layer) => over(layer, below), [255, 255, 255]);
  };
  const found = [];
  const walker = document.createTreeWalker(document.querySelector(".eyeline"), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const one = node.parentElement;
    if (!node.textContent.trim() || one.closest("option, .unseen, :disabled") || !one.checkVisibility()) continue;
    const style = getComputedStyle(one);
    let opacity = 1;
    for (let at = one; at; at = at.parentElement) opacity *= getComputedStyle(at).opacity;
    const ground = behind(one);
    const [r, g, b, a] = numbers(one instanceof SVGElement ? style.fill : style.color);
    const [high, low] = [luminance(over([r, g, b, a * opacity], ground)), luminance(ground)].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize);
    if (size === 0) continue;
    const enough = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
    const contrast = (high + 0.05) / (low + 0.05);
    if (contrast < enough) found.push(`${node.textContent.trim()} (${one.className}): ${contrast.toFixed(2)}`);
  }
  return found;
}"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("which", ["two", "crossing"])
def test_every_text_has_contrast_enough(page_of, which, dark, request):
    shown = page_of(request.getfixturevalue(which), dark=dark, words="token=2 special=shown")
    for view in each_view(shown):
        assert shown.evaluate(FAINT) == [], view
    shown.get_by_role("button", name="Save and share").click()
    assert shown.evaluate(FAINT) == []


def test_the_page_is_dark_where_the_system_is_and_changes_with_it(page_of, two):
    ground = "getComputedStyle(document.querySelector('.eyeline')).backgroundColor"
    shown = page_of(two, dark=True)
    for _ in each_view(shown):
        assert shown.evaluate(ground) == "rgb(20, 23, 28)"
    shown.emulate_media(color_scheme="light")
    settled(shown)
    assert shown.evaluate(ground) == "rgb(255, 255, 255)"
    shown.get_by_role("combobox", name="Colours").select_option("dark")
    settled(shown)
    assert shown.evaluate(ground) == "rgb(20, 23, 28)"
    assert shown.evaluate("getComputedStyle(document.body).backgroundColor") in ("rgb(20, 23, 28)", "rgba(0, 0, 0, 0)")


# Keys and names

# What one can do something with: what of it can't be reached by Tab, or by arrow keys from what can.
OUT_OF_REACH = """() => {
  const parts = [...document.querySelectorAll(
    ".eyeline :is(button, a[href], input, select, textarea, summary, [tabindex], [role=option], [role=gridcell])",
  )].filter((one) => one.checkVisibility() && !one.disabled && !one.closest("dialog:not([open])"));
  const groups = "[role=tablist], [role=listbox], [role=radiogroup], [role=grid], [role=toolbar]";
  const within = (one) => one.closest(groups)?.querySelector("[tabindex='0']");
  const panels = ["tabpanel", "listbox", "grid"];
  return parts
    .filter((one) => one.tabIndex < 0 && !panels.includes(one.getAttribute("role")) && !within(one))
    .map((one) => one.outerHTML.slice(0, 160));
}"""


def nameless(shown):
    """What the browser tells a screen reader can be focused, but not what it is."""
    session = shown.context.new_cdp_session(shown)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    found = []
    for node in nodes:
        focusable = any(one["name"] == "focusable" and one["value"]["value"] for one in node.get("properties", []))
        if focusable and node["role"]["value"] != "RootWebArea" and not node.get("name", {}).get("value", "").strip():
            found.append(node["role"]["value"])
    return found


@pytest.mark.parametrize("which", ["two", "crossing"])
def test_everything_has_a_name_and_is_reached_by_keys(page_of, which, request):
    shown = page_of(request.getfixturevalue(which), words="token=2")
    for view in each_view(shown):
        assert nameless(shown) == [], view
        assert shown.evaluate(OUT_OF_REACH) == [], view
        # Tab goes through all of it, and out again.
        tabbable = shown.evaluate(
            "[...document.querySelectorAll('.eyeline *')].filter((one) => one.tabIndex >= 0 && !one.disabled"
            " && one.checkVisibility()).length"
        )
        shown.locator("h1").click()  # before all that takes the focus
        reached = set()
        for _ in range(tabbable + 2):
            shown.keyboard.press("Tab")
            place = shown.evaluate("[...document.querySelectorAll('*')].indexOf(document.activeElement)")
            if place in reached:
                break
            reached.add(place)
        assert len(reached) >= tabbable, view


@pytest.mark.parametrize("role", ["tablist", "listbox", "grid", "radiogroup"])
def test_arrow_keys_go_along_a_group(page_of, two, role):
    view = {"listbox": "sentence", "tablist": "matrix", "grid": "overview", "radiogroup": "steps"}[role]
    shown = page_of(two, words=f"view={view} token=4")
    settled(shown)
    shown.locator(f"[role={role}] [tabindex='0']").first.focus()
    seen = set()
    for key in ["ArrowLeft"] + 2 * ["ArrowRight"]:
        inside = shown.evaluate("(role) => document.activeElement.closest(`[role=${role}]`) !== null", role)
        assert inside
        seen.add(shown.evaluate("document.activeElement.ariaLabel ?? document.activeElement.textContent"))
        shown.keyboard.press(key)
        settled(shown)
    assert len(seen) >= 2


@pytest.mark.parametrize(("view", "role"), [("sentence", "option"), ("steps", "radio"), ("compare", "radio")])
def test_a_line_of_words_reads_as_its_script_does(page_of, view, role):
    shown = page_of(pages.trace("الكلب يطارد القطة"), words=f"view={view} token=1")
    settled(shown)
    words = [shown.locator(f"[role={role}]", has_text=word).first for word in ("الكلب", "يطارد", "القطة")]
    places = [word.bounding_box()["x"] for word in words]
    assert places == sorted(places, reverse=True)
    words[0].focus()
    shown.keyboard.press("ArrowLeft")
    settled(shown)
    assert shown.evaluate("document.activeElement.textContent") == "يطارد"


# Narrow windows


def test_nothing_is_wider_than_a_narrow_window(page_of, two, crossing):
    odd = pages.trace(f"{ARABIC} {'long' * 40}", pieces=2)
    many = pages.trace(pages.words(120), layers=2, heads=12, head_dim=4)
    for one, language in ((two, "vi"), (crossing, "vi"), (odd, "en"), (many, "en")):
        shown = page_of(one, width=390, height=800, language=language, words="token=2")
        for view in each_view(shown):
            assert shown.evaluate("document.documentElement.scrollWidth") <= 390, view


def test_a_page_alone_in_its_window_has_its_keys_before_anything_has_the_focus(page_of, two):
    shown = page_of(two)
    shown.locator(".tokens").first.wait_for()
    shown.keyboard.press("3")
    expect(shown.get_by_role("tab", selected=True)).to_have_text("Matrix")
    shown.keyboard.press("[")
    expect(shown.get_by_role("combobox", name="Layer")).to_have_value("0")


@pytest.mark.parametrize("spoiled", ["view=matrix&token=%E0%A4%A", "view=matrix%", "view=matrix&__proto__=1&=&layer"])
def test_a_page_opens_whatever_somebody_made_of_its_address(page_of, two, spoiled):
    shown = page_of(two, words=spoiled)
    expect(shown.get_by_role("tab", selected=True)).to_have_text("Sentence" if spoiled.endswith("%") else "Matrix")
