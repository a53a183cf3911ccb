"""The matrix product that comes before attention in a model, in the threads of the library that makes it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from eyeline.kernels.products import PackedMatrix


def array_product(rows: int, inputs: int, outputs: int) -> Callable[[], object]:
    """A product (rows, inputs) · (inputs, outputs) of arrays as our models make it, float32."""
    rng = np.random.default_rng(0)
    x, matrix = (rng.standard_normal(shape, dtype=np.float32) for shape in ((rows, inputs), (outputs, inputs)))
    packed = PackedMatrix([matrix], [None])
    return lambda: packed.times(x)


def torch_product(rows: int, inputs: int, outputs: int, dtype: str = "float32") -> Callable[[], object]:
    """The same of torch tensors, as `torch.nn.Linear` makes it, without gradients."""
    import torch

    chosen = getattr(torch, dtype)
    x, matrix = (torch.randn(shape, dtype=chosen) for shape in ((rows, inputs), (outputs, inputs)))
    return torch.no_grad()(lambda: torch.nn.functional.linear(x, matrix))
