"""`explain`: one sentence, and which of its tokens look at which."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from eyeline.explanations import numbers
from eyeline.explanations.numbers import Array, HardHead
from eyeline.explanations.question import QuestionError, Where, loaded, seen_through, tokens_of, where
from eyeline.explanations.units import Found, Unit, find, units_of
from eyeline.masks import Mask
from eyeline.reference import Steps
from eyeline.reference import steps as reference_steps

if TYPE_CHECKING:
    from eyeline.models import Model, Run, Tokens
    from eyeline.views import document
    from eyeline.views.terminal import Drawing


@dataclass(frozen=True)
class HeadSteps:
    """One head's attention, step by step, for one token.

    Attributes:
        layer, head: counted from 1.
        chosen: "asked", or "hardest" if nobody did: the head that looks hardest at one word.
        token: position of the token whose steps these are.
        steps: every intermediate, for all tokens; row `token` is its own.
    """

    layer: int
    head: int
    chosen: Literal["asked", "hardest"]
    token: int
    steps: Steps


@dataclass(frozen=True)
class RunNumbers:
    """The numbers of one run of the model: as trained, or with what was changed.

    Attributes:
        name: "as trained", "causal", "without ÷ √d" and so on.
        mask: the mask's name, if there is one.
        scale: what scores are multiplied by.
        head_weights: what each head of the layer gives from unit to unit, (H, U, U); rows sum to 1.
        matrix: the same for the head that was asked for, or the mean over heads, (U, U).
        weights: what the token gives to each unit, (U,); None without a token.
        hardest: the three heads that look hardest at one word, for the token.
        moved: cosine of the token's vector with its own embedding at each layer, (layers + 1,).
        steps: step by step, if it was asked for.
    """

    name: str
    mask: str | None
    scale: float
    head_weights: Array
    matrix: Array
    weights: Array | None = None
    hardest: tuple[HardHead, ...] = ()
    moved: Array | None = None
    steps: HeadSteps | None = None


@dataclass(frozen=True)
class Explanation:
    """Which tokens of a sentence look at which. Made by `explain`; print it to see it.

    Attributes:
        model: the model's name.
        sizes: its layers, heads, head width and positions.
        tokens: the text as the model's tokens.
        units: what one bar or one row stands for: words (or pieces of them), and special tokens; U of them.
        shown: the places of the units that are drawn; the others are set aside.
        token: the token that was asked about, None for the whole sentence.
        where: the layer, and the head, None for the mean of all.
        runs: the numbers, as trained, and then with what was changed (a mask, another scale), if anything was.
        pieces: whether units are pieces.
        special: whether special tokens are drawn.
    """

    model: str
    sizes: dict[str, int]
    tokens: Tokens
    units: tuple[Unit, ...]
    shown: tuple[int, ...]
    token: Found | None
    where: Where
    runs: tuple[RunNumbers, ...]
    pieces: bool
    special: bool

    @property
    def words(self) -> list[str]:
        """What is drawn, in reading order, as typed."""
        return [self.units[place].text for place in self.shown]

    @property
    def weights(self) -> Array:
        """Of everything that the token gives, what goes to each word, (words,); without a token, (words, words)."""
        run = self.runs[0]
        if run.weights is None:
            return run.matrix[np.ix_(self.shown, self.shown)]
        return run.weights[list(self.shown)]

    @property
    def shares(self) -> Array:
        """`weights` as shares of what the token gives to the words: what the bars show; rows sum to 1."""
        run = self.runs[0]
        if run.weights is None:
            return numbers.shares(run.matrix[list(self.shown)], self.shown)
        return numbers.shares(run.weights, self.shown)

    @property
    def moved(self) -> Array | None:
        """Cosine of the token's vector with its own embedding at each layer, 0 to the last."""
        return self.runs[0].moved

    @property
    def steps(self) -> HeadSteps | None:
        """Attention step by step, if it was asked for."""
        return self.runs[0].steps

    @cached_property
    def document(self) -> document.Explanation:
        """All of it as plain data: what `--json` prints. docs/json.md says what each key means."""
        from eyeline.explanations.documents import explanation_document

        return explanation_document(self)

    def to_json(self, *, ascii_only: bool = False) -> str:
        """The JSON that `eyeline explain --json` prints; with `ascii_only`, other characters as escapes."""
        from eyeline.explanations.documents import json_text

        return json_text(self.document, ascii_only)

    def to_csv(self) -> str:
        """The picture's numbers as CSV, one line per pair of units, as `eyeline explain --csv` prints."""
        from eyeline.explanations.documents import csv_text

        return csv_text(self.document)

    def save_png(self, path: str | os.PathLike[str]) -> list[str]:
        """Draw the heat map to a PNG file, which is there whole or not at all.

        Args:
            path: where to.

        Returns:
            Characters for which no font here has a picture.

        Raises:
            ExtraError: if matplotlib isn't installed.
            OSError: if the file can't be written.
        """
        from eyeline.views.figure import save_heat_map

        return save_heat_map(self.document, path)

    def __repr__(self) -> str:
        from eyeline.views.findings import found, heading

        return f"<Explanation of {self.tokens.text[:60]!r}: {heading(self.document)} · {found(self.document)}>"

    def __str__(self) -> str:
        return self.__rich__().plain()

    def __rich__(self) -> Drawing:
        from eyeline.views.terminal import Drawing, explanation

        return Drawing(lambda ink: explanation(self.document, ink))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))  # IPython in a terminal

    def _repr_html_(self) -> str:
        from eyeline.views.html import explanation_html

        return explanation_html(self.document)


