"""A readout of a user's own: a class that derives from `Readout`, and nothing else anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from hugging import bert, text

import eyeline as el
from eyeline import reference
from eyeline.masks import AttentionShape
from eyeline.readouts.lowered import FoundPrimitives, LoweredGradient, LoweredReadout
from eyeline.readouts.readout import Array, PartialResult, Readout, ResultArray, Rows


@dataclass(frozen=True)
class FirstKeys(Readout[Array]):
    """The weight of each query on the first few keys: Σ_{j < few} w_ij."""

    name = "first_keys"
    few: int = 1

    def _member(self, shape: AttentionShape) -> np.ndarray:
        return np.arange(shape.keys) < self.few

    def alike(self) -> tuple[Any, ...]:
        return (self.few,)

    def results(self, shape: AttentionShape) -> tuple[ResultArray, ...]:
        return (ResultArray("first_keys", ("queries",), (shape.queries,)),)

    def read(self, rows: Rows) -> PartialResult:
        return PartialResult(((rows.w * rows.constant(self._member(rows.shape))).sum(axis=-1),), *rows.place)

    def coefficients(self, d: Any, found: PartialResult, rows: Rows) -> Any:
        return d[..., rows.first : rows.last, None] * rows.constant(self._member(rows.shape))

    def lower(self, shape: AttentionShape) -> LoweredReadout:
        return LoweredReadout(row_bins=np.where(self._member(shape), 0, -1).astype(np.int32)[None], bins=1)

    def result(self, found: FoundPrimitives, shape: AttentionShape) -> tuple[Any, ...]:
        return (found.row_bins[..., 0],)

    def lower_gradient(self, d: Any, arrays: tuple[Any, ...], shape: AttentionShape) -> LoweredGradient | None:
        return LoweredGradient(d_row_bins=d[..., None], row_bins=self.lower(shape).row_bins)


#: Its own pass is needed beside `GroupMass`, since the kernels have one set of bins.
READ = [FirstKeys(2), el.Entropy(), el.GroupMass(np.arange(9) % 2)]


def arrays(seed=0):
    rng = np.random.default_rng(seed)
    return tuple(rng.standard_normal((2, 3, n, 4)) for n in (7, 9, 9))


def test_it_is_observed_of_arrays():
    q, k, v = arrays()
    seen = el.observe(q, k, v, mask=el.Causal("end"), read=[*READ, el.Weights()])
    np.testing.assert_allclose(seen.first_keys, seen.weights[..., :2].sum(-1), rtol=1e-13)
    want = reference.observe(q, k, v, mask=el.Causal("end"), read=READ)
    for readout in READ:
        np.testing.assert_allclose(seen[type(readout)], want[type(readout)], rtol=1e-12)
    assert FirstKeys in seen
    assert el.observe(q, k, v, read=FirstKeys(3))[FirstKeys].shape == (2, 3, 7)


def test_it_merges_over_keys_and_queries():
    q, k, v = arrays()
    whole = el.observe(q, k, v, read=READ)
    by_keys = [
        el.observe(q, k[:, :, a:e], v[:, :, a:e], read=READ, shard=el.Shard(first_key=a, keys=9))
        for a, e in ((0, 1), (1, 4), (4, 9))
    ]
    by_queries = [
        el.observe(q[:, :, a:e], k, v, read=READ, shard=el.Shard(first_query=a, queries=7)) for a, e in ((0, 3), (3, 7))
    ]
    merged = (
        by_keys[0].merge(by_keys[1]).merge(by_keys[2]),
        by_keys[0].merge(by_keys[1].merge(by_keys[2])),
        by_queries[0].merge(by_queries[1], "queries"),
    )
    for seen in merged:
        for readout in READ:
            np.testing.assert_allclose(seen[type(readout)], whole[type(readout)], rtol=1e-12)
    with pytest.raises(ValueError, match="other must have read what this has"):
        whole.merge(el.observe(q, k, v, read=[FirstKeys(3), *READ[1:]]))


def test_it_is_a_column_of_a_watched_models_table():
    model, ids = bert(), text(5)
    with el.watch(model, [FirstKeys(2), el.Weights()]) as seen:
        model(ids)
    table = seen.frame("queries")
    assert list(table.columns)[-2:] == ["first_keys", "lse"]
    np.testing.assert_allclose(
        table.first_keys, np.concatenate([c.seen.weights[..., :2].sum(-1).ravel() for c in seen])
    )
    assert seen.frame("heads").mean_first_keys.iloc[0] == seen[0].mean("first_keys")[0, 0]


def test_it_has_gradients_on_tensors():
    q, k, v = (torch.from_numpy(x).requires_grad_() for x in arrays())
    seen = el.observe(q, k, v, read=READ)
    want = torch.softmax(q @ k.mT / 2, -1)[..., :2].sum(-1)
    torch.testing.assert_close(seen.first_keys, want)
    got = torch.autograd.grad(seen.first_keys.sin().sum(), (q, k))
    torch.testing.assert_close(got, torch.autograd.grad(want.sin().sum(), (q, k)))
    # Together with other bins, which one backward pass of the kernels can't take.
    seen = el.observe(q, k, v, read=READ)
    both = torch.autograd.grad(seen.group_mass[..., 0].sum() + seen.first_keys.sum(), (q, k))
    weights = torch.softmax(q @ k.mT / 2, -1)
    plain = torch.autograd.grad(weights[..., ::2].sum() + weights[..., :2].sum(), (q, k))
    torch.testing.assert_close(both, plain)


def test_what_was_not_read_is_said():
    q, k, v = arrays()
    seen = el.observe(q, k, v, read=el.Entropy())
    with pytest.raises(AttributeError, match=r"received wasn't read; add eyeline.Received\(...\) to read="):
        _ = seen.received
    with pytest.raises(KeyError, match=r"TopK wasn't read; add eyeline.TopK\(...\) to read="):
        seen[el.TopK]
    with pytest.raises(AttributeError, match="onto is nothing that can be read; this observation has output, lse, ent"):
        _ = seen.onto
    assert seen.get(el.Received) is None
    assert seen.get(el.Entropy) is seen.entropy
    with pytest.raises(TypeError, match="one answer at a time"):
        list(seen)


@pytest.mark.parametrize("asked", ["entropy", 0, el.Entropy(), el.Causal])
def test_an_observation_is_asked_by_a_class(asked):
    seen = el.observe(*[np.eye(3)] * 3, read=el.Entropy())
    for ask in (lambda: seen[asked], lambda: seen.get(asked), lambda: asked in seen):
        with pytest.raises(TypeError, match=r"must be asked by a readout's class, as in seen\[eyeline.Entropy\]"):
            ask()


def test_readouts_that_hold_arrays_equal_themselves_alone():
    one, other = el.GroupMass([0, 1, 1]), el.GroupMass([0, 1], count=4)
    assert one != other
    assert one == one
    assert len({one, other, el.Entropy(), el.Entropy(), el.TopK(2), el.TopK(3)}) == 5
