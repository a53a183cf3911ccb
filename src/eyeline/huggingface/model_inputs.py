"""A model's inputs: a text's tokens from its tokenizer, and the answer of an encoder-decoder."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from eyeline.huggingface.attaching import models_in
from eyeline.huggingface.errors import HuggingFaceError
from eyeline.words import worded

#: The largest number of tokens in an answer, where the model's own settings have none.
_ANSWER_TOKENS = 64


@dataclass(frozen=True)
class TokenizedInput:
    """A tokenized text.

    Attributes:
        inputs: the model's inputs, each a batch of one text, as lists.
        ids: the token ids.
        pieces: how the tokenizer spells each token.
        offsets: [first, last) of each token in the text, in characters; None where the tokenizer doesn't say.
        special: which tokens the tokenizer added, such as [CLS] and [SEP].
    """

    inputs: dict[str, Any]
    ids: list[int]
    pieces: list[str]
    offsets: list[tuple[int, int]] | None
    special: list[bool]


def tokenized(text: str, tokenizer: Any) -> TokenizedInput:
    """Tokenize a text with any callable that takes a text and returns `input_ids`.

    Args:
        text: one text.
        tokenizer: one of transformers; or a function from a text to a mapping with `input_ids`. Only fast tokenizers of
            transformers report each token's offsets in the text.

    Raises:
        HuggingFaceError: if it returns no `input_ids`, or those of several texts.
    """
    if not callable(tokenizer):
        raise HuggingFaceError(
            worded(
                "tokenizer must be called with a text, got {tokenizer!r:.80}; "
                "AutoTokenizer.from_pretrained(...) loads one",
                tokenizer=tokenizer,
            )
        )
    fast = bool(getattr(tokenizer, "is_fast", False))
    try:
        # Whether a text is too long for the model, its caller says.
        made = tokenizer(text, return_offsets_mapping=fast, return_special_tokens_mask=True, verbose=False)
    except (TypeError, ValueError, NotImplementedError):  # one that takes no such options
        made = tokenizer(text)
    if not isinstance(made, Mapping) or "input_ids" not in made:
        raise HuggingFaceError(
            worded(
                "tokenizer must give a mapping with input_ids, got {type}; "
                "AutoTokenizer.from_pretrained(...) loads one that does",
                type=type(made).__name__,
            )
        )
    lists = {name: _one_text(values) for name, values in made.items()}
    ids = [int(id) for id in lists["input_ids"]]
    offsets, special = lists.pop("offset_mapping", None), lists.pop("special_tokens_mask", None)
    if special is None:
        special = np.isin(ids, list(getattr(tokenizer, "all_special_ids", ()))).tolist()
    return TokenizedInput(
        {name: [values] for name, values in lists.items()},
        ids,
        pieces_of(ids, tokenizer),
        None if offsets is None else [(int(first), int(last)) for first, last in offsets],
        [bool(one) for one in special],
    )


def pieces_of(ids: Sequence[int], tokenizer: Any) -> list[str]:
    """The tokenizer's spelling of tokens; their ids where it has none."""
    spell = getattr(tokenizer, "convert_ids_to_tokens", None)
    return [str(piece) for piece in (ids if spell is None else spell(list(ids)))]


def _one_text(values: Any) -> list[Any]:
    """The numbers of one text, from a batch of one or without a batch axis, lists or tensors."""
    found = values.tolist() if hasattr(values, "tolist") else list(values)
    if found and isinstance(found[0], (list, np.ndarray, Tensor)):
        if len(found) != 1:
            raise HuggingFaceError(
                worded("text must be one at a time, got {count} of them from the tokenizer", count=len(found))
            )
        return list(found[0])
    return found


def the_model(module: nn.Module) -> Any:
    """The only model of transformers that a module is or contains.

    Raises:
        TypeError: if it contains none, or several.
    """
    found = models_in(module)
    if len(found) > 1:
        names = ", ".join(type(one).__name__ for one in found)
        raise TypeError(
            worded("model must be or hold one model of transformers, got {names}; record each by itself", names=names)
        )
    return found[0]


def as_tensors(model: nn.Module, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Inputs as tensors on the model's device, without inputs that the model doesn't take."""
    device = next(model.parameters()).device
    parameters = inspect.signature(model.forward).parameters
    takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())
    tensors = {}
    for name, value in inputs.items():
        if not takes_any and name not in parameters:
            continue
        if isinstance(value, (list, np.ndarray)):
            value = torch.as_tensor(np.asarray(value))
        tensors[name] = value.to(device) if isinstance(value, Tensor) else value
    _check_ids(model, tensors.get("input_ids"))
    return tensors


def _check_ids(model: Any, ids: Any) -> None:
    """Whether a model has a vector for each of these tokens: the tokenizer of another model may give more."""
    if not isinstance(ids, Tensor) or ids.is_meta or not ids.numel():
        return
    try:
        vectors = model.get_input_embeddings()
    except NotImplementedError:  # such a model keeps its vectors elsewhere
        return
    if isinstance(vectors, nn.Embedding):
        largest, count = int(ids.max()), vectors.num_embeddings
        if largest >= count:
            raise HuggingFaceError(
                worded(
                    "tokens must be below {count}, the size of the model's vocabulary, got {largest}; the "
                    "tokenizer must be the model's own",
                    count=count,
                    largest=largest,
                )
            )


def answer_ids(model: Any, inputs: Mapping[str, Any]) -> list[int]:
    """The decoder's input tokens for an encoder-decoder's own answer: all but the last."""
    settings = model.generation_config
    unsaid = settings.max_length is None and settings.max_new_tokens is None
    limit = {"max_new_tokens": _ANSWER_TOKENS} if unsaid else {}
    with torch.no_grad():
        made = model.generate(**inputs, do_sample=False, num_beams=1, **limit)
    ids: list[int] = [int(id) for id in made[0]]
    return ids[:-1] if len(ids) > 1 else ids


def target_ids(model: Any, ids: Sequence[int]) -> list[int]:
    """The decoder's input tokens for a target: its start token, then the target without its last token.

    Raises:
        HuggingFaceError: if the model's configuration has no start token.
    """
    start = getattr(model.config, "decoder_start_token_id", None)
    if start is None:
        raise HuggingFaceError(
            worded(
                "model.config.decoder_start_token_id must be set, got None; give decoder_input_ids in a dict of inputs"
            )
        )
    return [int(start), *ids[:-1]]
