"""Going on with a text by a causal language model of transformers, one token at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray


def next_tokens(
    model: Any, ids: list[int], count: int, choose: Callable[[NDArray[np.float32]], int], ends: frozenset[int]
) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """The tokens that a model goes on with.

    Args:
        model: a causal language model, in evaluation mode.
        ids: the text's tokens.
        count: how many to add at most; one of `ends`, if it comes, is the last.
        choose: gives a token by logits, (vocabulary,).
        ends: the tokens that end a text.

    Yields:
        Each new token, and the logits that it was chosen by.
    """
    device = next(model.parameters()).device
    given, cache = torch.tensor([ids], device=device), None
    for _ in range(count):
        with torch.no_grad():
            out = model(input_ids=given, past_key_values=cache, use_cache=True)
        cache = out.past_key_values
        logits = out.logits[0, -1].float().cpu().numpy()
        chosen = choose(logits)
        yield chosen, logits
        if chosen in ends:
            return
        given = torch.tensor([[chosen]], device=device)
