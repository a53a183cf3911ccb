"""The test of induction: random tokens, then the same again. It uses no text, so it runs once for each model."""

from __future__ import annotations

import weakref
from dataclasses import dataclass

import numpy as np

from eyeline.answers.behaviour.head_measures import Array, induction
from eyeline.forks import ForkSafeLock
from eyeline.models import Tokens
from eyeline.models.cutting import around
from eyeline.traces import Keep, ReadText, TextModel

REPEATED = 50  # the number of tokens in one copy
DRAWS = 8  # the number of draws of such tokens: the result of one may differ from another's by a third
_SEED = 0
_MOST = 8  # cached tests of one model, which differ by the tokenizer's special tokens


@dataclass(frozen=True, eq=False)
class InductionTest:
    """The result of the test for a model: the number of tokens in one copy, and each head's score, (L, H)."""

    length: int
    scores: Array


_Key = tuple[str | None, int, tuple[int, ...], tuple[int, ...], int]
_remembered: weakref.WeakKeyDictionary[object, dict[_Key, InductionTest]] = weakref.WeakKeyDictionary()
_lock = ForkSafeLock()


def induction_of(model: TextModel, text: ReadText) -> InductionTest | None:
    """Measure how much each head of a model looks at the token after the earlier copy of the current one.

    Args:
        model: the model. The result is cached as long as the model lives and its weights stay the same; of one that is
            opened by its name, as long as its files do.
        text: any text; its special tokens are put around the random tokens.

    Returns:
        The result; None if there is no room for two tokens twice.
    """
    tokens = text.tokens
    before, after = around(tokens)
    begin, end = tuple(tokens.ids[:before]), tuple(tokens.ids[len(tokens) - after :])
    room = REPEATED if model.positions is None else (model.positions - before - after) // 2
    length = min(REPEATED, room, model.vocabulary_size)
    if length < 2:
        return None
    key = (model.kind, model.state, begin, end, length)
    with _lock:
        known = _remembered.setdefault(model.identity, {})
        if key in known:
            return known[key]
    test = InductionTest(length, _scores(model, text, begin, end, length))
    with _lock:
        while len(known) >= _MOST:
            known.pop(next(iter(known)))
        known[key] = test
    return test


def _scores(model: TextModel, text: ReadText, begin: tuple[int, ...], end: tuple[int, ...], length: int) -> Array:
    """The mean score over all draws, (L, H)."""
    # No token repeats within a copy, so that each has one earlier copy.
    rng = np.random.default_rng(_SEED)
    draws = [rng.choice(model.vocabulary_size, length, replace=False).tolist() for _ in range(DRAWS)]
    scores = []
    for drawn in draws:
        ids = [*begin, *drawn, *drawn, *end]
        pieces, nowhere = [str(id) for id in ids], [(0, 0)] * len(ids)
        tokens = Tokens("", ids, pieces, nowhere, [True] * len(ids))
        trace = model.record(model.with_tokens(tokens, text), Keep(values=False, changed_scores=True))
        scores.append([induction(layer, length, len(begin)) for layer in trace.layers])
    return np.asarray(np.mean(scores, axis=0))
