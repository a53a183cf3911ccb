"""The pages of Eyeline that stand in the guide: each is made by Eyeline itself when the guide is built."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class LivePage:
    """One page.

    Attributes:
        title: what it is, in English: the frame's title. docs/site_words.py names it, so that it is translated.
        make: writes it to a file.
        megabytes: its size, where it is so large that the reader is asked first; else 0.
    """

    title: str
    make: Callable[[Path], object]
    megabytes: int = 0


def _lesson(file: Path) -> None:
    from eyeline.views.page import lesson

    lesson().save(file)


def _time_flies(file: Path) -> None:
    import eyeline as el

    el.view("time flies like an arrow").save(file)


def _two_sentences(file: Path) -> None:
    import eyeline as el

    el.view(["time flies like an arrow", "fruit flies like a banana"]).save(file)


def _capital(file: Path) -> None:
    import eyeline as el

    el.view("The capital of France is", model="smollm2").save(file)


def _with_model(file: Path) -> None:
    from eyeline.views.live import save_live

    save_live(file)


LIVE_PAGES = {
    "lesson": LivePage("The lesson", _lesson),
    "time-flies": LivePage("“time flies like an arrow”", _time_flies),
    "two-sentences": LivePage("“flies” in two sentences", _two_sentences),
    "capital": LivePage("A decoder: “The capital of France is”", _capital),
    "live": LivePage("The page with the model in it", _with_model, megabytes=30),
}
