"""Forward passes of edited models, and what is measured of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eyeline.edits import Edit, Gate
from eyeline.huggingface.editing import edit


def changed_pass(
    model: Any, inputs: Mapping[str, Any], edits: Sequence[Edit], rows: Sequence[int] | None
) -> NDArray[np.float32]:
    """What is measured of one edited forward pass over one text.

    Args:
        model: a model of transformers, in evaluation mode.
        inputs: its inputs, as tensors.
        edits: the edits.
        rows: the tokens whose vectors after the last layer are wanted; None for the last token's logits.

    Returns:
        The vectors, (1, rows, width), or the logits, (1, vocabulary).
    """
    with torch.no_grad(), edit(model, edits):
        made = model(**inputs, output_hidden_states=rows is not None)
    found = made.logits[:, -1] if rows is None else made.hidden_states[-1][:, list(rows)]
    return np.asarray(found.float().cpu().numpy())


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
