"""The share of the matrix that a mask allows, and its drawing: as the booleans have them, at any size."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import masks, near, problems

import eyeline as el
from eyeline.masks import AttentionShape, functions
from eyeline.masks.picture import draw, share

drawn = problems(most=130).flatmap(lambda problem: st.tuples(st.just(problem), masks(problem)))


def dense(mask, problem):
    return np.broadcast_to(mask.rule(problem), problem.shape)


@given(drawn)
def test_the_share_is_that_of_the_booleans(case):
    problem, mask = case
    allowed = dense(mask, problem)
    assert share(mask.lower(problem), problem) == pytest.approx(allowed.mean() if allowed.size else 0, abs=1e-12)


@given(drawn, st.integers(1, 40), st.integers(1, 70), st.data())
def test_the_drawing_is_of_the_booleans(case, rows, columns, data):
    problem, mask = case
    B, H, N, M = problem.shape
    if not B * H:
        return
    b, h = data.draw(st.integers(0, B - 1)), data.draw(st.integers(0, H - 1))
    lines = draw(mask.lower(problem), problem, (b, h), rows, columns).splitlines()
    if not N * M:
        assert lines == []
        return
    allowed = dense(mask, problem)[b, h]
    wide = 2 if columns >= 2 * M else 1
    R, C = min(N, rows), min(M, columns // wide)
    assert len(lines) == R
    for r, line in enumerate(lines):
        assert len(line) == wide * C
        assert line[::wide] == line[wide - 1 :: wide]
        for c, character in enumerate(line[::wide]):
            cell = allowed[r * N // R : (r + 1) * N // R, c * M // C : (c + 1) * M // C]
            quarters = np.round(4 * cell.mean())
            shade = "█" if cell.all() else "░▒▓"[int(min(max(quarters, 1), 3)) - 1] if cell.any() else "·"
            assert character == shade


@given(drawn)
def test_blocks_of_any_height_are_the_same(case):
    problem, mask = case
    lowered = mask.lower(problem)
    want = functions.booleans(lowered, problem)
    before = share(lowered, problem), draw(lowered, problem, (0, 0), 9, 20) if problem.batch * problem.heads else ""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(functions, "_AT_A_TIME", 3 * problem.batch * problem.heads * problem.keys)
        np.testing.assert_array_equal(functions.booleans(lowered, problem), want)
        assert share(lowered, problem) == pytest.approx(before[0], abs=1e-15)
        assert not before[1] or draw(lowered, problem, (0, 0), 9, 20) == before[1]


def test_well_known_shares():
    assert el.Causal().share(4) == 10 / 16
    assert el.Causal().share(100_000) == pytest.approx(0.5, abs=1e-5)
    assert el.Padding([5, 10]).share(10, batch=2, heads=3) == pytest.approx((0.25 + 1) / 2)
    assert el.MaskFunction(lambda b, h, i, j: h == 1).share(10, batch=2, heads=4) == 0.25
    assert el.Dense(np.eye(10, dtype=bool) | np.eye(10, dtype=bool)[::-1]).share(10) == 0.2
    assert el.Causal().share(0) == 0


def test_drawings_word_by_word():
    assert el.Causal().draw(3).splitlines() == ["██····", "████··", "██████"]
    assert el.Causal().draw(4, rows=2, columns=2).splitlines() == ["▓·", "█▓"]
    each = el.Padding([1, 2])
    assert each.draw(2, batch=2).splitlines() == ["██··", "····"]
    assert each.draw(2, batch=2, at=(1, 0)).splitlines() == ["████", "████"]
    assert el.Window(0).draw(64).count("\n") == 31
    one = el.Dense(np.eye(4, dtype=bool)[::-1])
    assert one.draw(4).splitlines() == ["······██", "····██··", "··██····", "██······"]
    assert el.MaskFunction(near).draw(3, heads=2, at=(0, 1)).splitlines() == ["██████"] * 3
    # All queries alike, in one row of booleans.
    holes = el.Dense(np.array([[True, False, True, False]]))
    assert holes.draw(3, 4).splitlines() == ["██··██··"] * 3


def test_a_drawing_of_a_million_tokens_takes_little_memory():
    tracemalloc.start()
    picture = (el.Causal() & el.Window(100_000)).draw(1_000_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(picture.splitlines()) == 32
    assert peak < 300 * 1_000_000


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: el.Causal().draw(4, at=(1, 0)), "at must be a batch element of 1 and a head of 1, got (1, 0)"),
        (
            lambda: el.Causal().draw(4, heads=2, at=(0, -1)),
            "at must be a batch element of 1 and a head of 2, got (0, -1",
        ),
        (lambda: el.Causal().draw(4, rows=0), "rows and columns must be 1 or more, got 0 and 64"),
        (lambda: el.Causal().share(4, 5), "align must be given where queries and keys differ in number"),
    ],
)
def test_errors_say_what_was_wrong(make, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make()


def test_pictures_of_each_head():
    allowed = np.random.default_rng(0).random((2, 3, 6, 6)) < 0.5
    for b, h in np.ndindex(2, 3):
        alone = el.Dense(allowed[b, h]).draw(6)
        assert el.Dense(allowed).draw(6, batch=2, heads=3, at=(b, h)) == alone
    problem = AttentionShape((2,), 3, 6, 6)
    assert share(el.Dense(allowed).lower(problem), problem) == pytest.approx(allowed.mean())


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_picture_can_be_printed_on_any_terminal(encoding):
    code = "import eyeline as el; print(el.Causal().draw(3)); print(el.Causal().draw(99, rows=3, columns=6))"
    run = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"PYTHONIOENCODING": encoding}, capture_output=True, check=True
    )
    lines = run.stdout.decode(encoding).split()
    assert lines[:3] == (["██····", "████··", "██████"] if encoding == "utf-8" else ["##....", "####..", "######"])
    assert len(set(lines[3])) > 2
