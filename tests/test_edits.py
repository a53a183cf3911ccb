"""Edits of a call against their definitions on the whole matrix; and what holds of them to the bit."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pytest
from comparing import same_bits
from edits import OtherRun, edit_lists
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import masks, problems, readouts, score_stacks

import eyeline as el
from eyeline import edits as ed
from eyeline import reference
from eyeline.masks import Mask
from eyeline.readouts import Readout
from eyeline.scores import Score


def near(got, want, atol: float) -> None:
    """Equal but for rounding; NaN nowhere, and infinities in the same places."""
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=atol, atol=atol, equal_nan=False)


def check_all(got: el.Observation, want: el.Observation, read: list[Readout], atol: float) -> None:
    """The output, lse, the sinks' share and every readout."""
    near(got.output, want.output, atol)
    near(got.lse, want.lse, atol)
    assert (got.sink is None) == (want.sink is None)
    if want.sink is not None:
        near(got.sink, want.sink, atol)
    for readout in read:
        if isinstance(readout, el.TopK):  # equal weights may change places by rounding
            near(got.top_k.weights, want.top_k.weights, atol)
            np.testing.assert_array_equal(got.top_k.keys < 0, want.top_k.keys < 0)
        else:
            near(got[type(readout)], want[type(readout)], atol)


@dataclass(frozen=True, repr=False)
class Case:
    """An edited call."""

    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    mask: Mask | None
    scores: list[Score]
    edits: list[ed.Edit]
    read: list[Readout]

    def __repr__(self) -> str:
        shapes = [x.shape for x in (self.q, self.k, self.v)]
        return f"Case({shapes}, {self.mask!r}, {self.scores}, {self.edits}, {self.read})"

    def _repr_pretty_(self, printer, cycle: bool) -> None:
        printer.text(repr(self))  # hypothesis would print every number

    @property
    def structure(self) -> dict:
        return {"mask": self.mask, "scores": self.scores}

    def observe(self, edits: list[ed.Edit] | ed.CallEdits) -> el.Observation:
        return el.observe(self.q, self.k, self.v, **self.structure, edits=edits, read=self.read)

    def define(self, edits: list[ed.Edit]) -> el.Observation:
        return reference.observe(self.q, self.k, self.v, **self.structure, edits=edits, read=self.read)


