"""`toy`: attention with numbers that fit on one screen, every step of softmax(QKᵀ/√d)V.

The default is the textbook's example: of the output of "flies" in "time flies arrow", 0.45 comes from "time", 0.10 from
"flies" itself and 0.45 from "arrow".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyeline.answers.answer import PYTHON_ONLY, Answer
from eyeline.answers.question import QuestionError
from eyeline.masks import Causal, Dense, Mask
from eyeline.reference import steps
from eyeline.traces import Trace
from eyeline.words import worded

Array = NDArray[np.float64]
MaskName = Literal["causal", "padding"]

#: The default words and numbers; the fourth word is for those who want one more.
WORDS = ("time", "flies", "arrow", "fast")
Q = ((0.5, -1.5), (1.0, 1.0), (0.0, -1.0), (1.0, 0.5))
K = ((1.5, 0.5), (0.4, -0.5), (0.5, 1.5), (0.5, 0.5))
V = ((2.0, 0.0), (-1.0, 1.0), (0.0, 2.0), (1.0, -1.0))
#: How many of them there are by default.
COUNT = 3
#: The largest number of tokens, the largest width of their vectors, and the largest number in them.
TOKENS, WIDTH, LARGEST = 8, 4, 1000.0
#: The scaled score beyond which eˣ is taken of its distance from the largest of its row, lest it overflow.
FAR = 30.0


@dataclass(frozen=True, eq=False, repr=False)
class Toy(Answer):
    """One small attention with all its steps. Made by `toy`; print it to see it.

    N is the number of tokens, D the width of queries and keys, E that of values. All numbers are float64.

    Attributes:
        words: the tokens, N.
        q: queries, (N, D).
        k: keys, (N, D).
        v: values, (N, E).
        mask: what is hidden: "causal", the tokens ahead; "padding", the last token; None, nothing.
        scale: the factor of the scores, 1/√D; 1 without scaling.
        scores: q·k, (N, N): row i is the query of token i, column j the key of token j.
        scaled: the scores times `scale`, (N, N).
        allowed: whether query i may look at key j, (N, N).
        shifts: what is subtracted from a row's scaled scores before eˣ, (N,): 0, or the largest of the row if that is
            beyond ±30. It changes no weight.
        exponentials: eˣ, (N, N); 0 where the mask hides the key.
        sums: their sum in each row, (N,).
        weights: exponentials / sums, (N, N): each row sums to 1, or is 0 if the query may look at nothing.
        output: weights·v, (N, E).
        trace: the same attention as a trace, in float32, for the page. Not part of the JSON.
    """

    words: tuple[str, ...]
    q: Array
    k: Array
    v: Array
    mask: MaskName | None
    scale: float
    scores: Array
    scaled: Array
    allowed: NDArray[np.bool_]
    shifts: Array
    exponentials: Array
    sums: Array
    weights: Array
    output: Array
    trace: Trace = field(metadata=PYTHON_ONLY)

    schema: ClassVar[str] = "eyeline.toy/1"

    @property
    def divided(self) -> bool:
        """Whether scores are divided by √D."""
        return self.scale != 1 or self.q.shape[1] == 1


def toy(
    words: Sequence[str] | None = None,
    *,
    q: ArrayLike | None = None,
    k: ArrayLike | None = None,
    v: ArrayLike | None = None,
    scale: bool = True,
    mask: MaskName | None = None,
) -> Toy:
    """Compute attention on numbers small enough to follow by hand.

    Args:
        words: 1 to 8 tokens; by default *time*, *flies* and *arrow*, or as many as there are rows.
        q: a query of 1 to 4 numbers for each token, (N, D), within ±1000.
        k: a key for each token, (N, D).
        v: a value for each token, (N, E), of 1 to 4 numbers.
        scale: whether to divide the scores by √D.
        mask: "causal" hides the tokens ahead, "padding" the last token.

    Returns:
        `Toy`, which prints itself, and draws itself in a notebook.

    Raises:
        QuestionError: if an argument is invalid; a ValueError.

    >>> toy().weights[1].round(2)
    array([0.45, 0.1 , 0.45])
    >>> toy(mask="causal").output[0]
    array([2., 0.])
    """
    if mask is not None and (not isinstance(mask, str) or mask not in ("causal", "padding")):
        raise QuestionError(worded('mask must be "causal", "padding" or None, got {mask!r:.40}', mask=mask))
    if not isinstance(scale, (bool, np.bool_)):
        raise QuestionError(worded("scale must be True or False, got {scale!r:.40}", scale=scale))
    given = {name: _rows(name, array) for name, array in (("q", q), ("k", k), ("v", v)) if array is not None}
    names = _words(words, len(next(iter(given.values()))) if given else COUNT)
    if mask == "padding" and len(names) == 1:
        raise QuestionError(worded("mask must be None or causal for one word, got 'padding'; add a word"))
    queries, keys, values = (
        _all_rows(name, given.get(name), default, len(names)) for name, default in (("q", Q), ("k", K), ("v", V))
    )
    if queries.shape[1] != keys.shape[1]:
        raise QuestionError(
            worded(
                "k must have rows of {shape} numbers, as many as q's, got rows of {got}",
                shape=queries.shape[1],
                got=keys.shape[1],
            )
        )
    return _computed(names, queries, keys, values, bool(scale), mask)


def _computed(words: tuple[str, ...], q: Array, k: Array, v: Array, scaling: bool, mask: MaskName | None) -> Toy:
    rule, scale = _rule(mask, len(words)), None if scaling else 1.0
    found = steps(q, k, v, mask=rule, scale=scale)
    allowed = found.visible
    tops = found.masked.max(axis=1)
    shifts = np.where(np.isfinite(tops) & (np.abs(tops) > FAR), tops, 0.0)
    exponentials = np.where(allowed, np.exp(found.masked - shifts[:, None]), 0.0)
    trace = Trace.of(
        q[None, None], k[None, None], v[None, None], mask=rule, scale=scale, queries=words, name="toy", model="toy"
    )
    return Toy(
        words,
        q,
        k,
        v,
        mask,
        found.scale,
        found.scores,
        found.scaled,
        allowed,
        shifts,
        exponentials,
        exponentials.sum(axis=1),
        found.weights,
        found.output,
        trace,
    )


def _rule(mask: MaskName | None, count: int) -> Mask | None:
    """The mask by its name. Padding hides the last key from all; its own row is computed, and nobody reads it."""
    if mask == "causal":
        return Causal()
    return Dense(np.broadcast_to(np.arange(count) < count - 1, (count, count))) if mask == "padding" else None


def _words(words: Sequence[str] | None, count: int) -> tuple[str, ...]:
    if words is None:
        return WORDS[:count] if count <= len(WORDS) else tuple(f"x{place}" for place in range(count))
    if isinstance(words, str) or not isinstance(words, Sequence) or not all(isinstance(word, str) for word in words):
        raise QuestionError(worded("words must be a list of strings, got {words!r:.60}", words=words))
    if not 1 <= len(words) <= TOKENS:
        raise QuestionError(
            worded("words must be from 1 to {tokens} tokens, got {count}", tokens=TOKENS, count=len(words))
        )
    if empty := [place for place, word in enumerate(words) if not word.strip()]:
        raise QuestionError(
            worded(
                "words must have a letter each, got {words!r} at index {empty}", words=words[empty[0]], empty=empty[0]
            )
        )
    return tuple(words)


def _all_rows(name: str, given: Array | None, default: Sequence[Sequence[float]], count: int) -> Array:
    """A row for each token: the given ones, or the default's."""
    if given is None:
        if count > len(default):
            raise QuestionError(
                worded(
                    "{name} must be given for more than {count} tokens, got {got} tokens without {name}",
                    name=name,
                    count=len(default),
                    got=count,
                ),
                worded("give {name}=, a row for each token", name=name),
                worded("give --{name}, a row for each token", name=name),
            )
        return np.array(default[:count])
    if len(given) != count:
        raise QuestionError(
            worded(
                "{name} must have {count} rows, one for each token, got {got}",
                name=name,
                count=count,
                got=len(given),
            )
        )
    return given


