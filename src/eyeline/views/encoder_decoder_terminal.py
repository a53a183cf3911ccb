"""What an encoder-decoder looks at, in a terminal: while it writes, while it reads, and back at what it has written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from eyeline.views.drawing import note, say, title
from eyeline.views.drawn import DrawnRow, drawn_row
from eyeline.views.findings import Words
from eyeline.views.ink import Ink
from eyeline.views.labels import head_name, listed, named, percent, printable
from eyeline.views.provenance import provenance, quantity
from eyeline.views.scale import scale_end
from eyeline.words import worded

if TYPE_CHECKING:
    from rich.text import Text

    from eyeline.answers.encoder_decoder import EncoderDecoderExplanation, WrittenWord
    from eyeline.answers.entries import UnitEntry

_BAR = 40  # the largest number of cells in a bar
_COLUMN = 7  # the least cells of a column of numbers


def encoder_decoder(answer: EncoderDecoderExplanation, ink: Ink) -> Iterator[Text]:
    """Draw an explanation of all parts as lines."""
    from eyeline.views.explanation_terminal import explanation, pictures

    if answer.question.token is not None:  # a word that was read: the encoder's answer, and who looks at it
        yield from explanation(answer, ink)
        return
    word = answer.cross.word
    yield title(f"{answer.text} → ", None, "", ink).append_text(title(answer.written, _span(answer), "", ink))
    yield note(provenance(answer), ink, indent=0)
    yield say("", ink)
    if word is not None:
        yield from _written_word(answer, word, ink)
        return
    yield say(worded("What it looks at while it writes: cross-attention"), ink)
    yield from _letters(answer, ink)
    yield say("", ink)
    yield say(found(answer, ink.words), ink)
    yield say("", ink)
    yield say(worded("What it looks at while it reads: the encoder's self-attention"), ink)
    yield from pictures(answer, ink)
    yield say("", ink)
    yield say(worded("What it looks back at in what it has written: the decoder's self-attention"), ink)
    yield from pictures(answer.decoder, ink)


def _span(answer: EncoderDecoderExplanation) -> tuple[int, int] | None:
    """The place of the question's word in what was written."""
    word = answer.cross.word
    if word is None:
        return None
    units = [answer.cross.units[place] for place in word.units]
    return (units[0].start or 0, units[-1].end or 0)


def _letters(answer: EncoderDecoderExplanation, ink: Ink) -> Iterator[Text]:
    """A row for each token that is written: shades over the text that was read, and the numbers of its words."""
    from rich.text import Text

    cross, tokens = answer.cross, answer.tokens
    weights = answer.token_numbers
    end = scale_end(weights.ravel().tolist())
    labels = [named(token) for token in cross.tokens]
    left = max(map(len, labels)) + 4
    cells = [ink.sentence(token.text) if len(token.text) == 1 else "·" for token in tokens]
    drawn = columns(answer)
    widths = [max(ink.widest([name]) + 2, _COLUMN) for name, _ in drawn]
    numbered = left + len(cells) + 1 + sum(widths) <= ink.width
    fits = len(cells) if numbered else max(min(len(cells), ink.width - left), 1)
    line = Text(" " * left + "".join(cells[:fits]), style="bold", no_wrap=True, overflow="crop")
    if numbered:
        line.append(" ")
        for number, ((name, _), width) in enumerate(zip(drawn, widths, strict=True)):
            aside = number >= len(answer.shown)
            line.append(ink.fit(ink.own(name) if aside else ink.words(name), width, right=True), "dim" if aside else "")
    yield line
    for label, row in zip(labels, weights, strict=True):
        line = Text("  " + ink.fit(ink.words(label), left - 2), no_wrap=True, overflow="crop")
        line.append("".join(ink.shade(float(weight), end) for weight in row[:fits]), "cyan")
        if numbered:
            line.append(" ")
            for (_, places), width in zip(drawn, widths, strict=True):
                line.append(f"{percent(float(row[list(places)].sum())):>{width}}")
        yield line
    yield note(f"{rows_note(answer)} {ink.shade_legend(end, end)}", ink)


