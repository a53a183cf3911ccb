"""`embed`: texts packed and pooled are what transformers makes of each, and what each is by itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from encoders import save_encoder

import eyeline as el
from eyeline.models import Embedded, ModelError, load, packing
from eyeline.models.encoder import Encoder

SENTENCES = (Path(__file__).parents[1] / "bench" / "sentences.txt").read_text().splitlines()
TEXTS = [*SENTENCES[:12], "", "Café Việt 東京 👩‍🚀", SENTENCES[3]]
READ = [el.TopK(8), el.Entropy(), el.Received(), el.MeanDistance()]


@pytest.fixture(scope="module")
def minilm():
    return load()


def test_vectors_are_those_of_transformers_with_mean_pooling(minilm):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    twin = transformers.AutoModel.from_pretrained(minilm.source, attn_implementation="eager").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(minilm.source)
    long = " ".join(SENTENCES[:30])
    with pytest.warns(UserWarning, match=r"^1 of 16 texts had more than 256 tokens, .* were cut there"):
        found = el.embed([*TEXTS, long])
    for text, vector in zip([*TEXTS, long], found, strict=True):
        inputs = tokenizer(text, return_tensors="pt", truncation=True, max_length=256)
        with torch.no_grad():
            mean = twin(**inputs).last_hidden_state[0].mean(dim=0)
        expected = torch.nn.functional.normalize(mean, dim=0).numpy()
        np.testing.assert_allclose(vector, expected, rtol=0, atol=1e-6)


def test_a_text_is_what_it_is_alone(minilm):
    found = el.embed(TEXTS, minilm)
    assert (found.dtype, found.shape) == (np.float32, (len(TEXTS), 384))
    for text, vector in zip(TEXTS, found, strict=True):
        np.testing.assert_allclose(el.embed([text], minilm)[0], vector, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found[3], found[-1], rtol=0, atol=1e-6)  # the same text twice
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-6)


def test_a_text_that_begins_at_a_multiple_of_128_tokens_has_the_bits_that_it_has_alone(minilm):
    words = "fly " * 126  # with [CLS] and [SEP], 128 tokens
    for text in TEXTS:
        both = el.embed([words, text, *TEXTS], minilm)
        np.testing.assert_array_equal(both[1], el.embed([text], minilm)[0])


def test_readouts_of_a_packed_text_are_those_of_the_text_alone(minilm):
    found = el.embed(TEXTS, minilm, read=READ)
    assert isinstance(found, Embedded)
    np.testing.assert_array_equal(found.vectors, el.embed(TEXTS, minilm))
    for number, text in enumerate(TEXTS):
        ids = minilm.tokens(text).ids
        assert found.ids[number].tolist() == ids
        alone = minilm.layers([ids], read=READ)
        for layer, single in zip(found.layers(number), alone, strict=True):
            assert layer.output.shape == (12, len(ids), 0)  # heads' outputs aren't kept
            np.testing.assert_allclose(layer.lse, single.lse[0], rtol=0, atol=1e-5)
            for name in ("entropy", "received", "mean_distance"):
                np.testing.assert_allclose(getattr(layer, name), getattr(single.seen, name)[0], rtol=1e-5, atol=1e-5)
            np.testing.assert_allclose(layer.top_k.weights, single.seen.top_k.weights[0], rtol=0, atol=1e-5)
            # The same keys, but where two weights are equal to the last digits.
            near = np.isclose(layer.top_k.weights[..., :-1], layer.top_k.weights[..., 1:], rtol=0, atol=1e-5)
            apart = ~(np.pad(near, ((0, 0), (0, 0), (1, 0))) | np.pad(near, ((0, 0), (0, 0), (0, 1))))
            apart[..., -1] = False  # the next one isn't known
            np.testing.assert_array_equal(layer.top_k.keys[apart], single.seen.top_k.keys[0][apart])


def test_texts_by_number(minilm):
    found = el.embed(TEXTS[:3], minilm, read=el.Entropy())
    np.testing.assert_array_equal(found.layers(-1)[0].entropy, found.layers(2)[0].entropy)
    for number in (3, -4):
        with pytest.raises(IndexError):
            found.layers(number)


def test_nothing_is_computed_for_padding_and_blocks_are_bounded(minilm, monkeypatch):
    seen = []
    run = Encoder.embed

    def counted(self, ids, positions=None):
        seen.append(ids.shape)
        return run(self, ids, positions)

    monkeypatch.setattr(Encoder, "embed", counted)
    monkeypatch.setattr(packing, "TOGETHER", 300)
    packed = el.embed(iter(SENTENCES[:64]), minilm)
    assert sum(count for _, count in seen) == sum(len(minilm.tokens(text)) for text in SENTENCES[:64])
    assert all(shape[0] == 1 and shape[1] <= 300 for shape in seen)
    assert len(seen) > 5
    monkeypatch.setattr(packing, "TOGETHER", 100_000)
    np.testing.assert_allclose(el.embed(SENTENCES[:64], minilm), packed, rtol=0, atol=1e-6)


def test_progress_counts_texts(minilm, monkeypatch):
    monkeypatch.setattr(packing, "TOGETHER", 200)
    done = []
    el.embed(SENTENCES[:20], minilm, texts_done=done.append)
    assert done == sorted(set(done))
    assert done[-1] == 20


def test_no_texts_have_no_vectors(minilm):
    assert el.embed([], minilm).shape == (0, 384)
    found = el.embed((), minilm, read=el.Entropy())
    assert (found.vectors.shape, found.ids) == ((0, 384), ())


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("time flies",), TypeError, r"^texts must be a list of texts, got str; write \[text\]"),
        ((b"time",), TypeError, r"^texts must be .* got bytes"),
        ((3,), TypeError, r"^texts must be .* got int"),
        ((["time", 3],), ModelError, r"^texts\[1\] must be a string, got int"),
        ((["time", None],), ModelError, r"^texts\[1\] must be a string, got NoneType"),
        ((["\udcff"],), ModelError, r"^texts\[0\] must be valid Unicode"),
        ((["time"], 3), TypeError, r"^model must be a name, a folder, or a model .* got int"),
        ((["time"], "minilmm"), ModelError, r"did you mean minilm\?"),
    ],
)
def test_wrong_arguments_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        el.embed(*arguments)


@pytest.mark.parametrize("read", [el.Weights(), el.Pooled(2, 2), el.GroupMass([0, 1]), [el.Entropy(), el.Weights()]])
def test_readouts_of_the_whole_matrix_are_refused(minilm, read):
    with pytest.raises(ValueError, match=r"^read must hold readouts of single tokens \(Entropy, .*got "):
        el.embed(["time"], minilm, read=read)
    with pytest.raises(TypeError, match=r"^read must hold readouts"):
        el.embed(["time"], minilm, read="entropy")


def test_a_decoder_is_refused(tiny_model):
    with pytest.raises(ModelError, match=r"^model must be an encoder .* got the decoder .* take one such as minilm"):
        el.embed(["the cat"], tiny_model)


@pytest.fixture
def folder(tmp_path):
    return save_encoder(tmp_path)


def settings(folder, **files):
    """Settings of sentence-transformers in a model's folder: modules, pooling, sentence (sentence_bert_config)."""
    (folder / "1_Pooling").mkdir()
    kinds = files.pop("modules", ["Transformer", "Pooling", "Normalize"])
    paths = {"Transformer": "", "Pooling": "1_Pooling", "Normalize": "2_Normalize"}
    modules = [{"type": f"sentence_transformers.models.{kind}", "path": paths.get(kind, "9")} for kind in kinds]
    (folder / "modules.json").write_text(json.dumps(modules))
    pooling = files.pop("pooling", {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False})
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    (folder / "sentence_bert_config.json").write_text(json.dumps(files.pop("sentence", {})))


