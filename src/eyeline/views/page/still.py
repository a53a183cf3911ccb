"""A still picture of the page's opening state, for where its scripts don't run: whom the pinned word looks at."""

from __future__ import annotations

import html
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eyeline import words
from eyeline.answers.entries import Look
from eyeline.answers.word_rows import word_rows
from eyeline.traces.positions import index_below
from eyeline.version import VERSION
from eyeline.views.bars import rest, strongest
from eyeline.views.drawn import drawn_row
from eyeline.views.labels import most, named, percent, place, printable
from eyeline.views.provenance import quantity, run_name
from eyeline.views.scale import scale_end
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.traces import Trace
    from eyeline.traces.tokenized_text import TokenizedText
    from eyeline.views.page.message import PageMessages

#: The largest number of rows.
ROWS = 40
_WIDE = 200  # pixels of a bar at the end of its scale
# Readable on white and on black: both have a contrast of more than 3 with either.
_VIOLET, _GREY = "#8b66d6", "#7d7d7d"


@dataclass(frozen=True)
class Row:
    """A bar.

    Attributes:
        label: the word.
        number: in percent.
        length: as part of the scale.
        aside: whether it is what special tokens take.
        own: whether the word is the one that looks.
    """

    label: str
    number: str
    length: float
    aside: bool = False
    own: bool = False


