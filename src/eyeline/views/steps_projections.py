"""The steps around one head's attention in the terminal: where q comes from, and what is added to x."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eyeline.views.ink import Ink
from eyeline.words import worded

if TYPE_CHECKING:
    from rich.text import Text

    from eyeline.answers.head_steps import HeadSteps
    from eyeline.answers.step_projections import StepProjections

_SHOWN = 4  # the coordinates of q that are written out
_LONGEST = 24  # the largest number of cells in a bar
_NUMBER = 8  # cells of "  12.345"


def origin(found: HeadSteps, words: str, ink: Ink) -> list[Text]:
    """The step before attention: x, its projections, and q; nothing if they aren't known.

    Args:
        found: the steps of one head.
        words: the token, as it is shown.
        ink: the terminal's ink.
    """
    from rich.text import Text

    if (made := found.projections) is None:
        return []
    d, width = found.head_dim, made.width
    numbers = ", ".join(f"{number:.2f}" for number in made.query[:_SHOWN])
    x = {"word": words, "layer": found.layer, "before": found.layer - 1, "width": width}
    if made.input == "embedding":
        said = worded("x is the embedding of {word}, the input of layer {layer}: {width} numbers", **x)
    else:
        said = worded("x is what layer {before} made of {word}, the input of layer {layer}: {width} numbers", **x)
    if made.norm_before is not None:
        said += worded(", after {norm}", norm=made.norm_before)
    said += worded(", of length {length}.", length=f"{made.x_length:.2f}")
    formula = "q = W_q·x" + (" + b" if made.query_bias else "")
    product = worded("{formula}, where W_q has {rows} × {columns} numbers", formula=formula, rows=d, columns=width)
    if made.head_norms:
        product += worded(", then normed")
    if made.rotary:
        product += worded(", then turned by its position")
    tail = ", …" if d > _SHOWN else ""
    product += worded(
        ": q = [{numbers}], of length {length}.", numbers=numbers + tail, length=f"{found.query_length:.2f}"
    )
    others = worded("k and v are made the same way of each token's x, by W_k and W_v.")
    lines = [Text(line, style="bold") for line in ink.wrapped(worded("Before: where q, k and v come from"), 0)]
    for text in (said, product, others):
        lines += [Text(line) for line in ink.wrapped(text, 2)]
    return lines


def outcome(found: HeadSteps, words: str, ink: Ink) -> list[Text]:
    """The step after attention: the heads joined, W_o, and the lengths of what is added to x.

    Args:
        found, words, ink: as for `origin`.
    """
    from rich.text import Text

    if (made := found.projections) is None:
        return []
    name = f"H{found.head}"
    heads = made.joined // (made.last - made.first)
    joined = worded(
        "The {heads} heads' new vectors side by side are {joined} numbers; {first} to {last} are {name}'s. W_o, "
        "{width} × {joined}, makes of them what is added to the vector of {word}:",
        heads=heads,
        joined=made.joined,
        first=made.first,
        last=made.last - 1,
        name=name,
        width=made.width,
        word=words,
    )
    lines = [Text(), Text(ink.own(worded("After: heads joined, and added")), style="bold")]
    lines += [Text(line) for line in ink.wrapped(joined, 2)]
    lines += _bars(made, name, ink)
    end = f"{_ceiling(made):.2f}"
    notes = [worded("Lengths, from 0 to {end}. They don't add up, where vectors point apart.", end=end)]
    if made.norm_after is not None:
        notes.append(worded("{norm} then sets the length of the sum.", norm=made.norm_after))
    return [*lines, *(Text(line, style="dim") for line in ink.wrapped(" ".join(notes), 2))]


def _ceiling(made: StepProjections) -> float:
    return max(made.residual_length, made.added_length, made.part_length, made.sum_length)


def _bars(made: StepProjections, name: str, ink: Ink) -> list[Text]:
    """A line for each length, with its bar."""
    from rich.text import Text

    residual = worded("its vector before (the residual)")
    added = worded("what all heads add") if not made.bias_length else worded("what all heads and the bias add")
    rows = [
        (residual, made.residual_length, ""),
        (added, made.added_length, ""),
        (worded("{name}'s part of it", name=name), made.part_length, "bold cyan"),
        (worded("the sum"), made.sum_length, ""),
    ]
    left = min(max(len(ink.own(label)) for label, *_ in rows), max(ink.width - 2 - _NUMBER - 12, 12))
    cells = min(ink.width - left - _NUMBER - 4, _LONGEST)
    ceiling = _ceiling(made) or 1.0
    lines = []
    for label, length, style in rows:
        line = Text("  " + ink.fit(ink.own(label), left), style=style, no_wrap=True)
        line.append(f"{length:>{_NUMBER}.2f}")
        if cells > 3:
            line.append("  ").append(ink.bar(length, ceiling, cells), "cyan")
        lines.append(line)
    return lines
