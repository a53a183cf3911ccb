"""What hypothesis draws: sizes that are awkward for the kernels, masks of every kind, layouts in memory, magnitudes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

import eyeline as el
from eyeline.masks import Align, AttentionShape, Mask
from eyeline.readouts import Readout
from eyeline.scores import Score

#: One, around vector widths and panels, primes; around a block of keys and beyond. Zero is drawn apart.
FEW = (1, 2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 17, 31, 32, 33, 61)
MANY = (64, 65, 127, 128, 129, 251, 257, 283, 300)
WIDTHS = (1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65)
LAYOUTS = ("contiguous", "transposed", "sliced", "reversed", "strided", "broadcast", "read-only", "all at once")
MAGNITUDES = (1e-4, 1e-2, 1.0, 1.0, 1e2, 1e4)


@dataclass(frozen=True, repr=False)
class Case:
    """The arguments of one call."""

    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    mask: Mask | None
    scale: float | None

    def __repr__(self) -> str:
        named = {name: getattr(self, name) for name in "qkv"}
        arrays = [f"{name}: {x.dtype} {x.shape}, strides {x.strides}" for name, x in named.items()]
        return f"Case({'; '.join(arrays)}; mask={self.mask!r}, scale={self.scale})"

    def _repr_pretty_(self, printer, cycle: bool) -> None:
        printer.text(repr(self))  # hypothesis would print every number

    @property
    def problem(self) -> AttentionShape:
        return AttentionShape(self.q.shape[:-3] or (1,), self.q.shape[-3] if self.q.ndim > 2 else 1, *self.sizes)

    @property
    def sizes(self) -> tuple[int, int]:
        return self.q.shape[-2], self.k.shape[-2]

    def allowed(self) -> np.ndarray:
        """Where queries may look, (..., H, N, M)."""
        shape = (*self.q.shape[:-1], self.k.shape[-2])
        if self.mask is None:
            return np.ones(shape, bool)
        return np.broadcast_to(self.mask.rule(self.problem), self.problem.shape).reshape(shape)

    def contiguous(self) -> Case:
        return replace(self, **{name: np.array(getattr(self, name), order="C") for name in "qkv"})

    def run(self) -> np.ndarray:
        return el.attention(self.q, self.k, self.v, mask=self.mask, scale=self.scale)

    def look(self, *read: el.Weights) -> el.Observation:
        return el.observe(self.q, self.k, self.v, mask=self.mask, scale=self.scale, read=read)


def laid_out(x: np.ndarray, layout: str) -> np.ndarray:
    """An array equal to x, held in memory in another way. "broadcast" alone changes x: its tokens are all the first."""
    if layout == "transposed":
        return np.ascontiguousarray(x.T).T
    if layout == "sliced":
        held = np.full(tuple(n + 3 for n in x.shape), np.nan, x.dtype)
        part = held[tuple(slice(1, n + 1) for n in x.shape)]
        part[...] = x
        return part
    if layout == "reversed":
        back = (slice(None, None, -1),) * x.ndim
        return np.ascontiguousarray(x[back])[back]
    if layout == "strided":
        held = np.full((*x.shape[:-1], 2 * x.shape[-1]), np.nan, x.dtype)
        held[..., ::2] = x
        return held[..., ::2]
    if layout == "broadcast":
        return np.broadcast_to(x[..., :1, :].copy(), x.shape) if x.shape[-2] else x
    if layout == "read-only":
        x = x.copy()
        x.flags.writeable = False
        return x
    if layout == "all at once":
        return laid_out(laid_out(laid_out(x, "strided").swapaxes(-1, -2), "reversed").swapaxes(-1, -2), "sliced")
    return np.ascontiguousarray(x)


def near(b: int, h: int, i: int, j: int) -> bool:
    return abs(i - j) < 3 + b


def strided(b: int, h: int, i: int, j: int) -> bool:
    return (i + h) % 3 == j % 3 or j == 0


def never(b: int, h: int, i: int, j: int) -> bool:
    return i < 0


#: Functions for `MaskFunction`, of every argument.
RULES = (near, strided, never)


def packed(most: int, count: int, choose) -> list[int]:
    """`count` lengths that add up to at most `most`; some may be 0."""
    found: list[int] = []
    for left in range(count, 0, -1):
        room = most - sum(found)
        found.append(choose((0, 1, room // left, room // 2, room)) if room else 0)
    return found


def aligned(problem: AttentionShape, choose) -> Align | None:
    """Where queries stand among keys."""
    named = ("start", "end", 0, 2, problem.keys, -1)
    return choose((*named, None) if problem.queries == problem.keys else named)


def simple_mask(problem: AttentionShape, kinds: tuple[type, ...], choose, rng: np.random.Generator) -> Mask:
    """A mask of one of these kinds that fits a problem; `choose` takes one of a sequence."""
    kind = choose(kinds)
    if kind is el.Dense:
        axes = choose((2, 3, 4) if len(problem.lead) == 1 else (2, 3))
        shape = [choose((n, n, 1)) for n in problem.shape[4 - axes :]]
        return el.Dense(rng.random(shape) < choose((0.5, 0.05, 0.95, 0.0, 1.0)))
    if kind is el.Padding:
        which, count = choose(("both", "apart", "keys", "queries")), choose((1, problem.batch))
        most = {"queries": problem.queries, "keys": problem.keys}
        if which == "both":
            lengths = [choose(range(min(most.values()) + 1)) for _ in range(count)]
            return el.Padding(lengths, side=choose(("right", "left")))
        given = {
            name: [choose(range(n + 1)) for _ in range(count)] for name, n in most.items() if which in (name, "apart")
        }
        return el.Padding(**given, side=choose(("right", "left")))
    if kind is el.MaskFunction:
        return el.MaskFunction(choose(RULES))
    if kind is el.Intervals:
        rows = (choose((1, problem.batch)), choose((1, problem.queries)), choose((0, 1, 3)), 2)
        return el.Intervals(rng.integers(-2, problem.keys + 3, rows))
    align = aligned(problem, choose)
    if kind is el.Documents:
        several = choose((False, False, True))
        count = problem.batch if several else 1
        if choose((False, False, True)):
            documents = choose((1, 2, 3, 8))
            ours, theirs = (
                [packed(most, documents, choose) for _ in range(count)] for most in (problem.queries, problem.keys)
            )
            return el.Documents(ours, keys=theirs) if several else el.Documents(ours[0], keys=theirs[0])
        ours = [packed(problem.keys, choose((0, 1, 2, 3, 8)), choose) for _ in range(count)]
        return el.Documents(ours if several else ours[0], align=align)
    if kind is el.PrefixLM:
        reach = [choose((0, 1, 2, problem.keys // 3, problem.keys, 2**40)) for _ in range(choose((1, problem.batch)))]
        return el.PrefixLM(reach, align)
    if kind is el.Causal:
        return el.Causal(align)
    reach = (0, 1, 2, 7, problem.keys // 8, problem.keys // 4, problem.keys // 2, 128, 2**40)
    before, after = choose(reach), choose(reach)
    return el.Window(before, after, align)


@st.composite
def masks(draw, problem: AttentionShape, joined: bool = True, functions: bool = True) -> Mask:
    """Masks that fit a problem, closed under &, | and ~; with or without the user's own functions."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    cheap = functions and problem.batch * problem.heads * problem.queries * problem.keys < 10_000
    # Most are drawn evenly; hypothesis itself prefers what is simple, and can shrink it where it fails.
    evenly = draw(st.sampled_from((True, True, True, False)))

    def choose(options):
        return options[rng.integers(len(options))] if evenly else draw(st.sampled_from(options))

    # Intervals suffice for most; booleans and functions are slow to ask in Python.
    kinds: tuple[type, ...] = (el.Causal, el.Window, el.Window, el.Padding, el.Documents, el.PrefixLM)
    kinds += choose(((), (), (el.Dense,), (el.Intervals,), (el.MaskFunction,) if cheap else ()))
    mask = simple_mask(problem, kinds, choose, rng)
    for _ in range(choose((1, 2, 3, 0)) if joined else 0):
        other = simple_mask(problem, kinds, choose, rng)
        other = choose((other, ~other))
        mask = choose((mask & other, mask | other))
        mask = choose((mask, mask, ~mask))
    return mask


