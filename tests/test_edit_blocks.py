"""Blocks of `el.edit`: what is refused and told, what adds up, and that nothing is left on the model."""

from __future__ import annotations

import copy
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from edit_models import CASES, bart, gpt2, inputs_of, real_outputs, vit, whisper, with_sharp_heads
from hugging import albert, bert, llama, one_thread, padded, t5, text  # noqa: F401 - one_thread, for all tests here
from test_watch_leaves_no_trace import clip, traces
from transformers import MPNetConfig, MPNetModel

import eyeline as el
from eyeline import edits as ed
from eyeline.edits import EditError
from eyeline.huggingface.editing import edit_each
from eyeline.huggingface.errors import HuggingFaceError

GATES = [ed.Gate(layer=0, head=0, by=0.5), ed.Cut(layer=1, head=[1, 2], keys=[0, 3])]
OUT = {
    "bert": "encoder.layer.1.attention.output.dense",
    "llama": "model.layers.0.self_attn.o_proj",
    "gpt2": "transformer.h.1.attn.c_proj",
    "t5 decoder": "decoder.block.1.layer.0.SelfAttention.o",
    "t5 cross": "decoder.block.0.layer.1.EncDecAttention.o",
    "bart encoder": "model.encoder.layers.1.self_attn.out_proj",
    "whisper cross": "model.decoder.layers.1.encoder_attn.out_proj",
    "vit": "layers.1.attention.o_proj",
}


@torch.no_grad()
@pytest.mark.parametrize("name", OUT)
def test_a_gate_of_0_is_the_model_without_that_part_of_w_o(name):
    case = CASES[name]
    model = with_sharp_heads(case.make())
    given, head = inputs_of(model, case.pads[-1]), 3
    plain = real_outputs(case, model, given)
    with el.edit(model, ed.Gate(layer=case.layer, head=head, kind=case.kind)):
        got = real_outputs(case, model, given)
    weights = model.get_submodule(OUT[name]).weight
    weights = weights if name == "gpt2" else weights.T
    weights[head * 8 : head * 8 + 8] = 0
    want = real_outputs(case, model, given)
    assert (plain - want).abs().max() > 1e-4
    torch.testing.assert_close(got, want, atol=1e-5, rtol=0)


@pytest.mark.parametrize("make", [bert, albert, llama, t5, clip])
def test_nothing_is_left_on_the_model(make):
    model = make()
    before = traces(model)
    kind = None if make in (bert, albert, llama) else "encoder self"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with el.edit(model, ed.Gate(layer=0, head=0, kind=kind)):
            assert traces(model) != before
    assert traces(model) == before


def test_nothing_is_left_after_an_error():
    model, ids = llama(), text()
    before, plain = traces(model), model(ids).logits
    for fails in (
        ed.Gate(layer=0, by=[1.0, 2.0]),
        ed.Gate(layer=7),
        ed.Gate(layer=0, head=9),
        ed.Cut(layer=0, keys="a"),
    ):
        with pytest.raises(EditError), el.edit(model, fails):
            model(ids)
        assert traces(model) == before

    def fail():
        with el.edit(model, GATES), el.watch(model, el.Entropy()):
            model(ids)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert traces(model) == before
    assert torch.equal(model(ids).logits, plain)


def test_the_model_keeps_its_own_implementation():
    model = llama()
    model.set_attn_implementation("eager")
    with el.edit(model, GATES):
        model(text())
    assert model.config._attn_implementation == "eager"


@torch.no_grad()
def test_no_edits_change_no_bit():
    for make in (bert, llama):
        model, ids = el.attach(make()), text()
        plain = model(ids)[0]
        with el.edit(model, []):
            assert torch.equal(model(ids)[0], plain)
        cut = ed.Cut(layer=0, queries=[50], keys=[1])
        with (
            pytest.warns(UserWarning, match=r"Cut\(.*\) changed nothing: no pass had all of its tokens"),
            el.edit(model, [cut, ed.Gate(layer=1, by=1.0), ed.Reweight(layer=1, keys=2, by=1.0)]),
        ):
            assert torch.equal(model(ids)[0], plain)


@torch.no_grad()
@pytest.mark.parametrize("make", [bert, albert, llama])
def test_blocks_within_one_another_add_up(make):
    model = with_sharp_heads(make())
    ids = text()
    mask = padded(ids, 3, "left")
    with el.edit(model, GATES):
        want = model(ids, attention_mask=mask)[0]
    with el.edit(model, GATES[1]):
        with el.edit(model, GATES[0]):
            assert torch.equal(model(ids, attention_mask=mask)[0], want)
        one = model(ids, attention_mask=mask)[0]
    with el.edit(model, GATES[1]):
        assert torch.equal(model(ids, attention_mask=mask)[0], one)
    assert not torch.equal(one, want)