def columns(answer: EncoderDecoderExplanation) -> list[tuple[str, tuple[int, ...]]]:
    """The words that were read, and last what is set aside: each one's name and tokens."""
    found = [(answer.units[place].text, answer.units[place].tokens) for place in answer.shown]
    rest = sorted(set(range(len(answer.tokens))) - {token for _, tokens in found for token in tokens})
    return found + ([(_rest_name(answer), tuple(rest))] if rest and not answer.question.shares else [])


def rows_note(answer: EncoderDecoderExplanation) -> str:
    """The note on what a row of the picture is."""
    numbers = quantity(answer.question.shares)
    if answer.cross.tokens and answer.cross.tokens[0] == answer.decoder.tokens[0].piece:
        return worded(
            "Each row is a token that the decoder took, before it wrote the next; its {numbers} sum to 100%.",
            numbers=numbers,
        )
    return worded("Each row is a step, named by what it writes; its {numbers} sum to 100%.", numbers=numbers)


def _rest_name(answer: EncoderDecoderExplanation) -> str:
    """The name of what is set aside in the text that was read."""
    aside = [unit for unit in answer.units if unit.set_aside]
    return worded("spaces") if all(unit.start is not None for unit in aside) else worded("set aside")


def found(answer: EncoderDecoderExplanation, words: Words = printable) -> str:
    """The sentence below the picture: what each written word takes most from; `words` formats the user's words."""
    parts = []
    for row, place in zip(answer.word_numbers, answer.cross.shown, strict=True):
        unit = answer.cross.units[place]
        if any(letter.isalnum() for letter in unit.text):
            best = answer.shown[int(np.argmax(row))]
            share = percent(float(row.max()))
            parts.append(f"{words(unit.text)} → {words(answer.units[best].text)} ({share})")
    if not parts:
        return ""
    return worded("While it writes each, it takes most from: {pairs}.", pairs=listed(parts))


def _written_word(answer: EncoderDecoderExplanation, word: WrittenWord, ink: Ink) -> Iterator[Text]:
    name = ink.words(word.token)
    shares = answer.question.shares
    looks_at, before = drawn_row(word.looks_at, shares), drawn_row(word.before, shares)
    end = scale_end((*looks_at.all, *before.all))
    yield say(worded("While it writes {word}, it looks at: cross-attention", word=name), ink)
    yield from _bars(looks_at, answer.units, end, "" if shares else _rest_name(answer), ink)
    yield say("", ink)
    yield say(worded("and, in what it has written, at: the decoder's self-attention"), ink)
    yield from _bars(before, answer.decoder.units, end, "" if shares else worded("set aside"), ink)
    yield note(
        worded(
            "{numbers}: the mean of the steps that write {word}. A full bar is {end}.",
            numbers=quantity(shares).capitalize(),
            word=name,
            end=percent(end),
        ),
        ink,
    )
    yield say("", ink)
    heads = [
        f"{head_name(head.layer, head.head)} → {ink.words(head.text)} ({percent(head.weight)})"
        for head in word.hardest_heads
    ]
    yield say(worded("Heads that look hardest at one word: {heads}.", heads=listed(heads)), ink)


def _bars(row: DrawnRow, units: Sequence[UnitEntry], end: float, rest: str, ink: Ink) -> Iterator[Text]:
    """A bar for each word, and a grey one, called `rest`, for what is set aside; it is empty for shares."""
    from rich.text import Text

    drawn = [(number, look) for number, look in zip(row.numbers, row.looks, strict=True) if not look.hidden]
    labels = [ink.label(units[look.unit]) for _, look in drawn]
    rows = [(label, number, "cyan") for label, (number, _) in zip(labels, drawn, strict=True)]
    if row.aside is not None:
        rows.append((ink.own(rest), row.aside, "dim"))
    left = ink.widest([*labels, ink.own(rest)]) + 2
    cells = max(min(_BAR, ink.width - left - 9), 4)
    for label, number, style in rows:
        line = Text("  " + ink.fit(label, left), "dim" if style == "dim" else "", no_wrap=True)
        yield line.append(ink.bar(number, end, cells).ljust(cells), style).append(f"{percent(number):>6}")