@dataclass(frozen=True)
class Still:
    """The texts and numbers of the picture.

    Attributes:
        language: the code of the language of its texts.
        title: the text.
        about: the model, layer, head, run and version.
        says: the sentence on what one sees.
        rows: the bars.
        rest: the line on words that aren't drawn; empty if all are.
        scale: what the bars are, and their scale.
    """

    language: str
    title: str
    about: str
    says: str
    rows: tuple[Row, ...]
    rest: str
    scale: str

    def data(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def still(page: PageMessages) -> Still | None:
    """Make the still picture of a page as it opens; None for a page without traces."""
    if not page.traces:
        return None
    state = page.state
    trace = page.traces[index_below(state.get("trace"), len(page.traces)) or 0]
    layer = index_below(state.get("layer"), len(trace.layers))
    layer = len(trace.layers) - 1 if layer is None else layer
    head = state.get("head")
    chosen = index_below(head, trace.model.heads)
    about = [printable(trace.model.name), place(layer, chosen, trace.model.layers, trace.model.heads)]
    about += [printable(run_name(trace.name)), f"eyeline {VERSION}"]
    token = index_below(state.get("token"), len(trace.queries))
    shares = state.get("special") == "out"
    if token is None:
        says, rows, left, numbers = _every_word(trace, layer, chosen, head)
    else:
        says, rows, left, numbers = _one_word(trace, layer, chosen, head, token, state.get("special"))
    end = scale_end(numbers)
    name = quantity(shares and token is not None)
    scale = worded("{quantity}; bars from 0 to {end}.", quantity=name[0].upper() + name[1:], end=percent(end))
    bars = tuple(Row(label, percent(number), round(number / end, 4), *kind) for label, number, *kind in rows)
    return Still(words.language(), page.title, " · ".join(about), says, bars, left, scale)


#: Labels and numbers; whether it is set aside; whether it is the word that looks.
_Bars = list[tuple[str, float, bool, bool]]


def _one_word(
    trace: Trace, layer: int, head: int | None, choice: object, token: int, special: object
) -> tuple[str, _Bars, str, list[float]]:
    """The bars of the word of a token: whom it looks at."""
    own = next(at for at, word in enumerate(trace.queries.words) if word.tokens[0] <= token < word.tokens[1])
    ((_, weights),) = word_rows(trace, trace.layers[layer], np.array([own]))
    row = _of_heads(weights, head, choice)[0]
    across = trace.across
    aside = set() if special == "shown" else set(across.aside)
    total = float(sum(row[at] for at in range(len(row)) if at not in aside)) or 1.0
    looks = [
        Look(at, _name(across, at), float(weight), None if at in aside else float(weight) / total, hidden=False)
        for at, weight in enumerate(row)
    ]
    drawn = drawn_row(looks, special == "out")
    kept = strongest([drawn.numbers], ROWS)
    itself = [own] if trace.keys is None else []
    bars = [(drawn.looks[at].text, drawn.numbers[at], False, drawn.looks[at].unit in itself) for at in kept]
    if drawn.aside is not None:
        bars.append((_aside_name(across), drawn.aside, True, False))
    says = worded("{word} looks most at {words}.", word=_name(trace.queries, own), words=most(drawn, itself))
    return says, bars, rest([drawn.numbers], kept), list(drawn.all)


def _every_word(trace: Trace, layer: int, head: int | None, choice: object) -> tuple[str, _Bars, str, list[float]]:
    """The bars of the first words: the strongest weight of each on one word."""
    line, across = trace.queries, trace.across
    rows = [at for at in range(len(line.words)) if at not in line.aside] or list(range(len(line.words)))
    drawn = np.array(rows[:ROWS])
    bars: _Bars = []
    for block, weights in word_rows(trace, trace.layers[layer], drawn):
        shown = _of_heads(weights, head, choice)
        shown[:, list(across.aside)] = 0
        for at, row in zip(block, shown, strict=True):
            key = int(row.argmax())
            bars.append((f"{_name(line, int(at))} → {_name(across, key)}", float(row[key]), False, False))
    left = len(rows) - len(drawn)
    says = worded("Each word, and the word that it looks at most.")
    return says, bars, worded("and {count} more words", count=left) if left else "", [bar[1] for bar in bars]


def _of_heads(weights: NDArray[Any], head: int | None, choice: object) -> NDArray[np.float64]:
    """One head's rows, or the mean or the maximum of all: (H, rows, words) → (rows, words)."""
    found = weights[head] if head is not None else weights.max(axis=0) if choice == "max" else weights.mean(axis=0)
    return np.array(found, np.float64)


def _name(line: TokenizedText, place: int) -> str:
    word = line.words[place]
    return line.pieces[word.tokens[0]] if word.span is None else named(line.text[slice(*word.span)])


def _aside_name(line: TokenizedText) -> str:
    """The name of what is set aside: special tokens, or a decoder's first token."""
    words_aside = [line.words[place] for place in line.aside]
    special = all(word.span is None or not line.text[slice(*word.span)].strip() for word in words_aside)
    return worded("special tokens") if special else worded("set aside")


def still_html(found: Still, *notes: str) -> str:
    """The picture as HTML that needs neither scripts nor styles: colours and lengths are SVG's attributes.

    Args:
        found: the picture.
        notes: paragraphs below it.
    """
    rows = "".join(
        f'<tr><td>{_label(row)}</td><td>{_bar(row)}</td><td align="right">{html.escape(row.number)}</td></tr>'
        for row in found.rows
    )
    more = [found.rest] if found.rest else []
    below = "".join(f"<p>{html.escape(note)}</p>" for note in [*more, found.scale, *notes])
    return (
        f'<section lang="{found.language}"><h2><bdi>{html.escape(printable(found.title))}</bdi></h2>'
        f"<p>{html.escape(found.about)}</p><p><b><bdi>{html.escape(printable(found.says))}</bdi></b></p>"
        f'<table cellpadding="3">{rows}</table>{below}</section>'
    )


def _label(row: Row) -> str:
    label = f"<bdi>{html.escape(printable(row.label))}</bdi>"
    return f"<b>{label}</b>" if row.own else label


def _bar(row: Row) -> str:
    width = f"{_WIDE * row.length:.1f}".removesuffix(".0")
    fill = _GREY if row.aside else _VIOLET
    return (
        f'<svg width="{_WIDE}" height="12" role="presentation"><rect width="{width}" height="12" fill="{fill}"/></svg>'
    )


def why_still() -> str:
    """The reason for a still picture in a file."""
    return worded(
        "This is a still picture: scripts are switched off here, or the site that shows this page blocks them. Saved "
        "as a file and opened from there, the page can be explored. All of it is in this file, and nothing is fetched."
    )