def test_two_blocks_cannot_replace_the_same_weights():
    model = bert()
    with el.edit(model, ed.Uniform(layer=0, head=[0, 1])), el.edit(model, ed.Uniform(layer=1, head=0)):
        model(text())
    message = "edits must replace a head's weights or output once, got several for head 1"
    with pytest.raises(EditError, match=message), el.edit(model, ed.Uniform(layer=0, head=[0, 1])):  # noqa: SIM117
        with el.edit(model, ed.Uniform(layer=0, head=1)):
            model(text())


@pytest.mark.parametrize("outer", ["watch", "edit"])
@pytest.mark.parametrize("heads", [None, [1, 3]])
def test_what_is_watched_is_edited(outer, heads):
    model, ids = llama(), text()
    cut = ed.Cut(layer=1, head=1, queries=slice(2, None), keys=[0, 1])
    blocks = {"watch": lambda: el.watch(model, el.Weights(), heads=heads), "edit": lambda: el.edit(model, cut)}
    order = ["watch", "edit"] if outer == "watch" else ["edit", "watch"]
    with blocks[order[0]]() as first, blocks[order[1]]() as second:
        model(ids)
    seen = (first if outer == "watch" else second).of(layer=1)[0].seen.weights
    place = 1 if heads is None else 0
    assert (seen[:, place, 2:, :2] == 0).all()
    np.testing.assert_allclose(seen[:, place].sum(-1), 1, atol=1e-5)
    assert (np.delete(seen, place, 1)[:, :, 2:, :1] > 0).all()


def test_output_attentions_are_edited():
    model, ids = bert(), text()
    with el.edit(model, ed.Cut(layer=1, head=1, keys=[0, 1])):
        weights = model(ids, output_attentions=True).attentions
    assert (weights[1][:, 1, :, :2] == 0).all()
    assert (weights[1][:, 0, :, :2] > 0).all()


REFUSED = [
    (bert, ed.Gate(layer=2), "layer must be from 0 to 1, got 2"),
    (albert, ed.Gate(layer=5), "layer must be from 0 to 4, got 5"),
    (bert, ed.Gate(layer=0, head=4), "head must be from 0 to 3, got 4"),
    (bert, ed.Gate(layer=0, head=0, kind="cross"), "kind must be one of this model's, 'encoder self', got 'cross'"),
    (llama, ed.Gate(kind="encoder self"), "kind must be one of this model's, 'decoder self', got 'encoder self'"),
    (t5, ed.Gate(layer=0), "kind must be given, since this model has 'encoder self' and 'decoder self' and 'cross'"),
    (bart, ed.Gate(layer=2, kind="encoder self"), "layer must be from 0 to 1, got 2"),
    (whisper, ed.Gate(head=1), "kind must be given"),
    (gpt2, ed.Cut(layer=0, queries=["flies"]), "tokens must be positions where the text isn't known"),
    (vit, ed.Gate(layer=[0, 2]), "layer must be from 0 to 1, got 2"),
]


@pytest.mark.parametrize(("make", "edit", "message"), REFUSED)
def test_what_the_model_has_not_is_refused_at_once(make, edit, message):
    with pytest.raises(EditError, match=message), el.edit(make(), edit):
        pytest.fail("the block was entered")


def test_what_is_no_model_and_no_edit_is_refused():
    with pytest.raises(TypeError, match="model must be a model of transformers, got str"), el.edit("bert", []):
        pass
    with pytest.raises(TypeError, match=r"edits must be edits, such as eyeline.edits.Gate"), el.edit(bert(), ["gate"]):
        pass
    config = MPNetConfig(hidden_size=32, num_hidden_layers=1, num_attention_heads=4, intermediate_size=32)
    with pytest.raises(HuggingFaceError, match="must call transformers' attention interface"):  # noqa: SIM117
        with el.edit(MPNetModel(config), []):
            pass


def test_a_kind_that_shows_only_when_the_model_runs_is_refused_then():
    """CLIP's texts are causal by their mask alone."""
    model, ids = clip(), text(5)
    given = {"input_ids": ids, "pixel_values": torch.zeros(2, 3, 16, 16)}
    with el.edit(model, ed.Gate(layer=0, kind="decoder self")):
        model(**given)
    with pytest.raises(EditError, match="kind must be given, since this model has"), el.edit(model, ed.Gate(layer=0)):
        model(**given)


def test_a_layer_that_was_never_called_is_told():
    model = t5()
    message = r"the model ran within the block, got 1 in Gate\(.*called were layers 0 to 1 \(encoder self\)"
    with pytest.raises(EditError, match=message), el.edit(model, ed.Gate(layer=1, head=0, kind="cross")):
        model.encoder(text())


