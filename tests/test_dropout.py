"""Which weights dropout keeps: by its own definition, evenly, and independently."""

from __future__ import annotations

import re

import numpy as np
import pytest

import eyeline as el
from eyeline import reference
from eyeline.dropout import check_dropout, kept
from eyeline.masks import AttentionShape


def one(seed, share, b, h, i, j):
    """Whether one weight is kept, in whole numbers of Python's."""

    def mix(x):
        x ^= x >> 30
        x = x * 0xBF58476D1CE4E5B9 % 2**64
        x ^= x >> 27
        x = x * 0x94D049BB133111EB % 2**64
        return x ^ x >> 31

    row = mix(seed)
    for place in (b, h, i):
        row = mix((row + place) % 2**64)
    x = (row % 2**32 + j * 0x9E3779B9) % 2**32
    x = (x ^ x >> 16) * 0x7FEB352D % 2**32
    x = (x ^ x >> 15) + (row >> 32)
    x = x * 0x846CA68B % 2**32
    return x ^ x >> 16 >= int(share * 2**32)


@pytest.mark.parametrize("seed", [0, 1, 123456789, 2**64 - 1])
def test_kept_is_its_definition(seed):
    problem = AttentionShape((2, 2), 3, 5, 7)
    got = kept(seed, 0.4, problem)
    assert got.shape == problem.shape
    want = [one(seed, 0.4, *at) for at in np.ndindex(problem.shape)]
    np.testing.assert_array_equal(got.ravel(), want)


def within(count, n, share):
    """Whether counts of n trials each scatter as chance has them: no more, and no less."""
    variance = n * share * (1 - share)
    scatter = np.square(count - n * (1 - share)) / variance
    # Its mean is 1, with this deviation.
    deviation = np.sqrt((2 + (1 - 6 * share * (1 - share)) / variance) / count.size)
    return abs(scatter.mean() - 1) < 6 * deviation


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("seed", [0, 1, 2**40])
def test_it_keeps_evenly(seed, share):
    keep = kept(seed, share, AttentionShape((4,), 4, 256, 512))
    assert keep.mean() == pytest.approx(1 - share, abs=6 * np.sqrt(share * (1 - share) / keep.size))
    for axes in [(3,), (2,), (2, 3), (0, 1), (0, 2, 3), (1, 2, 3), (0, 1, 2), (0, 1, 3)]:
        assert within(keep.sum(axis=axes), int(np.prod([keep.shape[axis] for axis in axes])), share), axes


def test_the_test_of_scatter_can_fail():
    rows = np.random.default_rng(0).random((1000, 1)) < 0.5
    assert not within(np.broadcast_to(rows, (1000, 100)).sum(axis=1), 100, 0.5)
    assert not within(np.full(1000, 50), 100, 0.5)


@pytest.mark.parametrize("axis", [0, 1, 2, 3])
def test_neighbours_are_independent(axis):
    keep = kept(5, 0.5, AttentionShape((8,), 8, 128, 128))
    for apart in (1, 2, 16):
        if apart < keep.shape[axis]:
            before, after = (np.moveaxis(keep, axis, 0)[part] for part in (slice(None, -apart), slice(apart, None)))
            assert within((before != after).sum(axis=-1), before.shape[-1], 0.5)


def test_seeds_are_independent():
    drawn = [kept(seed, 0.5, AttentionShape((1,), 2, 128, 128)) for seed in (0, 1, 2, 3, 2**32, 2**63)]
    for n, a in enumerate(drawn):
        for b in drawn[:n]:
            assert within((a != b).sum(axis=-1), a.shape[-1], 0.5)


def test_a_weights_fate_is_its_place_s_alone():
    big = kept(3, 0.3, AttentionShape((3,), 4, 9, 11))
    np.testing.assert_array_equal(kept(3, 0.3, AttentionShape((2,), 3, 5, 7)), big[:2, :3, :5, :7])
    assert kept(3, 0.0, AttentionShape((1,), 1, 50, 50)).all()
    assert kept(3, 0.5, AttentionShape((0,), 4, 5, 0)).shape == (0, 4, 5, 0)


def test_the_output_drops_weights_and_the_readouts_do_not():
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((2, 3, 6, 4)) for _ in range(3))
    plain = reference.observe(q, k, v, read=[el.Weights(), el.Entropy()])
    seen = reference.observe(q, k, v, dropout=0.25, seed=9, read=[el.Weights(), el.Entropy()])
    np.testing.assert_array_equal(seen.weights, plain.weights)
    np.testing.assert_array_equal(seen.entropy, plain.entropy)
    np.testing.assert_array_equal(seen.lse, plain.lse)
    keep = kept(9, 0.25, AttentionShape((2,), 3, 6, 6))
    np.testing.assert_allclose(seen.output, (plain.weights * keep / 0.75) @ v, rtol=1e-13)
    mean = np.mean([reference.steps(q, k, v, dropout=0.25, seed=seed).output for seed in range(3000)], axis=0)
    np.testing.assert_allclose(mean, plain.output, atol=0.08)


@pytest.mark.parametrize(
    ("share", "seed", "message"),
    [
        (1.0, 0, "dropout must be a number from 0 to below 1, got 1.0"),
        (-0.1, 0, "dropout must be a number from 0 to below 1, got -0.1"),
        (np.nan, 0, "dropout must be a number from 0 to below 1, got nan"),
        ("0.1", 0, "dropout must be a number from 0 to below 1, got '0.1'"),
        (True, 0, "dropout must be a number from 0 to below 1, got True"),
        (0.1, None, "seed must be a whole number from 0 to 2^64 - 1 where dropout is given, got None"),
        (0.1, -1, "seed must be a whole number from 0 to 2^64 - 1 where dropout is given, got -1"),
        (0.1, 2**64, "seed must be a whole number from 0 to 2^64 - 1 where dropout is given, got 18446744073709551616"),
        (0.1, 1.5, "seed must be a whole number from 0 to 2^64 - 1 where dropout is given, got 1.5"),
        (0.0, "a", "seed must be a whole number from 0 to 2^64 - 1 where dropout is given, got 'a'"),
    ],
)
def test_errors_say_what_was_wrong(share, seed, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        check_dropout(share, seed)


def test_checked_numbers_come_back():
    assert check_dropout(0, None) == (0.0, 0)
    assert check_dropout(np.float32(0.5), np.int64(3)) == (0.5, 3)
