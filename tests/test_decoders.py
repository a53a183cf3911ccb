"""Decoders against transformers (eager attention), a tiny one of each family; what a cache and a choice promise."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tokenizers

import eyeline as el
from eyeline.models import ModelError, decoder, load
from eyeline.models.cache import KeyValueCache
from eyeline.models.decoder_config import DECODERS
from eyeline.models.generating import Choice, softmax
from eyeline.models.rotary import SCALINGS

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

SIZES = {
    "vocab_size": 40,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "hidden_size": 32,
    "intermediate_size": 48,
    "max_position_embeddings": 64,
    "eos_token_id": 0,
}
LLAMA3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 16}
TINY = {
    "llama": {},
    "llama tied": {"tie_word_embeddings": True},
    "llama of one key head": {"num_key_value_heads": 1},
    "llama of as many key heads": {"num_key_value_heads": 4},
    "llama of wide heads": {"head_dim": 16, "hidden_act": "gelu_pytorch_tanh"},
    "llama with biases": {"attention_bias": True, "mlp_bias": True, "rms_norm_eps": 1e-3},
    "llama turning slower": {"rope_theta": 1e5, "rope_scaling": {"rope_type": "linear", "factor": 4.0}},
    "llama turning as llama3": {"rope_theta": 5e5, "rope_scaling": {"rope_type": "llama3", **LLAMA3}},
    "mistral": {"sliding_window": 5},
    "mistral without a window": {"sliding_window": None},
    "qwen2": {},
    "qwen2 with windows": {"use_sliding_window": True, "sliding_window": 4, "max_window_layers": 1},
    "qwen3": {"head_dim": 8, "tie_word_embeddings": True},
    "qwen3 with biases": {"head_dim": 16, "attention_bias": True},
}


def save_tiny(folder, kind, **changes):
    """A tiny model with random weights, as transformers saves it, and a tokenizer; gives transformers' model."""
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(kind.split()[0], **{**SIZES, **TINY[kind], **changes})
    config._attn_implementation = "eager"
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    model.save_pretrained(folder)
    vocabulary = {f"w{number}": number for number in range(40)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, "w0"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    return model


def random_ids(*shape):
    return np.random.default_rng(1).integers(1, 40, shape)


def assert_same(model, twin, ids, lengths=None, tolerance=1e-5):
    """Hidden states, weights and logits are those of transformers' model, where tokens are real."""
    ids = np.asarray(ids)
    real = np.arange(ids.shape[1]) < np.array(lengths or [ids.shape[1]] * len(ids))[:, None]
    with torch.no_grad():
        seen = twin(
            torch.tensor(ids), attention_mask=torch.tensor(real), output_hidden_states=True, output_attentions=True
        )
    run = model.run(ids, lengths=lengths, weights=True)
    assert len(run.layers) == len(seen.attentions) == model.config.layers
    # transformers' last hidden state is normed already.
    for ours, theirs in zip(run.hidden_states[:-1], seen.hidden_states[:-1], strict=True):
        assert ours.dtype == np.float32
        np.testing.assert_allclose(ours[real], theirs.numpy()[real], rtol=tolerance, atol=tolerance)
    for layer, theirs in zip(run.layers, seen.attentions, strict=True):
        rows = np.broadcast_to(real[:, None, :], theirs.shape[:3])
        np.testing.assert_allclose(layer.weights[rows], theirs.numpy()[rows], rtol=0, atol=tolerance)
    logits = model.logits(run.hidden_states[-1][real])
    np.testing.assert_allclose(logits, seen.logits.numpy()[real], rtol=tolerance, atol=3 * tolerance)


@pytest.mark.parametrize("kind", TINY)
def test_every_family_agrees_with_transformers(tmp_path, kind):
    twin = save_tiny(tmp_path, kind)
    model = load(tmp_path)
    assert_same(model, twin, random_ids(3, 12), [12, 3, 7])
    assert_same(model, twin, random_ids(1, model.config.positions))


def test_every_family_and_every_turning_is_tested():
    assert {kind.split()[0] for kind in TINY} == set(DECODERS)
    asked = {tiny.get("rope_scaling", {}).get("rope_type", "default") for tiny in TINY.values()}
    assert asked == set(SCALINGS)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_other_float_types_are_read_as_float32(tmp_path, dtype):
    save_tiny(tmp_path, "llama").to(getattr(torch, dtype)).save_pretrained(tmp_path)
    # Made float32 from the file: turned to another type and back, the angles of rotary positions would be rounded too.
    kind = transformers.AutoModelForCausalLM
    twin = kind.from_pretrained(tmp_path, dtype=torch.float32, attn_implementation="eager").eval()
    assert_same(load(tmp_path), twin, random_ids(2, 12))


def test_a_model_saved_without_its_head_can_be_looked_into(tmp_path):
    twin = save_tiny(tmp_path, "llama")
    whole = load(tmp_path).run(random_ids(1, 12)).hidden_states[-1]
    twin.model.save_pretrained(tmp_path)
    model = load(tmp_path)
    np.testing.assert_array_equal(model.run(random_ids(1, 12)).hidden_states[-1], whole)
    for call in (lambda: model.logits(whole), lambda: model.generate([1], 1)):
        with pytest.raises(ModelError, match=r"model.safetensors has no tensor lm_head.weight, .*AutoModelForCausalLM"):
            call()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("llama")


@pytest.fixture(scope="module")
def twin(folder):
    return save_tiny(folder, "llama")


@pytest.fixture(scope="module")
def model(folder, twin):
    return load(folder)


def test_config_says_what_the_model_is(model):
    config = model.config
    assert (config.model_type, config.layers, config.heads, config.key_heads) == ("llama", 3, 4, 2)
    assert (config.width, config.head_dim, config.positions, config.causal) == (32, 8, 64, True)


def test_keys_and_values_have_their_own_fewer_heads(model):
    for layer in model.layers(random_ids(2, 9)):
        assert layer.q.shape == (2, 4, 9, 8)
        assert layer.k.shape == layer.v.shape == (2, 2, 9, 8)
        assert layer.state.shape == (2, 9, 32)


def test_layers_and_run_are_the_same_to_the_bit(model):
    ids = random_ids(2, 9)
    run = model.run(ids, lengths=[9, 4])
    for one, other, state in zip(
        model.layers(ids, lengths=[9, 4], read=el.TopK(2)), run.layers, run.hidden_states[1:], strict=True
    ):
        for name in ("q", "k", "v", "output", "state"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        np.testing.assert_array_equal(one.state, state)
        assert one.seen.top_k.keys.shape == (2, 4, 9, 2)


def test_a_mask_joins_with_looking_back(model):
    ids = random_ids(1, 9)
    weights = model.run(ids, mask=el.Window(before=2, after=2), weights=True).layers[0].weights
    allowed = (el.Causal() & el.Window(before=2)).dense(9)
    assert ((weights > 0) == allowed).all()
    # What comes after a token is nothing to it.
    longer, shorter = model.run(ids), model.run(ids[:, :5])
    np.testing.assert_allclose(longer.hidden_states[-1][:, :5], shorter.hidden_states[-1], rtol=1e-5, atol=1e-5)


def test_tokens_taken_together_in_the_feed_forward_layer_change_nothing(model, monkeypatch):
    ids = random_ids(3, 11)
    whole = model.run(ids).hidden_states[-1]
    for together in (1, 4, 11):
        monkeypatch.setattr(decoder, "TOGETHER", together)
        np.testing.assert_allclose(model.run(ids).hidden_states[-1], whole, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", ["llama", "mistral", "qwen3", "qwen2 with windows"])
@pytest.mark.parametrize("tokens", [1, 2, 9])
def test_generation_with_a_cache_is_that_without(tmp_path, kind, tokens):
    save_tiny(tmp_path, kind, eos_token_id=None)
    model = load(tmp_path)
    ids = random_ids(tokens).tolist()
    for step in model.generate(ids, 20, read=[el.Weights(), el.Entropy()]):
        run = model.run([ids], weights=True)
        logits = model.logits(run.hidden_states[-1][0, -1])
        assert step.id == logits.argmax()
        assert step.probability == pytest.approx(softmax(logits).max(), rel=1e-4)
        assert len(step.layers) == model.config.layers
        for layer, whole in zip(step.layers, run.layers, strict=True):
            assert layer.q.shape[2] == 1
            np.testing.assert_allclose(layer.q, whole.q[:, :, -1:], rtol=1e-4, atol=1e-4)
            np.testing.assert_allclose(layer.k, whole.k, rtol=1e-4, atol=1e-4)
            np.testing.assert_allclose(layer.v, whole.v, rtol=1e-4, atol=1e-4)
            np.testing.assert_allclose(layer.weights, whole.weights[:, :, -1:], rtol=0, atol=1e-4)
            assert layer.seen.entropy.shape == (1, model.config.heads, 1)
        ids.append(step.id)
    assert len(ids) == tokens + 20


def test_generation_is_that_of_transformers(model, twin):
    ids = random_ids(1, 6)
    with torch.no_grad():
        theirs = twin.generate(torch.tensor(ids), max_new_tokens=30, do_sample=False, pad_token_id=0)[0, 6:]
    assert [step.id for step in model.generate(ids, 30)] == theirs.tolist()


def test_generation_ends_with_the_end_of_text(tmp_path):
    save_tiny(tmp_path, "llama", eos_token_id=None)
    free = [step.id for step in load(tmp_path).generate([3, 5], 30)]
    for ends in (free[4], [free[4], 39]):
        save_tiny(tmp_path, "llama", eos_token_id=ends)
        assert [step.id for step in load(tmp_path).generate([3, 5], 30)] == free[: free.index(free[4]) + 1]


def test_what_a_step_gave_out_stays_as_it_was(model):
    kept = []
    for step in model.generate([3], 12):
        kept.append([(layer.k.copy(), layer.k) for layer in step.layers])
    for copies in kept:
        for copy, now in copies:
            np.testing.assert_array_equal(copy, now)


def test_a_cache_copies_what_it_has_only_when_its_room_doubles():
    kept, random, room = KeyValueCache(), np.random.default_rng(0), []
    k, v = (random.standard_normal((1, 2, 100, 4), np.float32) for _ in range(2))
    for token in range(100):
        keys, values = kept.append(k[:, :, token : token + 1], v[:, :, token : token + 1])
        np.testing.assert_array_equal(keys, k[:, :, : token + 1])
        np.testing.assert_array_equal(values, v[:, :, : token + 1])
        room.append(keys.base)
    assert len({id(one) for one in room}) == 8  # 1, 2, 4, ... 128 tokens


@pytest.fixture(scope="module")
def endless(tmp_path_factory):
    """A model with no end-of-text token."""
    folder = tmp_path_factory.mktemp("endless")
    save_tiny(folder, "llama", eos_token_id=None)
    return load(folder)


def drawn(model, **choice):
    return [step.id for step in model.generate([3, 5], 40, **choice)]


def test_a_seed_draws_the_same_tokens(endless):
    assert drawn(endless, temperature=3.0, seed=1) == drawn(endless, temperature=3.0, seed=1)
    assert drawn(endless, temperature=3.0, seed=1) != drawn(endless, temperature=3.0, seed=2)
    assert drawn(endless, temperature=3.0) != drawn(endless, temperature=3.0)


def test_a_choice_of_one_is_the_likeliest(endless):
    greedy = drawn(endless)
    assert drawn(endless, temperature=3.0, top_k=1) == greedy
    assert drawn(endless, temperature=3.0, top_p=1e-9) == greedy
    assert drawn(endless, temperature=1e-4) == greedy


def test_tokens_are_drawn_as_often_as_they_are_likely():
    logits = np.log(np.array([0.1, 0.4, 0.05, 0.25, 0.2], np.float32))
    for choice, shares in (
        (Choice(1.0, seed=0), [0.1, 0.4, 0.05, 0.25, 0.2]),
        (Choice(1.0, top_k=2, seed=0), [0, 0.4 / 0.65, 0, 0.25 / 0.65, 0]),
        (Choice(1.0, top_p=0.6, seed=0), [0, 0.4 / 0.65, 0, 0.25 / 0.65, 0]),
        (Choice(1.0, top_p=0.7, seed=0), [0, 0.4 / 0.85, 0, 0.25 / 0.85, 0.2 / 0.85]),
        (Choice(1.0, top_p=1.0, top_k=100, seed=0), [0.1, 0.4, 0.05, 0.25, 0.2]),
        (Choice(0.5, seed=0), np.array([0.01, 0.16, 0.0025, 0.0625, 0.04]) / 0.275),
    ):
        drawer = choice.drawer()
        counts = np.bincount([choice.of(logits, drawer) for _ in range(4000)], minlength=5)
        assert np.abs(counts / 4000 - shares).max() < 0.03
        assert not counts[np.asarray(shares) == 0].any()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"count": 0}, r"^count must be a whole number, 1 or more, got 0"),
        ({"count": 2.5}, r"^count must be a whole number"),
        ({"count": True}, r"^count must be a whole number"),
        ({"count": 64}, r"^count must be at most 63 after 2 tokens, since .* has 64 positions, got 64; "),
        ({"ids": [[3], [5]]}, r"^ids must be the tokens of one text, got 2 texts"),
        ({"ids": []}, r"^ids must be .*at least one of each"),
        ({"ids": [3, 40]}, r"^ids must be from 0 to 39, got 40"),
        ({"ids": [3.0]}, r"^ids must be whole numbers"),
        ({"temperature": -1.0}, r"^temperature must be a number, 0 or more, got -1.0"),
        ({"temperature": float("nan")}, r"^temperature must be"),
        ({"temperature": float("inf")}, r"^temperature must be"),
        ({"temperature": "hot"}, r"^temperature must be"),
        ({"temperature": 1.0, "top_k": 0}, r"^top_k must be a whole number, 1 or more, got 0"),
        ({"temperature": 1.0, "top_k": 2.0}, r"^top_k must be"),
        ({"temperature": 1.0, "top_p": 0.0}, r"^top_p must be a number above 0, at most 1, got 0.0"),
        ({"temperature": 1.0, "top_p": 1.5}, r"^top_p must be"),
        ({"temperature": 1.0, "seed": -1}, r"^seed must be a whole number, 0 or more, got -1"),
        ({"top_k": 3, "seed": 0}, r"^temperature must be above 0 with top_k and seed, got 0.0; "),
    ],
)
def test_wrong_arguments_are_named_before_anything_runs(model, wrong, message):
    with pytest.raises((ValueError, TypeError), match=message):
        model.generate(**{"ids": [3, 5], "count": 3, **wrong})


