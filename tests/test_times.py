"""`times=`: readouts of weights times a factor per key; and the factors that a trace gives, the lengths of v·W_o."""

from __future__ import annotations

import numpy as np
import pytest
from hugging import bert, llama, text

import eyeline as el
from eyeline import edits as ed
from eyeline import reference
from eyeline.masks import AttentionShape
from eyeline.readouts import merged
from eyeline.traces import TraceError, passed_lengths


def arrays(dtype=np.float64, keys=9, seed=0):
    rng = np.random.default_rng(seed)
    return tuple(rng.standard_normal((2, 3, n, 4)).astype(dtype) for n in (7, keys, keys))


#: One per key, per head and key, and per batch, head and key; some are 0.
TIMES = [
    np.linspace(0, 2, 300),
    np.random.default_rng(1).random((3, 300)) * 3,
    np.random.default_rng(2).integers(0, 3, (2, 3, 300)),
    np.random.default_rng(3).random((2, 1, 300)),
]


def test_the_largest_product_is_first_though_its_weight_is_not():
    q = np.zeros((1, 1, 1))
    seen = el.observe(q, np.zeros((1, 4, 1)), np.zeros((1, 4, 1)), read=el.TopK(5, times=[1, 3, 0, 2]))
    assert seen.top_k.keys.tolist() == [[[1, 3, 0, 2, -1]]]
    assert seen.top_k.weights.tolist() == [[[0.75, 0.5, 0.25, 0, 0]]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("k", [1, 4, 20])
def test_over_many_keys_they_equal_the_definition(dtype, times, k):
    q, x, v = arrays(dtype, 300)
    groups = np.arange(300) % 5 - 1
    asked = [el.TopK(k, times=times), el.GroupMass(groups, times=times), el.Entropy()]
    asked = [[*asked, el.Received(how, times=times)] for how in ("sum", "mean", "max")]
    tolerance = {"rtol": 1e-11 if dtype == np.float64 else 1e-4, "atol": 1e-12 if dtype == np.float64 else 1e-7}
    for read in asked:
        seen, want = (look(q, x, v, mask=el.Causal("end"), read=read) for look in (el.observe, reference.observe))
        for mine, its in zip(seen.results, want.results, strict=True):
            for got, exact in zip(mine.arrays, its.arrays, strict=True):
                np.testing.assert_allclose(got, exact, **tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_factors_of_1_and_none_give_the_same_bits(dtype):
    q, x, v = arrays(dtype, 300)
    groups, ones = np.arange(300) % 7, np.ones(300)
    plain = el.observe(q, x, v, read=[el.TopK(6), el.Received("max"), el.GroupMass(groups)])
    timed = el.observe(
        q, x, v, read=[el.TopK(6, times=ones), el.Received("max", times=ones), el.GroupMass(groups, times=ones)]
    )
    assert (plain.top_k.weights == timed.top_k.weights).all()
    assert (plain.received == timed.received).all()
    assert (plain.group_mass == timed.group_mass).all()
    # Beside readouts with factors, one without keeps its bits.
    beside = el.observe(q, x, v, read=[el.TopK(6), el.GroupMass(groups, times=TIMES[0]), el.MeanDistance("end")])
    assert (beside.top_k.weights == plain.top_k.weights).all()
    assert (beside.top_k.keys == plain.top_k.keys).all()


@pytest.mark.parametrize("with_times", ["top", "groups", "both"])
def test_edited_weights_are_multiplied_as_others_are(with_times):
    q, x, v = arrays(keys=300)
    changes = [
        ed.Reweight(head=1, queries=[1, 5], keys=slice(0, 250), by=-3.0),
        ed.Reweight(head=2, keys=[7, 8], by=0.0),
        ed.Cut(head=0, keys=[3]),
    ]
    top = el.TopK(5, times=None if with_times == "groups" else TIMES[1])
    groups = el.GroupMass(np.arange(300) % 3, times=None if with_times == "top" else TIMES[0])
    read = [top, groups, el.Received(times=TIMES[2])]
    seen, want = (look(q, x, v, read=read, edits=changes) for look in (el.observe, reference.observe))
    np.testing.assert_array_equal(seen.top_k.keys, want.top_k.keys)
    np.testing.assert_allclose(seen.top_k.weights, want.top_k.weights, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(seen.group_mass, want.group_mass, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(seen.received, want.received, rtol=1e-10, atol=1e-13)


def test_products_merge_with_products_alone():
    q, x, v = arrays()
    times = TIMES[0][:9]
    a, b = (
        el.observe(q, x[:, :, part], v[:, :, part], read=el.TopK(2, times=times), shard=el.Shard(first, keys=9))
        for first, part in ((0, slice(0, 4)), (4, slice(4, 9)))
    )
    whole = el.observe(q, x, v, read=el.TopK(2, times=times))
    np.testing.assert_allclose(a.merge(b).top_k.weights, whole.top_k.weights, rtol=1e-12)
    np.testing.assert_array_equal(a.merge(b).top_k.keys, whole.top_k.keys)
    plain = el.observe(q, x[:, :, 4:], v[:, :, 4:], read=el.TopK(2), shard=el.Shard(4, keys=9))
    with pytest.raises(ValueError, match="other must have read what this has"):
        a.merge(plain)
    rows = [whole.results[0].map(lambda found, at=at: found[:, :, at]) for at in (slice(0, 3), slice(3, 7))]
    both = merged(whole.read[0], rows)
    np.testing.assert_array_equal(both.arrays[1], whole.top_k.weights)


SHAPE = AttentionShape((2,), 3, 7, 9)


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (2.0, r"times must be real numbers, one per key, got float64 of shape \(\)"),
        ([True, False], "times must be real numbers, one per key, got bool"),
        ([1j], "times must be real numbers, one per key, got complex128"),
        (["a"], "times must be real numbers, one per key, got <U1"),
        ([1.0, -1.0], "times must be finite and 0 or more, got -1.0"),
        ([np.nan], "times must be finite and 0 or more, got nan"),
        ([np.inf], "times must be finite and 0 or more, got inf"),
        (np.ones(8), r"times must be one per key, \(M,\), \(H, M\) or \(..., H, M\) = \(2, 3, 9\), got shape \(8,\)"),
        (np.ones(1), "times must be one per key"),
        (np.ones((4, 9)), "times must be one per key"),
        (np.ones((1, 2, 3, 9)), "times must be one per key"),
    ],
)
def test_wrong_factors_are_refused(times, message):
    for kind in (
        lambda: el.TopK(2, times=times),
        lambda: el.Received(times=times),
        lambda: el.GroupMass([0] * 9, times=times),
    ):
        with pytest.raises(ValueError, match=message):
            kind().check(SHAPE)


def test_readouts_say_that_they_have_factors_and_equal_none_without():
    times = np.ones((3, 9))
    assert repr(el.Received(times=times)) == "Received(reduce='sum', times=3 × 9)"
    assert repr(el.GroupMass([0], times=[1.0])) == "GroupMass(1 groups of 1 keys, times=1)"
    one = el.TopK(2, times=times)
    assert one == one
    assert one == el.TopK(2, times=times)  # the same array
    assert one != el.TopK(2)
    assert one != el.TopK(2, times=times.copy())
    assert len({el.TopK(2), el.TopK(2), el.Received(), el.Received(), one}) == 3


# The lengths of what is passed on.


def test_lengths_are_those_of_the_values_after_the_matrix_behind_the_heads(monkeypatch):
    trace = el.record("time flies like an arrow", keep=["input"])
    found = trace.passed_lengths(3)
    assert (found.shape, found.dtype) == ((12, 7), np.float32)
    for head in (0, 7):
        own = trace.projections(3, head)
        np.testing.assert_allclose(found[head], np.linalg.norm(own.value(own.x) @ own.W_o.T, axis=1), rtol=1e-5)
    monkeypatch.setattr(passed_lengths, "_TOGETHER", 384 * 2)  # two keys at a time
    np.testing.assert_array_equal(trace.passed_lengths(3), found)


def test_a_row_of_one_token_passes_on_that_length():
    """A query that looks at one key alone takes exactly v·W_o of it."""
    trace = el.record(
        "time flies like an arrow", keep=["input"], edits=[ed.Cut(layer=2, queries=3, keys=slice(1, None))]
    )
    part = np.linalg.norm(trace.layers[2].output_of([4])[0, 3] @ trace.projections(2, 4).W_o.T)
    np.testing.assert_allclose(trace.passed_lengths(2)[4, 0], part, rtol=1e-5)


@pytest.mark.parametrize("model", [bert, llama])
def test_of_transformers_models_too(model):
    (trace,) = el.record({"input_ids": text(batch=1)}, model=model(), keep=["input"])
    own = trace.projections(1, 3)
    np.testing.assert_allclose(
        trace.passed_lengths(1)[3], np.linalg.norm(own.value(own.x) @ own.W_o.T, axis=1), rtol=1e-4
    )


def test_without_the_matrices_it_says_what_to_keep():
    trace = el.record("time flies like an arrow")
    with pytest.raises(TraceError, match=r'record it with keep=\["input"\]'):
        trace.passed_lengths(0)
    with pytest.raises(TraceError, match="layer must be from 0 to 5, got 6"):
        trace.passed_lengths(6)