def explain(
    text: str,
    token: str | None = None,
    *,
    nth: int | None = None,
    layer: int | None = None,
    head: int | None = None,
    steps: bool = False,
    pieces: bool = False,
    special: bool = False,
    mask: Mask | Literal["causal"] | None = None,
    scale: float | None = None,
    model: str | os.PathLike[str] | Model = "minilm",
    progress: Callable[[str], None] | None = None,
) -> Explanation:
    """Which words a token looks at; or, without a token, who looks at whom.

    Args:
        text: one word or more, as many tokens as the model has positions at most.
        token: the word that looks, as typed or nearly so, or several words in a row.
        nth: which one, from 1, where the word is there more than once.
        layer: 1 to the model's layers; the last if not given. (0 is the embedding, which has no attention.)
        head: 1 to the model's heads; the mean over all if not given.
        steps: also keep attention step by step, for `head`, or else for the head that looks hardest at one word.
        pieces: show the tokenizer's pieces, not words. Pieces add up to words over keys by sum, over queries by mean.
        special: show special tokens ([CLS], [SEP]) among the words, not set aside.
        mask: "causal" (no looking ahead) or any mask: the model is run as trained and once more so.
        scale: what scores are multiplied by, such as 1.0 for no scaling: run as trained and once more so.
        model: a name of the catalogue, a folder, or a loaded model.
        progress: called with a line of text at each step of fetching a model.

    Returns:
        `Explanation`, which prints itself, and draws itself in a notebook.

    Raises:
        QuestionError: if the text, the token, the layer or the head isn't one that can be answered; a ValueError.
        ModelError: if the model is unknown or its files are wrong; a ValueError.

    >>> seen = explain("time flies like an arrow", "flies")
    >>> dict(zip(seen.words, seen.shares.round(2).tolist()))
    {'time': 0.32, 'flies': 0.27, 'like': 0.1, 'an': 0.1, 'arrow': 0.21}
    """
    asked_mask, mask_name = seen_through(mask)
    if steps and token is None:
        raise QuestionError(
            "token must be given with steps", "steps are those of one token: add token=...", "add --token WORD"
        )
    if nth is not None and token is None:
        raise QuestionError("token must be given with nth", "add token=...", "add --token WORD")
    if scale is not None and not np.isfinite(scale):
        raise QuestionError(f"scale must be a finite number, got {scale!r}")
    if isinstance(text, str) and not text.strip():
        raise QuestionError(f"text must have at least one word, got {text[:20]!r}")
    model = loaded(model, progress)
    place = where(model, layer, head)
    tokens = tokens_of(model, text)
    units = units_of(tokens, pieces)
    found = None if token is None else find(token, nth, units, text, special)
    shown = tuple(index for index, unit in enumerate(units) if special or not unit.extra)

    trained = 1 / model.config.head_dim**0.5
    variants: list[tuple[str, Mask | None, str | None, float | None]] = [("as trained", None, None, None)]
    if asked_mask is not None or scale is not None:
        unscaled = [] if scale is None else ["without ÷ √d" if scale == 1 else f"scale {scale:g}"]
        name = ", ".join([*([mask_name] if mask_name else []), *unscaled])
        variants.append((name, asked_mask, mask_name, scale))
    runs: list[RunNumbers] = []
    steps_head = place.head
    for name, run_mask, run_mask_name, run_scale in variants:
        run = model.run([tokens.ids], mask=run_mask, scale=run_scale, weights=True)
        result = _numbers(run, units, found, place, name, run_mask_name, trained if run_scale is None else run_scale)
        if steps and found is not None:
            steps_head = steps_head or result.hardest[0].head
            layer_seen = run.layers[place.layer - 1]
            q, k, v = (array[0, steps_head - 1] for array in (layer_seen.q, layer_seen.k, layer_seen.v))
            worked = reference_steps(q, k, v, mask=run_mask, scale=run_scale)
            chosen: Literal["asked", "hardest"] = "hardest" if place.head is None else "asked"
            kept = HeadSteps(place.layer, steps_head, chosen, units[found.units[0]].tokens[0], worked)
            result = replace(result, steps=kept)
        runs.append(result)
    config = model.config
    sizes = {"layers": config.layers, "heads": config.heads, "head_dim": config.head_dim, "positions": config.positions}
    return Explanation(model.name, sizes, tokens, tuple(units), shown, found, place, tuple(runs), pieces, special)


def _numbers(
    run: Run, units: list[Unit], found: Found | None, place: Where, name: str, mask: str | None, scale: float
) -> RunNumbers:
    weights = run.layers[place.layer - 1].weights
    assert weights is not None
    by_head = numbers.by_unit(weights[0], units)
    heads = slice(None) if place.head is None else slice(place.head - 1, place.head)
    result = RunNumbers(name, mask, scale, by_head, by_head[heads].mean(axis=0))
    if found is None:
        return result
    queries = [position for unit in found.units for position in units[unit].tokens]
    rows = numbers.from_tokens(weights[0], queries, units)
    words = [index for index, unit in enumerate(units) if not unit.extra]
    states = numbers.vectors(run, queries)
    return RunNumbers(
        name,
        mask,
        scale,
        by_head,
        result.matrix,
        rows[heads].mean(axis=0),
        tuple(numbers.hardest_heads(rows, place.layer, words)),
        numbers.cosine(states, states[0]),
    )
