"""In the browser, on the local server: typing a new text, how far it is, cancelling it, files, and what goes wrong."""

from __future__ import annotations

import contextlib
import re

import pytest
from playwright.sync_api import expect

from eyeline.models import load
from eyeline.serving import InputFile, Session
from eyeline.traces import record
from eyeline.views.page import Page
from tests.pages import HOSTILE
from tests.served import Served, gated, session_of, until

TEXT = "the cat ran"
NEW = "a fox flies"


@pytest.fixture
def started():
    """Starts servers, which end when the pages are closed that ask them."""
    with contextlib.ExitStack() as stack:
        yield lambda session: stack.enter_context(Served(session))


@pytest.fixture
def opened(started, open_page):
    """Opens what is served, watched as every page is; it may ask its own server for things, and for nothing else."""

    def open_at(served, **options):
        address = f"http://{served.host}/"
        page = open_page(address, within=(address,), **options)
        page.wait_for_selector(".prompt", state="attached")
        return page

    return open_at


@pytest.fixture
def served(started, tiny_trace, tiny_model):
    return started(session_of(tiny_trace, tiny_model))


def field(page):
    return page.get_by_label("Type a sentence")


def texts(page):
    """The texts that can be looked at, and the one that is."""
    return page.get_by_label("Text", exact=True)


def chosen(page):
    return texts(page).locator("option:checked")


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def test_a_typed_sentence_is_run_and_looked_at(opened, served):
    page = opened(served)
    expect(field(page)).to_have_value(TEXT)
    field(page).fill(NEW)
    press(page, "Run")
    expect(chosen(page)).to_have_text(NEW)
    expect(texts(page).locator("option")).to_have_count(2)
    assert "trace=1" in page.url
    assert [one.queries.text for one in served.session.page.traces] == [TEXT, NEW]
    # What was typed stays to be changed; looking at the other text takes that one up.
    expect(field(page)).to_have_value(NEW)
    texts(page).select_option("0")
    expect(field(page)).to_have_value(TEXT)


def test_ctrl_enter_runs_and_enter_is_a_new_line(opened, served):
    page = opened(served)
    field(page).fill("a")
    field(page).press("End")
    field(page).press("Enter")
    field(page).press_sequentially("fox")
    assert field(page).input_value() == "a\nfox"
    assert len(served.session.page.traces) == 1
    field(page).press("Control+Enter")
    expect(chosen(page)).to_have_text("a\nfox", use_inner_text=False)
    assert served.session.page.traces[1].queries.text == "a\nfox"


def test_a_new_text_leaves_the_choice_of_what_is_beyond_the_scale_to_the_matrix(opened, served):
    page = opened(served, words="view=matrix clipped=0 key=1 token=1")
    field(page).fill(NEW)
    press(page, "Run")
    expect(chosen(page)).to_have_text(NEW)
    words = page.evaluate("location.hash")
    assert "trace=1" in words
    assert not re.search("clipped|key", words)


def test_brackets_in_the_field_are_typed_and_change_no_layer(opened, served):
    page = opened(served)
    layer = page.get_by_label("Layer", exact=True).input_value()
    field(page).fill("")
    field(page).press_sequentially("[1]{2}")
    assert field(page).input_value() == "[1]{2}"
    assert page.get_by_label("Layer", exact=True).input_value() == layer


@pytest.mark.parametrize(
    ("view", "text"),
    [
        ("sentence", "cat"),
        ("overview", "mixed"),
        ("matrix", "2 queries × 2 keys"),
        ("steps", "cat"),
        ("compare", "cat"),
    ],
)
def test_every_view_and_what_is_taken_away_work_under_the_servers_policy(opened, served, view, text):
    page = opened(served, words=f"view={view} token=1")
    expect(page.get_by_role("tabpanel")).to_contain_text(text)
    press(page, "Save and share")
    for kind, begins in (("PNG", b"\x89PNG"), ("SVG", b"<svg"), ("CSV", b""), ("JSON", b"{")):
        with page.expect_download() as download:
            page.locator("dialog button", has_text=re.compile(f"^{kind}$")).click()
        assert download.value.path().read_bytes().startswith(begins)


