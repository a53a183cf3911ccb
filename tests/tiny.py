"""A tiny decoder with random weights, and a tokenizer of bytes and a few pairs of them."""

from __future__ import annotations

import json

import numpy as np
import tokenizers
from safetensors.numpy import save_file

LAYERS, HEADS, KEY_HEADS, HEAD_DIM, WIDTH, INNER = 3, 4, 2, 6, 24, 32
PAIRS = [("t", "h"), ("th", "e"), *(("Ġ", letter) for letter in "acfo"), ("a", "n"), ("f", "l"), ("ð", "Ł")]
END = "<end>"


def save_decoder(folder, **changes):
    """Its three files; `changes` are settings of config.json. Gives the folder."""
    byte = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {piece: place for place, piece in enumerate([*byte, *(a + b for a, b in PAIRS)])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, PAIRS))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.add_special_tokens([END])
    tokenizer.save(str(folder / "tokenizer.json"))
    size = tokenizer.get_vocab_size()
    config = {
        "model_type": "llama",
        "vocab_size": size,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KEY_HEADS,
        "head_dim": HEAD_DIM,
        "hidden_size": WIDTH,
        "intermediate_size": INNER,
        "max_position_embeddings": 200,
        "tie_word_embeddings": True,
        "eos_token_id": tokenizer.token_to_id(END),
        **changes,
    }
    (folder / "config.json").write_text(json.dumps(config))
    rng = np.random.default_rng(0)
    shapes = {"embed_tokens": (size, WIDTH)}
    for number in range(LAYERS):
        layer = f"layers.{number}."
        shapes[f"{layer}self_attn.q_proj"] = shapes[f"{layer}self_attn.o_proj"] = (WIDTH, WIDTH)
        shapes[f"{layer}self_attn.k_proj"] = shapes[f"{layer}self_attn.v_proj"] = (KEY_HEADS * HEAD_DIM, WIDTH)
        shapes[f"{layer}mlp.gate_proj"] = shapes[f"{layer}mlp.up_proj"] = (INNER, WIDTH)
        shapes[f"{layer}mlp.down_proj"] = (WIDTH, INNER)
        shapes[f"{layer}input_layernorm"] = shapes[f"{layer}post_attention_layernorm"] = (WIDTH,)
    shapes["norm"] = (WIDTH,)
    tensors = {f"model.{name}.weight": 0.5 * rng.standard_normal(shape) for name, shape in shapes.items()}
    save_file({name: x.astype(np.float32) for name, x in tensors.items()}, str(folder / "model.safetensors"))
    return folder
