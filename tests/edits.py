"""Edits for tests: another run to take from, and whatever edits fit a problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from strategies import simple_mask

import eyeline as el
from eyeline import edits as ed
from eyeline import reference
from eyeline.masks import AttentionShape, Mask
from eyeline.scores import Flat, Score


@dataclass(frozen=True, eq=False, repr=False)
class OtherRun:
    """A run of one layer: q (H, P, D), k (G, S, D), v (G, S, E); its mask and scores are for (H, 1, P, S)."""

    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    mask: Mask | None = None
    scores: tuple[Score, ...] = ()
    kind: str = "decoder"

    def __repr__(self) -> str:
        return f"OtherRun({self.q.shape[1]} × {self.k.shape[1]}, {self.mask!r}, {self.scores!r})"

    def layer(self, layer: int) -> OtherRun:
        return self

    def of_heads(self, heads: Sequence[int]) -> ed.HeadsOfRun:
        heads = list(heads)
        k, v = (x[np.array(heads, int) // (len(self.q) // len(self.k))] for x in (self.k, self.v))
        mask, scores = self.mask, self.scores
        if isinstance(mask, el.Dense):
            mask = el.Dense(mask.allowed[heads])
        scores = tuple(el.Bias(one.array[heads]) if isinstance(one, el.Bias) else one for one in scores)
        scores = tuple(Flat(one.heads[heads]) if isinstance(one, Flat) else one for one in scores)
        scale = 1 / np.sqrt(self.q.shape[-1])
        lse = self._whole(self.q[heads], k, v, mask, scores, scale).lse[:, 0]
        return ed.HeadsOfRun(self.q[heads], k, v, lse, scale, scores, mask)

    def output_of(self, heads: Sequence[int]) -> np.ndarray:
        part = self.of_heads(heads)
        return self._whole(part.q, part.k, part.v, part.mask, part.scores, part.scale).output[:, 0]

    @staticmethod
    def _whole(q, k, v, mask, scores, scale) -> reference.Steps:
        return reference.steps(q[:, None], k[:, None], v[:, None], mask=mask, scores=scores, scale=scale)


def other_run(
    heads: int, key_heads: int, queries: int, keys: int, width: int, value_width: int, choose, rng: np.random.Generator
) -> OtherRun:
    """A run with as many queries and keys, or some more."""
    P, S = queries + choose((0, 1, 5)), keys + choose((0, 1, 5))
    shape = AttentionShape((heads,), 1, P, S)
    q, k, v = (
        rng.standard_normal(size) for size in ((heads, P, width), (key_heads, S, width), (key_heads, S, value_width))
    )
    alone = AttentionShape((1,), 1, P, S)
    mask = simple_mask(alone, (el.Causal, el.Window, el.Documents, el.PrefixLM), choose, rng)
    holes = el.Dense(rng.random(shape.shape) < 0.6)
    bias = el.Bias(np.where(rng.random((heads, 1, P, S)) < 0.1, -np.inf, rng.standard_normal((heads, 1, P, S))))
    return OtherRun(
        q,
        k,
        v,
        choose((None, mask, mask, holes)),
        choose(((), (), (el.Softcap(2.0),), (el.Softcap(3.0), bias), (bias,), (bias, Flat(np.ones((heads, 1), bool))))),
    )


def some_tokens(count: int, choose, rng: np.random.Generator):
    """Which tokens an edit changes, in each way to say it."""
    few = [int(x) for x in rng.integers(0, count + 2, 3)]
    return choose((None, None, few[0], few, slice(1, None, 2), slice(-3, None), []))


def some_heads(count: int, choose, rng: np.random.Generator):
    return choose((None, int(rng.integers(count)), [int(x) for x in rng.integers(0, count, 2)], slice(0, None, 2)))


def factor(count: int, choose, rng: np.random.Generator):
    """A number, or one per position."""
    return choose((0.0, 0.5, 1.0, 2.5, rng.random(count + 1), rng.random(count)))


def simple_edit(kind: str, problem: AttentionShape, other: OtherRun, choose, rng: np.random.Generator) -> ed.Edit:
    N, M, H = problem.queries, problem.keys, problem.heads
    head = some_heads(H, choose, rng)
    pairs = {"queries": some_tokens(N, choose, rng), "keys": some_tokens(M, choose, rng)}
    match kind:
        case "gate":
            return ed.Gate(head=head, by=factor(N, choose, rng))
        case "cut":
            return ed.Cut(head=head, **pairs)
        case "reweight":
            return ed.Reweight(head=head, by=factor(N, choose, rng), **pairs)
        case "uniform":
            return ed.Uniform(head=head)
        case "pattern":
            return ed.Pattern(other, head=head, **pairs)
        case "mean output":
            outputs = rng.standard_normal((1, H, other.v.shape[-1])).astype(np.float32)
            return ed.MeanOutput(ed.MeanOutputs("tiny", 1, {"decoder self": outputs}), head=head)
    name = kind.partition(" ")[2]
    positions = some_tokens(M if name in ("k", "v") else N, choose, rng)
    if kind.startswith("group"):
        return ed.Patch(other, name, key_head=some_heads(len(other.k), choose, rng), positions=positions)
    return ed.Patch(other, name, head=head, positions=positions)


KINDS = (
    "gate",
    "cut",
    "reweight",
    "uniform",
    "pattern",
    "mean output",
    "patch q",
    "patch k",
    "patch v",
    "patch output",
    "group k",
    "group v",
)


@st.composite
def edit_lists(draw, problem: AttentionShape, key_heads: int, width: int, value_width: int) -> list[ed.Edit]:
    """Edits that fit a problem, in any order; of those of which a head can have one only, the first."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))

    def choose(options):
        return options[rng.integers(len(options))]

    H, N, M = problem.heads, problem.queries, problem.keys
    if not H:
        return []
    other = other_run(H, key_heads, N, M, width, value_width, choose, rng)
    found: list[ed.Edit] = []
    place = ed.place_of(H, key_heads, N, M)
    for kind in draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=5)):
        one = simple_edit(kind, problem, other, choose, rng)
        try:
            ed.in_order([*found, one], place)
        except ed.EditError:  # a head has such an edit already
            continue
        found.append(one)
    return found