def test_the_model_the_mask_and_the_scale_are_as_chosen(started, opened, tiny_trace, tiny_model, tiny_folder):
    other = load(tiny_folder)
    other.name = "other"
    served = started(Session(Page([tiny_trace]), ["tiny", "other"], ready={"tiny": tiny_model, "other": other}))
    page = opened(served)
    picker = page.get_by_label("Model", exact=True)
    assert picker.locator("option").all_text_contents() == ["tiny", "other"]
    picker.select_option("other")
    page.locator(".prompt summary").click()
    page.get_by_label("without ÷ √d").check()
    page.get_by_label("no looking ahead").check()
    expect(page.locator(".prompt summary")).to_have_text("mask and ÷ √d (2)")
    press(page, "Run")
    # The model is a decoder, which looks ahead in no case.
    expect(chosen(page)).to_have_text(f"{TEXT} (without ÷ √d)")
    assert served.session.page.traces[1].model.name == "other"


def test_a_model_that_would_be_fetched_says_so_till_it_is_here(
    started, opened, tiny_trace, tiny_model, tmp_path, monkeypatch
):
    monkeypatch.setenv("EYELINE_CACHE", str(tmp_path))
    monkeypatch.setattr("eyeline.traces.folders.load", lambda name, progress: tiny_model)
    served = started(Session(Page([tiny_trace]), ["tiny", "smollm2"], ready={"tiny": tiny_model}))
    page = opened(served)
    picker = page.get_by_label("Model", exact=True)
    assert picker.locator("option").all_text_contents() == ["tiny", "smollm2 (fetches 98 MB, once)"]
    picker.select_option("smollm2")
    press(page, "Run")
    expect(picker.locator("option")).to_have_text(["tiny", "smollm2"])
    expect(picker).to_have_value("smollm2")


def test_how_far_a_text_is_is_shown_and_it_can_be_cancelled(opened, served, tiny_model, monkeypatch):
    ran, gate = gated(monkeypatch, tiny_model)
    page = opened(served)
    cancel = page.get_by_role("button", name="Cancel", exact=True)
    run = page.get_by_role("button", name="Run", exact=True)
    expect(cancel).to_be_hidden()
    field(page).fill(NEW)
    run.click()
    expect(cancel).to_be_visible()
    expect(run).to_be_disabled()
    progress = page.locator(".prompt .far")
    expect(progress).to_have_text(re.compile(r"tiny: 0 of 3 layers · \d+ s"))
    gate.release()
    expect(progress).to_have_text(re.compile(r"tiny: 1 of 3 layers · \d+ s"))
    cancel.click()
    until(lambda: served.session.jobs.job("1").cancelled())
    gate.release()
    expect(cancel).to_be_hidden()
    expect(progress).to_be_hidden()
    expect(run).to_be_enabled()
    assert len(ran) == 2
    expect(field(page)).to_have_value(NEW)
    gate.release(3)
    run.click()
    expect(chosen(page)).to_have_text(NEW)


def test_what_goes_quickly_shows_no_progress(opened, served):
    page = opened(served)
    page.evaluate("""() => {
      window.seen = [];
      const line = document.querySelector(".prompt .far").parentElement;
      new MutationObserver(() => line.hidden || window.seen.push(line.textContent))
        .observe(line, { attributes: true, childList: true });
    }""")
    press(page, "Run")
    expect(chosen(page)).to_have_text(f"{TEXT} (as trained)")  # there are two of this text now
    assert page.evaluate("window.seen") == []


def test_what_is_wrong_with_a_text_is_said_beside_it(opened, served):
    page = opened(served)
    trouble = page.locator(".prompt [role=alert]")
    expect(trouble).to_be_hidden()
    field(page).fill(" ")
    press(page, "Run")
    expect(trouble).to_have_text("Not run: text must have at least one word, got ' '")
    field(page).fill("word " * 300)
    press(page, "Run")
    expect(trouble).to_contain_text("200 positions")
    expect(trouble).to_contain_text("give it a shorter text")
    field(page).fill(NEW)
    press(page, "Run")
    expect(chosen(page)).to_have_text(NEW)
    expect(trouble).to_be_hidden()


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_text_stays_what_it_is(started, opened, tiny_trace, tiny_model, kind):
    text = HOSTILE[kind][:150]  # the model has 200 positions
    served = started(session_of(tiny_trace, tiny_model))
    page = opened(served)
    page.evaluate("text => { const field = document.querySelector('.prompt textarea'); field.value = text; }", text)
    press(page, "Run")
    expect(texts(page).locator("option")).to_have_count(2)
    # A field has no carriage returns; all else comes back as it was typed.
    assert served.session.page.traces[1].queries.text == text
    assert page.evaluate("window.ran") is None
    assert page.locator("img, svg[onload], main b, main style").count() == 0


