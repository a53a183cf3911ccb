"""The window of an example's document, read from the corpus anew."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from eyeline.models import Tokens
from eyeline.surveys.corpus import corpus
from eyeline.surveys.document import Document
from eyeline.surveys.errors import SurveyError
from eyeline.surveys.settings import Settings
from eyeline.surveys.token_types import TokenTypes
from eyeline.surveys.typed_tokens import UnreadError
from eyeline.surveys.windows import TextWindow, windows_of
from eyeline.words import worded


def example_window(
    info: Mapping[str, Any],
    folder: str,
    example: Mapping[str, Any],
    tokens_of: Callable[[str], Tokens],
    say: Callable[[str], None],
) -> Tokens:
    """The tokens that the survey's model read when it saw an example, special ones included.

    Args:
        info: survey.json.
        folder: the survey's folder, or its URI; relative paths of the corpus are taken from where the command runs,
            else from beside this folder.
        example: a row of examples.parquet, as an object.
        tokens_of: the model's tokenizer, for a whole text.
        say: called with a line on what is read; it may raise to stop.

    Raises:
        SurveyError: if the document isn't there any more, or isn't what the survey read.
    """
    document = _document(info, folder, example, say)
    model, settings = info["model"], Settings(**info["settings"])
    try:
        windows = windows_of(document, tokens_of, settings, model["causal"], TokenTypes())
        window = next((one for one in windows if one.number == example["window"]), None)
    except UnreadError:
        window = None
    if window is None or not _is_the_same(window, example):
        raise SurveyError(
            worded(
                "{file} must be as it was when it was measured, and document {place} is another; measure it again",
                file=example["file"],
                place=example["place"],
            )
        )
    return _tokens(window)


def _document(info: Mapping[str, Any], folder: str, example: Mapping[str, Any], say: Callable[[str], None]) -> Document:
    file, place = str(example["file"]), int(example["place"])
    if not file:
        raise SurveyError(worded("the documents must be in files to be opened, and these were given as texts"))
    # A folder may come from anyone: only what it lists as its corpus, and is still of that size, is read.
    listed = next((one for one in info["corpus"]["files"] if one["path"] == file), None)
    places = [Path(file), *([] if "://" in folder else [Path(folder).parent / file])]
    path = next((one for one in places if listed and one.is_file() and _size(one) == listed["size"]), None)
    if path is None:
        raise SurveyError(
            worded(
                "{file} must be there as it was when it was measured, and isn't; put it back, or measure it again",
                file=file,
            )
        )
    say(worded("reading {file}", file=file))
    for number, document in enumerate(corpus([path], info["corpus"]["column"]).documents()):
        if document.place == place:
            return Document(int(example["document"]), file, place, document.text)
        if number % 1024 == 1023:
            say(worded("reading {file}, document {place}", file=file, place=document.place))
    raise SurveyError(
        worded("{file} must have a document {place}, and has none; measure it again", file=file, place=place)
    )


def _size(path: Path) -> int:
    return os.stat(path).st_size


def _is_the_same(window: TextWindow, example: Mapping[str, Any]) -> bool:
    """Whether a window has the tokens of an example at their places."""
    places = zip(example["positions"], example["tokens"], strict=True)
    return all(at < len(window.texts) and window.texts[at] == text for at, text in places)


def _tokens(window: TextWindow) -> Tokens:
    """A window's tokens, with their places in its own text."""
    text, offsets = "", []
    specials = window.special.tolist()
    for special, part in zip(specials, window.texts, strict=True):
        space = len(part) - len(part.lstrip()) if part.strip() else 0
        offsets.append((0, 0) if special else (len(text) + space, len(text) + len(part)))
        text += "" if special else part
    return Tokens(text, window.ids.tolist(), [part.strip() or part for part in window.texts], offsets, specials)
