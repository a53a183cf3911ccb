"""Several score modifiers, in order."""

from __future__ import annotations

from collections.abc import Sequence

from eyeline.masks import AttentionShape, Mask, is_plain
from eyeline.scores.lowered import HiddenColumns, LoweredScores, Weighted
from eyeline.scores.score import Score
from eyeline.scores.score_function import Function, ScoreFunction
from eyeline.scores.sinks import Sinks
from eyeline.scores.weight_factor import WeightFactor
from eyeline.words import worded

#: The type of `scores=`: one modifier or several; a plain function becomes a `ScoreFunction`.
Scores = Score | Function | Sequence[Score | Function]


def stacked(scores: Scores) -> tuple[Score, ...]:
    """Check the score modifiers, and return them in order.

    Raises:
        TypeError: if one of them is neither a score modifier nor a function.
        ValueError: if sinks aren't last, or given twice.
    """
    if isinstance(scores, (str, bytes, Mask)) or hasattr(scores, "dtype"):
        raise TypeError(_hint(scores))
    given = scores if isinstance(scores, Sequence) else (scores,)
    found = tuple(_score(one) for one in given)
    last = len(found) - 1
    while last >= 0 and isinstance(found[last], WeightFactor):
        last -= 1
    if any(isinstance(one, (Sinks, WeightFactor)) for one in found[: max(last, 0)]):
        raise ValueError(
            worded(
                "scores must have Sinks once and last, after all that changes scores, got {found}", found=list(found)
            )
        )
    return found


def sinks_of(found: Sequence[Score]) -> Sinks | None:
    """The sinks among checked modifiers, if there are any."""
    return next((one for one in reversed(found) if isinstance(one, Sinks)), None)


def lower(scores: Scores, shape: AttentionShape) -> LoweredScores:
    """All modifiers in the kernels' form: the steps in order, and the sinks."""
    found = stacked(scores)
    sinks = sinks_of(found)
    parts = [one.lower(shape) for one in found if one is not sinks]
    return LoweredScores(
        tuple(part for part in parts if not isinstance(part, (Weighted, HiddenColumns))),
        None if sinks is None else sinks.of(shape),
        tuple(part for part in parts if isinstance(part, Weighted)),
        next((part for part in parts if isinstance(part, HiddenColumns)), None),
    )


def are_plain(scores: Scores) -> bool:
    """Whether all are plain values: they neither are nor hold an array or a function, and are in no list, which could
    change."""
    given = scores if isinstance(scores, tuple) else (scores,)
    return all(isinstance(one, Score) and all(map(is_plain, one.parts().values())) for one in given)


def _score(given: Score | Function) -> Score:
    if isinstance(given, Score):
        return given
    if not callable(given) or isinstance(given, type):
        raise TypeError(_hint(given))
    return ScoreFunction(given)


def _hint(given: object) -> str:
    if isinstance(given, Mask):
        return worded("scores must hold score modifiers, got a mask, {given!r}; pass it as mask=", given=given)
    if hasattr(given, "dtype"):
        return worded(
            "scores must hold score modifiers, got an array; to add it to the scores, wrap it as eyeline.Bias(array)"
        )
    return worded("scores must hold score modifiers, such as eyeline.Alibi(), or functions, got {given!r}", given=given)
