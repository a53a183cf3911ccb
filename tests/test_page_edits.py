"""In the browser, on the local server: cutting looks, switching heads off, what changes, next words, what matters."""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from eyeline.answers.mattering import effects
from eyeline.edits import parse
from eyeline.models import load
from eyeline.serving import Session, kept_of
from eyeline.traces import record, record_text, text_model
from eyeline.views.page import Page
from eyeline.views.page.file import page_file
from tests.served import Served

FLIES = "time flies like an arrow"
#: A point of a link's shape where nothing lies above it.
POINT = """(link) => {
  const [box, back] = [link.getBoundingClientRect(), link.getScreenCTM().inverse()];
  for (let i = 1; i < 60; i++) for (let j = 1; j < 60; j++) {
    const [x, y] = [box.left + box.width * i / 60, box.top + box.height * j / 60];
    const inside = link.isPointInFill(new DOMPoint(x, y).matrixTransform(back));
    if (inside && document.elementFromPoint(x, y) === link) return [x, y];
  }
  return null;
}"""


@pytest.fixture
def started():
    """Starts servers, which end when the pages are closed that ask them."""
    with contextlib.ExitStack() as stack:
        yield lambda session: stack.enter_context(Served(session))


@pytest.fixture
def opened(started, open_page):
    """Opens a text on a server, at the state that words name."""

    def open_at(words="", text=FLIES, name="minilm", **options):
        model = text_model(load(name))
        read = model.read(text)
        page = Page([record_text(model, read, keep=kept_of(len(read.tokens)))])
        served = started(Session(page, [name], ready={name: model}))
        address = f"http://{served.host}/"
        shown = open_page(f"{address}#{words}", within=(address,), **options)
        shown.wait_for_selector(".editing", state="attached")
        return shown

    return open_at


def button(page, name):
    return page.locator(".editing").get_by_role("button", name=name, exact=True)


def chips(page):
    return page.locator(".edit-list li")


def words(page):
    return page.evaluate("location.hash.slice(1).replaceAll('&', ' ')")


def in_words(page, text):
    expect(page).to_have_url(re.compile(re.escape(text)))


def share(page, name):
    return page.locator(".bars li", has=page.get_by_role("button", name=name, exact=True)).locator(".bar-share")


def test_a_head_is_switched_off_and_on_again(opened):
    page = opened("layer=3 head=1 token=2")
    expect(page.locator(".edit-line")).to_contain_text("Press a link")
    button(page, "Switch L3H1 off").click()
    expect(chips(page)).to_have_text(["L3H1 is off×"])
    in_words(page, "trace=0e&layer=3&head=1&token=2&edits=gate+L3H1+0")
    expect(button(page, "With the edits")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".headline")).to_contain_text("L3H1 is off")
    expect(page.locator(".edit-outcome h3")).to_have_text(["Heads that look elsewhere", "Words whose vectors turn"])
    expect(page.locator(".edit-outcome tbody tr").first).to_contain_text(re.compile(r"L[45]H\d+ flies\d+%"))
    button(page, "Switch L3H1 on again").click()
    expect(chips(page)).to_have_count(0)
    expect(page.locator(".edit-outcome")).to_be_hidden()
    assert "trace" not in words(page)


def test_a_link_is_cut_and_the_rest_of_the_row_takes_its_weight(opened):
    page = opened("layer=3 head=1 token=2")
    expect(share(page, "time")).to_contain_text("59%")
    x, y = page.locator(".links path").first.evaluate(POINT)
    page.mouse.click(x, y)
    menu = page.get_by_role("menu", name="L3H1: “flies” looks at “time”")
    expect(menu.get_by_role("menuitem").locator("strong")).to_have_text(
        ["Cut this look", "Take its weight away", "Switch L3H1 off"]
    )
    menu.get_by_role("menuitem", name="Cut this look").click()
    expect(menu).to_be_hidden()
    expect(chips(page)).to_have_text(["L3H1: “flies” can’t look at “time”×"])
    expect(page.locator(".says")).to_contain_text("special tokens take 93.0%")
    in_words(page, "edits=cut+L3H1+~2:~1")


def test_a_weight_is_taken_away_by_keys_alone(opened):
    page = opened("layer=3 head=1 token=2")
    cut = page.get_by_role("button", name="Cut: time")
    cut.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(cut).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(chips(page)).to_have_text(["L3H1: the weight of “flies” on “time” is 0×"])
    in_words(page, "edits=reweight+L3H1+~2:~1+0")
    expect(page.locator(".says")).to_contain_text("special tokens take 38.0%")  # as before: nothing is renormalised
    expect(share(page, "time")).to_have_count(0)
    expect(page.locator(".basis")).to_contain_text("doesn’t sum to 100%")


def test_steps_are_taken_back_and_again_by_buttons_keys_and_the_browser(opened):
    page = opened("layer=3 head=1 token=2")
    button(page, "Switch L3H1 off").click()
    expect(chips(page)).to_have_count(1)
    page.get_by_label("Head", exact=True).select_option("2")
    button(page, "Switch L3H2 off").click()
    expect(chips(page)).to_have_count(2)
    button(page, "Undo (Ctrl Z)").click()
    expect(chips(page)).to_have_text(["L3H1 is off×"])
    page.keyboard.press("Control+Shift+z")
    expect(chips(page)).to_have_count(2)
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    expect(chips(page)).to_have_count(0)
    page.go_back()
    expect(chips(page)).to_have_count(1)


