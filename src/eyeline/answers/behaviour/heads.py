"""`heads`: what every head of a model does with a text."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from eyeline.answers.behaviour import measures
from eyeline.answers.behaviour.kinds import Kinds, around, cut, kinds_of
from eyeline.answers.behaviour.labels import Label, apply, labels_for
from eyeline.answers.question import QuestionError, loaded, sizes_of, tokens_of_any_length, too_long
from eyeline.answers.shown import Shown

if TYPE_CHECKING:
    from pandas import DataFrame

    from eyeline.models import Model, Tokens
    from eyeline.views import document
    from eyeline.views.terminal import Drawing

Array = NDArray[np.float64]
_REPEATED = 50  # tokens of one copy in the test of induction
_DRAWS = 8  # of such tokens: one alone may be unlike another by a third
_SEED = 0


@dataclass(frozen=True)
class Heads(Shown):
    """What every head of a model does with a text. Made by `heads`; print it to see it.

    Attributes:
        model: the model's name.
        sizes: its layers, heads, head width and positions.
        causal: whether its tokens look only back.
        tokens: the text as the model's tokens; of a longer text, those that were run.
        cut_from: how many tokens the whole text has.
        kinds: which of them are special, and which are punctuation.
        table: the numbers, by name, (layers, heads) each; NaN where there is nothing to measure. See `measures`.
        defined: the labels that can be given, the one to say first before the others.
        labels: the names of the labels that apply, for each layer and head.
        sink_tokens: over how many tokens the sink was measured.
        repeated: the tokens of one copy in the test of induction; 0 if the model has no room for it.
        draws: how many times such tokens were drawn.
    """

    model: str
    sizes: dict[str, int]
    causal: bool
    tokens: Tokens
    cut_from: int
    kinds: Kinds
    table: dict[str, Array]
    defined: tuple[Label, ...]
    labels: tuple[tuple[tuple[str, ...], ...], ...]
    sink_tokens: int
    repeated: int
    draws: int = _DRAWS

    @property
    def label(self) -> NDArray[np.str_]:
        """The label to say of each head, (layers, heads)."""
        return np.array([[names[0] for names in row] for row in self.labels])

    @cached_property
    def document(self) -> document.Heads:
        """All of it as plain data: what `--json` prints. docs/json.md says what each key means."""
        from eyeline.answers.behaviour.documents import heads_document

        return heads_document(self)

    def frame(self) -> DataFrame:
        """A pandas DataFrame with a row for each head: layer and head, counted from 1, label, labels, and the numbers.

        Raises:
            ImportError: if pandas isn't installed.
        """
        from eyeline.answers.behaviour.documents import heads_frame

        return heads_frame(self)

    def to_csv(self) -> str:
        """A line for each head, as `eyeline heads --csv` prints."""
        from eyeline.answers.behaviour.documents import heads_csv

        return heads_csv(self.document)

    def save_png(self, path: str | os.PathLike[str]) -> list[str]:
        """Draw layers × heads, one panel for the labels and one for each number, to a PNG file: whole or not at all.

        Args:
            path: where to.

        Returns:
            Characters for which no font here has a picture.

        Raises:
            ExtraError: if matplotlib isn't installed.
            OSError: if the file can't be written.
        """
        from eyeline.views.heads_figure import save_heads

        return save_heads(self.document, path)

    def __repr__(self) -> str:
        from eyeline.views.heads import found, heading

        return f"<Heads over {self.tokens.text[:60]!r}: {heading(self.document)} · {found(self.document)}>"

    def __rich__(self) -> Drawing:
        from eyeline.views.heads import heads
        from eyeline.views.terminal import Drawing

        return Drawing(lambda ink: heads(self.document, ink))

    def _repr_html_(self) -> str:
        from eyeline.views.heads_html import heads_html

        return heads_html(self.document)


def heads(
    text: str,
    *,
    first: int | None = None,
    model: str | os.PathLike[str] | Model = "minilm",
    progress: Callable[[str], None] | None = None,
    layer_done: Callable[[int, int], None] | None = None,
) -> Heads:
    """What every head of a model does with a text: how broadly and how far it looks, at what, and a word for that.

    The numbers, each a mean over all tokens, special ones included: see `eyeline.answers.behaviour.measures`. The
    model runs layer by layer and no weights are kept, so that memory grows with the length of the text alone.

    Args:
        text: one word or more, as many tokens as the model has positions at most.
        first: run only so many tokens, those that the text begins with; special ones count.
        model: a name of the catalogue, a folder, or a loaded model.
        progress: called with a line of text at each step of fetching a model.
        layer_done: called after each layer with how many are done and how many there are.

    Returns:
        `Heads`, which prints itself, and draws itself in a notebook.

    Raises:
        QuestionError: if the text or `first` isn't one that can be answered; a ValueError.
        ModelError: if the model is unknown or its files are wrong; a ValueError.

    >>> found = heads("Time flies like an arrow; fruit flies like a banana.")
    >>> found.table["entropy"].shape
    (6, 12)
    >>> float(found.table["previous"][0, 2].round(2)), str(found.label[0, 2])
    (0.93, 'previous token')
    """
    model = loaded(model, progress)
    whole = tokens_of_any_length(model, text)
    tokens = _beginning(model, whole, first)
    causal = model.config.causal
    kinds = kinds_of(tokens)
    found: list[dict[str, Array]] = []
    for layer in model.layers([tokens.ids], read=measures.readouts(kinds)):
        numbers = measures.measures(layer, kinds, causal=causal)
        numbers["sink"] = measures.sink(layer.seen.group_mass[..., 0])
        found.append(numbers)
        if layer_done is not None:
            layer_done(len(found), model.config.layers)
    if not causal and len(tokens) > measures.SINK_TOKENS:
        # In an encoder the tokens that follow change what the first ones do: they are run alone.
        few = cut(tokens, measures.SINK_TOKENS)
        groups = kinds_of(few).groups
        for numbers, layer in zip(found, model.layers([few.ids], read=groups), strict=True):
            numbers["sink"] = measures.sink(layer.seen.group_mass[..., 0])
    repeated = _induction(model, tokens, causal, found)
    table = {name: np.concatenate([numbers[name] for numbers in found]) for name in found[0]}
    defined = labels_for(len(tokens), causal)
    config = model.config
    labels = tuple(
        tuple(apply(defined, {name: float(values[layer, head]) for name, values in table.items()}) for head in row)
        for layer, row in enumerate([range(config.heads)] * config.layers)
    )
    sizes = sizes_of(model)
    sink_tokens = min(len(tokens), measures.SINK_TOKENS)
    return Heads(model.name, sizes, causal, tokens, len(whole), kinds, table, defined, labels, sink_tokens, repeated)


def _beginning(model: Model, whole: Tokens, first: int | None) -> Tokens:
    """The tokens to run: all, or as many as were asked for."""
    positions = model.config.positions
    if first is None:
        if len(whole) > positions:
            raise too_long(
                model,
                len(whole),
                "text",
                f"first={positions} runs the first {positions} tokens",
                f"--first {positions} runs the first {positions} tokens",
            )
        return whole
    least = sum(around(whole)) + 1
    if isinstance(first, bool) or not isinstance(first, int) or not least <= first <= positions:
        raise QuestionError(f"first must be from {least} to {positions} tokens in {model.name}, got {first!r}")
    return cut(whole, first)


def _induction(model: Model, tokens: Tokens, causal: bool, found: list[dict[str, Array]]) -> int:
    """Run random tokens, repeated, between the special tokens of a text, and add what they say to the numbers.

    Returns:
        How many tokens were repeated; 0 if there is room for less than two, and the numbers are NaN.
    """
    before, after = around(tokens)
    length = min(_REPEATED, (model.config.positions - before - after) // 2, model.config.vocabulary_size)
    if length < 2:
        for numbers in found:
            numbers["induction"] = np.full_like(numbers["entropy"], np.nan)
        return 0
    # Each token once, so that it has one earlier copy.
    rng = np.random.default_rng(_SEED)
    draws = [rng.choice(model.config.vocabulary_size, length, replace=False).tolist() for _ in range(_DRAWS)]
    around_them = tokens.ids[:before], tokens.ids[len(tokens) - after :]
    ids = [[*around_them[0], *drawn, *drawn, *around_them[1]] for drawn in draws]
    for numbers, layer in zip(found, model.layers(ids), strict=True):
        each = measures.induction(layer, length, before, causal=causal)
        numbers["induction"] = each.mean(axis=0, keepdims=True)
    return length
