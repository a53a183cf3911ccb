"""A survey of models of transformers: what `heads` says of a text, whatever shares its batch, each time the same."""

from __future__ import annotations

import logging
import pickle
import threading
from dataclasses import replace

import numpy as np
import pytest
import torch
import transformers as hf
from hugging import eager, made, one_thread, t5  # noqa: F401 - one_thread, for all tests here

import eyeline as el
from eyeline.huggingface.errors import HuggingFaceError
from eyeline.huggingface.paused_pass import layers_of
from eyeline.models import load
from eyeline.surveys.document import Document
from eyeline.surveys.errors import SurveyError
from eyeline.surveys.measuring import measure
from eyeline.surveys.readers import survey_model
from eyeline.surveys.running import survey
from eyeline.surveys.scales import NEXT, PREVIOUS, SAME
from eyeline.surveys.settings import Settings
from eyeline.surveys.tally import MEASURES
from eyeline.surveys.token_types import TokenTypes
from eyeline.surveys.transformers_model import BATCH_TOKENS, batches_of
from eyeline.surveys.windows import windows_of

SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32}
ENDS = {"pad_token_id": 0, "bos_token_id": 101, "eos_token_id": 102}
GROUPED = {"num_key_value_heads": 2, "head_dim": 8}
WINDOWED = {"layer_types": ["sliding_attention", "full_attention"], "sliding_window": 9}
FAMILIES = {
    "bert": (hf.BertForMaskedLM, hf.BertConfig, SIZES),
    "albert": (hf.AlbertModel, hf.AlbertConfig, {**SIZES, "num_hidden_layers": 12, "embedding_size": 16}),
    "modernbert": (
        hf.ModernBertModel,
        hf.ModernBertConfig,
        {**SIZES, **ENDS, "cls_token_id": 101, "sep_token_id": 102},
    ),
    "llama": (hf.LlamaForCausalLM, hf.LlamaConfig, {**SIZES, **GROUPED, **ENDS}),
    "gemma2": (
        hf.Gemma2ForCausalLM,
        hf.Gemma2Config,
        {**SIZES, **GROUPED, **ENDS, **WINDOWED, "attn_logit_softcapping": 5.0},
    ),
    "gpt-oss": (
        hf.GptOssForCausalLM,
        hf.GptOssConfig,
        {**SIZES, **GROUPED, **ENDS, **WINDOWED, "num_local_experts": 2, "num_experts_per_tok": 1},
    ),
    "gpt2": (hf.GPT2LMHeadModel, hf.GPT2Config, {"n_embd": 32, "n_layer": 2, "n_head": 4, **ENDS}),
}
TEXTS = [
    "Time flies like an arrow; fruit flies like a banana.",
    "No.",
    "The quick brown fox, 7 years old, jumps over the lazy dog. " * 3,
    "In 1999, she said: never again!",
    "word " * 90,
]
SETTINGS = Settings(window=128, overlap=16)


@pytest.fixture(scope="module")
def tokenizer():
    found = hf.AutoTokenizer.from_pretrained(load("minilm").source)
    found.model_input_names = ["input_ids", "attention_mask"]  # GPT-2 would add the kinds of text up
    return found


def of_family(name, tokenizer):
    model, config, sizes = FAMILIES[name]
    found = made(model, config(**sizes, vocab_size=len(tokenizer)))
    with torch.no_grad():  # a fresh model's attention is near uniform
        for parameter in found.parameters():
            parameter.mul_(1 + parameter.ndim * 2) if parameter.ndim > 1 else None
    return found


@pytest.fixture(scope="module", params=FAMILIES)
def family(request, tokenizer):
    return of_family(request.param, tokenizer)


@pytest.fixture(scope="module")
def bert(tokenizer):
    return of_family("bert", tokenizer)


def documents(texts):
    return [Document(number, "", number, text) for number, text in enumerate(texts)]


def measured(model, tokenizer, texts=TEXTS, settings=SETTINGS):
    return measure(survey_model(model, tokenizer), documents(texts), settings)