def test_a_link_opens_the_edited_run_also_on_a_fresh_server(opened):
    page = opened("trace=0e layer=3 head=1 token=2 edits=cut+L3H1+~2:~1")
    expect(page.locator(".says")).to_contain_text("special tokens take 93.0%")
    expect(button(page, "With the edits")).to_have_attribute("aria-pressed", "true")
    before = opened("layer=3 head=1 token=2 edits=cut+L3H1+~2:~1")
    expect(before.locator(".edit-outcome")).to_be_visible()
    expect(button(before, "With the edits")).to_have_attribute("aria-pressed", "true")
    button(before, "As trained").click()
    in_words(before, "trace=0&layer=3")
    expect(before.locator(".says")).to_contain_text("special tokens take 38%")
    before.reload()
    expect(before.locator(".edit-outcome")).to_be_visible()
    expect(button(before, "As trained")).to_have_attribute("aria-pressed", "true")


def test_a_link_to_a_text_that_isnt_here_leaves_its_edits_out(opened):
    page = opened("trace=3e layer=3 head=1 token=none edits=gate+L3H1+0")
    expect(page.locator(".editing > .trouble")).to_have_text("The link’s text isn’t here: its edits are left out.")
    expect(chips(page)).to_have_count(0)
    expect(page.locator(".bars li").first).to_be_visible()
    expect(page.locator(".bar-cut")).to_have_count(0)  # no word is chosen whose look it would be
    button(page, "Switch L3H1 off").click()
    expect(page.locator(".editing > .trouble")).to_be_hidden()


def test_both_runs_stand_beside_each_other(opened):
    page = opened("layer=3 head=1 token=2 edits=cut+L3H1+~2:~1")
    button(page, "Side by side").click()
    in_words(page, "other=0e,3,1")
    expect(page.locator(".compare .said")).to_contain_text("time flies like an arrow (with edits)")
    expect(page.locator(".compare")).to_contain_text("not allowed")
    page.go_back()
    page.locator(".edit-open", has_text="L5H10").click()
    in_words(page, "view=compare&head=10")
    in_words(page, "other=0e,5,10")


def test_edits_are_taken_along_as_options_and_as_python(opened):
    page = opened("layer=3 head=1 token=2 edits=cut+L3H1+~2:~1;gate+L5+0")
    page.get_by_text("Take along").click()
    options, python = page.locator(".edit-copy pre").all_text_contents()
    assert options == "--edit 'cut L3H1 #2>#1' --edit 'gate L5 0'"
    made = {}
    exec(python, made)
    assert made["run"].weights(3, 1)[2, 1] == 0
    assert [repr(one) for one in made["edits"]] == [
        "Cut(layer=3, head=1, queries=(2,), keys=(1,))",
        "Gate(layer=5, by=0.0)",
    ]


def test_a_repeated_word_is_named_with_its_number(opened):
    page = opened("edits=cut+L3H1+~7:~2", text="the dog saw the other big dog")
    expect(chips(page)).to_have_text(["L3H1: “dog (word 7)” can’t look at “dog (word 2)”×"])


def test_an_edit_that_the_model_hasnt_is_told_of(opened):
    page = opened("edits=gate+L17H3+0;gate+L5+0")
    expect(page.locator(".editing > .trouble")).to_have_text(
        "Left out: L17H3 is off. The model has layers L0 to L5, heads H0 to H11."
    )
    expect(chips(page)).to_have_text(["L5 (all heads) is off×"])
    expect(page.locator(".edit-outcome")).to_contain_text("No layer comes after the edits")


def test_another_text_has_no_edits(opened):
    page = opened("layer=3 head=1 token=2")
    button(page, "Switch L3H1 off").click()
    expect(chips(page)).to_have_count(1)
    page.get_by_label("Type a sentence").fill("a fox runs")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator(".headline")).to_contain_text("a fox runs")
    expect(chips(page)).to_have_count(0)
    button(page, "Switch L3H1 off").click()
    expect(page.locator(".headline")).to_contain_text("a fox runs (with edits)")


def test_a_head_is_switched_off_at_its_badge_in_the_overview(opened):
    page = opened("view=overview")
    cell = page.locator(".head[data-focus=L0H5]")
    box = cell.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["width"] + 9)
    page.get_by_role("menuitem", name="Switch L0H5 off").click()
    expect(chips(page)).to_have_text(["L0H5 is off×"])
    expect(page.locator(".headline")).to_contain_text("L0H5 is off")
    expect(cell).to_be_focused()
    cell = page.locator(".head[data-focus=L0H6]")
    cell.focus()
    page.keyboard.press("x")
    page.keyboard.press("Enter")
    expect(chips(page)).to_have_text(["L0H5 is off×", "L0H6 is off×"])
    assert words(page).startswith("view=overview")


