"""Converts a GGUF file, the format of llama.cpp, to a model's folder: float16 weights, config.json, tokenizer.json.

The `gguf` library dequantises the numbers. This module undoes the differences between the two layouts.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.models.catalogue import CONVERTED, CONVERTER, MADE, Entry
from eyeline.models.errors import ModelError
from eyeline.words import worded

# The tensors of layer {}: their names in GGUF, and in transformers.
_LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_OUTSIDE = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
# The supported kind of file, by these fields: architecture, tokenizer, and no token added at the beginning.
_KNOWN = {
    "general.architecture": "llama",
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "smollm",
    "tokenizer.ggml.add_bos_token": False,
}
_CONTROL = 3  # the type of special tokens in tokenizer.ggml.token_type: text becomes one only if it spells it out


def convert(entry: Entry, source: Path, folder: Path, say: Callable[[str], None]) -> None:
    """Convert `source`, a GGUF file of a Llama with byte-level BPE, to the files of a model in `folder`.

    A record of the source and of the files' hashes is written beside them, for `copies.fault`.

    Args:
        entry: the model, for its name and the published hashes.
        source: the GGUF file.
        folder: the folder to write to.
        say: called with a line of text at each tenth of the work.
    """
    import gguf
    from safetensors.numpy import save

    reader = gguf.GGUFReader(source)

    def field(name: str) -> Any:
        return reader.fields[name].contents()

    known = {name: field(name) for name in _KNOWN}
    if known != _KNOWN:
        raise ModelError(
            worded(
                "{source} must be a GGUF file of {KNOWN} to be converted, got {known}",
                source=source.name,
                KNOWN=_KNOWN,
                known=known,
            )
        )
    config = _config(field, {tensor.name for tensor in reader.tensors})
    total, done, reported = sum(math.prod(tensor.shape.tolist()) for tensor in reader.tensors), 0, 0
    tensors = {}
    for tensor in reader.tensors:
        name, _, kind = tensor.name.rpartition(".")
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        if name.endswith((".attn_q", ".attn_k")):
            heads = config["num_attention_heads" if name.endswith("q") else "num_key_value_heads"]
            values = halves_together(values, heads)
        # Vectors stay float32: they are small, and were never quantised.
        tensors[f"{_theirs(name)}.{kind}"] = np.ascontiguousarray(values, np.float16 if values.ndim > 1 else np.float32)
        done += values.size
        if (tenths := 10 * done // total) > reported:
            reported = tenths
            say(worded("converting {name}: {percent}%", name=entry.name, percent=10 * tenths))
    (folder / "model.safetensors").write_bytes(save(tensors, {"format": "pt"}))
    write(folder / "config.json", config)
    tokenizer = _tokenizer(field)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    write(folder / "tokenizer_config.json", _tokenizer_config(field, config))
    record(entry, folder)


def record(entry: Entry, folder: Path) -> None:
    """Write the record of a conversion beside its files: the source, and their sizes and hashes."""
    of = {name: file.sha256 for name, file in entry.files.items()}
    files = {name: _size_and_hash(folder / name) for name in MADE}
    write(folder / CONVERTED, {"converter": CONVERTER, "of": of, "files": files})


def halves_together(rows: NDArray[np.float32], heads: int) -> NDArray[np.float32]:
    """Reorder a query or key matrix's rows, within each head, from llama.cpp's order to transformers'.

    Rotary positions rotate pairs of a head's numbers. llama.cpp pairs neighbours, transformers the first half with the
    second, so llama.cpp's row 2i becomes row i, and its row 2i + 1 becomes row D/2 + i.

    >>> halves_together(np.arange(4, dtype=np.float32)[:, None], heads=1)[:, 0]
    array([0., 2., 1., 3.], dtype=float32)
    """
    paired = rows.reshape(heads, -1, 2, rows.shape[-1])
    return paired.swapaxes(1, 2).reshape(rows.shape)


def _theirs(name: str) -> str:
    if name in _OUTSIDE:
        return _OUTSIDE[name]
    _, number, part = name.split(".")
    return f"model.layers.{number}.{_LAYER[part]}"


def _config(field: Callable[[str], Any], names: set[str]) -> dict[str, Any]:
    """config.json, as transformers writes it."""
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "dtype": "float16",
        "vocab_size": field("llama.vocab_size"),
        "max_position_embeddings": field("llama.context_length"),
        "num_hidden_layers": field("llama.block_count"),
        "num_attention_heads": field("llama.attention.head_count"),
        "num_key_value_heads": field("llama.attention.head_count_kv"),
        "hidden_size": field("llama.embedding_length"),
        "intermediate_size": field("llama.feed_forward_length"),
        "hidden_act": "silu",
        # Stored as float32; rounded back to the original 1e-05.
        "rms_norm_eps": float(f"{field('llama.attention.layer_norm_rms_epsilon'):.6g}"),
        "rope_theta": field("llama.rope.freq_base"),
        "tie_word_embeddings": "output.weight" not in names,
        "bos_token_id": field("tokenizer.ggml.bos_token_id"),
        "eos_token_id": field("tokenizer.ggml.eos_token_id"),
        "pad_token_id": field("tokenizer.ggml.padding_token_id"),
    }


def _tokenizer(field: Callable[[str], Any]) -> Any:
    """The tokenizer, from the file's vocabulary and merges. It adds no token at the beginning, as the file says."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    pieces = field("tokenizer.ggml.tokens")
    merges = [tuple(merge.split(" ", 1)) for merge in field("tokenizer.ggml.merges")]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    unknown = pieces[field("tokenizer.ggml.unknown_token_id")]
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, unk_token=unknown))
    # Digits one by one, then GPT-2's pattern, ByteLevel's default.
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    kinds = field("tokenizer.ggml.token_type")
    control = [piece for piece, kind in zip(pieces, kinds, strict=True) if kind == _CONTROL]
    tokenizer.add_special_tokens([AddedToken(piece, special=True, normalized=False) for piece in control])
    return tokenizer


def _tokenizer_config(field: Callable[[str], Any], config: dict[str, Any]) -> dict[str, Any]:
    """tokenizer_config.json, with which transformers uses tokenizer.json unchanged."""
    pieces = field("tokenizer.ggml.tokens")
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": pieces[config["bos_token_id"]],
        "eos_token": pieces[config["eos_token_id"]],
        "pad_token": pieces[config["pad_token_id"]],
        "unk_token": pieces[field("tokenizer.ggml.unknown_token_id")],
        "model_max_length": config["max_position_embeddings"],
        "clean_up_tokenization_spaces": False,
        "chat_template": field("tokenizer.chat_template"),
    }


def write(path: Path, data: dict[str, Any]) -> None:
    """Write one of a model's JSON files."""
    path.write_text(json.dumps(data, indent=1) + "\n", "utf-8")


def _size_and_hash(path: Path) -> tuple[int, str]:
    with open(path, "rb") as opened:
        return path.stat().st_size, hashlib.file_digest(opened, "sha256").hexdigest()
