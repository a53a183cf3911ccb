"""What a model reads in place of a text: unknown tokens, letters without accents, words cut into letters, a language
that it wasn't trained on.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from eyeline.views.findings import Words
from eyeline.views.labels import listed, printable
from eyeline.views.text_language import english_alone, text_language
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.answers.entries import UnknownText
    from eyeline.traces import Trace
    from eyeline.traces.tokenized_text import TokenizedText

_NAMED = 12  # the largest number of texts named
_FEW = 4  # the largest number of words without accents named
#: Words of three letters or more, in more pieces than half of their letters: English ones are in a quarter.
_CRUMBS = 0.5
_LEAST = 4  # the least number of such words to judge by
#: The marks with which tokenizers spell that a piece begins a word, or continues it.
_BEGINS, _CONTINUES = "▁Ġ", "##"


def reading_notes(trace: Trace, unknown: UnknownText | None, words: Words = printable) -> list[str]:
    """The notes on what the model reads in place of the text; empty where it reads all of it.

    Args:
        trace: a trace of the text.
        unknown: the text that the vocabulary lacks, if any.
        words: formats the user's words.
    """
    from eyeline.models.catalogue import CATALOGUE  # views load without models

    notes = []
    if unknown is not None:
        notes.append(
            worded(
                "Read as {piece}, since the vocabulary has no pieces for it: {texts}.",
                piece=words(unknown.piece),
                texts=_named([words(text) for text in unknown.texts], _NAMED),
            )
        )
    line, known = trace.queries, CATALOGUE.get(trace.model.name)
    language = text_language(line.text) if known is not None and known.english else None
    if language is not None:
        notes.append(english_alone(language, printable(trace.model.name)))
    if bare := without_accents(line):
        pairs = [worded("{word} as {read}", word=words(word), read=words(read)) for word, read in bare.items()]
        notes.append(worded("Read without accents: {words}.", words=_named(pairs, _FEW)))
    elif language is None and known is None and in_crumbs(line):  # those of the catalogue are known better
        notes.append(
            worded(
                "Most words are read in pieces of a letter or two: {model} was hardly trained on this language.",
                model=printable(trace.model.name),
            )
        )
    return notes


def without_accents(line: TokenizedText) -> dict[str, str]:
    """The words whose accents the tokenizer drops, as typed, and as they are read.

    >>> from eyeline.traces import record
    >>> without_accents(record("con ruồi thích quả chuối").queries)
    {'ruồi': 'ruoi', 'thích': 'thich', 'quả': 'qua', 'chuối': 'chuoi'}
    """
    found = {}
    for typed, pieces in _words(line):
        read = "".join(piece.removeprefix(_CONTINUES).lstrip(_BEGINS) for piece in pieces)
        plain = "".join(
            letter for letter in unicodedata.normalize("NFD", typed) if unicodedata.category(letter) != "Mn"
        )
        if plain != unicodedata.normalize("NFD", typed) and read.casefold() == plain.casefold():
            found[typed] = read
    return found


def in_crumbs(line: TokenizedText) -> bool:
    """Whether most words are cut into single letters, as those of a language that the vocabulary hardly knows."""
    long = [(len(typed), len(pieces)) for typed, pieces in _words(line) if len(typed) > 2 and typed.isalpha()]
    letters, pieces = sum(count for count, _ in long), sum(count for _, count in long)
    return len(long) >= _LEAST and pieces > _CRUMBS * letters


def _words(line: TokenizedText) -> list[tuple[str, tuple[str, ...]]]:
    """Each word as typed, without its spaces, and its pieces."""
    return [
        (line.text[slice(*word.span)].strip(), line.pieces[slice(*word.tokens)])
        for word in line.words
        if word.span is not None
    ]


def _named(texts: list[str], most: int) -> str:
    """Texts as a list: the first ones, and how many more there are."""
    if len(texts) <= most:
        return listed(texts)
    return worded("{texts} and {count} more", texts=", ".join(texts[:most]), count=len(texts) - most)
