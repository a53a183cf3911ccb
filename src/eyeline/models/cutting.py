"""A text cut to its first tokens."""

from __future__ import annotations

from eyeline.models.tokens import Tokens


def cut(tokens: Tokens, count: int) -> Tokens:
    """Cut a text to `count` tokens; special tokens at its end are kept, and count too.

    >>> from eyeline.models import load
    >>> cut(load("minilm").tokens("time flies like an arrow"), 4).pieces
    ['[CLS]', 'time', 'flies', '[SEP]']
    """
    if len(tokens) <= count:
        return tokens
    _, after = around(tokens)
    places = [*range(count - after), *range(len(tokens) - after, len(tokens))]
    special = [tokens.special[place] for place in places]
    end = max((tokens.offsets[place][1] for place in places if not tokens.special[place]), default=0)
    return Tokens(
        tokens.text[:end],
        [tokens.ids[place] for place in places],
        [tokens.pieces[place] for place in places],
        [tokens.offsets[place] for place in places],
        special,
        tuple(index for index, place in enumerate(places) if place in tokens.unknown),
    )


def around(tokens: Tokens) -> tuple[int, int]:
    """The numbers of special tokens before and after a text's own tokens."""
    own = [place for place, special in enumerate(tokens.special) if not special]
    return (own[0], len(tokens) - 1 - own[-1]) if own else (len(tokens), 0)
