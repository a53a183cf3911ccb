"""Folders that are no model, or a hostile one: each gets one clear line that names the file and says what to do."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save

from eyeline.models import ModelError, load

WIDTH, INNER, VOCABULARY, POSITIONS = 8, 12, 6, 10
CONFIG = {
    "model_type": "bert",
    "vocab_size": VOCABULARY,
    "max_position_embeddings": POSITIONS,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "hidden_size": WIDTH,
    "intermediate_size": INNER,
    "hidden_act": "gelu",
}
WORDS = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "time": 3, "flies": 4}


def tensors():
    shapes = {
        "embeddings.word_embeddings.weight": (VOCABULARY, WIDTH),
        "embeddings.position_embeddings.weight": (POSITIONS, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
    }
    linear = {
        "attention.self.query": (WIDTH, WIDTH),
        "attention.self.key": (WIDTH, WIDTH),
        "attention.self.value": (WIDTH, WIDTH),
        "attention.output.dense": (WIDTH, WIDTH),
        "intermediate.dense": (INNER, WIDTH),
        "output.dense": (WIDTH, INNER),
    }
    for name, shape in linear.items():
        shapes |= {f"encoder.layer.0.{name}.weight": shape, f"encoder.layer.0.{name}.bias": shape[:1]}
    for name in ("embeddings", "encoder.layer.0.attention.output", "encoder.layer.0.output"):
        shapes |= {f"{name}.LayerNorm.weight": (WIDTH,), f"{name}.LayerNorm.bias": (WIDTH,)}
    random = np.random.default_rng(0)
    return {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def tokenizer():
    token = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {
        "version": "1.0",
        "added_tokens": [{"id": WORDS[name], "content": name, **token} for name in ("[UNK]", "[CLS]", "[SEP]")],
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]},
        "model": {"type": "WordLevel", "vocab": WORDS, "unk_token": "[UNK]"},
    }


def write(folder, **changes):
    """A whole model, save for the settings and tensors that are changed (None takes one out)."""
    (folder / "config.json").write_text(json.dumps({**CONFIG, **changes.get("config", {})}))
    kept = {name: value for name, value in {**tensors(), **changes.get("tensors", {})}.items() if value is not None}
    (folder / "model.safetensors").write_bytes(save(kept))
    (folder / "tokenizer.json").write_text(json.dumps({**tokenizer(), **changes.get("tokenizer", {})}))


def refused(folder, *parts):
    """Loading raises a ModelError of one line that holds all `parts`."""
    with pytest.raises(ModelError) as caught:
        load(folder)
    line = str(caught.value)
    assert len(line.splitlines()) == 1
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    for part in parts:
        assert part in line
    return line


def test_a_whole_folder_is_a_model(tmp_path):
    write(tmp_path, config={"auto_map": {"AutoModel": "evil.Evil"}, "architectures": ["Evil"]})
    (tmp_path / "evil.py").write_text("raise SystemExit('this must not run')")
    model = load(str(tmp_path))
    tokens = model.tokens("time flies")
    assert tokens.ids == [1, 3, 4, 2]
    assert np.isfinite(model.run([tokens.ids]).hidden_states[-1]).all()


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_missing_files_are_named(tmp_path, name):
    write(tmp_path)
    (tmp_path / name).unlink()
    refused(tmp_path, str(tmp_path), f"no {name}", "holds config.json, model.safetensors and tokenizer.json")
    (tmp_path / name).mkdir()
    refused(tmp_path, f"no {name}")


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_truncated_files_are_named(tmp_path, name):
    write(tmp_path)
    whole = (tmp_path / name).read_bytes()
    for length in (0, 1, 7, 8, 9, len(whole) // 2, len(whole) - 1):
        (tmp_path / name).write_bytes(whole[:length])
        refused(tmp_path, str(tmp_path / name), "get the file again")


@settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["config.json", "model.safetensors", "tokenizer.json"]), st.integers(0, 1500), st.integers(0, 255)
)
def test_one_wrong_byte_never_ends_in_another_error(tmp_path, name, place, byte):
    write(tmp_path)
    data = bytearray((tmp_path / name).read_bytes())
    data[place % len(data)] = byte
    (tmp_path / name).write_bytes(data)
    line = "whole"
    try:
        model = load(tmp_path)
        with np.errstate(all="ignore"):
            model.run([model.tokens("time flies").ids])
    except ModelError as error:
        line = str(error)
    assert len(line.splitlines()) == 1


def test_a_pickle_is_never_opened(tmp_path):
    write(tmp_path)
    (tmp_path / "model.safetensors").unlink()

    class Evil:
        def __reduce__(self):
            return (open, (str(tmp_path / "opened"), "w"))

    (tmp_path / "pytorch_model.bin").write_bytes(pickle.dumps(Evil()))
    refused(tmp_path, "pytorch_model.bin", "never unpickles", "save_pretrained")
    assert not (tmp_path / "opened").exists()


def in_two_files(folder):
    """The same model, its weights in two files and an index."""
    write(folder)
    (folder / "model.safetensors").unlink()
    mapped = {}
    for place, (name, array) in enumerate(tensors().items()):
        mapped.setdefault(f"model-0000{place % 2 + 1}-of-00002.safetensors", {})[name] = array
    for file, some in mapped.items():
        (folder / file).write_bytes(save(some))
    return {name: file for file, some in mapped.items() for name in some}


def index(folder, weight_map):
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))


def test_weights_in_several_files_are_read(tmp_path):
    (tmp_path / "whole").mkdir()
    (tmp_path / "cut").mkdir()
    write(tmp_path / "whole")
    index(tmp_path / "cut", in_two_files(tmp_path / "cut"))
    whole, cut = (load(tmp_path / name).run([[1, 3, 4, 2]]).hidden_states[-1] for name in ("whole", "cut"))
    np.testing.assert_array_equal(whole, cut)


@pytest.mark.parametrize(
    ("weight_map", "says"),
    [
        ({}, "must name one file at least"),
        (None, "must hold a weight_map"),
        ({"a": "../../secret.safetensors"}, "files of its own folder, got '../../secret.safetensors'"),
        ({"a": "/etc/passwd"}, "files of its own folder"),
        ({"a": "pytorch_model.bin"}, "must name .safetensors files"),
        ({"a": 3}, "must name .safetensors files"),
        ({"a": "gone.safetensors"}, "has no gone.safetensors"),
    ],
)
def test_an_index_is_believed_only_as_far_as_it_is_checked(tmp_path, weight_map, says):
    in_two_files(tmp_path)
    index(tmp_path, weight_map)
    refused(tmp_path, says)


def test_paths_that_are_no_folder(tmp_path):
    refused(tmp_path / "nowhere", "there is no folder", str(tmp_path / "nowhere"))
    refused(str(tmp_path / "nul\0"), "there is no folder")
    (tmp_path / "file").write_text("")
    refused(tmp_path / "file", "is a file, not a folder")
    refused(tmp_path / "file" / "inside", "there is no folder")


@pytest.mark.parametrize("name", [None, 3, b"minilm"])
def test_what_is_no_name(name):
    refused(name, "name must be", repr(name))


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("model_type", "gpt2"),
        ("model_type", None),
        ("model_type", ["bert"]),
        ("is_decoder", True),
        ("position_embedding_type", "relative_key"),
        ("num_attention_heads", 3),
        ("num_attention_heads", 0),
        ("num_attention_heads", -2),
        ("num_attention_heads", 2**30),
        ("num_attention_heads", 10**12),
        ("num_hidden_layers", 10**12),
        ("num_hidden_layers", 10**400),
        ("num_attention_heads", 2.0),
        ("num_attention_heads", True),
        ("num_attention_heads", "2"),
        ("num_hidden_layers", None),
        ("num_hidden_layers", 0),
        ("hidden_size", {}),
        ("intermediate_size", "big"),
        ("max_position_embeddings", -1),
        ("vocab_size", [6]),
        ("hidden_act", "swish"),
        ("hidden_act", 3),
        ("layer_norm_eps", "small"),
        ("layer_norm_eps", 0),
        ("layer_norm_eps", float("nan")),
        ("layer_norm_eps", 1e300),
    ],
)
def test_wrong_settings_are_named(tmp_path, setting, value):
    write(tmp_path, config={setting: value})
    refused(tmp_path, str(tmp_path / "config.json"), setting)


@pytest.mark.parametrize(
    "setting", ["num_hidden_layers", "hidden_size", "intermediate_size", "vocab_size", "type_vocab_size"]
)
@pytest.mark.parametrize("value", [16, 2**31 - 2])
def test_sizes_that_the_weights_do_not_have_are_named(tmp_path, setting, value):
    write(tmp_path, config={setting: value})
    refused(tmp_path, "model.safetensors", "encoder.layer.1" if setting == "num_hidden_layers" else "must have shape")


def test_absurd_text_in_config_stays_short(tmp_path):
    write(tmp_path, config={"model_type": "x" * 10_000})
    assert len(refused(tmp_path, "model_type")) < 500


@pytest.mark.parametrize(
    "text", ["[]", "3", "null", '"bert"', "{", "\xff", "[" * 100_000, '{"vocab_size": ' + "9" * 5000]
)
def test_config_that_is_no_json_object(tmp_path, text):
    write(tmp_path)
    (tmp_path / "config.json").write_text(text, "latin-1")
    refused(tmp_path, str(tmp_path / "config.json"), "get the file again")


def test_missing_and_foreign_tensors_are_named(tmp_path):
    for name, value in tensors().items():
        write(tmp_path, tensors={name: None})
        refused(tmp_path, str(tmp_path / "model.safetensors"), f"no tensor {name}")
        write(tmp_path, tensors={name: np.zeros((3, *value.shape), np.float32)})
        refused(tmp_path, str(tmp_path / "model.safetensors"), f"{name} must have shape", "must be of one model")
        write(tmp_path, tensors={name: value.astype(np.int32)})
        refused(tmp_path, str(tmp_path / "model.safetensors"), f"{name} must be one of F32, F16, F64, BF16, got I32")


def _header(**entry):
    name = "embeddings.word_embeddings.weight"
    header = json.dumps({name: {"dtype": "F32", "shape": [6, 8], "data_offsets": [0, 192], **entry}}).encode()
    return len(header).to_bytes(8, "little") + header + bytes(192)


@pytest.mark.parametrize(
    "data",
    [
        b"PK\x03\x04 no safetensors at all",
        (10**15).to_bytes(8, "little") + b"{}",
        (2**64 - 1).to_bytes(8, "little") + b"{}",
        (2).to_bytes(8, "little") + b"[]",
        (100_000).to_bytes(8, "little") + b"[" * 100_000,
        _header(shape=[6, 10**18]),
        _header(shape=[-6, -8]),
        _header(shape=[2**32, 2**32]),
        _header(data_offsets=[0, 10**9]),
        _header(data_offsets=[192, 0]),
        _header(data_offsets=[4, 196]),
        _header(dtype="F99"),
        _header(dtype=None),
    ],
    ids=range(13),
)
def test_headers_that_lie_are_refused(tmp_path, data):
    write(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(data)
    refused(tmp_path, str(tmp_path / "model.safetensors"), "damaged or was cut short", "get the file again")


def test_a_tokenizer_of_another_model_is_refused(tmp_path):
    more = {**WORDS, "arrow": 5, "fruit": 6}
    write(tmp_path, tokenizer={"model": {"type": "WordLevel", "vocab": more, "unk_token": "[UNK]"}})
    refused(tmp_path, str(tmp_path / "tokenizer.json"), "no more tokens", "6, got 7", "must be of one model")


def test_a_tokenizer_that_lies_about_ids_is_refused(tmp_path):
    vocabulary = {**WORDS, "flies": 10**9}
    write(tmp_path, tokenizer={"model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"}})
    model = load(tmp_path)
    assert model.tokens("time").ids == [1, 3, 2]
    with pytest.raises(ModelError, match=r"^tokenizer.json must have ids below .* 6, got 1000000000; "):
        model.tokens("time flies")


def test_a_tokenizer_without_its_unknown_token_says_so(tmp_path):
    write(tmp_path, tokenizer={"model": {"type": "WordLevel", "vocab": WORDS, "unk_token": "[NONE]"}})
    with pytest.raises(ModelError, match=r"^tokenizer.json can't cut this text into tokens \(.*\); get the file again"):
        load(tmp_path).tokens("fruit")


@pytest.mark.parametrize("text", ["{}", "[]", "null", '{"model": 3}'])
def test_a_tokenizer_that_is_none_is_refused(tmp_path, text):
    write(tmp_path)
    (tmp_path / "tokenizer.json").write_text(text)
    refused(tmp_path, str(tmp_path / "tokenizer.json"), "get the file again")
