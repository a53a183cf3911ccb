"""Questions asked of models of transformers, and of folders of any family: the numbers are their own attention's."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
import transformers as hf
from hugging import eager, made

import eyeline as el
from eyeline.answers import QuestionError
from eyeline.huggingface.errors import HuggingFaceError
from eyeline.models import ModelError, load
from eyeline.traces import TraceError, folders, record, text_model

FLIES, BANANA = "time flies like an arrow", "fruit flies like a banana"
SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32}
ENDS = {"pad_token_id": 0, "bos_token_id": 101, "eos_token_id": 102}
GROUPED = {"num_key_value_heads": 2, "head_dim": 8}
SEQ2SEQ = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
    "max_position_embeddings": 64,
    "decoder_start_token_id": 101,
    "forced_eos_token_id": None,
    **ENDS,
}
T5_SIZES = {"d_model": 32, "num_layers": 2, "num_heads": 4, "d_kv": 8, "d_ff": 32, "decoder_start_token_id": 0}
FAMILIES = {
    "gpt2": (hf.GPT2LMHeadModel, hf.GPT2Config, {"n_embd": 32, "n_layer": 2, "n_head": 4, **ENDS}),
    "gemma": (hf.GemmaForCausalLM, hf.GemmaConfig, {**SIZES, **GROUPED, **ENDS}),
    "gemma2": (hf.Gemma2ForCausalLM, hf.Gemma2Config, {**SIZES, **GROUPED, **ENDS, "attn_logit_softcapping": 10.0}),
    "gpt-oss": (
        hf.GptOssForCausalLM,
        hf.GptOssConfig,
        {**SIZES, **GROUPED, **ENDS, "num_local_experts": 2, "num_experts_per_tok": 1},
    ),
    "modernbert": (
        hf.ModernBertModel,
        hf.ModernBertConfig,
        {**SIZES, **ENDS, "cls_token_id": 101, "sep_token_id": 102},
    ),
    "albert": (hf.AlbertModel, hf.AlbertConfig, {**SIZES, "num_hidden_layers": 3, "embedding_size": 16}),
    "t5": (hf.T5ForConditionalGeneration, hf.T5Config, T5_SIZES),
    "bart": (hf.BartForConditionalGeneration, hf.BartConfig, SEQ2SEQ),
}
DECODERS = ("gpt2", "gemma", "gemma2", "gpt-oss")


@pytest.fixture(scope="module")
def tokenizer():
    found = hf.AutoTokenizer.from_pretrained(load("minilm").source)
    found.model_input_names = ["input_ids", "attention_mask"]  # GPT-2 would add the kinds of text up
    return found


@pytest.fixture(scope="module", params=FAMILIES)
def family(request, tokenizer):
    return request.param, of_family(request.param, tokenizer)


def of_family(name, tokenizer):
    model, config, sizes = FAMILIES[name]
    found = made(model, config(**sizes, vocab_size=len(tokenizer)))
    with torch.no_grad():  # a fresh model's attention is near uniform
        for parameter in found.parameters():
            parameter.mul_(1 + parameter.ndim * 2) if parameter.ndim > 1 else None
    return found


def attentions(model, tokenizer, text):
    """The weights of every layer, (L, H, N, N), as transformers' own eager attention has them."""
    given = {"input_ids": torch.tensor([tokenizer(text)["input_ids"]])}
    if model.config.is_encoder_decoder:
        given["decoder_input_ids"] = torch.tensor([[0]])
    with torch.no_grad():
        out = eager(model, **given)
    found = out.encoder_attentions if model.config.is_encoder_decoder else out.attentions
    return torch.cat(found).double().numpy()


