"""A tokenizer as compact data, for a program that tokenizes without the tokenizers library: the live page."""

from __future__ import annotations

import json
from typing import Any

from eyeline.models.character_tables import bert_characters, word_kinds
from eyeline.models.errors import ModelError
from eyeline.models.model import Model
from eyeline.words import worded

#: How a tokenizer of letters, that of `dates`, cuts a text: each character by itself.
_LETTERS = {"type": "Split", "pattern": {"Regex": r"[\s\S]"}, "behavior": "Isolated", "invert": False}


def tokenizer_data(model: Model) -> dict[str, Any]:
    """The tokenizer of a model as data for JSON: BERT's, of pieces of words, or one of letters.

    Returns:
        `kind` "pieces" or "letters"; `name`, the model's, and `positions`, the most tokens that it takes; `vocabulary`,
        the pieces in the order of their ids, one a line; `unknown`, the id for what it lacks; `words`, the kinds of
        characters (`character_tables.word_kinds`). Of pieces, also `prefix`, of one that continues a word; `longest`,
        how many characters a word may have; `before` and `after`, the ids around a text; `whole`, those of pieces that
        are found in a text as typed; `characters` (`character_tables.bert_characters`).

    Raises:
        ModelError: if the tokenizer is another.

    >>> from eyeline.models import load
    >>> data = tokenizer_data(load("minilm"))
    >>> data["before"], data["after"], data["positions"], data["vocabulary"].split(chr(10))[2023:2026]
    ([101], [102], 512, ['this', 'are', 'not'])
    """
    stored = json.loads(model.tokenizer.to_str())
    vocabulary = stored["model"].get("vocab")
    normalizer, cut, around = stored["normalizer"], stored["pre_tokenizer"], stored["post_processor"]
    kinds = tuple(part and part["type"] for part in (stored["model"], normalizer, cut, around))
    special = [(token["id"], token["content"]) for token in stored["added_tokens"]]
    unlike = [token for token in stored["added_tokens"] if token["normalized"] or token["single_word"]]
    ids = {} if not isinstance(vocabulary, dict) else {**vocabulary, **{content: id for id, content in special}}
    pieces = sorted(ids, key=lambda piece: ids[piece])
    if sorted(ids.values()) != list(range(len(ids))) or any("\n" in piece for piece in pieces) or unlike:
        raise _refused(model, worded("a vocabulary that can't be written line by line"))
    data = {
        "name": model.name,
        "positions": model.config.positions,
        "vocabulary": "\n".join(pieces),
        "unknown": model.unknown,
        "words": word_kinds(),
    }
    if kinds == ("WordLevel", None, "Split", None) and cut == _LETTERS and not special:
        return {"kind": "letters", **data}
    if kinds != ("WordPiece", "BertNormalizer", "BertPreTokenizer", "TemplateProcessing"):
        raise _refused(model, ", ".join(kind or worded("nothing") for kind in kinds))
    template = [next(iter(part.items())) for part in around["single"]]
    middle = next(place for place, (kind, _) in enumerate(template) if kind == "Sequence")
    added = [around["special_tokens"][part["id"]]["ids"] if kind == "SpecialToken" else [] for kind, part in template]
    strip = normalizer["strip_accents"]
    return {
        "kind": "pieces",
        **data,
        "prefix": stored["model"]["continuing_subword_prefix"],
        "longest": stored["model"]["max_input_chars_per_word"],
        "before": [id for ids in added[:middle] for id in ids],
        "after": [id for ids in added[middle:] for id in ids],
        "whole": sorted(id for id, _ in special),
        "characters": bert_characters(
            clean=normalizer["clean_text"],
            ideographs=normalizer["handle_chinese_chars"],
            strip=normalizer["lowercase"] if strip is None else strip,
            lowercase=normalizer["lowercase"],
        ),
    }


def _refused(model: Model, got: str) -> ModelError:
    return ModelError(
        worded(
            "{path} must be a tokenizer like BERT's, or one of letters, for a page that tokenizes by itself, got "
            "{got}; take minilm or dates, or run `eyeline view`, which tokenizes in Python",
            path=model.source / "tokenizer.json",
            got=got,
        )
    )
