"""A tokenized text in a trace: the text, its tokens, its words, and the words that are set aside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from eyeline.models import Tokens
from eyeline.models.units import piece_spans, shown_of, units_of
from eyeline.traces.errors import TraceError
from eyeline.words import worded

Span = tuple[int, int]


@dataclass(frozen=True)
class Word:
    """A word of the text, a special token, or spaces alone.

    Attributes:
        tokens: [first, last) of its tokens.
        span: its characters in the text, [first, last); None for a special token.
    """

    tokens: Span
    span: Span | None


@dataclass(frozen=True)
class TokenizedText:
    """A text cut into tokens.

    Attributes:
        text: the text as typed.
        ids: the token ids; -1 where tokens are a user's own words.
        pieces: how the tokenizer spells each token.
        spans: each token's characters in the text, [first, last); None for a special token.
        words: the words in reading order; together they cover all tokens.
        aside: the indices of the words that are set aside (left out of pictures and shares by default): special tokens,
            bare spaces and, with causal attention, the first word.
        prompt: the number of prompt tokens, if the others were generated; None if none was.
        unknown: the positions of unknown tokens, such as [UNK], which stand for text that the vocabulary lacks.
    """

    text: str
    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    spans: tuple[Span | None, ...]
    words: tuple[Word, ...]
    aside: tuple[int, ...]
    prompt: int | None = None
    unknown: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.pieces)

    @property
    def tokens_aside(self) -> list[int]:
        """The positions of the tokens that are set aside."""
        return [token for place in self.aside for token in range(*self.words[place].tokens)]

    def stored(self) -> dict[str, Any]:
        """The text's entry in a trace file: spans in characters, null for none."""
        return {
            "text": self.text,
            "ids": self.ids,
            "pieces": self.pieces,
            "spans": self.spans,
            "words": [[word.tokens, word.span] for word in self.words],
            "aside": self.aside,
            "prompt": self.prompt,
            "unknown": self.unknown,
        }

    def entry(self) -> dict[str, Any]:
        """The text's entry in the page's header: spans in UTF-16 code units, as JavaScript counts, -1 for none.

        >>> of_words(["🦜", "flies"]).entry()["words"]
        [[0, 1, 0, 2], [1, 2, 3, 8]]
        """
        place = [0, *accumulate(1 + (character > "\uffff") for character in self.text)]

        def places(span: Span | None) -> list[int]:
            return [-1, -1] if span is None else [place[span[0]], place[span[1]]]

        spans = [places(span) for span in self.spans]
        return {
            "text": self.text,
            "ids": list(self.ids),
            "pieces": list(self.pieces),
            "starts": [start for start, _ in spans],
            "ends": [end for _, end in spans],
            "words": [[*word.tokens, *places(word.span)] for word in self.words],
            "aside": list(self.aside),
            "prompt": self.prompt,
            "unknown": list(self.unknown),
        }


def of_tokens(tokens: Tokens, *, causal: bool, prompt: int | None = None) -> TokenizedText:
    """Make a `TokenizedText` from a model's tokens.

    Args:
        tokens: the result of `Model.tokens`.
        causal: whether attention is causal: the first word is then set aside.
        prompt: the number of prompt tokens, if the others were generated.
    """
    units = units_of(tokens, pieces=False)
    shown = set(shown_of(units, causal=causal, special=False))
    spans = piece_spans(tokens)
    return TokenizedText(
        tokens.text,
        tuple(map(int, tokens.ids)),
        tuple(tokens.pieces),
        tuple(None if special else span for span, special in zip(spans, tokens.special, strict=True)),
        tuple(Word((unit.tokens[0], unit.tokens[-1] + 1), unit.span) for unit in units),
        tuple(place for place in range(len(units)) if place not in shown),
        prompt,
        tokens.unknown,
    )


def given_lines(
    queries: Sequence[str], keys: Sequence[str] | None, N: int, M: int, **names: object
) -> tuple[TokenizedText, TokenizedText | None]:
    """Make both lines of a trace of a user's own arrays, checked against their N queries and M keys; `names` are texts
    that are checked to be such."""
    lines = of_words(queries), None if keys is None else of_words(keys, "keys")
    for what, line, array, count in (("queries", lines[0], "q", N), ("keys", lines[1] or lines[0], "k", M)):
        if len(line) != count:
            hint = worded("; give keys= too, where they are another line") if what == "keys" and keys is None else ""
            raise TraceError(
                worded(
                    "{name} must be {count} words, one for each token of {array}, got {got}{hint}",
                    name=what,
                    count=count,
                    array=array,
                    got=len(line),
                    hint=hint,
                )
            )
    for label, text in names.items():
        if not isinstance(text, str):
            raise TraceError(worded("{label} must be a string, got {type}", label=label, type=type(text).__name__))
    return lines


def of_words(words: Sequence[str], name: str = "queries") -> TokenizedText:
    """Make a `TokenizedText` from a user's own words, one token each, joined by spaces.

    >>> of_words(["a", "rose"]).text
    'a rose'
    """
    if isinstance(words, str) or not isinstance(words, Sequence) or not all(isinstance(word, str) for word in words):
        raise TraceError(
            worded(
                '{name} must be a list of strings, one per token, got {words!r:.60}; such as ["a", "rose"]',
                name=name,
                words=words,
            )
        )
    try:
        " ".join(words).encode()
    except UnicodeEncodeError as error:
        raise TraceError(
            worded("{name} must be valid Unicode, got {object!r} in one", name=name, object=error.object[error.start])
        ) from None
    ends = list(accumulate(len(word) + 1 for word in words))
    spans = [(end - 1 - len(word), end - 1) for word, end in zip(words, ends, strict=True)]
    return TokenizedText(
        " ".join(words),
        (-1,) * len(words),
        tuple(words),
        tuple(spans),
        tuple(Word((place, place + 1), span) for place, span in enumerate(spans)),
        (),
    )