def test_every_question_has_the_models_own_weights(family, tokenizer):
    name, model = family
    want = attentions(model, tokenizer, FLIES)
    L, H, N, _ = want.shape
    asked = {"model": model, "tokenizer": tokenizer}
    for layer, head in ((None, None), (0, 3)):
        found = el.explain(FLIES, "flies", layer=layer, head=head, steps=True, special=True, **asked)
        row = want[-1 if layer is None else layer]
        row = row.mean(axis=0) if head is None else row[head]
        np.testing.assert_allclose(found.runs[0].weights, row[2], atol=1e-5)
        np.testing.assert_allclose(found.runs[0].matrix.weights, row, atol=1e-5)
        steps = found.steps
        weights = want[steps.layer, steps.head, steps.token]
        np.testing.assert_allclose([key.weight for key in steps.keys], weights, atol=1e-5)
        assert steps.weight_sum == pytest.approx(weights.sum(), abs=1e-5)
    assert (found.model.layers, found.model.heads) == (L, H)
    assert found.causal == (name in DECODERS)
    assert found.moved[0] == pytest.approx(1)
    assert len(found.moved) == L + 1
    product = np.eye(N)
    for weights in want.mean(axis=1):
        product = (weights @ product + product) / 2
    np.testing.assert_allclose(el.rollout(FLIES, special=True, **asked).by_unit, product, atol=1e-5)
    np.testing.assert_allclose(el.rollout(FLIES, "flies", **asked).by_token, product[2], atol=1e-5)
    heads = el.heads(FLIES, **asked)
    i = np.arange(1, N)
    np.testing.assert_allclose(heads.table["previous"], want[:, :, i, i - 1].sum(axis=-1) / N, atol=1e-5)
    np.testing.assert_allclose(heads.table["first"], want[..., 0].mean(axis=-1), atol=1e-5)
    logs = np.log(np.where(want > 0, want, 1))
    if name != "gpt-oss":  # a sink's share isn't a key's
        np.testing.assert_allclose(heads.table["entropy"], -(want * logs).sum(-1).mean(-1), atol=1e-4)
    assert np.isfinite(heads.table["induction"]).all()
    sides = el.compare(FLIES, BANANA, "flies", special=True, **asked).sides
    np.testing.assert_allclose(sides[0].weights, want[-1, :, 2].mean(axis=0), atol=1e-5)


def test_an_answers_vectors_are_the_models(tokenizer):
    model = of_family("gpt2", tokenizer)
    with torch.no_grad():
        states = model(torch.tensor([tokenizer(FLIES)["input_ids"]]), output_hidden_states=True).hidden_states
    vectors = np.stack([state[0, 2].double().numpy() for state in states[:-1]])  # the last is after a norm
    want = vectors @ vectors[0] / np.linalg.norm(vectors, axis=1) / np.linalg.norm(vectors[0])
    found = el.explain(FLIES, "flies", model=model, tokenizer=tokenizer)
    np.testing.assert_allclose(found.moved[:-1], want, atol=1e-5)


def test_a_models_own_embeddings_are_the_nearest_words(tokenizer):
    model = of_family("gpt2", tokenizer)
    (trace,) = el.explain(FLIES, "flies", model=model, tokenizer=tokenizer).traces
    rows = model.get_input_embeddings().weight.detach().numpy()
    assert trace.vocabulary.nearest(rows[tokenizer.convert_tokens_to_ids(["flies"])], 1)[0][0].text == "flies"
    albert = el.explain(FLIES, "flies", model=of_family("albert", tokenizer), tokenizer=tokenizer).traces[0]
    assert albert.vocabulary is None  # its embeddings are narrower than its layers


@pytest.mark.parametrize("name", ["t5", "bart"])
def test_the_answer_of_an_encoder_decoder_can_be_explained_too(name, tokenizer):
    model = of_family(name, tokenizer)
    asked = {"model": model, "tokenizer": tokenizer, "kind": "decoder", "target": BANANA}
    found = el.explain(FLIES, "banana", special=True, **asked)
    ids = [model.config.decoder_start_token_id, *tokenizer(BANANA)["input_ids"][:-1]]
    source = torch.tensor([tokenizer(FLIES)["input_ids"]])
    with torch.no_grad():
        out = eager(model, input_ids=source, decoder_input_ids=torch.tensor([ids]))
    want = torch.cat(out.decoder_attentions).double().numpy()
    assert [token.id for token in found.tokens] == ids
    assert found.causal
    place = found.question.units[0]
    np.testing.assert_allclose(found.runs[0].weights, want[-1, :, place].mean(axis=0), atol=1e-5)
    assert found.model.layers == len(want)
    assert len(el.heads(FLIES, **asked).heads) == want.shape[0] * want.shape[1]


