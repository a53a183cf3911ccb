"""Generation by an edited model: each step is edited at its own positions."""

from __future__ import annotations

import inspect

import pytest
import torch
from eager_edits import ByHand, by_hand, with_heads
from edit_models import bart, gpt2, whisper, with_sharp_heads
from hugging import SIZES, llama, made, one_thread, padded, t5, text  # noqa: F401 - one_thread, for all tests here
from transformers import DynamicCache, MistralConfig, MistralForCausalLM

import eyeline as el
from eyeline import edits as ed

NEW = 8


def mistral():
    """A decoder with a cache that drops old keys."""
    config = MistralConfig(**SIZES, num_key_value_heads=2, sliding_window=6, pad_token_id=0, eos_token_id=None)
    return made(MistralForCausalLM, config)


class Steps:
    """A module's calls in generation: the positions of queries and keys, counted by what came before."""

    def __init__(self, pads, cross=None):
        self._pads, self._cross, self._total = torch.tensor(pads)[:, None], cross, 0

    def next(self, N, M):
        self._total += N
        last = self._total
        keys = torch.arange(M)[None] if self._cross else torch.arange(last - M, last)[None] - self._pads
        return torch.arange(last - N, last)[None] - self._pads, keys


def changes(case, pads):
    """The edits, and the same by hand."""
    path, kind, layer = case
    cross = kind == "cross"
    by = torch.linspace(0, 2, 40)
    steps = Steps(pads, cross)

    def scores(m):
        N, M = m.s.shape[2:]
        m.queries, m.keys = steps.next(N, M)
        gone = (m.queries >= 2)[:, :, None] & torch.isin(m.keys, torch.tensor([0, 3, 9]))[:, None]
        m.s = with_heads(m.s, 1, m.s[:, 1].masked_fill(gone, torch.finfo(m.s.dtype).min))

    def output(m):
        factor = torch.where(m.queries >= 0, by[m.queries.clamp(min=0)], 1.0)[..., None]
        m.y = with_heads(m.y, 2, m.y[:, :, 2] * factor, axis=2)

    which = {"layer": layer, "kind": kind}
    edits = [
        ed.Cut(head=1, queries=slice(2, None), keys=[0, 3, 9], **which),
        ed.Gate(head=2, by=by.numpy(), **which),
    ]
    return edits, {path: ByHand(scores=scores, output=output)}


CASES = {
    "llama": (llama, ("model.layers.1.self_attn", None, 1)),
    "mistral": (mistral, ("model.layers.0.self_attn", None, 0)),
    "gpt2": (gpt2, ("transformer.h.0.attn", None, 0)),
    "t5": (t5, ("decoder.block.1.layer.0.SelfAttention", "decoder self", 1)),
    "t5 cross": (t5, ("decoder.block.0.layer.1.EncDecAttention", "cross", 0)),
    "bart": (bart, ("model.decoder.layers.2.self_attn", "decoder self", 2)),
    "bart cross": (bart, ("model.decoder.layers.0.encoder_attn", "cross", 0)),
    "whisper cross": (whisper, ("model.decoder.layers.2.encoder_attn", "cross", 2)),
}


def given_to(model, side=None):
    if model.config.model_type == "whisper":
        return {"input_features": torch.randn(2, 8, 20, generator=torch.Generator().manual_seed(1))}
    ids = text(9)
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids) if side is None else padded(ids, 4, side)}


def generated(model, given, **more):
    found = model.generate(
        **given,
        max_new_tokens=NEW,
        min_new_tokens=NEW,
        do_sample=False,
        output_logits=True,
        return_dict_in_generate=True,
        **more,
    )
    return found.sequences, torch.stack(found.logits)


@pytest.mark.parametrize("side", [None, "left"])
@pytest.mark.parametrize("name", CASES)
def test_tokens_are_those_of_the_edited_matrices(name, side):
    make, case = CASES[name]
    model = with_sharp_heads(make())
    decoder = not model.config.is_encoder_decoder
    given = given_to(model, side if decoder else side and "right")
    pads = [0, 4 if decoder and side else 0]
    plain = generated(model, given)
    edits, by_hands = changes(case, pads)
    with by_hand(model, by_hands):
        want = generated(model, given)
    with el.edit(model, edits):
        got = generated(model, given)
    assert torch.equal(got[0], want[0])
    assert not torch.equal(got[1], plain[1])
    torch.testing.assert_close(got[1], want[1], atol=1e-4, rtol=1e-5)
    assert torch.equal(generated(model, given)[0], plain[0])


@pytest.mark.parametrize("side", [None, "left"])
def test_a_cache_of_fixed_size_changes_nothing(side):
    """Its slots that hold nothing yet are no keys: the last but one is counted from the last token."""
    model = with_sharp_heads(llama())
    given = given_to(model, side)
    edits = [*changes(CASES["llama"][1], [0, 0])[0], ed.Cut(layer=0, head=0, keys=slice(-2, -1))]
    plain = generated(model, given)[1]
    with el.edit(model, edits):
        got = generated(model, given, cache_implementation="static")
        want = generated(model, given)
    assert torch.equal(got[0], want[0])
    torch.testing.assert_close(got[1], want[1], atol=1e-4, rtol=1e-5)
    assert not torch.equal(got[1], plain)


@pytest.mark.parametrize("side", [None, "left"])
@pytest.mark.parametrize("more", [{}, {"num_beams": 3}])
def test_a_cache_changes_nothing(side, more):
    model = with_sharp_heads(llama())
    given = given_to(model, side)
    with el.edit(model, changes(CASES["llama"][1], [0, 0])[0]):
        got, want = (generated(model, given, use_cache=cached, **more)[0] for cached in (True, False))
    assert torch.equal(got, want)


def test_a_text_by_chunks_is_edited_as_in_one_piece():
    model, ids = with_sharp_heads(llama()), text(12)
    edits = changes(CASES["llama"][1], [0, 0])[0]
    with el.edit(model, edits), torch.no_grad():
        want = model(ids).logits
        named = "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"
        cache = {named: DynamicCache(config=model.config)}
        parts = [model(ids[:, part], **cache).logits for part in (slice(5), slice(5, None))]
    got = torch.cat(parts, 1)
    torch.testing.assert_close(got, want, atol=1e-4, rtol=1e-5)


def test_numbers_that_run_out_in_generation_are_an_error():
    model = llama()
    with pytest.raises(ed.EditError, match=r"by must have a number for each position, up to 11, got 11"):  # noqa: SIM117
        with el.edit(model, ed.Gate(layer=0, head=0, by=[0.5] * 11)):
            model.generate(text(9), max_new_tokens=NEW)
