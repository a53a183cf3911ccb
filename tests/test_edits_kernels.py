"""What the kernels make of edits: the reference's results, other heads' bits, any threads and any width of vectors."""

from __future__ import annotations

import tracemalloc
from unittest.mock import patch

import numpy as np
import pytest
from comparing import same_at_any_vector_width, same_bits

import eyeline as el
from eyeline import edits as ed
from eyeline import reference
from eyeline.kernels import launch, threads

HEADS, QUERIES, KEYS = 3, 77, 300
MASKS = {"none": None, "causal": el.Causal("end"), "window": el.Window(50, 0, "end")}
EDITS = {
    "rectangle": [ed.Reweight(head=1, queries=slice(3, 40), keys=slice(100, 200), by=0.3)],
    "several": [
        ed.Reweight(head=1, queries=slice(3, 70), keys=slice(0, 280), by=2.5),
        ed.Reweight(head=1, by=1e-6),
        ed.Reweight(head=1, keys=[7, 250], by=-0.5),
    ],
    "knocked out": [ed.Reweight(head=1, queries=slice(10, None), keys=slice(0, 299), by=0)],
    "per row": [ed.Reweight(head=1, keys=slice(0, None, 2), by=np.linspace(0, 2, QUERIES))],
    "cut": [ed.Cut(head=1, queries=slice(0, None, 3), keys=slice(0, None, 2)), ed.Cut(head=1, queries=5)],
    "uniform": [ed.Uniform(head=1), ed.Cut(head=1, queries=4, keys=slice(250, None))],
}


