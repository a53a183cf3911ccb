"""Wrong input of the two calls: each error names the argument, what it was, and what to do."""

from __future__ import annotations

import re

import numpy as np
import pytest

import eyeline as el

f32 = np.ones((2, 3, 4), np.float32)
WRONG = [
    ({"q": [[1.0]]}, TypeError, "q must be a NumPy array, got list; convert it with numpy.asarray"),
    ({"v": None}, TypeError, "v must be a NumPy array, got NoneType; convert"),
    (
        {"k": f32.astype(int)},
        ValueError,
        "k must be float16, bfloat16, float32 or float64, got int64; convert it with k.astype(numpy.float32)",
    ),
    (
        {"q": f32.astype(np.longdouble)},
        ValueError,
        "q must be float16, bfloat16, float32 or float64, got float128; convert",
    ),
    (
        {"q": f32.astype(complex)},
        ValueError,
        "q must be float16, bfloat16, float32 or float64, got complex128; convert",
    ),
    ({"q": f32.astype(f32.dtype.newbyteorder())}, ValueError, "q must be float16, bfloat16, float32 or float64, got "),
    ({"k": f32.astype(np.float64)}, ValueError, "k must be of q's type, float32, got float64"),
    ({"v": f32.astype(np.float64)}, ValueError, "v must be of q's type, float32, got float64"),
    ({"q": f32[0, 0]}, ValueError, "q must be (tokens, width) or (..., heads, tokens, width), got shape (4,)"),
    ({"k": f32[0]}, ValueError, "k must have as many axes as q, 3, got shape (3, 4)"),
    ({"k": f32[..., :2]}, ValueError, "k must have q's width, 4, in its last axis, got shape (2, 3, 2)"),
    (
        {"v": f32[:, :2]},
        ValueError,
        "v must have k's heads and tokens, (2, 3), before its last axis, got shape (2, 2, 4)",
    ),
    (
        {"v": f32[:1]},
        ValueError,
        "v must have k's heads and tokens, (2, 3), before its last axis, got shape (1, 3, 4)",
    ),
    (
        {"q": f32[:, None], "k": f32[:1, None], "v": f32[:1, None]},
        ValueError,
        "k must have q's batch, (2,), in its leading axes",
    ),
    (
        {"q": np.ones((3, 3, 4), np.float32)},
        ValueError,
        "k must have as many heads as q, 3, or a divisor of that (grouped",
    ),
    (
        {"k": f32[:0], "v": f32[:0]},
        ValueError,
        "k must have as many heads as q, 2, or a divisor of that (grouped heads), got 0",
    ),
    (
        {"mask": np.ones((3, 3), bool)},
        TypeError,
        "mask must be a mask, got an array of bool; wrap booleans, True where a",
    ),
    (
        {"mask": np.ones((3, 3))},
        TypeError,
        "float64; wrap booleans, True where a query may look at a key, as eyeline.Dense(a",
    ),
    ({"mask": "causal"}, TypeError, "mask must be a mask, such as eyeline.Causal(), got str"),
    ({"mask": el.Causal}, TypeError, "mask must be a mask, such as eyeline.Causal(), got type"),
    (
        {"mask": el.Dense(np.ones((2, 3), bool))},
        ValueError,
        "allowed must broadcast to (..., H, N, M) = (1, 2, 3, 3), got",
    ),
    ({"scale": float("nan")}, ValueError, "scale must be a finite number, got nan"),
    ({"scale": np.inf}, ValueError, "scale must be a finite number, got inf"),
    ({"scale": "0.5"}, ValueError, "scale must be a finite number, got '0.5'"),
    ({"scale": 1j}, ValueError, "scale must be a finite number, got 1j"),
    ({"scale": 10**400}, ValueError, "scale must be a finite number, got 1000"),
    ({"scale": 1e39}, ValueError, "scale must be at most 1e38 where scores are computed in float32, got 1e+39"),
    ({"scale": -1e39}, ValueError, "scale must be at most 1e38 where scores are computed in float32, got -1e+39"),
    ({"k": f32.astype(bool)}, ValueError, "k must be float16, bfloat16, float32 or float64, got bool; convert it with"),
    (
        {"v": np.ma.masked_greater(f32, 0)},
        TypeError,
        "v must be a plain NumPy array, got a masked one, whose mask means nothing here; pass v.data, and what may be",
    ),
    ({"dropout": 1j, "seed": 1}, ValueError, "dropout must be a number from 0 to below 1, got 1j"),
    (
        {"dropout": 0.5, "seed": 2.0},
        ValueError,
        "seed must be a whole number from 0 to 2^64 - 1 where dropout is given",
    ),
]


