"""Models of many families give on Eyeline what they give on transformers' eager attention, and are watched whole."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from comparing import same_bits
from families.cases import CASES, model_of, outputs, run, watched, within
from families.listed import FAMILIES
from families.table import BEGIN, END, PAGE, stale
from families.tiny_models import Family

import eyeline as el

#: The largest difference that there may be, relative to the largest value; of bfloat16, as a multiple of eager's error.
MOST = dict.fromkeys(CASES, 1e-05) | {"generate": 0.0, "static cache": 0.0, "bfloat16": 2.0}
#: All but the real checkpoints, which are many times as large and compared in every case by themselves.
TINY = [family for family in FAMILIES if family.settings]
EVERY = pytest.mark.parametrize("family", TINY, ids=lambda family: family.name)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Products this small are slower on several threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def whole(family: Family) -> str:
    """The padding with which most can go wrong."""
    return "left padding" if "left padding" in family.kind.paddings else family.kind.paddings[-1]


@pytest.mark.parametrize(
    ("family", "case"),
    [pytest.param(family, case, id=f"{family.name}: {case}") for family in FAMILIES for case in family.cases()],
)
def test_a_family_gives_what_eager_gives(family, case):
    assert CASES[case](family) <= MOST[case]


@EVERY
def test_every_layer_of_every_kind_is_seen_once_in_order(family):
    seen, eager, _ = watched(family, whole(family))
    assert {kind: len(layers) for kind, layers in eager.items() if layers} == {
        kind: count for kind, count in family.layers.items() if kind in eager
    }
    found = {kind: [call.layer for call in seen if call.kind == kind] for kind in family.layers}
    assert found == {kind: list(range(count)) for kind, count in family.layers.items()}
    assert len(seen) == sum(family.layers.values())
    assert not seen.missed


@EVERY
def test_what_is_read_is_what_eagers_weights_say(family):
    seen, eager, given = watched(family, whole(family))
    for kind, layers in eager.items():
        for layer, weights in enumerate(layers):
            call = seen.of(kind=kind, layer=layer)[0]
            real = given.real.get(kind)
            real = torch.ones(weights.shape[::2], dtype=torch.bool) if real is None else real
            expect(call.seen, weights.double().numpy(), real.numpy())


def expect(seen: el.Observation, weights: np.ndarray, real: np.ndarray) -> None:
    """Readouts of weights (B, H, N, M), of the queries that are real, (B, N)."""
    rows = real[:, None].repeat(weights.shape[1], axis=1)
    np.testing.assert_allclose(seen.weights[rows], weights[rows], atol=1e-5)
    log = np.log(np.maximum(weights, 1e-300))
    np.testing.assert_allclose(seen.entropy[rows], -(weights * log).sum(-1)[rows], atol=1e-4)
    np.testing.assert_allclose(seen.received, np.where(rows[..., None], weights, 0).sum(2), atol=1e-4)
    np.testing.assert_allclose(seen.top_k.weights[rows], -np.sort(-weights, axis=-1)[..., :3][rows], atol=1e-5)
    keys, found = seen.top_k.keys[rows], seen.top_k.weights[rows]
    theirs = np.take_along_axis(weights[rows], np.maximum(keys, 0), axis=-1)
    np.testing.assert_allclose(np.where(keys < 0, 0, theirs), found, atol=1e-5)
    assert (seen.entropy[~rows] == 0).all()


@EVERY
def test_watching_changes_no_bit(family):
    model, given = model_of(family), family.kind.given(whole(family))
    before = outputs(family, run(model, "eyeline", given), given)
    with el.watch(model, [el.TopK(3), el.Entropy(), el.Received()], heads=[1]):
        watched_too = outputs(family, run(model, "eyeline", given), given)
    with el.watch(model, [el.TopK(3), el.Entropy(), el.Received()]):
        during = outputs(family, run(model, "eyeline", given), given)
    for a, b, c in zip(before, watched_too, during, strict=True):
        same_bits(b.numpy(), a.numpy())
        same_bits(c.numpy(), a.numpy())


@EVERY
def test_a_single_call_may_ask_for_all_weights(family):
    model, given = model_of(family), family.kind.given("no padding")
    eager, ours = (run(model, name, given, output_attentions=True) for name in ("eager", "eyeline"))
    for path in family.kind.attentions.values():
        theirs, found = (within(output, path) for output in (eager, ours))
        assert len(theirs) == len(found) > 0
        for a, b in zip(found, theirs, strict=True):
            torch.testing.assert_close(a, b, rtol=0, atol=1e-5)


def test_the_table_in_the_docs_has_these_families():
    table = PAGE.read_text().partition(BEGIN)[2].partition(END)[0]
    assert not stale(table)
