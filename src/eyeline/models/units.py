"""Units of the views, one bar or row each: a word of the text, a piece of a word, or a special token."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from eyeline.models.tokens import Tokens


@dataclass(frozen=True)
class Unit:
    """One bar or row of a view.

    Attributes:
        text: as typed; the tokenizer's own spelling for a special token.
        span: [first, last) in the text, in characters; None for a special token.
        tokens: the positions of its tokens.
        joins: whether it is a piece of a word that continues before it, and after it.
    """

    text: str
    span: tuple[int, int] | None
    tokens: tuple[int, ...]
    joins: tuple[bool, bool] = (False, False)
    bare: bool = False

    @property
    def extra(self) -> bool:
        """Whether it isn't a word of the text but a special token or a bare space."""
        return self.span is None or self.bare


def units_of(tokens: Tokens, pieces: bool) -> list[Unit]:
    """The units of a text, in reading order: its words (or their pieces), and special tokens."""
    spans = piece_spans(tokens)
    found: list[Unit] = []
    places = range(len(tokens))
    # The tokens of a word form one unit; special tokens and bare spaces are units of their own.
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
    """The place of each piece in the text, with the marks (accents, joiners) after it that the tokenizer dropped, and
    without the spaces before it that the tokenizer included."""
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
    """The indices of the units to draw; leaving out the others makes the differences between the rest visible.

    Special tokens and bare spaces are left out and, with causal attention, the unit of the first token: whatever it is,
    it serves heads as an attention sink, often with more than half of the weight. Source: Xiao et al., "Efficient
    Streaming Language Models with Attention Sinks" (2023). It stays if the user asked about it, or if no word would be
    left.

    Args:
        units: the units of the text.
        causal: whether attention is causal.
        special: whether to draw all units.
        asked: the units of the token that the user asked about.
    """
    if special:
        return tuple(range(len(units)))
    words = tuple(place for place, unit in enumerate(units) if not unit.extra)
    if causal and 0 not in asked and words != (0,):
        return tuple(place for place in words if place)
    return words
