"""What the heads of SmolLM2 do, a decoder: held to its own weights, and to what is known of it."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import eyeline as el
from eyeline.answers.behaviour.token_groups import groups_of
from eyeline.models import load
from tests.test_head_measures import brute
from tests.test_heads import dense
from tests.test_rollout import dense as product

TEXT = "When Mary and John went to the store, John gave a drink to Mary; and then, as it was late, they went home. "


@pytest.fixture(scope="module")
def smollm2():
    return load("smollm2")


@pytest.fixture(scope="module")
def found(smollm2):
    return el.heads(TEXT * 3, model=smollm2)


def test_every_number_is_that_of_the_models_own_weights(smollm2, found):
    tokens = smollm2.tokens(TEXT * 3)
    assert len(tokens) > 64
    for layer, weights in enumerate(dense(smollm2, tokens)):
        for name, values in brute(weights[0], groups_of(tokens)).items():
            np.testing.assert_allclose(found.table[name][layer], values, rtol=1e-4, atol=1e-5, err_msg=name)
        # Its first 64 rows are those of a run of 64 tokens: nothing after them is seen.
        want = weights[0, :, :64, 0].mean(axis=1)
        np.testing.assert_allclose(found.table["sink"][layer], want, rtol=1e-4, atol=1e-6)
    assert found.causal
    assert found.sink_tokens == 64


def test_the_sink_is_that_of_64_tokens_alone(smollm2, found):
    ids = smollm2.tokens(TEXT * 3).ids[:64]
    for layer, weights in enumerate(layer.weights[0] for layer in smollm2.run([ids], weights=True).layers):
        np.testing.assert_allclose(found.table["sink"][layer], weights[:, :, 0].mean(axis=1), rtol=1e-3, atol=1e-5)


def test_what_is_known_of_its_heads(smollm2, found):
    assert found.repeated_tokens == 50
    assert np.unravel_index(found.table["induction"].argmax(), (30, 9)) == (18, 6)
    assert found.table["induction"][18, 6] == pytest.approx(0.86, abs=0.06)
    assert found.label[18, 6] == "induction"
    assert found.label[16, 0] == "previous token"
    assert found.label[18, 8] == "first-token sink"
    assert found.table["sink"][18, 8] > 0.99


def test_a_decoder_looks_at_nothing_after_a_token_and_has_no_special_ones(found):
    assert not found.table["next"].any()
    document = json.loads(found.json())
    assert document["causal"]
    assert document["special_tokens"] == []
    assert all(entry["special"] is entry["separator"] is None for entry in document["heads"])
    drawn = " ".join(str(found).split())
    assert "this tokenizer adds no special tokens" in drawn
    rows = re.findall(r"^ +L\d+H\d+ +. \w+ +[\d.]+ +[\d.]+ +<?\d+% +(\S+)", str(found), re.MULTILINE)
    assert set(rows) == {"–"}


def test_one_token_alone(smollm2):
    found = el.heads("a", model=smollm2)
    assert found.token_count == 1
    assert (found.label == "same token").sum() + (found.label == "induction").sum() == 270
    for name, value in (("same", 1), ("first", 1), ("sink", 1), ("entropy", 0), ("distance", 0), ("previous", 0)):
        np.testing.assert_allclose(found.table[name], value, atol=1e-5)
    assert el.rollout("a", "a", model=smollm2).by_token == pytest.approx([1])


def test_rollout_of_a_decoder(smollm2):
    text = "When Mary and John went to the store"
    ids = smollm2.tokens(text).ids
    want = product(smollm2, ids, 30)
    every = el.rollout(text, model=smollm2)
    np.testing.assert_allclose(every.by_token, want, atol=1e-5)
    assert not np.triu(every.by_token, 1).any()
    row = el.rollout(text, "John", model=smollm2)
    np.testing.assert_allclose(row.by_token, want[3], rtol=1e-3, atol=1e-5)
    assert row.by_token.sum() == pytest.approx(1, abs=1e-5)
    assert row.words == text.split()