def test_a_documents_measures_are_those_of_heads(family, tokenizer):
    found = measured(family, tokenizer)
    assert len(found.documents) == len(TEXTS)
    for document, text in zip(found.documents, TEXTS, strict=True):
        wanted = el.heads(text, model=family, tokenizer=tokenizer)
        for name in MEASURES:
            got, want = document.measures[name], wanted.table[name]
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5, err_msg=f"{name} of {text!r:.20}")


def test_each_look_is_the_row_of_eager_attention(family, tokenizer):
    model = survey_model(family, tokenizer)
    types = TokenTypes(None)
    windows = [w for d in documents(TEXTS) for w in windows_of(d, model.tokens, SETTINGS, model.causal, types)]
    kinds = np.concatenate([window.types for window in windows])
    layers = list(model.looks(windows, kinds, len(types.names)))
    assert len(layers) == model.layers
    first = 0
    for window in windows:
        n = len(window)
        rows = slice(first, first + n)
        with torch.no_grad():
            weights = eager(family, torch.from_numpy(window.ids)[None]).attentions
        for looks, w in zip(layers, weights, strict=True):
            w = w[0].double().numpy()
            w = w[..., :n]  # without a column of sinks
            close(looks.entropy[:, rows], -(w * np.log(np.where(w > 0, w, 1))).sum(-1))
            close(looks.received[:, rows], w.sum(1))
            close(looks.weight[:, rows], w.max(-1))
            here = looks.key[:, rows]
            close(np.take_along_axis(w, here[..., None], -1)[..., 0], w.max(-1))
            for number in range(len(types.names)):
                close(looks.to[:, rows, number], w[..., window.types == number].sum(-1))
            for offset, place in ((-1, PREVIOUS), (0, SAME), (1, NEXT)):
                if place - looks.first_range < looks.offsets.shape[2]:
                    diagonal = np.diagonal(w, offset, 1, 2)
                    given = looks.offsets[:, rows, place - looks.first_range]
                    close(given[:, max(0, -offset) : n - max(0, offset)], diagonal)
            close(looks.offsets[:, rows].sum(-1), w.sum(-1))
            heads, queries = np.array([0, 3]), np.array([n - 1, n // 2])
            keys, strongest = looks.strongest(heads, first + queries)
            best = -np.sort(-w[heads, queries], axis=-1)[:, :8]
            close(strongest[:, : best.shape[1]], best)
            assert (keys >= 0).sum() == sum(
                min(8, np.count_nonzero(w[h, q])) for h, q in zip(heads, queries, strict=True)
            )
        first += n
    assert first == len(kinds)


def close(got, want):
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_a_document_is_measured_the_same_whatever_shares_its_batch(family, tokenizer):
    together = measured(family, tokenizer).documents
    for number, text in enumerate(TEXTS):
        (alone,) = measured(family, tokenizer, [text]).documents
        for name in MEASURES:
            close(together[number].measures[name], alone.measures[name])


def test_the_same_weights_give_the_same_figures_here_and_there(tokenizer):
    ours = measured(load("minilm"), None)
    theirs = measured(hf.AutoModel.from_pretrained(load("minilm").source), tokenizer)
    assert (ours.tokens, ours.text_tokens) == (theirs.tokens, theirs.text_tokens)
    for name in ("entropy", "distance", "offsets", "special"):
        np.testing.assert_allclose(getattr(theirs, name) / ours.tokens, getattr(ours, name) / ours.tokens, atol=1e-4)
    assert ours.groups.keys() == theirs.groups.keys()
    for key, group in ours.groups.items():
        np.testing.assert_allclose(theirs.groups[key].received / group.count, group.received / group.count, atol=1e-4)
    for one, other in zip(ours.documents, theirs.documents, strict=True):
        for name in MEASURES:
            np.testing.assert_allclose(other.measures[name], one.measures[name], atol=1e-4, equal_nan=True)
    assert len(ours.examples) == len(theirs.examples)


def test_a_survey_twice_has_the_same_bits_with_any_number_of_threads(bert, tokenizer):
    first = measured(bert, tokenizer)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        again = measured(bert, tokenizer)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    for name in ("entropy", "distance", "entropy_squares", "offsets", "entropies", "largest", "special"):
        np.testing.assert_array_equal(getattr(again, name), getattr(first, name))
    assert again.examples == first.examples


def test_documents_without_words_and_long_ones_are_read_as_they_are(bert, tokenizer, caplog):
    tokenizer.model_max_length, before = 64, tokenizer.model_max_length
    logger = logging.getLogger("transformers")
    logger.addHandler(caplog.handler)
    try:
        found = measured(
            bert, tokenizer, ["", "time flies", " \n ", "word " * 300], replace(SETTINGS, window=64, overlap=8)
        )
    finally:
        logger.removeHandler(caplog.handler)
        tokenizer.model_max_length = before
    assert [(one.place, one.reason) for one in found.skipped] == [(0, "empty"), (2, "empty")]
    assert [(one.number, one.windows) for one in found.documents] == [(1, 1), (3, 6)]
    assert found.text_tokens == 302
    assert not caplog.records  # transformers warns of texts longer than its model


def test_what_the_model_is_said_to_be(family, tokenizer):
    model = survey_model(family, tokenizer)
    causal = not isinstance(family, (hf.BertForMaskedLM, hf.AlbertModel, hf.ModernBertModel))
    layers = 12 if isinstance(family, hf.AlbertModel) else 2
    if isinstance(family, hf.ModernBertModel):
        layers = family.config.num_hidden_layers
    assert (model.layers, model.heads, model.causal) == (layers, 4, causal)
    assert model.info["family"] == family.config.model_type
    assert [model.info[name] for name in ("layers", "heads", "causal")] == [layers, 4, causal]
    assert model.info["vocabulary_size"] == len(tokenizer)


def test_another_weight_is_another_model(tokenizer):
    model = of_family("bert", tokenizer)
    first = survey_model(model, tokenizer).info["sha256"]
    assert survey_model(of_family("bert", tokenizer), tokenizer).info["sha256"] == first
    with torch.no_grad():
        next(model.parameters())[3, 3] += 1
    assert survey_model(model, tokenizer).info["sha256"] != first


def test_a_model_in_training_mode_is_measured_without_dropout_and_put_back(tokenizer):
    model = of_family("bert", tokenizer)
    wanted = measured(model, tokenizer).entropy
    model.train()
    model.bert.encoder.layer[1].eval()
    before = [part.training for part in model.modules()]
    np.testing.assert_array_equal(measured(model, tokenizer).entropy, wanted)
    assert [part.training for part in model.modules()] == before
    assert model.config._attn_implementation == "sdpa"
    assert all(parameter.grad is None for parameter in model.parameters())


def test_a_survey_that_stops_midway_leaves_the_model_as_it_was(bert, tokenizer):
    model = survey_model(bert, tokenizer)
    windows = list(windows_of(documents(TEXTS)[0], model.tokens, SETTINGS, False, TokenTypes(None)))
    threads = threading.active_count()
    layers = model.looks(windows, windows[0].types, 8)
    next(layers)
    assert bert.config._attn_implementation == "eyeline"
    layers.close()
    assert bert.config._attn_implementation == "sdpa"
    assert threading.active_count() == threads


def test_an_error_within_the_model_comes_out(bert, tokenizer):
    model = survey_model(bert, tokenizer)
    (window,) = windows_of(documents(TEXTS)[0], model.tokens, SETTINGS, False, TokenTypes(None))
    wrong = replace(window, ids=window.ids + 10**6)
    with pytest.raises(
        HuggingFaceError, match="tokens must be below 30522, the size of the model's vocabulary, got 10"
    ):
        list(model.looks([wrong], window.types, 8))
    broken = bert.bert.encoder.layer[1].register_forward_pre_hook(lambda *_: 1 / 0)
    try:
        with pytest.raises(ZeroDivisionError):
            list(model.looks([window], window.types, 8))
    finally:
        broken.remove()
    assert len(list(model.looks([window], window.types, 8))) == 2


def test_only_one_layer_is_read_at_a_time(bert):
    """The model stands still until its next layer is asked for."""
    entered = []
    hooks = [
        layer.register_forward_pre_hook(lambda *_, number=number: entered.append(number))
        for number, layer in enumerate(bert.bert.encoder.layer)
    ]
    given = {"input_ids": torch.arange(10)[None]}
    layers = layers_of(bert.bert, [(given, [el.Entropy()]), (given, [el.TopK(2)])])
    assert entered == []
    first, second = next(layers)
    assert entered == [0, 0]
    assert (el.Entropy in first.seen, el.TopK in first.seen) == (True, False)
    assert (el.Entropy in second.seen, el.TopK in second.seen) == (False, True)
    assert len(list(layers)) == 1
    assert entered == [0, 0, 1, 1]
    for hook in hooks:
        hook.remove()


def test_batches_are_of_similar_length_and_of_bounded_size():
    lengths = np.random.default_rng(0).integers(2, 700, 300)
    found = batches_of(lengths)
    assert sorted(number for batch in found for number in batch) == list(range(300))
    for batch in found:
        sizes = lengths[batch]
        assert sizes.max() <= 1.25 * sizes.min()
        assert len(batch) * sizes.max() <= BATCH_TOKENS
    assert batches_of(np.array([20_000, 20_000])) == [[0], [1]]


def test_a_module_out_of_reach_is_named(tokenizer):
    class OwnAttention(torch.nn.Module):
        def forward(self, hidden_states, *_, **__):
            return hidden_states, None

    model = of_family("bert", tokenizer)
    model.bert.encoder.layer[1].attention.self = OwnAttention()
    with pytest.warns(UserWarning, match=r"bert\.encoder\.layer\.1\.attention.* ran without calling Eyeline"):
        found = survey_model(model, tokenizer)
    assert found.layers == 1


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (t5, "model must be an encoder or a decoder for a survey, got T5ForConditionalGeneration, which is both"),
        (
            lambda: made(hf.Wav2Vec2Model, hf.Wav2Vec2Config(**SIZES)),
            "model must read text for a survey, got Wav2Vec2Model, which doesn't",
        ),
        (
            lambda: made(hf.MPNetModel, hf.MPNetConfig(**SIZES, vocab_size=30522)),
            "model must call transformers' attention interface, got MPNetModel",
        ),
    ],
)
def test_models_that_cannot_be_surveyed_are_one_line(make, says, tokenizer):
    with pytest.raises(ValueError, match=says) as raised:
        survey_model(make(), tokenizer)
    assert "\n" not in str(raised.value)
    assert isinstance(raised.value, SurveyError)


def test_a_model_without_weights_is_one_line(tokenizer):
    with torch.device("meta"):
        model = hf.BertModel(hf.BertConfig(**SIZES))
    with pytest.raises(SurveyError, match="model must hold its weights"):
        survey_model(model, tokenizer)


def test_a_survey_of_a_pickled_copy_has_the_same_bytes_and_of_other_weights_is_refused(tmp_path, tokenizer):
    model = of_family("gemma2", tokenizer)
    asked = {"tokenizer": tokenizer, "block": 400}
    first = survey(TEXTS * 3, model=model, out=tmp_path / "first", **asked)
    assert first.info["counts"]["blocks"] > 2
    assert first.info["settings"]["window"] == 2048  # though the model has 8,192 positions
    survey(TEXTS * 3, model=pickle.loads(pickle.dumps(model)), out=tmp_path / "second", **asked)
    for name in ("heads.parquet", "tokens.parquet", "examples.parquet"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()
    with torch.no_grad():
        next(model.parameters())[7, 7] += 1
    with pytest.raises(SurveyError, match="out holds a survey that differs"):
        survey(TEXTS * 3, model=model, out=tmp_path / "first", **asked)