@st.composite
def edited_calls(draw, most: int = 33) -> Case:
    problem = draw(problems(most=most))
    G = draw(st.sampled_from([g for g in range(1, problem.heads + 1) if problem.heads % g == 0] or [0]))
    D, E = draw(st.sampled_from((1, 4, 9))), draw(st.sampled_from((1, 5, 8)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    q, k, v = (
        rng.standard_normal((*problem.lead, heads, tokens, width))
        for heads, tokens, width in ((problem.heads, problem.queries, D), (G, problem.keys, D), (G, problem.keys, E))
    )
    mask = draw(st.none() | masks(problem, functions=False))
    stack = draw(score_stacks(problem, functions=False))
    return Case(q, k, v, mask, stack, draw(edit_lists(problem, G, D, E)), draw(readouts(problem)))


@settings(max_examples=200)
@given(edited_calls())
def test_every_edit_and_every_readout_against_the_definition(case):
    got, want = case.observe(case.edits), case.define(case.edits)
    check_all(got, want, case.read, 1e-10)
    same_bits(el.attention(case.q, case.k, case.v, **case.structure, edits=case.edits), got.output)


def an_edit_of_each_kind(heads: int, other: OtherRun) -> dict[str, ed.Edit]:
    """All edits of these heads, each of some tokens where it can be."""
    some = {"queries": [1, 2, 5], "keys": [0, 3]}
    means = ed.MeanOutputs("tiny", 1, {"decoder self": np.ones((1, len(other.q), other.v.shape[-1]), np.float32)})
    return {
        "gate": ed.Gate(head=heads, by=0.3),
        "cut": ed.Cut(head=heads, **some),
        "reweight": ed.Reweight(head=heads, by=0.3, **some),
        "uniform": ed.Uniform(head=heads),
        "pattern": ed.Pattern(other, head=heads),
        "some of a pattern": ed.Pattern(other, head=heads, **some),
        "mean output": ed.MeanOutput(means, head=heads),
        **{f"patch {name}": ed.Patch(other, name, head=heads) for name in ("q", "k", "v", "output")},
    }


def numbers(*shape: int, seed: int = 0, dtype: type = np.float32) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def a_run(heads: int = 6, queries: int = 9, keys: int = 9, width: int = 8, value_width: int = 5) -> OtherRun:
    q, k, v = (
        numbers(heads, *size, seed=seed)
        for seed, size in enumerate(((queries, width), (keys, width), (keys, value_width)), start=7)
    )
    return OtherRun(q, k, v, el.Causal("start"))


#: q, k and v of two texts: six heads, three key heads.
Q, K, V = numbers(2, 6, 9, 8, seed=1), numbers(2, 3, 9, 8, seed=2), numbers(2, 3, 9, 5, seed=3)
READ = [el.TopK(3), el.Entropy(), el.Received(), el.MeanDistance("end"), el.Weights(), el.Pooled(4, 4, "max")]


@pytest.mark.parametrize("kind", an_edit_of_each_kind(2, a_run()))
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
def test_other_heads_keep_their_bits(kind, dtype):
    q, k, v = (x.astype(dtype) for x in (Q, K, V))
    edits = [an_edit_of_each_kind(2, a_run())[kind]]
    options = {"mask": el.Causal(), "scores": [el.Softcap(5.0), el.Sinks(numbers(6))], "read": READ}
    without, edited = el.observe(q, k, v, **options), el.observe(q, k, v, **options, edits=edits)
    others = [0, 1, 3, 4, 5]
    pairs = [(without.output, edited.output), (without.lse, edited.lse), (without.sink, edited.sink)]
    for a, b in zip(without.results, edited.results, strict=True):
        pairs += zip(a.arrays, b.arrays, strict=True)
    for x, y in pairs:
        same_bits(y[:, others], x[:, others])
    assert (without.output[:, 2] != edited.output[:, 2]).any()


@pytest.mark.parametrize(
    "edits",
    [
        [ed.Cut(head=2, queries=[], keys=[1])],
        [ed.Cut(head=2, queries=[99])],
        [ed.Cut(head=slice(6, None))],
        [ed.Reweight(head=2, by=1)],
        [ed.Reweight(by=np.ones(9)), ed.Cut(queries=[])],
        [ed.Gate(by=1.0)],
    ],
    ids=str,
)
def test_edits_that_change_nothing_change_no_bit(edits):
    for options in ({"mask": el.Causal()}, {"mask": el.Window(2, 1), "scores": [el.Alibi(), el.Sinks(numbers(6))]}):
        without, edited = (el.observe(Q, K, V, **options, read=READ, edits=x) for x in ((), edits))
        same_bits(edited.output, without.output)
        same_bits(edited.lse, without.lse)
        for a, b in zip(without.results, edited.results, strict=True):
            for x, y in zip(a.arrays, b.arrays, strict=True):
                same_bits(y, x)


def test_cutting_everything_is_a_gate_of_zero():
    cut, gated = (el.attention(Q, K, V, edits=one) for one in (ed.Cut(head=[1, 4]), ed.Gate(head=[1, 4])))
    np.testing.assert_array_equal(cut, gated)
    assert (cut[:, [1, 4]] == 0).all()
    seen = el.observe(Q, K, V, edits=ed.Cut(head=1), read=[el.Weights(), el.TopK(2)])
    assert (seen.lse[:, 1] == -np.inf).all()
    assert (seen.weights[:, 1] == 0).all()
    assert (seen.top_k.keys[:, 1] == -1).all()


def test_the_order_of_the_list_does_not_matter():
    other = a_run()
    edits = list(an_edit_of_each_kind(2, other).values())
    edits = [one for one in edits if not isinstance(one, (ed.Pattern, ed.MeanOutput))]
    edits.append(ed.Patch(other, "k", key_head=1, positions=[3]))
    want = el.observe(Q, K, V, edits=edits, read=READ)
    for seed in range(4):
        shuffled = [edits[at] for at in np.random.default_rng(seed).permutation(len(edits))]
        got = el.observe(Q, K, V, edits=shuffled, read=READ)
        same_bits(got.output, want.output)
        same_bits(got.weights, want.weights)


def test_a_pattern_of_the_same_run_changes_nothing_but_rounding():
    own = OtherRun(Q[0], np.repeat(K[0], 2, axis=0), np.repeat(V[0], 2, axis=0), el.Causal())
    for edit in (ed.Pattern(own), ed.Pattern(own, head=3, queries=[2, 4], keys=[0, 1])):
        got, want = (el.observe(Q[0], K[0], V[0], mask=el.Causal(), read=READ, edits=x) for x in (edit, ()))
        check_all(got, want, READ, 1e-5)
        same_bits(got.lse, want.lse)


def test_a_batch_with_padding_is_edited_as_each_text_alone():
    """Positions leave padding out, on either side; padding itself isn't changed."""
    other = a_run(queries=12, keys=12)
    edits = [
        ed.Pattern(other, head=2, queries=[0, 3], keys=slice(0, 4)),
        ed.Patch(other, "v", key_head=0, positions=[1]),
        ed.Reweight(head=[2, 3], queries=slice(2, None), by=np.linspace(0, 2, 9)),
        ed.Uniform(head=5),
        ed.Cut(head=4, queries=[3], keys=[0, 2]),
        ed.Gate(head=1, by=np.linspace(0, 2, 9)),
    ]
    first = np.array([np.arange(9), np.r_[[-1] * 3, np.arange(6)]])  # the second text has three tokens of padding
    place = ed.CallPlace(6, 3, first, first, 0, "decoder self")
    mask = el.Causal() & el.Padding([9, 6], side="left")
    options = {"mask": mask, "read": [el.Weights(), el.TopK(2)]}
    got = el.observe(Q, K, V, **options, edits=ed.lowered(edits, place))
    check_all(got, reference.observe(Q, K, V, **options, edits=edits, call=place), options["read"], 1e-5)
    for b, start in ((0, 0), (1, 3)):
        q, k, v = (x[b, :, start:] for x in (Q, K, V))
        alone = el.observe(q, k, v, mask=el.Causal(), edits=edits, read=el.Weights())
        near(got.output[b, :, start:], alone.output, 1e-5)
        near(got.weights[b, :, start:, start:], alone.weights, 1e-5)


def test_a_batch_of_different_edits_is_each_alone():
    other, place = a_run(), ed.place_of(6, 3, 9, 9)
    kinds = an_edit_of_each_kind(2, other)
    lowered = [ed.lowered([edit], place) for edit in kinds.values()]
    several = [np.repeat(x[:1], len(kinds), axis=0) for x in (Q, K, V)]
    for mask in (None, el.Causal()):
        got = el.observe(*several, mask=mask, read=READ, edits=ed.as_batch(lowered))
        for b, edit in enumerate(kinds.values()):
            alone = el.observe(Q[:1], K[:1], V[:1], mask=mask, read=READ, edits=edit)
            near(got.output[b], alone.output[0], 1e-6)
            near(got.weights[b], alone.weights[0], 1e-6)
            near(got.entropy[b], alone.entropy[0], 1e-5)


def test_decoding_with_more_keys_than_queries():
    """One query after the others: it stands at its own position, and sees the edited keys."""
    edits = [ed.Cut(head=0, queries=[8], keys=[2]), ed.Gate(head=1, by=np.linspace(0, 1, 9)), ed.Uniform(head=2)]
    whole = el.attention(Q, K, V, mask=el.Causal(), edits=edits)
    place = ed.CallPlace(6, 3, np.array([[8]]), np.arange(9)[None], 0, "decoder self")
    last = el.attention(Q[:, :, 8:], K, V, mask=el.Causal("end"), edits=ed.lowered(edits, place))
    same_bits(last, np.ascontiguousarray(whole[:, :, 8:]))


def test_dropout_drops_the_same_edited_weights():
    edits = [ed.Reweight(head=1, queries=[1, 2, 5], by=0.3), ed.Pattern(a_run(), head=[2, 3], queries=[4, 5])]
    options = {"mask": el.Causal(), "dropout": 0.4, "seed": 11, "edits": edits}
    near(el.attention(Q, K, V, **options), reference.steps(Q, K, V, **options).output, 1e-5)


def test_sixteen_bits():
    q, k, v = (x.astype(np.float16) for x in (Q, K, V))
    for edit in an_edit_of_each_kind(2, a_run()).values():
        got = el.attention(q, k, v, mask=el.Causal(), edits=edit)
        assert got.dtype == np.float16
        near(got.astype(np.float64), reference.steps(q, k, v, mask=el.Causal(), edits=[edit]).output, 2e-3)


SHORT = a_run(queries=4, keys=4)
MEANS = ed.MeanOutputs("tiny", 3, {"decoder self": np.zeros((1, 4, 5), np.float32)})


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ([ed.Gate(head=6)], "head must be from 0 to 5, got 6 in this call"),
        ([ed.Patch(a_run(), "k", key_head=3)], "key_head must be from 0 to 2, got 3"),
        ([ed.Uniform(head=1), ed.Pattern(a_run(), head=[0, 1])], "replace a head's weights once"),
        ([ed.Patch(a_run(), "output"), ed.MeanOutput(MEANS, head=3)], "replace a head's output once"),
        ([ed.Cut(queries=["flies"])], "queries must be positions where the text isn't known, got 'flies'"),
        ([ed.Gate(by=np.ones(8))], "by must have a number for each position, up to 8, got 8"),
        ([ed.Reweight(by=np.ones(3))], "by must have a number for each position, up to 8, got 3"),
        ([ed.Pattern(SHORT)], "other must be a run of at least 9 queries, got 4; record a longer text"),
        ([ed.Pattern(SHORT, queries=[1])], "other must be a run of at least 9 keys, got 4"),
        ([ed.Patch(SHORT, "v", positions=[2, 7])], "other must be a run of at least 8 tokens, got 4"),
        ([ed.Pattern("a trace", head=1)], "other must be a trace of another run, as eyeline.record makes it, got str"),
        ([ed.MeanOutput(MEANS)], "means must be of this model"),
    ],
    ids=str,
)
def test_errors_name_the_argument(edits, message):
    with pytest.raises(ed.EditError, match=re.escape(message)):
        el.attention(Q, K, V, edits=edits)