def test_too_many_tokens_for_the_positions_are_a_model_error(model):
    with pytest.raises(ModelError, match=r"64 positions, got 65 tokens"):
        model.generate([3] * 65, 1)
    assert len(list(model.generate([3] * 64, 1))) == 1


def test_logits_are_of_the_rows_that_are_given(model):
    run = model.run(random_ids(2, 9))
    state = run.hidden_states[-1]
    whole = model.logits(state)
    assert whole.shape == (2, 9, 40)
    np.testing.assert_allclose(model.logits(state[1, 3]), whole[1, 3], rtol=1e-5, atol=1e-5)
    assert model.logits(state[:, :0]).shape == (2, 0, 40)


def test_logits_of_another_width_are_named(model):
    for wrong in (np.zeros(31), np.zeros((2, 33)), np.zeros(())):
        with pytest.raises(ValueError, match=r"^state must be \(\.\.\., 32\), got shape"):
            model.logits(wrong)


def test_an_encoder_says_that_it_says_nothing():
    encoder = load("minilm")
    assert not encoder.config.causal
    assert encoder.config.key_heads == encoder.config.heads
    for call in (lambda: encoder.logits(np.zeros(384)), lambda: encoder.generate([101], 1)):
        with pytest.raises(ModelError, match=r"^minilm must be a decoder to say what comes next, got an encoder"):
            call()


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("num_attention_heads", 0),
        ("num_key_value_heads", 3),
        ("num_key_value_heads", 0),
        ("head_dim", 7),
        ("head_dim", 2.0),
        ("hidden_size", None),
        ("intermediate_size", "big"),
        ("max_position_embeddings", -1),
        ("rms_norm_eps", 0),
        ("rms_norm_eps", float("nan")),
        ("hidden_act", "swish"),
        ("tie_word_embeddings", "no"),
        ("attention_bias", 1),
        ("mlp_bias", "yes"),
        ("eos_token_id", "end"),
        ("eos_token_id", [0, True]),
        ("rope_parameters", 3),
        ("rope_parameters", {"rope_type": "yarn", "factor": 4.0}),
        ("rope_parameters", {"rope_type": ["linear"]}),
        ("rope_parameters", {"rope_type": "linear"}),
        ("rope_parameters", {"rope_type": "linear", "factor": -1}),
        ("rope_parameters", {"rope_theta": float("inf")}),
        ("rope_parameters", {"partial_rotary_factor": 0.5}),
        ("rope_parameters", {"rope_type": "llama3", **LLAMA3, "high_freq_factor": 1.0}),
        ("partial_rotary_factor", 0.5),
    ],
)
def test_wrong_settings_are_named(tmp_path, setting, value):
    save_tiny(tmp_path, "llama")
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), setting: value}))
    with pytest.raises(ModelError) as caught:
        load(tmp_path)
    assert str(path) in str(caught.value)
    assert any(name in str(caught.value) for name in (setting, *(value if isinstance(value, dict) else ())))


