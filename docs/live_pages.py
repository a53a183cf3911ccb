"""The pages of Eyeline that stand in the guide: each is made by Eyeline itself when the guide is built."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

#: What the guide says around a live page, by language.
OPEN = {"en": "Open it on its own page", "vi": "Mở trong trang riêng"}
ASK = {"en": "{title}: load it here ({megabytes} MB)", "vi": "{title}: tải vào đây ({megabytes} MB)"}


@dataclass(frozen=True)
class LivePage:
    """One page.

    Attributes:
        titles: what it is, by language: the frame's title.
        make: writes it to a file.
        megabytes: its size, where it is so large that the reader is asked first; else 0.
    """

    titles: dict[str, str]
    make: Callable[[Path], object]
    megabytes: int = 0

    def title(self, language: str) -> str:
        return self.titles.get(language, self.titles["en"])

    def open_words(self, language: str) -> str:
        return OPEN.get(language, OPEN["en"])

    def ask_words(self, language: str) -> str:
        words = ASK.get(language, ASK["en"])
        return words.format(title=self.title(language), megabytes=self.megabytes)


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
    "lesson": LivePage({"en": "The lesson", "vi": "Bài học"}, _lesson),
    "time-flies": LivePage({"en": "“time flies like an arrow”", "vi": "“time flies like an arrow”"}, _time_flies),
    "two-sentences": LivePage(
        {"en": "“flies” in two sentences", "vi": "“flies” trong hai câu"},
        _two_sentences,
    ),
    "capital": LivePage(
        {"en": "A decoder: “The capital of France is”", "vi": "Một decoder: “The capital of France is”"}, _capital
    ),
    "live": LivePage(
        {"en": "The page with the model in it", "vi": "Trang có sẵn mô hình bên trong"}, _with_model, megabytes=30
    ),
}