def test_a_files_name_is_chosen_and_it_is_opened(started, opened, tiny_trace, tiny_model, tmp_path):
    (tmp_path / "a.txt").write_text(NEW)
    record("the the", model=tiny_model).save(tmp_path / "b.safetensors")
    files = [
        InputFile("a.txt", tmp_path / "a.txt", "text", tmp_path),
        InputFile("b.safetensors", tmp_path / "b.safetensors", "trace", tmp_path),
        InputFile("<b>gone</b>.txt", tmp_path / "gone.txt", "text", tmp_path),
    ]
    served = started(session_of(tiny_trace, tiny_model, files=files))
    page = opened(served)
    picker = page.get_by_label("File", exact=True)
    assert picker.locator("option").all_text_contents() == ["a.txt", "b.safetensors", "<b>gone</b>.txt"]
    press(page, "Open")
    expect(chosen(page)).to_have_text(NEW)
    picker.select_option("1")
    press(page, "Open")
    expect(chosen(page)).to_have_text("the the")
    picker.select_option("2")
    press(page, "Open")
    expect(page.locator(".prompt [role=alert]")).to_contain_text("gone.txt must be a file of")


def test_without_a_folder_there_is_nothing_to_open(opened, served):
    page = opened(served)
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Open", exact=True)).to_have_count(0)
    expect(page.get_by_label("File", exact=True)).to_have_count(0)


def test_an_exported_file_offers_no_running(page_of, tiny_trace):
    page = page_of(tiny_trace)
    expect(page.get_by_label("Layer", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Run", exact=True)).to_have_count(0)


def test_it_speaks_vietnamese_and_keeps_what_was_typed_and_chosen(opened, served):
    page = opened(served)
    field(page).fill(NEW)
    page.locator(".prompt summary").click()
    page.get_by_label("without ÷ √d").check()
    page.get_by_label("Language").select_option("vi")
    expect(page.get_by_label("Gõ một câu")).to_have_value(NEW)
    expect(page.get_by_label("không chia cho √d")).to_be_checked()
    press(page, "Chạy")
    expect(page.get_by_label("Văn bản", exact=True).locator("option:checked")).to_have_text(
        f"{NEW} (không chia cho √d)"
    )


def test_two_windows_at_once_stay_in_step(opened, served):
    one, other = opened(served), opened(served)
    field(one).fill(NEW)
    press(one, "Run")
    expect(chosen(one)).to_have_text(NEW)
    field(other).fill("the other")
    press(other, "Run")
    expect(chosen(other)).to_have_text("the other")
    expect(texts(other).locator("option")).to_have_text([TEXT, NEW, "the other"])
    assert "trace=2" in other.url


def test_another_windows_text_can_be_cancelled_where_it_is_in_the_way(
    opened, open_page, served, tiny_model, monkeypatch
):
    ran, gate = gated(monkeypatch, tiny_model)
    one, other = opened(served), opened(served)
    press(one, "Run")
    until(lambda: len(ran) == 1)
    press(other, "Run")
    trouble = other.locator(".prompt [role=alert]")
    expect(trouble).to_contain_text("another text is being run; wait for it, or cancel it")
    press(other, "Cancel that one")
    expect(trouble).to_be_hidden()
    gate.release()
    expect(one.get_by_role("button", name="Cancel", exact=True)).to_be_hidden()
    gate.release(3)
    press(other, "Run")
    expect(texts(other).locator("option")).to_have_count(2)
    open_page.forget()  # the browser notes the refusal in its console


def test_leaving_the_page_cancels_what_it_asked_for(opened, served, tiny_model, monkeypatch):
    ran, gate = gated(monkeypatch, tiny_model)
    page = opened(served)
    press(page, "Run")
    until(lambda: len(ran) == 1)
    page.wait_for_timeout(200)
    page.reload()
    until(lambda: served.session.jobs.job("1").cancelled())
    gate.release()
    expect(field(page)).to_have_value(TEXT)


def test_a_reloaded_page_has_the_new_texts_and_its_state(opened, served):
    page = opened(served)
    field(page).fill(NEW)
    press(page, "Run")
    expect(chosen(page)).to_have_text(NEW)
    page.reload()
    expect(chosen(page)).to_have_text(NEW)


def test_a_server_that_has_ended_is_said_so(opened, open_page, tiny_trace, tiny_model):
    with Served(session_of(tiny_trace, tiny_model)) as served:
        page = opened(served)
        expect(field(page)).to_have_value(TEXT)
    press(page, "Run")
    expect(page.locator(".prompt [role=alert]")).to_contain_text("Run eyeline view again")
    open_page.forget()  # the browser notes in its console that nobody answers


@pytest.mark.parametrize("width", [390, 1280])
def test_the_panel_fits(opened, served, width):
    page = opened(served, width=width)
    if width == 390:
        page.get_by_role("button", name="Controls").click()
    expect(field(page)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
