"""Every view of sentences that were typed in a live page shows what the local server's page shows of them: the exported
numbers, and the words and numbers on the screen."""

from __future__ import annotations

import json
import re

import pytest
from browser import settled
from live import LivePage, minilm
from served import Served
from taken import taken

from eyeline.answers.telling import telling
from eyeline.serving import Session
from eyeline.serving.session import kept_of
from eyeline.traces import record_text
from eyeline.traces.model_choice import text_model
from eyeline.views.page.lesson_page import lesson

FIRST = "The quick brown fox jumps over the lazy dog, doesn't it"
SECOND = "a lazy fox sleeps near the brown dog"
DATE = "5 May 1987"
#: The words of an address that carry what is typed.
TYPED = "text={first} text2={second} text3={date} model3=dates"
#: The size of both windows, whose pictures are as wide then.
WINDOW = {"width": 1280, "height": 900}

#: What is shown: the words of an address, in which t, t2 and t3 are the typed texts.
SHOWN = (
    "view=sentence trace=t {place}",
    "view=sentence trace=t {place} toward=to special=shown unit=pieces",
    "view=sentence trace=t layer=2 head=mean token=5 special=out",
    "view=sentence trace=t {place} ahead=no",
    "view=sentence trace=t3 layer=1 head=0 token=6",
    "view=steps trace=t {place}",
    "view=steps trace=t2 layer=0 head=3 token=3 scaled=no removed=2",
    "view=matrix trace=t {place} unit=pieces",
    "view=matrix trace=t {place} head=max padded=2",
    "view=matrix trace=t3.1 layer=0 head=1 token=4",
    "view=overview trace=t {place}",
    "view=overview trace=t2 layer=3 head=1 token=3 order=pair",
    "view=compare trace=t {place} other=t2,5,3",
    "view=sentence trace=te {place} edits=cut+L5H3+~9:~4",
    "view=matrix trace=te layer=5 head=2 token=4 edits=uniform+L4H2;gate+L1H0+0",
    "view=positions trace=t",
    "view=positions trace=t3.0",
)
_ON_SCREEN = """() => [...document.querySelectorAll(".eyeline .headline, .eyeline [role=tabpanel]")]
  .map((one) => one.innerText)"""


@pytest.fixture(scope="module")
def both(chromium, live_file):
    """The live page with the typed texts, and the page of a server with the same traces; and the telling place."""
    model = minilm()
    asked = text_model(model)
    page = lesson(model=model)
    for text in (FIRST, SECOND):
        read = asked.read(text)
        page.add(record_text(asked, read, keep=kept_of(len(read.tokens))))
    first = telling(page.traces[5])
    for trace in text_model("dates").record_parts(DATE, kept_of(len(DATE))).traces:
        page.add(trace)
    place = f"layer={first.layer} head={first.head} token={first.token}"
    live = LivePage(chromium, live_file, viewport=WINDOW)
    with Served(Session(page, [model.name, "dates"], ready={model.name: model})) as served:
        reference = LivePage(chromium, f"http://{served.host}/", within=(f"http://{served.host}/",), viewport=WINDOW)
        live.runs()
        for count, words in enumerate(
            (f"text={coded(FIRST)}", f"text={coded(SECOND)}", f"text={coded(DATE)} model=dates")
        ):
            opened(live.page, words)
            live.answered("run", count + 1)
            settled(live.page)
        yield live.page, reference.page, place
        reference.close()
    live.close()


def coded(text: str) -> str:
    """A text as a live page's address has it."""
    return "".join("+" if sign == " " else sign if re.match(r"[\w,.'-]", sign) else f"~{ord(sign):x}~" for sign in text)


def typed():
    """The words of an address that carry the typed texts."""
    return TYPED.format(first=coded(FIRST), second=coded(SECOND), date=coded(DATE))


def opened(page, words):
    """Open a state by the page's address."""
    page.evaluate("(words) => void (location.hash = words)", words.replace(" ", "&"))
    settled(page, 200)


def on_screen(page):
    """All text of the headline and of the view, line by line."""
    return [text.split("\n") for text in page.evaluate(_ON_SCREEN)]


@pytest.mark.parametrize("words", SHOWN, ids=lambda words: re.sub(r"[ =]|view|trace|[{}]", "", words)[:32])
def test_a_view_of_typed_sentences(both, words):
    live, reference, place = both
    words = words.format(place=place)
    opened(live, f"{words} {typed()}")
    numbered = {"t": 5, "te": "5e", "t2": 6, "t3": 9, "t3.0": 7, "t3.1": 8}
    opened(reference, re.sub(r"\b(trace|other)=(t[\d.e]*)", lambda found: f"{found[1]}={numbered[found[2]]}", words))
    for _ in range(50):  # what takes longer, such as the nearest words, comes later
        if on_screen(live) == on_screen(reference):
            break
        live.wait_for_timeout(100)
    assert on_screen(live) == on_screen(reference)
    found, wanted = (json.loads(taken(page, "json")) for page in (live, reference))
    assert found["columns"] == wanted["columns"]
    assert len(found["rows"]) == len(wanted["rows"]) > 0
    for row, other in zip(found["rows"], wanted["rows"], strict=True):
        for one, value in zip(row, other, strict=True):
            number = isinstance(value, (int, float))
            assert one == (pytest.approx(value, rel=1e-5, abs=1e-5) if number else value), (row, other)
    for name in found.keys() - {"rows", "words"}:
        assert found[name] == wanted[name], name