@pytest.mark.parametrize("name", ["gpt2", "gemma2"])
def test_a_text_goes_on_as_transformers_would(name, tokenizer):
    model = of_family(name, tokenizer)
    ids = tokenizer(FLIES)["input_ids"]
    with torch.no_grad():
        want = model.generate(torch.tensor([ids]), max_new_tokens=4, do_sample=False)[0].tolist()
        logits = model(torch.tensor([want])).logits[0].double()
    said = []
    found = el.explain(FLIES, generate=4, model=model, tokenizer=tokenizer, said=said.append)
    assert [token.id for token in found.tokens] == want
    probabilities = [float(logits[place - 1].softmax(-1)[want[place]]) for place in range(len(ids), len(want))]
    assert [step.probability for step in found.generated.steps] == pytest.approx(probabilities, rel=1e-4)
    assert len(said) == len(want) - len(ids)
    weights = attentions_of_ids(model, want)[-1].mean(axis=0)
    for step in found.generated.steps:
        row = weights[step.by.token]
        np.testing.assert_allclose([look.weight for look in step.looks_at], by_units(row, found.units), atol=1e-5)


def attentions_of_ids(model, ids):
    with torch.no_grad():
        return torch.cat(eager(model, torch.tensor([ids])).attentions).double().numpy()


def by_units(row, units):
    return [row[list(unit.tokens)].sum() for unit in units]


class Passes:
    """Counts how often a model of transformers runs."""

    def __init__(self, model):
        self.count = 0
        model.register_forward_pre_hook(self._ran)

    def _ran(self, *_):
        self.count += 1


def test_a_question_runs_a_model_of_transformers_once(tokenizer):
    model = of_family("gemma", tokenizer)
    asked = {"model": model, "tokenizer": tokenizer}
    el.heads(FLIES, **asked)  # the test of induction is made here
    passes = Passes(model)
    questions = {
        "explain": lambda: el.explain(FLIES, "flies", steps=True, **asked),
        "rollout": lambda: el.rollout(FLIES, "flies", **asked),
        "every rollout": lambda: el.rollout(FLIES, **asked),
        "heads": lambda: el.heads(BANANA, **asked),
        "record": lambda: record(FLIES, **asked),
    }
    for name, ask in questions.items():
        before = passes.count
        ask()
        assert passes.count == before + 1, name
    before = passes.count
    el.compare(FLIES, BANANA, "flies", **asked)
    assert passes.count == before + 2


def test_a_question_runs_our_own_models_once(tmp_path, monkeypatch):
    from eyeline import cli
    from eyeline.models.encoder import Encoder

    ran, embedded = [], Encoder.layers
    monkeypatch.setattr(Encoder, "layers", lambda *given, **more: ran.append(given) or embedded(*given, **more))
    minilm = load("minilm")
    el.heads(FLIES, model=minilm)
    page = ["--html", str(tmp_path / "page.html"), "--json"]
    asked = {
        lambda: el.explain(FLIES, "flies", steps=True, model=minilm): 1,
        lambda: el.explain(FLIES, "flies", mask="causal", scale=1.0, model=minilm): 2,  # as trained, and changed
        lambda: el.compare(FLIES, BANANA, "flies", model=minilm): 2,  # two texts
        lambda: el.rollout(FLIES, "flies", model=minilm): 1,
        lambda: el.rollout(FLIES, model=minilm): 1,
        lambda: el.heads(BANANA, model=minilm): 1,
        lambda: cli.main(["explain", FLIES, *page]): 1,
        lambda: cli.main(["compare", FLIES, BANANA, "--token", "flies", *page]): 2,
    }
    for ask, count in asked.items():
        ran.clear()
        ask()
        assert len(ran) == count


def test_what_is_generated_goes_through_the_model_once(tiny_model, monkeypatch):
    from eyeline.models.decoder import Decoder

    ran, through = [], Decoder.layers
    monkeypatch.setattr(Decoder, "layers", lambda self, x, *a, **b: ran.append(x.shape[1]) or through(self, x, *a, **b))
    found = el.explain("the cat and", "cat", generate=5, layer=1, model=tiny_model)
    assert sum(ran) == len(found.tokens)


def test_induction_is_tested_anew_where_weights_changed(tokenizer):
    model = of_family("gpt2", tokenizer)
    asked = {"model": model, "tokenizer": tokenizer}
    first = el.heads(FLIES, **asked).table["induction"]
    passes = Passes(model)
    np.testing.assert_array_equal(el.heads(BANANA, **asked).table["induction"], first)
    assert passes.count == 1
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.5)
    assert not np.allclose(el.heads(FLIES, **asked).table["induction"], first, atol=1e-3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, tokenizer):
    """A folder of a family that isn't one of Eyeline's, its weights in several files."""
    path = tmp_path_factory.mktemp("gpt2")
    of_family("gpt2", tokenizer).save_pretrained(path, max_shard_size="1MB")
    tokenizer.save_pretrained(path)
    assert (path / "model.safetensors.index.json").exists()
    return path


