"""Forward passes of edited models, and what is measured of them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eyeline.edits import Edit, Gate
from eyeline.huggingface.editing import edit, edit_each


def changed_pass(
    model: Any, inputs: Mapping[str, Any], each: Sequence[Sequence[Edit]], rows: Sequence[int] | None
) -> NDArray[np.float32]:
    """What is measured of one forward pass over a batch of copies of a text, each with edits of its own.

    Args:
        model: a model of transformers, in evaluation mode.
        inputs: its inputs, as tensors, of one text.
        each: the edits of each copy, B lists.
        rows: the tokens whose vectors after the last layer are wanted; None for the last token's logits.

    Returns:
        The vectors, (B, rows, width), or the logits, (B, vocabulary).
    """
    wanted: dict[str, Any] = {"output_hidden_states": True}
    if rows is None:
        wanted = {"logits_to_keep": 1} if "logits_to_keep" in inspect.signature(model.forward).parameters else {}
    with torch.no_grad(), edit_each(model, each):
        made = model(**_copies(inputs, len(each)), **wanted)
    found = made.logits[:, -1] if rows is None else made.hidden_states[-1][:, list(rows)]
    return np.asarray(found.float().cpu().numpy())


def _copies(inputs: Mapping[str, Any], count: int) -> dict[str, Any]:
    """The inputs of a batch of copies of a text."""
    return {
        name: x.expand(count, *x.shape[1:]) if isinstance(x, Tensor) and x.ndim > 1 and len(x) == 1 else x
        for name, x in inputs.items()
    }


def gate_slopes(
    model: Any,
    inputs: Mapping[str, Any],
    edits: Sequence[Edit],
    sizes: tuple[int, int],
    id: int,
    rival: int | None,
) -> NDArray[np.float64]:
    """The slope of the next token's log-probability along each head's gate, where the gate is 1: one backward pass.

    Args:
        model, inputs, edits: as for `changed_pass`.
        sizes: the numbers of layers and of heads.
        id: the next token.
        rival: the token from whose log-probability the difference is taken, if any.

    Returns:
        (L, H).
    """
    gates = torch.ones(sizes, device=next(model.parameters()).device, requires_grad=True)
    places = [(layer, head) for layer in range(sizes[0]) for head in range(sizes[1])]
    whole = [*edits, *(Gate(layer=layer, head=head, by=gates[layer, head]) for layer, head in places)]
    with torch.enable_grad(), edit(model, whole):
        logits: Tensor = model(**inputs).logits[0, -1].double().log_softmax(dim=-1)
        measure = logits[id] if rival is None else logits[id] - logits[rival]
        (slopes,) = torch.autograd.grad(measure, [gates])
    return np.asarray(slopes.double().cpu().numpy())
