"""Effects of models of transformers, beside those of the same files in NumPy; first-order effects."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import eyeline as el
from eyeline import edits as ed
from eyeline.answers import QuestionError
from eyeline.models import load

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

FLIES = "time flies like an arrow"
CAT = "the cat of the arrow"


@pytest.fixture(scope="module")
def tiny(tiny_folder):
    return load(str(tiny_folder))


@pytest.fixture(scope="module")
def decoder(tiny_folder):
    """The tiny decoder in transformers, and its tokenizer."""
    model = transformers.AutoModelForCausalLM.from_pretrained(tiny_folder, dtype=torch.float32).eval()
    return model, transformers.PreTrainedTokenizerFast(tokenizer_file=str(tiny_folder / "tokenizer.json"))


@pytest.fixture(scope="module")
def encoder():
    """MiniLM in transformers, and its tokenizer."""
    folder = load().source
    return transformers.AutoModel.from_pretrained(folder).eval(), transformers.AutoTokenizer.from_pretrained(folder)


@pytest.mark.parametrize("by", ["zero", "uniform"])
def test_a_decoder_of_transformers_has_the_same_effects(tiny, decoder, by):
    question = {"next": " f", "rather": " a", "by": by, "edges": 8}
    ours = el.effects(CAT, model=tiny, **question)
    theirs = el.effects(CAT, model=decoder[0], tokenizer=decoder[1], **question)
    np.testing.assert_allclose(theirs.heads, ours.heads, atol=1e-4)
    np.testing.assert_allclose(theirs.looks, ours.looks, atol=1e-5)
    np.testing.assert_allclose(theirs.passed, ours.passed, rtol=1e-4)
    assert theirs.base == pytest.approx(ours.base, abs=1e-4)
    assert theirs.question.next.text == " f"
    assert theirs.edges
    for edge in theirs.edges:
        (same,) = [
            one
            for one in ours.edges
            if (one.layer, one.head, one.query, one.key) == (edge.layer, edge.head, edge.query, edge.key)
        ]
        assert edge.effect == pytest.approx(same.effect, abs=1e-4)


def test_an_encoder_of_transformers_has_the_same_effects(encoder):
    for question in ({"token": "flies"}, {"embed": True}):
        ours = el.effects(FLIES, edges=0, **question)
        theirs = el.effects(FLIES, model=encoder[0], tokenizer=encoder[1], edges=0, **question)
        np.testing.assert_allclose(theirs.heads, ours.heads, atol=1e-5)
        assert theirs.measure == ours.measure


def test_the_likeliest_token_of_a_model_of_transformers(decoder):
    found = el.effects("the cat", model=decoder[0], tokenizer=decoder[1], edges=0, cancelled=iter([0, 1]).__next__)
    ids = decoder[1]("the cat", return_tensors="pt").input_ids
    assert found.question.next.id == int(decoder[0](ids).logits[0, -1].argmax())


@pytest.mark.parametrize("rather", [None, " a"])
def test_first_order_effects_are_the_slopes_of_gates(tiny, decoder, rather):
    question = {"next": " f", "rather": rather, "edges": 0, "first_order": True}
    ours = el.effects(CAT, model=tiny, **question)
    theirs = el.effects(CAT, model=decoder[0], tokenizer=decoder[1], **question)
    np.testing.assert_allclose(ours.first_order, theirs.first_order, atol=1e-5)
    step = 0.01
    for layer, head in np.ndindex(3, 4):
        ends = [
            el.effects(
                CAT, model=tiny, edits=ed.Gate(layer=layer, head=head, by=by), **question | {"first_order": False}
            ).base
            for by in (1 - step, 1 + step)
        ]
        assert ours.first_order[layer, head] == pytest.approx((ends[1] - ends[0]) / (2 * step), abs=5e-3)
    assert np.abs(ours.first_order).max() > 0.05
    assert ("heads", "first order") in {(one.over, one.of) for one in ours.agreement}
    assert "slope" in str(ours)


def test_first_order_effects_are_of_the_edited_run(tiny):
    question = {"next": " f", "edges": 0, "first_order": True}
    own = ed.Gate(layer=2, head=1)
    edited = el.effects(CAT, model=tiny, edits=own, **question)
    assert np.abs(edited.first_order - el.effects(CAT, model=tiny, **question).first_order).max() > 1e-3


def test_the_model_is_left_as_it_was(decoder):
    ids = decoder[1](CAT, return_tensors="pt").input_ids
    before = decoder[0](ids).logits
    el.effects(CAT, model=decoder[0], tokenizer=decoder[1], next=" f", edges=2, first_order=True)
    assert torch.equal(decoder[0](ids).logits, before)
    assert all(weights.grad is None for weights in decoder[0].parameters())


def test_first_order_says_what_is_not_installed(tiny, monkeypatch):
    monkeypatch.setattr(
        "eyeline.answers.mattering.first_order.find_spec", lambda name: None if name == "transformers" else object()
    )
    with pytest.raises(QuestionError, match=r"first_order needs transformers, which isn't installed; pip install"):
        el.effects(CAT, model=tiny, first_order=True)


def test_torch_is_loaded_for_nothing_else(tiny_folder):
    code = (
        f"import sys, eyeline; print(eyeline.effects('the cat', model={str(tiny_folder)!r}).complete, "
        "[name for name in ('torch', 'transformers', 'matplotlib', 'pandas') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert ran.stdout.strip() == "True []"
