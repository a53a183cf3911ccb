"""What was seen, as tables."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hugging import bert, padded, text

import eyeline as el


def test_frames():
    model, ids = bert(), text(5)
    tokens = padded(ids, 2, "right")
    read = [
        el.TopK(2),
        el.Entropy(),
        el.Received(),
        el.GroupMass([0, 1, 1, 1, 0]),
        el.Weights(queries=[0, 4], keys=slice(2)),
    ]
    with el.watch(model, read, heads=[2, 1]) as seen:
        model(ids, attention_mask=tokens)
    look = seen[1].seen
    queries = seen.frame()
    assert len(queries) == 2 * 2 * (5 + 3)
    named = ["module", "kind", "layer", "forward", "batch", "head", "query"]
    numbers = ["entropy", "lse", "top_1_key", "top_1_weight", "top_2_key", "top_2_weight"]
    numbers += ["group_mass_0", "group_mass_1"]
    assert list(queries.columns) == named + numbers
    row = queries.query("layer == 1 and batch == 1 and head == 1 and query == 2").iloc[0]
    assert row.entropy == look.entropy[1, 1, 2]
    assert row.top_2_key == look.top_k.keys[1, 1, 2, 1]
    assert row.group_mass_1 == look.group_mass[1, 1, 2, 1]
    keys = seen.frame("keys")
    assert len(keys) == 2 * 2 * (5 + 3)
    found = keys.query("layer == 1 and batch == 0 and head == 2").received
    np.testing.assert_array_equal(found, look.received[0, 0])
    heads = seen.frame("heads")
    assert len(heads) == 2 * 2 * 2
    assert heads.mean_entropy.iloc[-1] == seen[1].mean("entropy")[1, 1]
    weights = seen.frame("weights")
    assert len(weights) == 2 * 2 * (2 * 2 + 2)  # the last query of the second text is padding
    assert weights.weight.iloc[0] == seen[0].seen.weights[0, 0, 0, 0]
    with pytest.raises(ValueError, match="of must be one of 'queries', 'keys', 'heads', 'weights', got 'rows'"):
        seen.frame("rows")


def test_frames_of_nothing_and_of_keys_alone():
    with el.watch(bert(), el.Received()) as seen:
        assert len(seen.frame()) == 0
    model = bert()
    with el.watch(model, el.Received()) as seen:
        model(text(5))
    assert list(seen.frame().columns)[-2:] == ["key", "received"]


def test_frames_need_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with el.watch(bert(), el.Entropy()) as seen, pytest.raises(ImportError, match=r"pip install 'eyeline\[hf\]'"):
        seen.frame()