def test_a_folder_of_another_family_runs_through_transformers(folder, tokenizer):
    said = []
    found = el.explain(FLIES, "flies", model=folder, progress=said.append)
    assert any("gpt2 runs through transformers" in line for line in said)
    theirs = hf.AutoTokenizer.from_pretrained(folder)
    want = el.explain(FLIES, "flies", model=of_family("gpt2", tokenizer), tokenizer=theirs)
    np.testing.assert_allclose(found.runs[0].weights, want.runs[0].weights, atol=1e-6)
    assert record(FLIES, model=folder).kind == "decoder"
    assert found.model.name == str(folder)


def test_our_own_models_read_weights_in_several_files(tmp_path):
    minilm = load("minilm")
    hf.AutoModel.from_pretrained(minilm.source).save_pretrained(tmp_path, max_shard_size="20MB")
    (tmp_path / "tokenizer.json").write_bytes((minilm.source / "tokenizer.json").read_bytes())
    assert len(list(tmp_path.glob("*.safetensors"))) > 2
    ids = minilm.tokens(FLIES).ids
    np.testing.assert_array_equal(load(tmp_path).run([ids]).hidden_states[-1], minilm.run([ids]).hidden_states[-1])


def copied(folder, path, **changes):
    for file in folder.iterdir():
        (path / file.name).write_bytes(file.read_bytes())
    for name, values in changes.items():
        file = path / f"{name}.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | values))
    return path


