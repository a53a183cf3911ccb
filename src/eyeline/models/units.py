"""Units: a unit is one bar, or one row: a word of the text, a piece of one, or a special token."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from eyeline.models.tokens import Tokens


@dataclass(frozen=True)
class Unit:
    """One bar, or one row.

    Attributes:
        text: as typed; the tokenizer's own spelling for a special token.
        span: [first, last) in the text, in characters; None for a special token.
        tokens: the positions of its tokens.
        joins: whether it is a piece of a word that goes on before it and after it.
    """

    text: str
    span: tuple[int, int] | None
    tokens: tuple[int, ...]
    joins: tuple[bool, bool] = (False, False)
    bare: bool = False

    @property
    def extra(self) -> bool:
        """Whether it is no word of the text: a special token, or a bare space."""
        return self.span is None or self.bare


def units_of(tokens: Tokens, pieces: bool) -> list[Unit]:
    """The units of a text, in reading order: its words (or the pieces of its words), and its special tokens."""
    spans = piece_spans(tokens)
    found: list[Unit] = []
    places = range(len(tokens))
    # Tokens of one word stand together; special tokens and bare spaces stand alone.
    for word, group in itertools.groupby(
        places, key=lambda place: ("word", tokens.words[place]) if _in_word(tokens, place) else ("", place)
    ):
        members = tuple(group)
        first = members[0]
        if tokens.special[first]:
            found.append(Unit(tokens.pieces[first], None, members))
        elif tokens.words[first] is None:
            found.append(Unit(tokens.text[slice(*spans[first])], spans[first], members, bare=True))
        elif pieces:
            last = members[-1]
            found += [Unit(tokens.text[slice(*spans[i])], spans[i], (i,), (i != first, i != last)) for i in members]
        else:
            number = tokens.words[first]
            assert number is not None
            found.append(Unit(tokens.word(number), tokens.spans[number], members))
        del word
    return found


def _in_word(tokens: Tokens, place: int) -> bool:
    return not tokens.special[place] and tokens.words[place] is not None


def piece_spans(tokens: Tokens) -> list[tuple[int, int]]:
    """Where each piece lies in the text: with the marks (accents, joiners) after it that the tokenizer dropped, and
    without the spaces before it that the tokenizer made part of it."""
    starts = sorted({first for (first, _), special in zip(tokens.offsets, tokens.special, strict=True) if not special})
    spans = []
    for place, (first, last) in enumerate(tokens.offsets):
        number = tokens.words[place]
        end = tokens.spans[number][1] if number is not None else last
        after = bisect.bisect_left(starts, last)
        limit = min(end, starts[after]) if after < len(starts) else end
        last = max(last, limit)
        piece = tokens.text[first:last]
        spans.append((first + len(piece) - len(piece.lstrip()) if number is not None else first, last))
    return spans


def shown_of(units: Sequence[Unit], *, causal: bool, special: bool, asked: Sequence[int] = ()) -> tuple[int, ...]:
    """The places of the units that are drawn; the others are set aside, so that those between them can be read.

    Set aside are special tokens and bare spaces and, where tokens look only back, the unit of the first token: whatever
    it says, it takes what a head has no other use for, often more than half. Source: Xiao et al., "Efficient Streaming
    Language Models with Attention Sinks" (2023). It stays if it is what is asked about, or no word would be left.

    Args:
        units: of the text.
        causal: whether tokens look only back.
        special: draw all.
        asked: the units that the token that was asked about is made of.
    """
    if special:
        return tuple(range(len(units)))
    words = tuple(place for place, unit in enumerate(units) if not unit.extra)
    if causal and 0 not in asked and words != (0,):
        return tuple(place for place in words if place)
    return words