def sizes(most: int = 300) -> st.SearchStrategy[int]:
    return st.one_of(*[st.sampled_from(some) for some in (FEW, [n for n in MANY if n <= most]) if some])


#: Which size, if any, is none at all.
nothing = st.sampled_from((None, *[None] * 12, "lead", "heads", "queries", "keys", "width", "value width"))


@st.composite
def problems(draw, most: int = 300) -> AttentionShape:
    none = draw(nothing)
    lead = (0,) if none == "lead" else draw(st.sampled_from(((1,), (2,), (3,), (2, 2))))
    queries = 0 if none == "queries" else draw(sizes(most))
    keys = 0 if none == "keys" else draw(st.one_of(st.just(queries), sizes(most)))
    return AttentionShape(lead, 0 if none == "heads" else draw(st.integers(1, 4)), queries, keys)


def nearer(score: float, b: int, h: int, i: int, j: int) -> float:
    return score - 0.1 * (h + 1) * abs(i - j)


def steeper(score: float, b: int, h: int, i: int, j: int) -> float:
    return score + math.tanh(score) * (b + 1)


def steepness(score: float, b: int, h: int, i: int, j: int) -> float:
    return 1 + (1 - math.tanh(score) ** 2) * (b + 1)


def simple_score(problem: AttentionShape, kind: type, choose, rng: np.random.Generator) -> Score:
    """A score modifier of this kind that fits a problem."""
    align = aligned(problem, choose)
    if kind is el.Alibi:
        return el.Alibi(choose((None, rng.random(problem.heads))), align)
    if kind is el.RelativeBias:
        table = rng.standard_normal((choose((4, 8, 32)), problem.heads))
        return el.RelativeBias(table, choose((True, False)), choose((17, 128)), align)
    if kind is el.Bias:
        axes = choose((2, 3, 4) if len(problem.lead) == 1 else (2, 3))
        array = rng.standard_normal([choose((n, n, 1)) for n in problem.shape[4 - axes :]])
        return el.Bias(np.where(rng.random(array.shape) < choose((0.0, 0.0, 0.3)), -np.inf, array))
    if kind is el.Softcap:
        return el.Softcap(choose((0.5, 5.0, 50.0)))
    return choose((el.ScoreFunction(nearer), el.ScoreFunction(steeper, steepness)))