@pytest.mark.parametrize("file", ["config", "tokenizer_config"])
def test_a_models_own_code_is_never_run(folder, tmp_path, file):
    copied(folder, tmp_path, **{file: {"auto_map": {"AutoConfig": "evil.Config"}}})
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Config: pass\n")
    with pytest.raises(ModelError, match=rf"{file}.json: auto_map must be left out, got .*never runs"):
        el.explain(FLIES, model=tmp_path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("file", ["../elsewhere.safetensors", "/etc/hostname", "pytorch_model.bin"])
def test_an_index_names_files_of_its_own_folder(folder, tmp_path, file):
    copied(folder, tmp_path)
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": {"a": file}}))
    with pytest.raises(ModelError, match=r"weight_map must name \.safetensors files of its own folder, got "):
        el.explain(FLIES, model=tmp_path)


def test_a_file_that_was_cut_short_is_one_line(folder, tmp_path):
    file = min(copied(folder, tmp_path).glob("*.safetensors"))
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(ModelError, match=r"can't be loaded by transformers \(.*header"):
        el.explain(FLIES, model=tmp_path)


def test_weights_that_a_checkpoint_lacks_are_never_random(tokenizer, tmp_path):
    model = of_family("gpt2", tokenizer)
    weights = {name: x.contiguous() for name, x in model.state_dict().items() if not name.startswith("lm_head")}
    model.save_pretrained(tmp_path, state_dict=dict(weights))
    tokenizer.save_pretrained(tmp_path)
    el.explain(FLIES, model=tmp_path)
    lacked = next(name for name in weights if name.endswith("attn.c_attn.weight"))
    model.save_pretrained(tmp_path, state_dict={name: x for name, x in weights.items() if name != lacked})
    with pytest.raises(ModelError, match=r"must have all weights of its model, got .* without .*\.c_attn\.weight"):
        el.explain(FLIES, model=tmp_path)


def test_a_family_that_nobody_has_is_said(folder, tmp_path, monkeypatch):
    copied(folder, tmp_path, config={"model_type": "unheard-of"})
    with pytest.raises(ModelError, match="can't be loaded by transformers"):
        el.explain(FLIES, model=tmp_path)
    monkeypatch.setattr(folders, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"got 'unheard-of'; pip install 'eyeline\[hf\]' runs it through transformers"):
        el.explain(FLIES, model=tmp_path)


def test_a_model_of_pictures_is_called_one(tmp_path):
    sizes = {"image_size": 16, "patch_size": 4}
    made(hf.ViTModel, hf.ViTConfig(**SIZES, **sizes)).save_pretrained(tmp_path)
    with pytest.raises(ModelError, match=r"got 'vit', which takes pictures; .*eyeline.record\(inputs, model=model\)"):
        el.explain(FLIES, model=tmp_path)


def test_a_folder_without_a_tokenizer_says_how_to_make_one(tmp_path, tokenizer):
    of_family("gpt2", tokenizer).save_pretrained(tmp_path)
    with pytest.raises(ModelError, match=r"has no tokenizer \(tokenizer.json, .*save_pretrained\(folder\)"):
        el.explain(FLIES, model=tmp_path)


@pytest.mark.parametrize("family", ["t5", "bart"])
def test_all_parts_of_an_encoder_decoder_are_explained(tokenizer, family):
    model = of_family(family, tokenizer)
    answer = el.explain(FLIES, model=model, tokenizer=tokenizer, kind="cross", target="les mouches")
    encoder, decoder, cross = answer.traces
    assert (encoder.name, decoder.name, cross.name) == ("encoder", "decoder", "cross")
    alone = el.explain(FLIES, model=model, tokenizer=tokenizer, kind="encoder")
    np.testing.assert_allclose(answer.weights, alone.weights, atol=1e-6)
    np.testing.assert_allclose(answer.cross.token_weights, cross.layers[-1].weights.mean(0), atol=1e-6)
    assert list(answer.cross.tokens) == list(decoder.queries.pieces)
    assert "Each row is a token that the decoder took" in str(answer)
    word = answer.cross.words[-1]
    seen = el.explain(FLIES, word, model=model, tokenizer=tokenizer, kind="cross", target="les mouches").cross.word
    assert sum(look.weight for look in seen.looks_at) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("asked", "error", "says"),
    [
        ({"tokenizer": None}, TraceError, "^tokenizer must be given with a model of transformers and a text"),
        ({"kind": "encoder"}, TraceError, "^kind must be left out with a model that isn't an encoder-decoder"),
        ({"target": "x"}, TraceError, "^target must be left out, but for an encoder-decoder"),
        ({"mask": "causal", "family": "albert"}, TraceError, "^mask and scale must be left out"),
        ({"layer": 2}, QuestionError, "^layer must be from 0 to 1 in GPT2LMHeadModel, got 2; the last is 1"),
        ({"token": "nowhere"}, QuestionError, "^token must be a word of the text, got 'nowhere'"),
        ({"text": ""}, QuestionError, "^text must have at least one word"),
        ({"text": "word " * 1100}, QuestionError, "^text must fit the 1024 positions of GPT2LMHeadModel, got 1102"),
        (
            {"kind": "cross"},
            QuestionError,
            "^kind must be left out with a model that isn't an encoder-decoder, got 'cross'",
        ),
        ({"family": "bart", "generate": 2}, QuestionError, r"^model must be a decoder .* an encoder-decoder \(bart\)"),
        ({"tokenizer": "gpt2"}, HuggingFaceError, "^tokenizer must be called with a text, got 'gpt2'"),
        ({"family": "small"}, TraceError, "^tokens must be below 20, the size of the model's vocabulary, got"),
        ({"family": "meta"}, TraceError, "^model must hold its weights, got one on the meta device"),
        ({"model": json}, TraceError, "^model must be a model's name, a folder, or a loaded model, got module"),
        ({"model": "minilm"}, TraceError, "^tokenizer must be left out with a model that isn't of transformers"),
    ],
)
def test_wrong_questions_say_what_to_do(tokenizer, asked, error, says):
    asked = {"tokenizer": tokenizer, "text": FLIES, **asked}
    if "model" not in asked:
        family = asked.pop("family", "gpt2")
        asked["model"] = of_family("gpt2" if family in ("small", "meta") else family, tokenizer)
        if family == "small":
            asked["model"].resize_token_embeddings(20)
        if family == "meta":
            asked["model"].to("meta")
    with pytest.raises(error, match=says):
        el.explain(asked.pop("text"), **asked)


def test_numpys_whole_numbers_are_numbers(tokenizer):
    model = of_family("gpt2", tokenizer)
    asked = {"model": model, "tokenizer": tokenizer}
    want = el.explain(FLIES, "flies", layer=1, head=1, nth=1, **asked).json()
    assert el.explain(FLIES, "flies", layer=np.int64(1), head=np.int32(1), nth=np.uint8(1), **asked).json() == want
    ids = torch.tensor([tokenizer(FLIES)["input_ids"]])
    for layers, heads in ((np.int64(1), np.int64(2)), (np.arange(1, 2), np.arange(2, 3))):
        with el.watch(model, el.Entropy(), layers=layers, heads=heads) as seen:
            model(ids)
        assert [call.layer for call in seen] == [1]
        assert seen[0].seen.entropy.shape[1] == 1


