"""`explain`: one sentence, and which of its tokens look at which."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from eyeline.answers import numbers
from eyeline.answers.generated import Generated, asked, check_room, generated, go_on
from eyeline.answers.numbers import Array
from eyeline.answers.question import QuestionError, Selection, loaded, seen_through, sizes_of, tokens_of, where
from eyeline.answers.running import HeadSteps, RunNumbers, Variant, run_numbers
from eyeline.answers.shown import Shown
from eyeline.answers.units import Found, find
from eyeline.masks import Mask
from eyeline.models.units import Unit, shown_of, units_of

if TYPE_CHECKING:
    from eyeline.models import Model, Tokens
    from eyeline.views import document
    from eyeline.views.terminal import Drawing


@dataclass(frozen=True)
class Explanation(Shown):
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
        special: whether special tokens, and a decoder's first, are drawn.
        causal: whether the model's tokens look only back, as trained.
        mask: the name of the mask that was asked for; a causal one changes nothing where tokens look only back.
        generated: how the text went on, if that was asked for; `tokens` and `units` are then of all of it.
    """

    model: str
    sizes: dict[str, int]
    tokens: Tokens
    units: tuple[Unit, ...]
    shown: tuple[int, ...]
    token: Found | None
    where: Selection
    runs: tuple[RunNumbers, ...]
    pieces: bool
    special: bool
    causal: bool = False
    mask: str | None = None
    generated: Generated | None = None

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
        from eyeline.answers.documents import explanation_document

        return explanation_document(self)

    def to_csv(self) -> str:
        """The picture's numbers as CSV, one line per pair of units, as `eyeline explain --csv` prints."""
        from eyeline.answers.tables import csv_text

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

    def __rich__(self) -> Drawing:
        from eyeline.views.terminal import Drawing, explanation

        return Drawing(lambda ink: explanation(self.document, ink))

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
    generate: int | None = None,
    temperature: float | None = None,
    top_p: float | None = None,
    seed: int | None = None,
    model: str | os.PathLike[str] | Model = "minilm",
    progress: Callable[[str], None] | None = None,
    said: Callable[[str], None] | None = None,
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
        special: show special tokens ([CLS], [SEP]) among the words, not set aside; with a decoder, the first word too.
        mask: "causal" (no looking ahead) or any mask: the model is run as trained and once more so.
        scale: what scores are multiplied by, such as 1.0 for no scaling: run as trained and once more so.
        generate: how many tokens a decoder goes on with; words among them can be asked about too.
        temperature: of the draw of new tokens; the likeliest is taken if not given.
        top_p: draw from the likeliest that together have this probability only.
        seed: of the draw: the same seed draws the same tokens.
        model: a name of the catalogue, a folder, or a loaded model.
        progress: called with a line of text at each step of fetching a model.
        said: called with each bit of new text as it comes.

    Returns:
        `Explanation`, which prints itself, and draws itself in a notebook.

    Raises:
        QuestionError: if the text, the token, the layer or the head isn't one that can be answered; a ValueError.
        ModelError: if the model is unknown or its files are wrong; a ValueError.

    >>> seen = explain("time flies like an arrow", "flies")
    >>> dict(zip(seen.words, seen.shares.round(2).tolist()))
    {'time': 0.32, 'flies': 0.27, 'like': 0.1, 'an': 0.1, 'arrow': 0.21}
    >>> explain("The capital of France is", generate=1, model="smollm2").tokens.text
    'The capital of France is Paris'
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
    wanted = asked(generate, temperature, top_p, seed)
    if isinstance(text, str) and not text.strip():
        raise QuestionError(f"text must have at least one word, got {text[:20]!r}")
    model = loaded(model, progress)
    place = where(model, layer, head)
    prompt = tokens = tokens_of(model, text)
    chosen: list[tuple[float, NDArray[Any]]] = []
    if wanted is not None:
        check_room(model, prompt, wanted.count)
        tokens, chosen = go_on(model, prompt, place.layer, wanted, said)
    units = units_of(tokens, pieces)
    found = None if token is None else find(token, nth, units, tokens.text, special)
    shown = shown_of(units, causal=model.config.causal, special=special, asked=found.units if found else ())
    new = None if wanted is None else generated(model, prompt, tokens, chosen, units, place, wanted)

    variants = [Variant()]
    changed = None if model.config.causal and mask_name == "causal" else asked_mask
    if changed is not None or scale is not None:
        names = [*([mask_name] if changed is not None and mask_name else [])]
        names += [] if scale is None else ["without ÷ √d" if scale == 1 else f"scale {scale:g}"]
        variants.append(Variant(", ".join(names), changed, None if changed is None else mask_name, scale))
    runs: list[RunNumbers] = []
    of_head: int | bool = steps and (place.head or True)
    for variant in variants:
        runs.append(run_numbers(model, tokens.ids, units, found, place, variant, of_head))
        of_head = runs[0].steps.head if runs[0].steps else False
    sizes = sizes_of(model)
    return Explanation(
        model.name,
        sizes,
        tokens,
        tuple(units),
        shown,
        found,
        place,
        tuple(runs),
        pieces,
        special,
        model.config.causal,
        mask_name,
        new,
    )
