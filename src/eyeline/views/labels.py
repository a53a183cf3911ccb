"""Labels: the user's words made safe to draw, the names of layers and heads, and numbers."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.answers.entries import Look
    from eyeline.answers.unit_weights import HardHead
    from eyeline.views.drawn import DrawnRow

MARK = "\u200e"
_SPACES = re.compile(r"[\t-\r\x1c-\x1f\x85\u2028\u2029]+")
# Characters that move the cursor or change the reading order: C0, DEL, C1, and the overrides and isolates of UAX #9.
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """Make text safe for a terminal: line ends become spaces, control characters their pictures.

    >>> printable("a\\x1b[31mb")
    'a␛[31mb'
    """
    return _CONTROLS.sub(_picture, _SPACES.sub(" ", text))


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code == 0x7F:
        return "␡"
    return chr(0x2400 + code) if code < 0x20 else f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def named(text: str) -> str:
    """The label of a word or token: without surrounding spaces; quoted if it is only spaces.

    >>> named(" Paris"), named("\\n")
    ('Paris', '"\\\\n"')
    """
    return text.strip() or json.dumps(text, ensure_ascii=False)


def tail(text: str, cells: int) -> str:
    """The end of a text, printable, in at most `cells` cells of a terminal.

    >>> tail("The capital of France is Paris", 8)
    '…s Paris'
    """
    from rich.cells import cell_len

    safe = printable(text)
    if cell_len(safe) <= cells:
        return safe
    first = max(len(safe) - cells, 0)
    while cell_len(safe[first:]) >= cells:
        first += 1
    return "…" + safe[first:]


def marked(text: str) -> str:
    """Printable text within a line of ours, with left-to-right marks around right-to-left text.

    Without these marks, which have no width, numbers and bars beside such a word would trade places with it.
    """
    safe = printable(text)
    if any(unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in safe):
        return f"{MARK}{safe}{MARK}"
    return safe


def percent(share: float) -> str:
    """A share in whole percent; only 0 is shown as 0%.

    >>> percent(0.314), percent(0.001), percent(0.0)
    ('31%', '<1%', '0%')
    """
    return "<1%" if 0 < share < 0.005 else f"{share:.0%}"


def layer_name(layer: int) -> str:
    """A layer by its number, from 0.

    >>> layer_name(5), head_name(5, 2)
    ('L5', 'L5H2')
    """
    return f"L{layer}"


def head_name(layer: int, head: int) -> str:
    """A head by its layer's number and its own, both from 0."""
    return f"L{layer}H{head}"


def place(layer: int, head: int | None, layers: int, heads: int) -> str:
    """The names of a layer and its heads, among how many.

    >>> place(5, 2, 6, 12)
    'L5H2 of L0 to L5, H0 to H11'
    >>> place(5, None, 6, 12)
    'L5 of L0 to L5 · mean of H0 to H11'
    """
    ends = {"last": layer_name(layers - 1), "last_head": f"H{heads - 1}"}
    if head is None:
        return worded("{layer} of L0 to {last} · mean of H0 to {last_head}", layer=layer_name(layer), **ends)
    return worded("{head} of L0 to {last}, H0 to {last_head}", head=head_name(layer, head), **ends)


def vector_name(layer: int | None) -> str:
    """The name of a vector, by the layer that it comes after; None is the embedding."""
    return worded("embedding") if layer is None else layer_name(layer)


def listed(names: Sequence[str]) -> str:
    """Join names as a list in a sentence, in the current language.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    if len(names) < 2:
        return "".join(names)
    return worded("{before} and {last}", before=", ".join(names[:-1]), last=names[-1])


def most(row: DrawnRow, own: Sequence[int], words: Callable[[str], str] = printable, count: int = 2) -> str:
    """The words with the largest numbers, largest first, without those that round to 0%; ties in reading order.

    Args:
        row: the query's drawn numbers.
        own: the query's own units.
        words: formats the user's words.
        count: the largest number of words named.

    >>> from eyeline.answers.entries import Look
    >>> from eyeline.views.drawn import drawn_row
    >>> looks = [Look(1, "time", 0.2, 0.4, hidden=False), Look(2, "flies", 0.3, 0.6, hidden=False)]
    >>> most(drawn_row(looks, shares=False), [2])
    'itself (30%) and time (20%)'
    """
    kept = [pair for place, pair in enumerate(row.largest(count)) if pair[0] >= 0.005 or (not place and pair[0] > 0)]
    top = [f"{seen(look, own, words)} ({percent(number)})" for number, look in kept]
    return listed(top) if top else worded("nothing")


def seen(looked_at: Look | HardHead, own: Sequence[int], words: Callable[[str], str] = printable) -> str:
    """The name of a key unit; "itself" where it is the query's own."""
    return worded("itself") if [looked_at.unit] == list(own) else words(looked_at.text)


def excerpt(text: str, span: tuple[int, int] | None, room: int) -> tuple[str, str, str]:
    """The text before, in and after a span, cut to about `room` characters around it.

    >>> excerpt("time flies like an arrow", (5, 10), 100)
    ('time ', 'flies', ' like an arrow')
    >>> excerpt("time flies like an arrow", (5, 10), 17)
    ('time ', 'flies', ' like a…')
    """
    if span is None:
        return "", text if len(text) <= room else text[: max(room - 1, 1)] + "…", ""
    before, inside, after = text[: span[0]], text[slice(*span)], text[span[1] :]
    if len(text) <= room:
        return before, inside, after
    spare = max(room - len(inside), 8)
    left = max(spare // 2, spare - len(after))
    right = max(spare // 2, spare - len(before))
    return (
        before if len(before) <= left else "…" + before[len(before) - left :],
        inside,
        after if len(after) <= right else after[:right] + "…",
    )
