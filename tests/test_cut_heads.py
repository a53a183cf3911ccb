"""The direction of the main figures of examples/cut_heads.py, which docs/looking-and-mattering.md has."""

from __future__ import annotations

import numpy as np
import pytest

import eyeline as el
from examples import cut_heads
from eyeline.models import load

#: As docs/looking-and-mattering.md names them.
INDUCTION = [(17, 3), (17, 4), (17, 5), (18, 6), (18, 7), (23, 2)]


@pytest.fixture(scope="module")
def model():
    return load("smollm2")


def test_the_texts_repeat_themselves_and_no_token_within_a_copy():
    ids = cut_heads.repeated(1000, 3, 40, np.random.default_rng(0))
    assert ids.shape == (3, 80)
    assert (ids[:, :40] == ids[:, 40:]).all()
    assert all(len(set(text)) == 40 for text in ids)


def test_others_are_as_many_of_the_same_layers_and_none_of_those_heads():
    chance = np.random.default_rng(0)
    drawn = cut_heads.beside(INDUCTION, 9, chance)
    assert [layer for layer, _ in drawn] == [17, 17, 17, 18, 18, 23]
    assert len({*drawn, *INDUCTION}) == 12
    drawn = cut_heads.anywhere(INDUCTION, 30, 9, chance)
    assert len({*drawn, *INDUCTION}) == 12


def test_losses_are_those_of_the_next_tokens(model):
    ids = np.array([model.tokens("The capital of France is Paris.").ids])
    logits = model.logits(model.run(ids).hidden_states[-1]).astype(np.float64)[0]
    want = [np.log(np.exp(row).sum()) - row[after] for row, after in zip(logits[:-1], ids[0, 1:], strict=True)]
    np.testing.assert_allclose(cut_heads.losses(model, ids)[0], want, rtol=1e-5)


def test_without_induction_heads_nothing_is_copied_and_without_others_it_is(model):
    chance = np.random.default_rng(0)
    assert cut_heads.labelled(el.heads("time flies like an arrow", model="smollm2"), "induction") == INDUCTION
    ids = cut_heads.repeated(model.config.vocabulary_size, 2, 30, chance)
    whole = cut_heads.copying(model, ids)
    without = cut_heads.copying(model, ids, INDUCTION)
    others = [cut_heads.copying(model, ids, cut_heads.beside(INDUCTION, 9, chance)) for _ in range(2)]
    assert whole.second < whole.first - 8  # it copies
    assert without.second - whole.second > 5
    assert abs(without.first - whole.first) < 0.5  # there is nothing to copy yet
    assert max(one.second for one in others) - whole.second < (without.second - whole.second) / 2


def test_the_first_token_is_looked_at_more_than_it_passes_on(model):
    looked, passed = cut_heads.first_token(cut_heads.PROSE)
    assert looked > 0.3
    assert passed < 0.7 * looked
    ids = np.array([model.tokens(cut_heads.PROSE).ids])
    trained, cut, none, half = (cut_heads.losses(model, ids, edits).mean() for edits in cut_heads.sink_edits().values())
    assert cut - trained < 0.2
    assert none - trained > 0.5
    assert half < none
