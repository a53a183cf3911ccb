"""Heads in a terminal: the kind of each as a picture of layers × heads, and tables of their measures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from eyeline.views.advice import ask, asks_for_options
from eyeline.views.drawing import note, say
from eyeline.views.heads_findings import MIXED, clearest, conventions, figure, found, kind_names, rules, value
from eyeline.views.ink import Ink
from eyeline.views.kinds_picture import kinds_picture, sign_of
from eyeline.views.labels import excerpt, head_name, layer_name
from eyeline.views.provenance import provenance
from eyeline.views.reading import reading_notes
from eyeline.words import worded

if TYPE_CHECKING:
    from rich.text import Text

    from eyeline.answers import Heads
    from eyeline.answers.behaviour.all_heads import HeadEntry


#: The columns of a table: the measure's name, and its long and short headings.
_COLUMNS = (
    ("entropy", "entropy", "nats"),
    ("distance", "distance", "dist"),
    ("previous", "previous", "prev"),
    ("next", "next", "next"),
    ("same", "same", "same"),
    ("first", "first", "1st"),
    ("special", "special", "spec"),
    ("punctuation", "punct.", "punc"),
    ("sink", "sink", "sink"),
    ("induction", "induction", "indu"),
)


def heads(
    answer: Heads, ink: Ink, *, sort: str | None = None, layer: int | None = None, label: str | None = None
) -> Iterator[Text]:
    """Draw heads as lines: the picture, the meanings of its signs, and a table.

    Args:
        answer: the heads.
        ink: how to draw.
        sort: list all heads, the largest values of this measure first.
        layer: list all heads of this layer.
        label: list all heads to which the label with this key applies. Without any of the three, list the clearest
            heads of each kind.
    """
    before, inside, after = excerpt(answer.text, None, max(ink.width * 2 - 20, 40))
    yield say(ink.sentence(before + inside + after), ink)
    yield note(provenance(answer), ink, indent=0)
    for line in reading_notes(answer.trace, answer.unknown, ink.words):
        yield note(line, ink, indent=0)
    yield say("", ink)
    yield from _picture(answer, ink)
    yield say("", ink)
    yield from _legend(answer, ink)
    yield say("", ink)
    yield say(found(answer), ink)
    yield say("", ink)
    names = {entry.key: entry.label for entry in answer.labels} | {MIXED: MIXED}
    chosen = [
        entry
        for entry in answer.heads
        if layer in (None, entry.layer) and (label is None or names.get(label) in entry.labels)
    ]
    if sort is not None:
        chosen.sort(key=lambda entry: -value(entry, sort))
    asked = [
        *([worded("label {label}", label=label)] if label else []),
        *([] if layer is None else [layer_name(layer)]),
    ]
    asked += [worded("most {measure} first", measure=sort)] if sort else []
    if not asked:
        chosen = list(clearest(answer))
    counted = worded("{count} heads", count=len(chosen))
    title = " · ".join([counted, *asked]) if asked else worded("The clearest of each kind")
    yield say(title, ink)
    lines, fits = _table(chosen, kind_names(answer), kind_names(answer, short=True), ink)
    yield from lines
    if fits < len(_COLUMNS):
        yield note(
            worded(
                "{fits} of {count} numbers fit here: a wider terminal or {csv} shows all.",
                fits=fits,
                count=len(_COLUMNS),
                csv=ask("csv"),
            ),
            ink,
        )
    if not asked:
        yield note(
            worded("--sort entropy, --layer 1 or --label broad list all; --csv and --json give every number.")
            if asks_for_options()
            else worded(".table has every number, and .frame() makes a table for pandas of them."),
            ink,
        )
    for line in conventions(answer):
        yield note(line, ink)


def _picture(answer: Heads, ink: Ink) -> Iterator[Text]:
    count = answer.model.heads
    rows = iter(answer.heads)
    lines, fits = kinds_picture([[next(rows).label for _ in range(count)] for _ in range(answer.model.layers)], ink)
    yield from lines
    if fits < count:
        yield note(
            worded(
                "{fits} of {count} heads fit here: a wider terminal, {png} or {csv} shows all.",
                fits=fits,
                count=count,
                png=ask("png"),
                csv=ask("csv"),
            ),
            ink,
        )


def _legend(answer: Heads, ink: Ink) -> Iterator[Text]:
    from rich.text import Text

    counts = Counter(entry.label for entry in answer.heads)
    names = kind_names(answer)
    wide = max(map(len, names.values()))
    for name, (when, source) in rules(answer).items():
        sign, style = sign_of(name, ink)
        line = Text("  ", no_wrap=True, overflow="crop").append(sign, style)
        line.append(f" {names[name]:<{wide}}{counts[name]:>5}", "" if counts[name] else "dim")
        room = ink.width - line.cell_len - 2
        whole = ink.own(f"{when} · {source}" if source else when)
        yield line.append(f"  {whole if len(whole) <= room else when if len(when) <= room else ''}", "dim")


def _table(
    entries: Sequence[HeadEntry], kinds: Mapping[str, str], short_kinds: Mapping[str, str], ink: Ink
) -> tuple[list[Text], int]:
    """A row for each head, and the number of measures that fitted.

    Args:
        entries: the heads.
        kinds: the names of their kinds, by label.
        short_kinds: the same, shorter.
        ink: how to draw.
    """
    from rich.text import Text

    first, second = worded("head"), worded("kind")
    left = max(7, len(first)) + 5  # the number of cells before the kinds
    names = {name: long for name, long, _ in _COLUMNS}
    cells = {name: max(len(long) + 2, 6) for name, long, _ in _COLUMNS}
    if left + max(map(len, kinds.values())) + sum(cells.values()) > ink.width:
        kinds = short_kinds
        names = {name: short for name, _, short in _COLUMNS}
        cells = {name: 5 for name, _, _ in _COLUMNS}
    kind = max(len(second), *map(len, kinds.values()))
    fits = 0
    while fits < len(_COLUMNS) and left + kind + sum(list(cells.values())[: fits + 1]) <= ink.width:
        fits += 1
    shown = list(names)[:fits]
    head = f"  {first:{left - 5}}   {second:<{kind}}" + "".join(f"{names[name]:>{cells[name]}}" for name in shown)
    lines = [Text(head, style="dim", no_wrap=True, overflow="crop")]
    for entry in entries:
        sign, style = sign_of(entry.label, ink)
        line = Text(f"  {head_name(entry.layer, entry.head):{left - 5}} ", no_wrap=True, overflow="crop")
        line.append(sign, style).append(f" {kinds[entry.label]:<{kind}}")
        line.append("".join(f"{ink.own(figure(entry, name)):>{cells[name]}}" for name in shown))
        lines.append(line)
    return lines, fits
