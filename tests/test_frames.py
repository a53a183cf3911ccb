"""What was seen, as tables."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import pytest
from hugging import SIZES, bert, made, one_thread, padded, text  # noqa: F401 - one_thread, for all tests here
from transformers import MistralConfig, MistralForCausalLM

import eyeline as el
from eyeline.readouts import Readout
from eyeline.readouts.lowered import LoweredReadout
from eyeline.readouts.readout import PartialResult, ResultArray


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
    call = seen[1].seen
    queries = seen.frame()
    assert len(queries) == 2 * 2 * (5 + 3)
    named = ["module", "kind", "layer", "forward", "batch", "head", "query"]
    numbers = [
        "top_1_key",
        "top_1_weight",
        "top_2_key",
        "top_2_weight",
        "entropy",
        "group_mass_0",
        "group_mass_1",
        "lse",
    ]
    assert list(queries.columns) == named + numbers
    row = queries.query("layer == 1 and batch == 1 and head == 1 and query == 2").iloc[0]
    assert row.entropy == call.entropy[1, 1, 2]
    assert row.top_2_key == call.top_k.keys[1, 1, 2, 1]
    assert row.group_mass_1 == call.group_mass[1, 1, 2, 1]
    keys = seen.frame("keys")
    assert len(keys) == 2 * 2 * (5 + 3)
    found = keys.query("layer == 1 and batch == 0 and head == 2").received
    np.testing.assert_array_equal(found, call.received[0, 0])
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


@dataclass(frozen=True)
class Locality(Readout):
    """A user's own readout: the weight on keys within `reach` of the first."""

    name = "locality"
    column = "near_first"
    reach: int

    def _labels(self, shape):
        return np.where(np.arange(shape.keys) < self.reach, 0, -1).astype(np.int32)[None]

    def results(self, shape):
        return (ResultArray("locality", ("queries",), (shape.queries,)),)

    def read(self, rows):
        return PartialResult((rows.w[..., : self.reach].sum(axis=-1),), rows.shape, rows.first, rows.count)

    def coefficients(self, d, found, rows):
        return d[..., rows.first : rows.last, None] * rows.constant((self._labels(rows.shape)[0] == 0).astype(float))

    def lower(self, shape):
        return LoweredReadout(row_bins=self._labels(shape), bins=1)

    def result(self, found, shape):
        return (found.row_bins[..., 0],)


@dataclass(frozen=True)
class Reach(Locality):
    """Another, which keeps a rectangle of the weights: the last query's."""

    name = "reach"
    column = "last"

    def results(self, shape):
        return (ResultArray("reach", ("queries", "keys"), (1, shape.keys)),)

    def rectangle(self, shape):
        return np.array([shape.queries - 1]), np.arange(shape.keys)

    def read(self, rows):
        return PartialResult((rows.w[..., -1:, :],), rows.shape, rows.first, rows.count)

    def lower(self, shape):
        return LoweredReadout(rectangle=self.rectangle(shape))

    def result(self, found, shape):
        return (found.rectangle,)


def test_a_readout_of_the_users_own_has_its_columns():
    """Nothing else knows of it."""
    model, ids = bert(), text(5)
    tokens = padded(ids, 2, "right")
    with el.watch(model, [Locality(2), Reach(0), el.GroupMass([0, 0, 1, 1, 1])], heads=[3, 1]) as watched:
        model(ids, attention_mask=tokens)
    queries = watched.frame("queries")
    assert list(queries.columns)[7:] == ["near_first", "group_mass_0", "group_mass_1", "lse"]
    np.testing.assert_allclose(queries.near_first, queries.group_mass_0, rtol=1e-6)
    heads = watched.frame("heads")
    assert list(heads.columns)[6:] == ["mean_near_first", "mean_group_mass_0", "mean_group_mass_1"]
    np.testing.assert_allclose(heads.mean_near_first, heads.mean_group_mass_0, rtol=1e-6)
    np.testing.assert_array_equal(watched[1].mean("near_first").ravel(), heads.query("layer == 1").mean_near_first)
    weights = watched.frame("weights")
    assert list(weights.columns)[6:] == ["query", "key", "last"]
    assert set(weights["query"]) == {4}
    assert set(weights.batch) == {0}  # the last query of the second text is padding
    np.testing.assert_array_equal(weights["last"][:5], watched[0].seen.reach[0, 0, 0])


def test_ranges_of_offsets_are_columns_named_by_them():
    model, ids = bert(), text(5)
    with el.watch(model, [el.OffsetMass([-4, -1, 0, 1]), el.Weights()], heads=[2, 1], layers=1) as watched:
        model(ids)
    queries = watched.frame("queries")
    assert list(queries.columns)[7:] == ["offset_-4_to_-2", "offset_-1", "offset_0", "lse"]
    w = watched[0].seen.weights
    np.testing.assert_allclose(queries["offset_0"], np.diagonal(w, axis1=-2, axis2=-1).ravel(), rtol=1e-5)
    previous = np.diagonal(w, -1, axis1=-2, axis2=-1)
    np.testing.assert_allclose(queries.query("query > 0")["offset_-1"], previous.ravel(), rtol=1e-5)
    np.testing.assert_allclose(queries["offset_-4_to_-2"], np.tril(w, -2).sum(axis=-1).ravel(), rtol=1e-5)


def test_keys_are_numbered_in_the_whole_sequence():
    """Also where a cache has let go of old ones."""
    config = MistralConfig(**SIZES, num_key_value_heads=2, sliding_window=3, pad_token_id=0, eos_token_id=None)
    model = made(MistralForCausalLM, config)
    with el.watch(model, [el.TopK(3), el.Received(), el.Weights()], layers=0) as watched:
        model.generate(text(6), max_new_tokens=3, do_sample=False)
    last = watched.of(forward=2)
    assert last[0].first_key > 0
    keys = last.frame("queries")[["top_1_key", "top_2_key", "top_3_key"]].to_numpy()
    assert set(keys.ravel()) == {5, 6, 7}
    assert set(last.frame("keys").query("received > 0").key) == set(last.frame("weights").query("weight > 0").key)
    assert set(last.frame("weights").query("weight > 0").key) == {5, 6, 7}
