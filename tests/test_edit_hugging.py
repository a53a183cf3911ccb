"""Every edit of a transformers model is what its eager attention gives where the same is done to the matrix."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from eager_edits import ByHand, by_hand, with_heads
from edit_models import CASES, EVERY, inputs_of, places, real_outputs, with_sharp_heads
from hugging import one_thread  # noqa: F401 - for all tests here

import eyeline as el
from eyeline import edits as ed
from eyeline.edits import HeadsOfRun, MeanOutputs
from eyeline.scores import Bias

HEAD = 2


class Run:
    """Another run of one layer, as its eager attention left it; the first text of a batch."""

    def __init__(self, kind, matrix):
        self.kind, self._matrix = kind, matrix

    def layer(self, layer):
        return self

    def of_heads(self, heads):
        own = [x[0, list(heads)].detach().numpy() for x in (self._matrix.q, self._matrix.k, self._matrix.v)]
        s = self._matrix.s[0, list(heads)].detach()
        # What the eager function added to the scores, masks and T5's positions alike.
        added = s.numpy() - np.einsum("hnd,hmd->hnm", own[0], own[1])
        lse = torch.logsumexp(s, -1).numpy()
        return HeadsOfRun(*own, lse, 1.0, (Bias(added[:, None]),), None)

    def output_of(self, heads):
        return self._matrix.y[0, :, list(heads)].transpose(0, 1).detach().numpy()


def pairs(case, given, rows, columns):
    """Which pairs are chosen, (B, N, M)."""
    queries, keys = places(case, given)
    chosen = torch.isin(queries, torch.tensor(rows)), torch.isin(keys, torch.tensor(columns))
    return chosen[0][:, :, None] & chosen[1][:, None]


def gate(case, given, other):
    by = torch.linspace(-1, 2, 20)
    queries, _ = places(case, given)
    factor = torch.where(queries >= 0, by[queries.clamp(min=0)], 1.0)[..., None]

    def output(m):
        m.y = with_heads(m.y, HEAD, m.y[:, :, HEAD] * factor, axis=2)

    return ed.Gate(by=by.numpy()), ByHand(output=output)


def cut(case, given, other):
    where = pairs(case, given, [1, 3], [0, 2, 3])

    def scores(m):
        m.s = with_heads(m.s, HEAD, m.s[:, HEAD].masked_fill(where, torch.finfo(m.s.dtype).min))

    return ed.Cut(queries=[1, 3], keys=[0, 2, 3]), ByHand(scores=scores)


def reweight(case, given, other):
    where = pairs(case, given, [0, 2, 4], [0, 1])

    def weights(m):
        m.w = with_heads(m.w, HEAD, torch.where(where, m.w[:, HEAD] * 0.3, m.w[:, HEAD]))

    return ed.Reweight(queries=[0, 2, 4], keys=slice(2), by=0.3), ByHand(weights=weights)


def uniform(case, given, other):
    def weights(m):
        seen = (m.s[:, HEAD] > -1e30).float()
        m.w = with_heads(m.w, HEAD, seen / seen.sum(-1, keepdim=True).clamp(min=1))

    return ed.Uniform(), ByHand(weights=weights)


def pattern(case, given, other):
    where = pairs(case, given, [1, 2, 4], [0, 1, 2, 3])
    queries, keys = (x.clamp(min=0) for x in places(case, given))

    def weights(m):
        theirs = torch.stack([other.w[0, HEAD][queries[b]][:, keys[b]] for b in range(len(queries))])
        m.w = with_heads(m.w, HEAD, torch.where(where, theirs, m.w[:, HEAD]))

    return ed.Pattern(Run(case.trace, other), queries=[1, 2, 4], keys=[0, 1, 2, 3]), ByHand(weights=weights)


def patch(name):
    def of(case, given, other):
        queries, keys = places(case, given)
        positions = keys if name in "kv" else queries
        chosen = torch.isin(positions, torch.tensor([1, 4]))[..., None]
        theirs = getattr(other, name)[0, HEAD]

        def inputs(m):
            own = getattr(m, name)
            new = torch.where(chosen, theirs[positions.clamp(min=0)], own[:, HEAD])
            setattr(m, name, with_heads(own, HEAD, new))

        return ed.Patch(Run(case.trace, other), name, positions=[1, 4]), ByHand(inputs=inputs)

    return of


def patched_output(case, given, other):
    queries, _ = places(case, given)

    def output(m):
        theirs = other.y[0, :, HEAD][queries.clamp(min=0)]
        new = torch.where(torch.isin(queries, torch.tensor([0, 3]))[..., None], theirs, m.y[:, :, HEAD])
        m.y = with_heads(m.y, HEAD, new, axis=2)

    return ed.Patch(Run(case.trace, other), "output", positions=[0, 3]), ByHand(output=output)


def mean_output(case, given, other):
    width = other.y.shape[-1]
    means = np.random.default_rng(0).standard_normal((3, 4, width), dtype=np.float32)
    queries, _ = places(case, given)

    def output(m):
        mean = torch.from_numpy(means[case.layer, HEAD])
        m.y = with_heads(m.y, HEAD, torch.where((queries >= 0)[..., None], mean, m.y[:, :, HEAD]), axis=2)

    kinds = ("encoder self", "decoder self", "cross")
    return ed.MeanOutput(MeanOutputs("tiny", 9, dict.fromkeys(kinds, means))), ByHand(output=output)


EDITS = {
    "gate": gate,
    "cut": cut,
    "reweight": reweight,
    "uniform": uniform,
    "pattern": pattern,
    "patched q": patch("q"),
    "patched k": patch("k"),
    "patched v": patch("v"),
    "patched output": patched_output,
    "mean output": mean_output,
}


def made(name, pad, edit):
    """A model, its inputs, an edit of one head, and the same by hand."""
    case = CASES[name]
    model = with_sharp_heads(case.make())
    given = inputs_of(model, pad)
    # Another run, of unpadded texts: the same, backwards.
    other = {key: x if "mask" in key else x.flip(1) for key, x in inputs_of(model, None).items()}
    with by_hand(model, {}) as seen:
        model(**other)
    matrix = seen.seen[model.get_submodule(case.path)]
    one, change = EDITS[edit](case, given, matrix)
    for field, value in (("layer", case.layer), ("head", HEAD), ("kind", case.kind)):
        object.__setattr__(one, field, value)
    return case, model, given, one, {case.path: change}


@torch.no_grad()
@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize(("name", "pad"), EVERY)
def test_an_edited_model_gives_what_its_edited_matrix_gives(name, pad, edit):
    case, model, given, one, change = made(name, pad, edit)
    plain = real_outputs(case, model, given)
    with by_hand(model, change):
        want = real_outputs(case, model, given)
    with el.edit(model, one):
        got = real_outputs(case, model, given)
    assert (want - plain).abs().max() > 2e-5  # it matters
    torch.testing.assert_close(got, want, atol=1e-5, rtol=0)
    assert torch.equal(real_outputs(case, model, given), plain)