@pytest.mark.parametrize("changes", [{"layer_types": ["full_attention"]}, {"layer_types": 3}, {"sliding_window": 0}])
def test_wrong_windows_are_named(tmp_path, changes):
    save_tiny(tmp_path, "qwen2 with windows")
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    with pytest.raises(ModelError, match=next(iter(changes))):
        load(tmp_path)


def test_old_names_of_rotary_settings_are_read(tmp_path):
    twin = save_tiny(tmp_path, "llama turning as llama3")
    path = tmp_path / "config.json"
    config = json.loads(path.read_text())
    given = config.pop("rope_parameters")
    theta, kind = given.pop("rope_theta"), given.pop("rope_type")
    path.write_text(json.dumps({**config, "rope_theta": theta, "rope_scaling": {"type": kind, **given}}))
    assert_same(load(tmp_path), twin, random_ids(2, 30))


def test_missing_tensors_are_named(tmp_path):
    from safetensors.numpy import load_file, save_file

    save_tiny(tmp_path, "qwen3 with biases")
    path = tmp_path / "model.safetensors"
    tensors = load_file(path)
    for name in tensors:
        if name != "lm_head.weight":
            save_file({other: value for other, value in tensors.items() if other != name}, path)
            with pytest.raises(ModelError, match=rf"no tensor {name.removeprefix('model.')}"):
                load(tmp_path)
