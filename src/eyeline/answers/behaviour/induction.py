"""The test of induction: random tokens, then the same again. No text is in it, so it is made once for each model."""

from __future__ import annotations

import weakref
from dataclasses import dataclass

import numpy as np

from eyeline.answers.behaviour.head_measures import Array, induction
from eyeline.answers.behaviour.token_groups import around
from eyeline.forks import ForkSafeLock
from eyeline.models import Tokens
from eyeline.traces import Keep, ReadText, TextModel

REPEATED = 50  # tokens of one copy
DRAWS = 8  # of such tokens: one alone may be unlike another by a third
_SEED = 0
_MOST = 8  # tests that are remembered of one model: its special tokens differ by the tokenizer alone


@dataclass(frozen=True, eq=False)
class InductionTest:
    """What the test says of a model: the tokens of one copy, and each head's score, (L, H)."""

    length: int
    scores: Array


_Key = tuple[str | None, int, tuple[int, ...], tuple[int, ...], int]
_remembered: weakref.WeakKeyDictionary[object, dict[_Key, InductionTest]] = weakref.WeakKeyDictionary()
_lock = ForkSafeLock()


def induction_of(model: TextModel, text: ReadText) -> InductionTest | None:
    """How far each head of a model looks past the earlier copy of random tokens.

    Args:
        model: the model. What it says is remembered for as long as it lives and its weights stay.
        text: any text; the random tokens stand between the special tokens around it.

    Returns:
        The test; None if there is room for less than two tokens twice.
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
    """The mean over all draws, (L, H)."""
    # Each token once, so that it has one earlier copy.
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
