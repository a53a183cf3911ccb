"""Generated tokens as text: bit by bit as they come, and then with each token's place in the text."""

from __future__ import annotations

from typing import Any

from eyeline.models.tokens import Span, Tokens

_CONTEXT = 8  # tokens of the text before, since what a token says may depend on what it follows
_CUT = "\ufffd"  # what stands for bytes that are no character, or no whole one yet


class Continuation:
    """A text, and tokens that were generated after it. Made by `Model.continuation`.

    Cutting the whole text into tokens anew might give others than were generated, so these stay, and their places come
    from what they add: a character whose bytes lie in several tokens is the place of each of them, as tokenizers say it
    of a text.
    """

    def __init__(self, tokenizer: Any, before: Tokens) -> None:
        self._tokenizer = tokenizer
        self._before = before
        self._context = before.ids[-_CONTEXT:]
        self._start = len(self._decoded(self._context))
        self._ids: list[int] = []
        self._texts: list[str] = []  # after each new token, all that is new
        self._said = 0

    def add(self, id: int) -> str:
        """Take one token more; gives what can be read now and couldn't before, nothing if a character isn't whole."""
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
    """[first, last) of each token in what is new, by what could be read after it.

    >>> _places(["a", "a\ufffd", "a\ufffd", "aé!"], "aé!")
    [(0, 1), (1, 2), (1, 2), (1, 3)]
    """
    places, first = [], 0
    for text in texts:
        # What stays as it is; beyond it there is the beginning of a character that another token ends.
        last = next((place for place, sign in enumerate(text) if sign != whole[place : place + 1]), len(text))
        begun = last < len(text)
        if first == last and not begun and whole[first - 1 : first] == _CUT:
            first -= 1  # one more part of a character that was never ended
        places.append((first, last + begun if begun and last < len(whole) else last))
        first = last
    return places