@st.composite
def score_stacks(draw, problem: AttentionShape, functions: bool = True) -> list[Score]:
    """Changes of the scores that fit a problem, in order; with or without the user's own functions."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    cheap = functions and problem.batch * problem.heads * problem.queries * problem.keys < 10_000

    def choose(options):
        return options[rng.integers(len(options))]

    kinds: tuple[type, ...] = (el.Alibi, el.RelativeBias, el.Bias, el.Softcap)
    kinds += (el.ScoreFunction,) if cheap else ()
    stack = [simple_score(problem, choose(kinds), choose, rng) for _ in range(draw(st.integers(0, 3)))]
    return stack + choose(([], [el.Sinks(rng.standard_normal(problem.heads))]))


def simple_times(problem: AttentionShape, choose, rng: np.random.Generator):
    """A factor per key, some of them 0; or none."""
    shape = [choose((n, 1)) for n in (*problem.lead, problem.heads)]
    shape = [*shape[choose((0, len(shape) - 1, len(shape))) :], problem.keys]
    times = rng.random(shape) * 3 * (rng.random(shape) < 0.8)
    return choose((None, times, times.astype(np.float32)))


def simple_readout(problem: AttentionShape, kind: type, choose, rng: np.random.Generator) -> Readout:
    """A readout of this kind that fits a problem."""
    if kind is el.TopK:
        return el.TopK(choose((1, 2, 5, 8, problem.keys + 1)), times=simple_times(problem, choose, rng))
    if kind is el.Received:
        return el.Received(choose(("sum", "mean", "max")), times=simple_times(problem, choose, rng))
    if kind is el.MeanDistance:
        return el.MeanDistance(choose(("start", "end", None) if problem.queries == problem.keys else ("start", "end")))
    if kind is el.OffsetMass:
        align = choose(("start", "end", 3, None) if problem.queries == problem.keys else ("start", "end", -2))
        edges = choose(
            ((-1, 0, 1, 2), (-(2**60), -60, -7, 0, 1, 9, 2**60), np.arange(-40, 300, 17), (7, 40), (400, 401))
        )
        return el.OffsetMass(edges, align)
    if kind is el.GroupMass:
        shape = [choose((n, 1)) for n in problem.lead]
        shape = [*shape[choose((0, len(shape))) :], problem.keys]
        groups = rng.integers(-1, choose((1, 3, 17)), shape)
        return el.GroupMass(groups, choose((None, 17)), times=simple_times(problem, choose, rng))
    if kind is el.Pooled:
        return el.Pooled(choose((1, 3, 8, 64)), choose((1, 3, 8, 64)), choose(("mean", "max")))
    if kind is el.Weights:
        some = (None, slice(1, None, 2), slice(None, None, -1))
        few = [rng.integers(-n, n, 3) if n else None for n in (problem.queries, problem.keys)]
        return el.Weights(choose((*some, few[0])), choose((*some, few[1])))
    return el.Entropy()


READOUTS = (
    el.TopK,
    el.Entropy,
    el.Received,
    el.MeanDistance,
    el.OffsetMass,
    el.GroupMass,
    el.Pooled,
    el.Weights,
)


@st.composite
def readouts(draw, problem: AttentionShape, kinds: tuple[type, ...] = READOUTS) -> list[Readout]:
    """Some readouts that fit a problem, each kind at most once, in any order."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))

    def choose(options):
        return options[rng.integers(len(options))]

    chosen = draw(st.lists(st.sampled_from(kinds), unique=True))
    return [simple_readout(problem, kind, choose, rng) for kind in chosen]