def _rows(name: str, given: Any) -> Array:
    """An argument as an array of rows, checked."""
    try:
        lengths = {len(row) for row in given}
    except TypeError:
        raise QuestionError(
            worded("{name} must be a list of rows of numbers, got {given!r:.60}", name=name, given=given)
        ) from None
    if len(lengths) > 1:
        few, *_, many = sorted(lengths)
        raise QuestionError(
            worded(
                "{name} must have rows of one length, got rows of {few} and of {many} numbers",
                name=name,
                few=few,
                many=many,
            )
        )
    try:
        if np.iscomplexobj(np.array(given)):
            raise TypeError
        array = np.array(given, np.float64)
    except (TypeError, ValueError):
        raise QuestionError(worded("{name} must have numbers, got {given!r:.60}", name=name, given=given)) from None
    except OverflowError:
        rule = worded("{name} must have numbers from -{most:g} to {most:g}", name=name, most=LARGEST)
        raise QuestionError(worded("{rule}, got one beyond float64's", rule=rule)) from None
    if array.ndim != 2 or not 1 <= len(array) <= TOKENS or not 1 <= array.shape[1] <= WIDTH:
        raise QuestionError(
            worded(
                "{name} must have 1 to {tokens} rows of 1 to {width} numbers, got the shape {shape}; a toy is small",
                name=name,
                tokens=TOKENS,
                width=WIDTH,
                shape=array.shape,
            )
        )
    wrong = array[~(np.abs(array) <= LARGEST)]
    if wrong.size:
        value = float(wrong[0])
        rule = worded("{name} must have numbers from -{most:g} to {most:g}", name=name, most=LARGEST)
        raise QuestionError(worded("{rule}, got {what}", rule=rule, what="NaN" if math.isnan(value) else f"{value:g}"))
    return array