def test_a_model_that_never_ran_is_told():
    with pytest.warns(UserWarning, match="BertModel never ran within the block: no edit took effect"):  # noqa: SIM117
        with el.edit(bert(), ed.Gate(layer=0)):
            pass


class OwnAttention(torch.nn.Module):
    def forward(self, hidden_states, *args, **kwargs):
        return hidden_states, None


def test_a_module_that_computes_attention_itself_is_named():
    model = llama()
    model.model.layers[1].self_attn = OwnAttention()
    message = r"model\.layers\.1\.self_attn in LlamaForCausalLM ran without calling Eyeline: nothing was edited in it"
    with pytest.warns(UserWarning, match=message), el.edit(model, ed.Gate(layer=0, head=0)):
        model(text())
    model.model.layers[0].self_attn = OwnAttention()
    with pytest.raises(HuggingFaceError, match=r"ran \(1 × here\) and never did"), el.edit(model, ed.Gate(layer=0)):
        model(text())


def test_each_text_of_a_batch_is_edited_at_its_own_positions():
    model = with_sharp_heads(llama())
    ids = text(batch=3)
    mask = torch.ones_like(ids)
    mask[1, :4], mask[2, :2] = 0, 0
    edits = [ed.Cut(layer=0, head=1, queries=[2, -1 % 5], keys=[1]), ed.Cut(layer=1, head=0, keys=slice(-3, None))]
    with el.edit(model, edits), torch.no_grad():
        together = model(ids, attention_mask=mask).logits
        for b in range(3):
            alone = model(ids[b : b + 1, mask[b] == 1]).logits[0]
            torch.testing.assert_close(together[b, mask[b] == 1], alone, atol=1e-4, rtol=1e-4)


@torch.no_grad()
@pytest.mark.parametrize("make", [bert, llama])
def test_each_text_of_a_batch_may_have_edits_of_its_own(make):
    model, ids = with_sharp_heads(make()), text(batch=4)
    mask = padded(ids, 3, "left")
    (other,) = el.record({"input_ids": ids[1:2].numpy()}, model=model)
    edits = [
        [ed.Cut(layer=0, head=1, queries=slice(-2, None), keys=[1]), ed.Gate(layer=1, head=0, by=0.5)],
        [],
        [ed.Uniform(layer=0, head=2), ed.Patch(other, "output", layer=1, head=1, positions=[2, 3])],
        [
            ed.Reweight(layer=1, head=3, keys=0, by=2.0),
            ed.Pattern(other, layer=0, head=0),
            ed.Patch(other, "k", layer=1),
        ],
    ]
    with edit_each(model, edits):
        got = model(ids, attention_mask=mask)[0]
    for b, own in enumerate(edits):
        with el.edit(model, own):
            want = model(ids[b : b + 1], attention_mask=mask[b : b + 1])[0]
        torch.testing.assert_close(got[b][mask[b] == 1], want[0][mask[b] == 1], atol=1e-5, rtol=1e-5)
    with pytest.raises(EditError, match="edits must be a list for each of the 2 texts, got 4 lists"):  # noqa: SIM117
        with edit_each(model, edits):
            model(ids[:2])


@torch.no_grad()
def test_a_copy_made_within_the_block_is_unedited():
    model, ids = llama(), text()
    with el.edit(model, GATES):
        copied = copy.deepcopy(model)
        edited = model(ids).logits
        assert not torch.equal(copied(ids).logits, edited)


@torch.no_grad()
def test_a_compiled_model_is_edited():
    model, ids = llama(), text()
    with el.edit(model, GATES):
        want = model(ids).logits
    compiled = torch.compile(model, backend="eager")
    compiled(ids)
    with el.edit(compiled, GATES):
        assert torch.equal(compiled(ids).logits, want)


MEMORY = """
import resource
import torch
import eyeline as el
from eyeline import edits as ed
from hugging import llama, text

torch.set_num_threads(1)
model = llama(1)


def run(n):
    ids = text(n, 1)
    (other,) = el.record({"input_ids": ids.flip(1).numpy()}, model=model)
    edits = [
        ed.Cut(layer=0, head=0, queries=slice(5, None, 2), keys=[0, 7, 100]),
        ed.Uniform(layer=0, head=1),
        ed.Reweight(layer=0, head=[0, 2], keys=[0, 1], by=0.5),
        ed.Pattern(other, layer=0, head=3),
        ed.Gate(layer=0, by=0.5),
    ]
    with el.edit(model, edits), torch.no_grad():
        model.model(ids, use_cache=False)


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


run(200)
before = peak()
run(6000)
print(peak() - before)
"""


def test_memory_grows_with_the_text_not_with_its_square():
    """The weights of one head alone would take 137 MB."""
    run = [sys.executable, "-c", MEMORY]
    found = subprocess.run(run, capture_output=True, text=True, cwd=Path(__file__).parent, check=True)
    assert int(found.stdout) < 80
