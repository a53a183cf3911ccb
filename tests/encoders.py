"""A tiny encoder with random weights: BERT, of one word a token."""

from __future__ import annotations

import json

import numpy as np
import tokenizers
from safetensors.numpy import save_file

WIDTH, INNER, LAYERS, HEADS, POSITIONS, VOCABULARY = 32, 48, 2, 4, 24, 40


def save_encoder(folder):
    """Its three files; the tokenizer knows the words w2 to w39, and adds no special tokens. Gives the folder."""
    vocabulary = {"[UNK]": 0, "[PAD]": 1} | {f"w{number}": number for number in range(2, VOCABULARY)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, "[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "model_type": "bert",
        "vocab_size": VOCABULARY,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "hidden_size": WIDTH,
        "intermediate_size": INNER,
        "max_position_embeddings": POSITIONS,
    }
    (folder / "config.json").write_text(json.dumps(config))
    shapes = {
        "embeddings.word_embeddings.weight": (VOCABULARY, WIDTH),
        "embeddings.position_embeddings.weight": (POSITIONS, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
    }
    norms = ["embeddings.LayerNorm"]
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}."
        parts = {f"attention.self.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value")}
        parts |= {"attention.output.dense": (WIDTH, WIDTH), "intermediate.dense": (INNER, WIDTH)}
        parts |= {"output.dense": (WIDTH, INNER)}
        for part, shape in parts.items():
            shapes |= {f"{layer}{part}.weight": shape, f"{layer}{part}.bias": shape[:1]}
        norms += [f"{layer}attention.output.LayerNorm", f"{layer}output.LayerNorm"]
    for norm in norms:
        shapes |= {f"{norm}.weight": (WIDTH,), f"{norm}.bias": (WIDTH,)}
    rng = np.random.default_rng(0)
    tensors = {name: 0.3 * rng.standard_normal(shape) for name, shape in shapes.items()}
    save_file({name: x.astype(np.float32) for name, x in tensors.items()}, str(folder / "model.safetensors"))
    return folder
