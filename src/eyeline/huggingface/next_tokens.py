"""Generate text with a causal language model of transformers; a function of the caller's chooses each token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import GenerationConfig, LogitsProcessor


class _Chooser(LogitsProcessor):
    """Sets the logits of all tokens but the chosen one to -inf."""

    def __init__(self, choose: Callable[[NDArray[np.float32]], int]) -> None:
        self._choose = choose

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        chosen = self._choose(scores[0].float().cpu().numpy())
        left = torch.full_like(scores, -torch.inf)
        left[0, chosen] = 0
        return left


def generate_by(
    model: Any, ids: list[int], count: int, choose: Callable[[NDArray[np.float32]], int], ends: frozenset[int]
) -> None:
    """Generate tokens after a text.

    Args:
        model: a causal language model, in evaluation mode.
        ids: the text's token ids.
        count: the largest number of new tokens; generation stops after a token of `ends`.
        choose: returns the next token from the logits, (vocabulary,).
        ends: the end-of-text tokens.
    """
    given = torch.tensor([ids], device=next(model.parameters()).device)
    settings = GenerationConfig(  # type: ignore[no-untyped-call]
        max_new_tokens=count, do_sample=False, num_beams=1, eos_token_id=sorted(ends) or None, pad_token_id=0
    )
    with torch.no_grad():
        model.generate(
            input_ids=given,
            attention_mask=torch.ones_like(given),
            generation_config=settings,
            logits_processor=[_Chooser(choose)],
        )