def states(folder, text):
    model = load(folder)
    return model.run([model.tokens(text).ids]).hidden_states[-1][0]


def test_without_settings_it_is_the_mean_normalised_of_as_many_tokens_as_positions(folder):
    mean = states(folder, "w5 w6 w7").mean(axis=0)
    np.testing.assert_allclose(el.embed(["w5 w6 w7"], folder)[0], mean / np.linalg.norm(mean), atol=1e-6)
    with pytest.warns(UserWarning, match="^2 of 3 texts had more than 24 tokens"):
        found = el.embed(["w5 " * 24, "w5 " * 25, "w5 " * 99], folder)
    np.testing.assert_allclose(found[1:], found[:1].repeat(2, 0), atol=1e-6)


def test_a_text_without_any_token_has_the_vector_0(folder):
    found = el.embed(["", "w5", ""], folder, read=el.Entropy())  # this tokenizer adds no special tokens
    assert not found.vectors[[0, 2]].any()
    assert found.vectors[1].any()
    assert [layer.entropy.shape for layer in found.layers(0)] == [(4, 0)] * 2
    only = el.embed([""], folder, read=el.Entropy())
    assert not only.vectors.any()


def test_settings_of_sentence_transformers_are_followed(folder):
    settings(
        folder,
        modules=["Transformer", "Pooling"],
        pooling={"pooling_mode_cls_token": True},
        sentence={"max_seq_length": 5},
    )
    np.testing.assert_allclose(el.embed(["w9 w6 w7"], folder)[0], states(folder, "w9 w6 w7")[0], atol=1e-6)
    with pytest.warns(UserWarning, match="more than 5 tokens"):
        found = el.embed(["w9 w6 w7 w8 w9 w10"], folder)
    np.testing.assert_allclose(found[0], states(folder, "w9 w6 w7 w8 w9")[0], atol=1e-6)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"modules": ["Transformer", "Pooling", "Dense"]}, "modules.json must list Transformer, Pooling and Normalize"),
        (
            {"pooling": {"pooling_mode_max_tokens": True}},
            "must choose one of pooling_mode_mean_tokens and .*max_tokens",
        ),
        ({"pooling": {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}}, "must choose one of"),
        ({"pooling": {}}, r"must choose one of .*, got \[\]"),
        ({"pooling": []}, "must hold a JSON object"),
        ({"sentence": {"max_seq_length": 0}}, "max_seq_length must be a whole number"),
        ({"sentence": {"do_lower_case": True}}, "do_lower_case must be false"),
    ],
)
def test_settings_that_it_can_not_follow_are_refused(folder, given, message):
    settings(folder, **given)
    with pytest.raises(ModelError, match=message):
        el.embed(["w5"], folder)


def test_a_module_outside_the_folder_is_refused(folder):
    settings(folder)
    for path in ("../elsewhere", "/etc"):
        modules = [{"type": "sentence_transformers.models.Pooling", "path": path}]
        (folder / "modules.json").write_text(json.dumps(modules))
        with pytest.raises(ModelError, match="each in a folder of the model's"):
            el.embed(["w5"], folder)


def test_a_tokenizer_that_can_not_cut_a_text_is_an_error_of_one_line(folder):
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"w5": 5}, "[UNK]"))
    tokenizer.save(str(folder / "tokenizer.json"))
    with pytest.raises(ModelError, match=r"^tokenizer.json can't cut this text"):
        el.embed(["w5", "something else"], folder)


def test_importing_eyeline_does_not_load_the_models():
    code = "import sys, eyeline; assert 'embed' in eyeline.__all__; print('eyeline.models' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
