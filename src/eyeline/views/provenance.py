"""What a picture is of, in one line: the model, layers and heads, the run's changes, and the version.

The text itself stands above the line. Whatever draws an answer shows both: the terminal, a notebook, a PNG.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eyeline.version import VERSION
from eyeline.views.labels import layer_name, listed, place, printable
from eyeline.words import worded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eyeline.answers import Answer, Comparison, Effects, Explanation, Heads, Rollout


def provenance(answer: Answer) -> str:
    """The line of any answer.

    >>> import eyeline as el
    >>> provenance(el.explain("time flies", "flies", layer=5, head=2))
    'minilm · L5H2 of L0 to L5, H0 to H11 · as trained · eyeline 0.1.0'
    """
    from eyeline.answers import Comparison, Effects, Explanation, Heads, Rollout, Why

    if isinstance(answer, (Explanation, Comparison)):
        parts = _attention(answer)
    elif isinstance(answer, Rollout):
        parts = _rollout(answer)
    elif isinstance(answer, Effects):
        parts = _effects(answer)
    elif isinstance(answer, Why):
        model = answer.model
        parts = [place(answer.layer, answer.head, model.layers, model.heads), run_name(answer.run)]
    else:
        assert isinstance(answer, Heads)
        parts = _heads(answer)
    return " · ".join([model_name(answer.model.name), *parts, f"eyeline {VERSION}"])


def model_name(name: str) -> str:
    """A model's name, with the bits of its weights if they were rounded to a few.

    >>> model_name("minilm"), model_name("e5")
    ('minilm', 'e5 (4-bit)')
    """
    from eyeline.models.catalogue import CATALOGUE  # views load without models

    known = CATALOGUE.get(name)
    if known is None or known.bits is None:
        return printable(name)
    return worded("{model} ({bits}-bit)", model=printable(name), bits=known.bits)


def quantity(shares: bool) -> str:
    """The name of the numbers that are drawn."""
    return worded("shares of the words") if shares else worded("weights")


def _quantity(shares: bool) -> list[str]:
    """The quantity where it isn't the usual one, the weight."""
    return [quantity(shares)] if shares else []


def run_name(name: str) -> str:
    """A run's name in the current language.

    >>> run_name("causal, without ÷ √d")
    'causal, without ÷ √d'
    """
    known = {
        "as trained": worded("as trained"),
        "causal": worded("causal"),
        "without ÷ √d": worded("without ÷ √d"),
        "encoder": worded("encoder"),
        "decoder": worded("decoder"),
        "cross": worded("cross-attention"),
    }

    def said(part: str) -> str:
        count = part.removesuffix(" more edits")
        return worded("{count} more edits", count=count) if count.isdigit() else known.get(part, printable(part))

    return ", ".join(map(said, name.split(", ")))


def _attention(answer: Explanation | Comparison) -> list[str]:
    from eyeline.answers import EncoderDecoderExplanation

    question, model = answer.question, answer.model
    runs: Sequence[str] = [run.name for run in getattr(answer, "runs", ())] or ["as trained"]
    if isinstance(answer, EncoderDecoderExplanation) and question.token is None:
        runs = [trace.name for trace in answer.traces]
    return [
        place(question.layer, question.head, model.layers, model.heads),
        listed([run_name(name) for name in runs]),
        *_quantity(question.shares),
    ]


def _rollout(answer: Rollout) -> list[str]:
    last = layer_name(answer.question.layer)
    through = worded("attention rollout through L0 to {last}", last=last)
    return [through, worded("as trained"), *_quantity(answer.question.shares)]


def _effects(answer: Effects) -> list[str]:
    model, count = answer.model, len(answer.tokens)
    size = worded("{layers} layers × {heads} heads", layers=model.layers, heads=model.heads)
    by = {"zero": worded("cut by zero"), "mean": worded("cut by the mean"), "uniform": worded("cut by looking alike")}
    edited = ", ".join(map(printable, answer.question.edits)) or worded("as trained")
    return [size, edited, by[answer.question.by], worded("{count} tokens", count=count)]


def _heads(answer: Heads) -> list[str]:
    model, count, whole = answer.model, answer.token_count, answer.whole_count
    tokens = (
        worded("{count} tokens", count=count)
        if count == whole
        else worded("the first {count} of {whole} tokens", count=count, whole=whole)
    )
    size = worded("{layers} layers × {heads} heads", layers=model.layers, heads=model.heads)
    return [size, worded("as trained"), tokens]