@pytest.mark.parametrize(
    "by", [float("nan"), float("inf"), np.array([1.0, np.nan]), np.ones((2, 2)), "0", True, None, 1j]
)
def test_factors_are_finite_numbers(by):
    for kind in (ed.Gate, ed.Reweight):
        with pytest.raises(ed.EditError, match="by must be"):
            kind(by=by)


def test_what_is_no_edit_is_refused():
    with pytest.raises(TypeError, match="edits must be edits"):
        el.attention(Q, K, V, edits=["gate L0H1"])
    with pytest.raises(ed.EditError, match="edits must be left out with shard= and lse="):
        el.observe(Q, K, V, lse=np.zeros((2, 6, 9)), edits=ed.Gate())
    with pytest.raises(TypeError, match="q must be a NumPy array"):
        el.attention([[1.0]], K, V, edits=ed.Gate())


def test_a_run_with_scores_that_depend_on_positions_is_refused():
    odd = OtherRun(*(getattr(a_run(), name) for name in "qkv"), scores=(el.Alibi(np.ones(1)),))
    with pytest.raises(ed.EditError, match="caps and biases alone"):
        el.attention(Q, K, V, edits=ed.Pattern(odd, head=0))


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        (lambda: [ed.Gate(layer=5, head=0)], "layer and kind must be left out where a single call is edited"),
        (lambda: [ed.Gate(kind="cross")], "layer and kind must be left out"),
        (lambda: [ed.Cut(keys=slice(None, None, 0))], "keys must be a slice of whole numbers"),
        (lambda: [ed.Cut(queries=slice("a", None))], "queries must be a slice of whole numbers"),
    ],
)
def test_what_a_single_call_has_not_is_refused(edits, said):
    q = np.ones((2, 3, 4), np.float32)
    with pytest.raises(ed.EditError, match=said):
        el.attention(q, q, q, edits=edits())


def test_a_head_s_queries_are_patched_once():
    run = el.Trace.of(*np.ones((2, 1, 2, 3, 4), np.float32), queries=list("abc"))
    q = np.zeros((2, 3, 4), np.float32)
    twice = [ed.Patch(run, "q", head=0, positions=[0, 1]), ed.Patch(run, "q", head=0, positions=1)]
    with pytest.raises(ed.EditError, match="must replace a head's queries once"):
        el.attention(q, q, q, edits=twice)
    el.attention(q, q, q, edits=[twice[0], ed.Patch(run, "q", head=0, positions=2), ed.Patch(run, "k", head=0)])
