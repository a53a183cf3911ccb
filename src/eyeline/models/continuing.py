"""Generated tokens as text: piece by piece as they come, and then with each token's place in the text."""

from __future__ import annotations

from typing import Any

from eyeline.models.tokens import Span, Tokens

_CONTEXT = 8  # tokens before the new ones to decode with them, since a token's text may depend on its context
_CUT = "\ufffd"  # replaces bytes that aren't a character, or not yet a complete one


class Continuation:
    """A text, and the tokens that were generated after it. Made by `Model.continuation`.

    Tokenizing the whole text again might give other tokens than those generated, so these are kept, and each one's
    place is the text that it adds. A character whose bytes are split over several tokens is the place of each of them,
    as in tokenizers.
    """

    def __init__(self, tokenizer: Any, before: Tokens) -> None:
        self._tokenizer = tokenizer
        self._before = before
        self._context = before.ids[-_CONTEXT:]
        self._start = len(self._decoded(self._context))
        self._ids: list[int] = []
        self._texts: list[str] = []  # the whole generated text after each new token
        self._said = 0

    def add(self, id: int) -> str:
        """Add a token; returns the text that it completes, empty if its last character isn't complete yet."""
        self._ids.append(int(id))
        text = self._decoded(self._context + self._ids)[self._start :]
        self._texts.append(text)
        whole = text.rstrip(_CUT)
        new = whole[self._said :]
        self._said = max(self._said, len(whole))
        return new

    @property
    def tokens(self) -> Tokens:
        """The text and its continuation, as tokens."""
        before = self._before
        new = self._texts[-1] if self._texts else ""
        special = [self._special(id) for id in self._ids]
        shift = len(before.text)
        offsets = [
            (0, 0) if outside else (shift + first, shift + last)
            for outside, (first, last) in zip(special, _places(self._texts, new), strict=True)
        ]
        pieces = [self._tokenizer.id_to_token(id) or f"[{id}]" for id in self._ids]
        return Tokens(
            before.text + new,
            before.ids + self._ids,
            before.pieces + pieces,
            before.offsets + offsets,
            before.special + special,
            before.unknown,
        )

    def _decoded(self, ids: list[int]) -> str:
        return str(self._tokenizer.decode(ids, skip_special_tokens=True))

    def _special(self, id: int) -> bool:
        added = self._tokenizer.get_added_tokens_decoder().get(id)
        return added is not None and bool(added.special)


def _places(texts: list[str], whole: str) -> list[Span]:
    """[first, last) of each token in the generated text `whole`, from the text after each token.

    >>> _places(["a", "a\ufffd", "a\ufffd", "aé!"], "aé!")
    [(0, 1), (1, 2), (1, 2), (1, 3)]
    """
    places, first = [], 0
    for text in texts:
        # The part that agrees with the whole; after it is the beginning of a character that a later token completes.
        last = next((place for place, sign in enumerate(text) if sign != whole[place : place + 1]), len(text))
        begun = last < len(text)
        if first == last and not begun and whole[first - 1 : first] == _CUT:
            first -= 1  # another part of a character that was never completed
        places.append((first, last + begun if begun and last < len(whole) else last))
        first = last
    return places