def test_a_model_whose_attention_is_out_of_reach_is_one_line(tokenizer):
    model = made(hf.MPNetModel, hf.MPNetConfig(**SIZES, vocab_size=len(tokenizer)))
    with pytest.raises(TraceError, match=r"^model must call transformers' attention interface, got MPNetModel"):
        el.explain(FLIES, model=model, tokenizer=tokenizer)


def test_scores_that_are_more_than_products_are_neither_saved_nor_put_on_a_page(tokenizer, tmp_path):
    from eyeline.views.answer_pages import comparison_page, explanation_page

    asked = {"model": of_family("t5", tokenizer), "tokenizer": tokenizer}
    found = el.explain(FLIES, "flies", **asked)
    with pytest.raises(TraceError, match=r"^scores must be q·k alone for a trace to be saved, got T5For"):
        found.traces[0].save(tmp_path / "t5.safetensors")
    with pytest.raises(TraceError, match=r"to be shown on a page"):
        explanation_page(found)
    with pytest.raises(TraceError, match=r"to be shown on a page"):
        comparison_page(el.compare(FLIES, BANANA, "flies", **asked))
    explanation_page(el.explain(FLIES, model=of_family("gpt2", tokenizer), tokenizer=tokenizer))


@pytest.mark.parametrize("text", ["我爱北京天安门 🇻🇳", "[UNK] and 爱"])
def test_what_the_vocabulary_lacks_is_said(tokenizer, text):
    theirs = made(hf.BertModel, hf.BertConfig(**SIZES, vocab_size=len(tokenizer)))
    for asked in ({}, {"model": theirs, "tokenizer": tokenizer}):
        want = ("爱", "门", "🇻🇳") if text[0] == "我" else ("爱",)
        for found in (
            el.explain(text, **asked),
            el.rollout(text, **asked),
            el.heads(text, **asked),
            el.compare(text, text, "爱", **asked).sides[0],
        ):
            assert (found.unknown.piece, found.unknown.texts) == ("[UNK]", want)
        entries = el.explain(text, **asked).document()["tokens"]
        assert tuple(entry["text"].strip() for entry in entries if entry["unknown"]) == want
        traces = record(text, **asked)
        line = (traces[0] if isinstance(traces, list) else traces).queries
        assert tuple(line.text[slice(*line.spans[place])] for place in line.unknown) == want
    assert el.explain(FLIES).unknown is None


def test_a_tokenizer_that_panics_is_one_line_and_quiet(tmp_path, capfd):
    minilm = load("minilm")
    cut = {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": False}
    copied(minilm.source, tmp_path, tokenizer={"pre_tokenizer": cut})
    assert load(tmp_path).tokens("time").pieces
    with pytest.raises(ModelError, match=r"^tokenizer.json can't cut this text into tokens \(.*\)") as caught:
        load(tmp_path).tokens("a" * 60 + "!")
    assert "\n" not in str(caught.value)
    fast = hf.PreTrainedTokenizerFast(tokenizer_file=str(tmp_path / "tokenizer.json"))
    theirs = made(hf.BertModel, hf.BertConfig(**SIZES, vocab_size=40000))
    with pytest.raises(TraceError, match=r"^tokenizer can't cut this text into tokens"):
        el.explain("a" * 60 + "!", model=theirs, tokenizer=fast)
    assert capfd.readouterr().err == ""


def test_a_plain_function_is_tokenizer_enough_to_be_recorded(tokenizer):
    model = made(hf.BertModel, hf.BertConfig(**SIZES, vocab_size=100))
    (trace,) = record("any text", model=model, tokenizer=lambda text: {"input_ids": [[5, 6, 7]]})
    assert trace.queries.ids == (5, 6, 7)


def test_one_interface_has_them_all(tokenizer):
    theirs = text_model(of_family("gpt2", tokenizer), tokenizer)
    ours = text_model("minilm")
    assert (theirs.name, theirs.layers, theirs.heads, theirs.positions) == ("GPT2LMHeadModel", 2, 4, 1024)
    assert (ours.name, ours.layers, ours.heads, ours.positions) == ("minilm", 6, 12, 512)
    for model in (theirs, ours):
        assert model.read(FLIES).tokens.text == FLIES