def draw(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng((seed, *shape)).standard_normal(shape).astype(dtype)


def arrays(dtype=np.float32):
    return draw(2, HEADS, QUERIES, 16, dtype=dtype), *(draw(2, HEADS, KEYS, 8 * n, seed=n, dtype=dtype) for n in (2, 1))


def readouts(signed):
    read = [el.TopK(5), el.TopK(40), el.Received(), el.MeanDistance("end"), el.GroupMass(np.arange(KEYS) % 3)]
    read += [
        el.OffsetMass([-300, -3, 0, 4, 64], "end"),
        el.Pooled(4, 5),
        el.Weights(slice(70, 20, -1), slice(0, KEYS, 7)),
    ]
    return read if signed else [*read, el.Entropy(), el.Received("max"), el.Received("mean")]


@pytest.fixture
def always_threads():
    """Threads at every call, however small."""
    with patch.object(launch, "WORTH_A_THREAD", -1):
        yield
    threads.set_threads(None)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("name", EDITS)
def test_results_are_the_references_and_other_heads_keep_their_bits(name, mask, dtype):
    q, k, v = arrays(dtype)
    near = 2e-11 if dtype == np.float64 else 1e-4
    for read in readouts(signed=name == "several"):
        asked = {"mask": MASKS[mask], "read": read}
        found, plain = el.observe(q, k, v, **asked, edits=EDITS[name]), el.observe(q, k, v, **asked)
        want = reference.observe(q, k, v, **asked, edits=EDITS[name])
        np.testing.assert_allclose(found.lse, want.lse, atol=near)
        np.testing.assert_allclose(found.output, want.output, atol=2e-2 if dtype == np.float16 else near)
        for got, wanted, before in zip(
            found.results[0].arrays, want.results[0].arrays, plain.results[0].arrays, strict=True
        ):
            if got.dtype == np.int64:
                assert (got == wanted).mean() > 0.98, "but where rounding decides"
            else:
                np.testing.assert_allclose(got, wanted, atol=near, rtol=near)
            for head in (0, 2):
                same_bits(got[:, head], before[:, head])
                same_bits(found.output[:, head], plain.output[:, head])


@pytest.mark.parametrize("queries", [1, 40])
def test_edits_that_change_nothing_change_no_bit(queries):
    """Also in decoding, and where a small call is run natively."""
    q, k, v = arrays()
    q = q[:, :, :queries]
    nothing = [ed.Reweight(by=1), ed.Cut(queries=[]), ed.Reweight(keys=[], by=3.0), ed.Cut(keys=[])]
    read = [el.TopK(5), el.Entropy(), el.Received()]
    plain, found = (el.observe(q, k, v, read=read, edits=edits) for edits in ((), nothing))
    same_bits(found.output, plain.output)
    for got, want in zip(found.results, plain.results, strict=True):
        for a, b in zip(got.arrays, want.arrays, strict=True):
            same_bits(a, b)
    same_bits(el.attention(q, k, v, edits=nothing), el.attention(q, k, v))


def test_rows_beside_an_edited_one_keep_their_bits():
    q, k, v = arrays()
    read = [el.TopK(5), el.Entropy(), el.MeanDistance("end")]
    plain = el.observe(q, k, v, read=read)
    for edit in (ed.Reweight(queries=9, keys=slice(0, 99), by=0.2), ed.Cut(queries=9, keys=[3])):
        found = el.observe(q, k, v, read=read, edits=edit)
        assert not np.array_equal(found.output[:, :, 9], plain.output[:, :, 9])
        same_bits(np.delete(found.output, 9, axis=2), np.delete(plain.output, 9, axis=2))
        for got, want in zip(found.results, plain.results, strict=True):
            for a, b in zip(got.arrays, want.arrays, strict=True):
                same_bits(np.delete(a, 9, axis=2), np.delete(b, 9, axis=2))


def test_one_query_at_a_time_has_the_bits_of_all_at_once():
    """Decoding leaves edited calls to the usual pass."""
    q, k, v = arrays()
    edits = [ed.Reweight(head=1, keys=[0, 5], by=0.2), ed.Cut(head=0, keys=[3]), ed.Uniform(head=2)]
    whole = el.attention(q, k, v, edits=edits)
    for i in (0, 13, 76):
        same_bits(el.attention(q[:, :, i : i + 1], k, v, edits=edits), whole[:, :, i : i + 1])


def test_dropout_drops_the_same_edges_of_edited_weights():
    q, k, v = arrays(np.float64)
    for edits in EDITS.values():
        drops = {"dropout": 0.4, "seed": 3, "edits": edits}
        np.testing.assert_allclose(
            el.attention(q, k, v, **drops), reference.observe(q, k, v, **drops).output, atol=1e-11
        )


def test_hidden_nan_stays_hidden_and_a_knocked_out_one_does_not():
    q, k, v = arrays()
    v[:, :, 8], v[:, :, 9] = np.nan, np.inf
    cut = ed.Cut(keys=[8, 9])
    found = el.attention(q, k, v, edits=[cut, ed.Reweight(by=-1.0)])
    np.testing.assert_allclose(found, reference.observe(q, k, v, edits=[cut, ed.Reweight(by=-1.0)]).output, atol=1e-4)
    assert np.isfinite(found).all()
    assert np.isnan(el.attention(q, k, v, edits=ed.Reweight(keys=[8, 9], by=0))).all()
    k[:, :, 7] = np.nan
    np.testing.assert_allclose(el.attention(q, k, v, edits=[cut, ed.Cut(keys=[7])]).sum(), -found.sum(), rtol=0.5)


def test_large_factors_take_no_digits_from_other_heads_and_too_large_ones_are_refused():
    q, k, v = arrays(np.float64)
    plain = el.observe(q, k, v, read=el.Received()).received
    found = el.observe(q, k, v, read=el.Received(), edits=ed.Reweight(head=1, keys=[4], by=2.0**39)).received
    same_bits(found[:, ::2], plain[:, ::2])
    np.testing.assert_allclose(found[:, 1, 4], plain[:, 1, 4] * 2.0**39, rtol=1e-12)
    with pytest.raises(ValueError, match=r"by must be at most 2\^40 = 1099511627776 in size where weights are summed"):
        el.observe(q, k, v, read=el.Received(), edits=ed.Reweight(by=1e13))
    assert np.isfinite(el.observe(q, k, v, read=el.TopK(2), edits=ed.Reweight(by=1e13)).top_k.weights).all()


def test_the_largest_of_negative_weights_is_the_references():
    q, k, v = arrays(np.float64)
    asked = {
        "read": [el.Received("max"), el.Pooled(3, 4, "max")],
        "edits": [ed.Reweight(head=1, keys=slice(0, 99), by=-2.0)],
    }
    found, want = el.observe(q, k, v, **asked), reference.observe(q, k, v, **asked)
    np.testing.assert_allclose(found.received, want.received, atol=1e-12)
    np.testing.assert_allclose(found.pooled, want.pooled, atol=1e-12)


def test_any_number_of_threads_gives_the_same_bits(always_threads):
    q, k, v = arrays()
    edits = [edit for name in ("several", "cut", "uniform") for edit in EDITS[name] if not isinstance(edit, ed.Uniform)]
    found = []
    for count in (1, 2, 3):
        threads.set_threads(count)
        seen = el.observe(
            q, k, v, mask=el.Causal("end"), read=[el.TopK(5), el.Received(), el.Pooled(4, 5)], edits=edits
        )
        found.append([seen.output, *(array for result in seen.results for array in result.arrays)])
    for other in found[1:]:
        for a, b in zip(other, found[0], strict=True):
            same_bits(a, b)


EDITED = """
import hashlib
import numpy as np
import eyeline as el
from eyeline import edits as ed
rng = np.random.default_rng(0)
found = hashlib.sha256()
for dtype in (np.float32, np.float64):
    q, k = (rng.standard_normal((2, 2, n, 8)).astype(dtype) for n in (77, 300))
    k[:, :, 1::2] = k[:, :, ::2]  # ties
    edits = [ed.Reweight(head=0, queries=slice(9, 44), keys=slice(0, 200), by=0.3), ed.Cut(queries=[3, 70], keys=[5])]
    edits += [ed.Uniform(head=1), ed.Reweight(queries=50, by=np.linspace(0, 2, 77))]
    for read in ([el.Entropy(), el.MeanDistance("end"), el.TopK(3)], [el.TopK(20)]):
        seen = el.observe(q, k, k, mask=el.Window(150, 40, "end"), read=read, edits=edits)
        found.update(np.ascontiguousarray(seen.output))
        for result in seen.results:
            for array in result.arrays:
                found.update(np.ascontiguousarray(array))
print(found.hexdigest())
"""


def test_edited_rows_have_the_same_bits_at_any_vector_width():
    same_at_any_vector_width(EDITED)


def test_any_cut_takes_memory_that_grows_with_the_tokens():
    """Every third column of every second row would be 2.7 million intervals."""
    n = 4000
    x = draw(1, n, 4)
    edits = [ed.Cut(queries=slice(5, None, 2), keys=slice(None, None, 3)), ed.Cut(queries=7, keys=9)]
    el.attention(x, x, x, edits=edits)
    tracemalloc.start()
    el.attention(x, x, x, edits=edits)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 200 * n