@pytest.mark.parametrize(("change", "kind", "message"), WRONG, ids=[message[:40] for *_, message in WRONG])
def test_wrong_input_is_named(change, kind, message):
    arguments = {"q": f32, "k": f32, "v": f32, **change}
    for call in (el.attention, el.observe):
        with pytest.raises(kind, match=re.escape(message)):
            call(**arguments)


@pytest.mark.parametrize(
    ("read", "kind", "message"),
    [
        ([el.Weights(), el.Weights(0)], ValueError, "read must hold each kind of readout once, got Weights 2 times"),
        (["weights"], TypeError, "read must hold readouts, such as eyeline.Weights(), got 'weights'"),
        ([el.Weights(queries=3)], ValueError, "queries must be positions from -3 to 2, got 3"),
        ([el.Weights(keys=[0, -4])], ValueError, "keys must be positions from -3 to 2, got -4"),
        ([el.Weights(keys=[0.5])], ValueError, "keys must be a position, a slice or a list of positions, got [0.5]"),
        (
            [el.Weights(queries=[True, False, True])],
            ValueError,
            "queries must be a position, a slice or a list of posit",
        ),
        (
            [el.Weights(queries=[[0]])],
            ValueError,
            "queries must be a position, a slice or a list of positions, got [[0]]",
        ),
    ],
)
def test_wrong_readouts_are_named(read, kind, message):
    with pytest.raises(kind, match=re.escape(message)):
        el.observe(f32, f32, f32, read=read)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_largest_scales_that_are_taken(dtype):
    """Of keys that are alike, nothing is to be told apart, by whatever scale."""
    x, v = np.zeros((2, 3, 4), dtype), np.arange(24, dtype=dtype).reshape(2, 3, 4)
    for scale in (1e38, -1e38, *((1e300,) if dtype == np.float64 else ())):
        np.testing.assert_array_equal(el.attention(x, x, v, scale=scale)[:, 0], v.mean(axis=1))


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"lse": np.zeros((2, 2))}, ValueError, "lse must be one number per query, (2, 3), got shape (2, 2)"),
        ({"lse": 1j * np.ones((2, 3))}, ValueError, "lse must be real numbers, one per query, got complex128"),
        ({"lse": "low"}, ValueError, "lse must be real numbers, one per query, got "),
        (
            {"lse": np.ma.masked_less(np.ones((2, 3)), 0)},
            TypeError,
            "lse must be a plain NumPy array, got a masked one",
        ),
        ({"shard": (0, 3)}, TypeError, "shard must be an eyeline.Shard, got (0, 3); write eyeline.Shard(first_key="),
        (
            {"shard": el.Shard(first_key=2, keys=4)},
            ValueError,
            "shard must hold the 3 keys given, from 2 on, got 4 keys",
        ),
    ],
)
def test_wrong_shards_and_totals_are_named(change, kind, message):
    with pytest.raises(kind, match=re.escape(message)):
        el.observe(f32, f32, f32, **change)


@pytest.mark.parametrize("wrong", [-1, 1.5, True, "a", None])
def test_wrong_shards_are_named(wrong):
    with pytest.raises(ValueError, match=re.escape(f"first_key must be a whole number, 0 or more, got {wrong!r}")):
        el.Shard(first_key=wrong)