def test_next_words_with_and_without_the_edits(opened):
    page = opened("edits=gate+L0+0", text="The capital of France is", name="smollm2")
    table = page.locator(".edit-next-room table")
    expect(table.locator("thead th")).to_have_text(["Next word", "As trained", "With the edits"])
    row = table.locator("tr", has=page.get_by_role("button", name="Paris", exact=True))
    expect(row.locator(".edit-number").first).to_have_text("77%")
    bar = row.locator(".edit-fill.before")
    width, room = (bar.evaluate(f"(bar) => bar{up}.getBoundingClientRect().width") for up in ("", ".parentElement"))
    assert width / room == pytest.approx(0.7727, abs=0.01)
    row.get_by_role("button").click()
    expect(page.locator(".edit-written").first).to_contain_text("Paris77%")
    button(page, "Add 5 words").click()
    expect(page.locator(".edit-written").first.locator(".edit-token")).to_have_count(6)
    assert page.locator(".edit-written").nth(1).locator(".edit-token.other").count() > 0
    button(page, "Start again").click()
    expect(page.locator(".edit-written")).to_have_count(0)


def colours(page):
    """The colour of each cell's corner."""
    return page.evaluate(
        """() => {
          const canvas = document.querySelector(".board canvas");
          const [pen, origin] = [canvas.getContext("2d"), canvas.getBoundingClientRect()];
          const times = canvas.width / origin.width;
          return [...document.querySelectorAll(".board .head")].map((cell) => {
            const { left, top } = cell.getBoundingClientRect();
            return [...pen.getImageData((left - origin.left + 4) * times, (top - origin.top + 4) * times, 1, 1).data];
          });
        }"""
    )


def test_the_overview_shows_what_matters_on_one_scale(opened):
    page = opened("view=overview token=2", ours=lambda message: "willReadFrequently" not in message.text)
    page.get_by_label("Colour", exact=True).select_option("matters")
    expect(page.locator(".says")).to_have_text("L0H4 matters most: without it, the vector of “flies” turns by 0.045")
    expect(page.locator(".overview-legend")).to_contain_text("What cutting a head changes in the vector of “flies”: 0")
    expect(page.locator(".overview-legend")).to_contain_text("0.050")
    found = effects(FLIES, token="flies", edges=0).heads.ravel()
    seen = [sum(colour[:3]) for colour in colours(page)]
    assert len(seen) == 72
    order = sorted(range(72), key=lambda place: -found[place])
    assert sorted(seen)[:6] == [seen[place] for place in order[:6]]  # the larger, the darker
    expect(page.locator(".head[data-focus=L0H4]")).to_have_attribute(
        "aria-label", re.compile(r"changes the vector of “flies” by 0\.045")
    )
    in_words(page, "colour=matters")


def test_a_file_shows_the_effects_that_it_was_written_with(open_page, tmp_path):
    model = text_model(load("minilm"))
    trace = record_text(model, model.read(FLIES), keep=kept_of(7))
    page = Page([trace])
    plain = page_file(page)
    assert b'"matters.finding"' not in plain
    page.effects.append(replace(effects(FLIES, token="flies", edges=0), trace=trace))
    path = tmp_path / "page.html"
    path.write_bytes(page_file(page))
    shown = open_page(f"{path.as_uri()}#view=overview&colour=matters")
    expect(shown.locator(".says")).to_have_text("L0H4 matters most: without it, the vector of “flies” turns by 0.045")
    assert shown.locator(".editing").count() == 0
    path.write_bytes(plain)
    shown = open_page(f"{path.as_uri()}#view=overview&colour=matters")
    expect(shown.locator(".says")).to_contain_text("Of 72 heads")
    assert shown.get_by_label("Colour", exact=True).count() == 0


def test_a_file_shows_the_run_with_edits_that_it_was_written_with(open_page, tmp_path):
    path = tmp_path / "page.html"
    model = load("minilm")
    runs = [record(FLIES, model=model), record(FLIES, model=model, edits=[parse("reweight L3H1 flies>time 0.5")])]
    path.write_bytes(page_file(Page(runs, {"layer": 3, "head": 1, "token": 2})))
    shown = open_page(f"{path.as_uri()}#trace=1")
    expect(shown.locator(".headline")).to_contain_text("(with edits)")
    expect(shown.locator(".headline")).to_contain_text("reweight L3H1 #2>#1 0.5")
    expect(share(shown, "time")).to_have_text("30%")
    expect(shown.locator(".basis")).to_contain_text("doesn’t sum to 100%")
    shown.get_by_role("tab", name="Compare").click()
    in_words(shown, "view=compare&trace=1")


def test_nothing_is_cut_off_on_a_phone_in_vietnamese(opened):
    page = opened("trace=0e layer=3 head=1 token=2 edits=cut+L3H1+~2:~1 language=vi theme=dark", width=390, height=844)
    expect(chips(page)).to_have_text(["L3H1: “flies” không nhìn được “time”×"])
    page.locator(".edit-part > summary").first.click()
    expect(page.locator(".edit-outcome")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name=re.compile("^Cắt: arrow")).click()
    menu = page.get_by_role("menu")
    box = menu.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