@st.composite
def cases(draw, *, layouts: tuple[str, ...] = LAYOUTS, magnitudes: tuple[float, ...] = MAGNITUDES) -> Case:
    """A call that is in order: every shape, type, head ratio, layout, mask."""
    none, axes = draw(nothing), draw(st.sampled_from((2, 3, 4, 4, 4, 5)))
    N = 0 if none == "queries" else draw(sizes())
    M = 0 if none == "keys" else draw(st.one_of(st.just(N), sizes()))
    D, E = (0 if none == name else draw(st.sampled_from(WIDTHS)) for name in ("width", "value width"))
    G = 0 if none == "heads" and axes > 2 else draw(st.integers(1, 3)) if axes > 2 else 1
    H = G * draw(st.integers(1, 4)) if axes > 2 else 1
    leads = {4: ((1,), (2,), (3,)), 5: ((2, 1), (2, 2))}
    lead = draw(st.sampled_from(leads.get(axes, ((),))))
    lead = (0, *lead[1:]) if none == "lead" and lead else lead
    dtype = draw(st.sampled_from((np.float32, np.float64)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))

    def array(heads: int, tokens: int, width: int) -> np.ndarray:
        shape = (*lead, heads, tokens, width) if axes > 2 else (tokens, width)
        x = (rng.standard_normal(shape) * draw(st.sampled_from(magnitudes))).astype(dtype)
        return laid_out(x, draw(st.sampled_from(layouts)))

    problem = AttentionShape(lead or (1,), H, N, M)
    mask = draw(masks(problem, functions=False)) if draw(st.sampled_from((True, True, True, False))) else None
    scale = draw(st.sampled_from((None, None, 1.0, 0.3, -0.5, 0.0)))
    return Case(array(H, N, D), array(G, M, D), array(G, M, E), mask, scale)


def spoiled(case: Case, what: float) -> Case:
    """The call with `what` in all queries that may look at nothing, and all keys and values that no query sees."""
    allowed = case.allowed()
    q, k, v = (np.array(x) for x in (case.q, case.k, case.v))
    q[~allowed.any(axis=-1)] = what
    seen = allowed.any(axis=-2)
    if case.q.ndim > 2 and case.q.shape[-3]:
        heads = case.q.shape[-3] // k.shape[-3]
        seen = seen.reshape(*k.shape[:-2], heads, k.shape[-2]).any(axis=-2)
    k[~seen], v[~seen] = what, what
    return replace(case, q=q, k=k, v=v)
