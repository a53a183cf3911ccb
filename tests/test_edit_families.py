"""Models of many families, edited, give what their eager attention gives with the same done to its matrix."""

from __future__ import annotations

import warnings

import pytest
import torch
from eager_edits import ByHand, by_hand, with_heads
from families.cases import apart, model_of, outputs, watched
from families.listed import FAMILIES
from families.tiny_models import Family
from hugging import one_thread  # noqa: F401 - for all tests here

import eyeline as el
from eyeline import edits as ed

TINY = [family for family in FAMILIES if family.settings]


def whole(family: Family) -> str:
    """The padding with which most can go wrong."""
    return "left padding" if "left padding" in family.kind.paddings else family.kind.paddings[-1]


def positions(real, kind, shape):
    """Of queries and keys, by which tokens are real."""
    names = ("decoder self", "encoder self") if kind == "cross" else (kind, kind)
    found = []
    for name, count in zip(names, shape, strict=True):
        tokens = real.get(name)
        tokens = torch.ones(1, count, dtype=torch.bool) if tokens is None else tokens
        found.append(torch.where(tokens, tokens.long().cumsum(1) - 1, -1))
    return found


@pytest.mark.parametrize("family", TINY, ids=lambda family: family.name)
def test_an_edited_family_gives_what_its_edited_matrices_give(family):
    seen, _, given = watched(family, whole(family))
    model = model_of(family)
    for kind, count in family.layers.items():
        call = seen.of(kind=kind, layer=count - 1)[0]
        last = len(seen.of(module=call.module)) - 1  # ALBERT's layers are calls of one module

        def weights(m, kind=kind, last=last):
            if m.number != last:
                return
            queries, keys = positions(given.real, kind, (m.q.shape[2], m.k.shape[2]))
            at = (queries >= 3)[:, :, None] & (keys == 1)[:, None]
            at = torch.nn.functional.pad(at, (0, m.w.shape[3] - m.k.shape[2]))  # GPT-OSS's sinks
            m.w = with_heads(m.w, 1, torch.where(at, m.w[:, 1] * 0.25, m.w[:, 1]))

        def output(m, kind=kind, last=last):
            if m.number != last:
                return
            queries, _ = positions(given.real, kind, (m.y.shape[1], 1))
            m.y = with_heads(m.y, 0, torch.where((queries >= 0)[..., None], 0.0, m.y[:, :, 0]), axis=2)

        which = {"layer": count - 1, "kind": kind}
        edits = [ed.Reweight(head=1, queries=slice(3, None), keys=[1], by=0.25, **which), ed.Gate(head=0, **which)]
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("error")
            with by_hand(model, {call.module: ByHand(weights=weights, output=output)}):
                want = outputs(family, model(**given.inputs), given)
            with el.edit(model, edits):
                got = outputs(family, model(**given.inputs), given)
            plain = outputs(family, model(**given.inputs), given)
        assert apart(got, want) <= 1e-5
        assert apart(plain, want) > 1e-4
