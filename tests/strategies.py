"""What hypothesis draws: sizes that are awkward for the kernels, masks of every kind, layouts in memory, magnitudes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

import eyeline as el
from eyeline.masks import Mask, Problem

#: None, one, around vector widths and panels, around a block of keys, primes.
SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 17, 31, 32, 33, 61, 64, 65, 127, 128, 129, 251, 257, 300)
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
    def problem(self) -> Problem:
        return Problem(self.q.shape[:-3] or (1,), self.q.shape[-3] if self.q.ndim > 2 else 1, *self.sizes)

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


@st.composite
def dense_masks(draw, problem: Problem) -> el.Dense:
    axes = draw(st.integers(2, 4 if len(problem.lead) == 1 else 3))
    shape = [n if draw(st.booleans()) else 1 for n in problem.shape[4 - axes :]]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return el.Dense(rng.random(shape) < draw(st.sampled_from((0.0, 0.05, 0.5, 0.95, 1.0))))


@st.composite
def lengths(draw, problem: Problem) -> el.Lengths:
    def some(most: int) -> list[int]:
        return draw(st.lists(st.integers(0, most), min_size=count, max_size=count))

    count = problem.batch if draw(st.booleans()) else 1
    side = draw(st.sampled_from(("right", "left")))
    which = draw(st.sampled_from(("both", "queries", "keys", "apart")))
    if which == "both":
        return el.Lengths(some(min(problem.queries, problem.keys)), side=side)
    given = {} if which == "keys" else {"queries": some(problem.queries)}
    return el.Lengths(**given, **({} if which == "queries" else {"keys": some(problem.keys)}), side=side)


def simple_masks(problem: Problem) -> st.SearchStrategy[Mask]:
    aligned = st.sampled_from(("start", "end", None) if problem.queries == problem.keys else ("start", "end"))
    reach = st.sampled_from((0, 1, 2, 7, 16, 64, 127, 128, 300, 2**40))
    return st.one_of(
        st.builds(el.Causal, aligned),
        st.builds(el.Window, reach, reach, aligned),
        lengths(problem),
        dense_masks(problem),
    )


def masks(problem: Problem) -> st.SearchStrategy[Mask]:
    """Masks that fit a problem, closed under &, | and ~."""

    def join(inner: st.SearchStrategy[Mask]) -> st.SearchStrategy[Mask]:
        two = st.tuples(inner, inner)
        return st.one_of(inner.map(lambda a: ~a), two.map(lambda p: p[0] & p[1]), two.map(lambda p: p[0] | p[1]))

    return st.recursive(simple_masks(problem), join, max_leaves=5)


@st.composite
def problems(draw, most: int = 300) -> Problem:
    size = st.sampled_from([n for n in SIZES if n <= most])
    lead = draw(st.sampled_from(((1,), (1,), (2,), (3,), (0,), (2, 2))))
    queries = draw(size)
    return Problem(lead, draw(st.integers(0, 4)), queries, draw(st.one_of(st.just(queries), size)))


@st.composite
def cases(draw, *, layouts: tuple[str, ...] = LAYOUTS, magnitudes: tuple[float, ...] = MAGNITUDES) -> Case:
    """A call that is in order: every shape, type, head ratio, layout, mask."""
    axes = draw(st.sampled_from((2, 3, 4, 4, 4, 5)))
    size = st.sampled_from(SIZES)
    N = draw(size)
    M = draw(st.one_of(st.just(N), size))
    leads = {4: ((1,), (2,), (3,), (0,)), 5: ((2, 1), (2, 2), (3, 0))}
    lead = draw(st.sampled_from(leads.get(axes, ((),))))
    G = draw(st.integers(0, 3)) if axes > 2 else 1
    H = G * draw(st.integers(1, 4)) if axes > 2 else 1
    D, E = draw(st.sampled_from((0, *WIDTHS))), draw(st.sampled_from((0, *WIDTHS)))
    dtype = draw(st.sampled_from((np.float32, np.float64)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))

    def array(heads: int, tokens: int, width: int) -> np.ndarray:
        shape = (*lead, heads, tokens, width) if axes > 2 else (tokens, width)
        x = (rng.standard_normal(shape) * draw(st.sampled_from(magnitudes))).astype(dtype)
        return laid_out(x, draw(st.sampled_from(layouts)))

    problem = Problem(lead or (1,), H, N, M)
    mask = draw(st.one_of(st.none(), masks(problem), masks(problem)))
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
