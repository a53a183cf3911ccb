"""Linear layers, one or several of the same vectors as one product, and splitting vectors into heads."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from eyeline.kernels.products import PackedMatrix
from eyeline.models.checkpoints import Array, StoredMatrix, StoredTensors


class Linear:
    """A linear layer with what follows it, in one pass: activation(x·Wᵀ + b) + residual.

    Its matrix is packed for the kernels at the first product, in the file's own type, and kept so.

    Args:
        parts: the matrices, (outputs, inputs) each; the outputs of several follow one another.
        biases: for each of them (outputs,), or None.
        activation: one of `ACTIVATIONS`; None for none.
        gated: whether the parts are a gate and what it is multiplied with: activation(x·gateᵀ + b) · (x·upᵀ + b).
    """

    def __init__(
        self,
        parts: Sequence[StoredMatrix],
        biases: Sequence[Array | None],
        activation: str | None = None,
        *,
        gated: bool = False,
    ) -> None:
        self.parts, self.biases, self.activation, self.gated = tuple(parts), tuple(biases), activation, gated

    @property
    def outputs(self) -> int:
        """The width of its outputs."""
        return len(self.parts[0].stored) if self.gated else sum(len(part.stored) for part in self.parts)

    def __call__(self, x: Array, *, residual: Array | None = None, out: Array | None = None) -> Array:
        """The layer's outputs, (..., outputs), for x, (..., inputs).

        Args:
            residual: what is added last, (..., outputs).
            out: the memory for the result; may be `residual`.
        """
        return self._packed.times(x, activation=self.activation, residual=residual, out=out)

    def of_heads(self, x: Array, *, residual: Array | None = None, out: Array | None = None) -> Array:
        """The layer's outputs, (B, N, outputs), for the heads' outputs, (B, H, N, D), joined to vectors of H·D."""
        return self._packed.times_heads(x, activation=self.activation, residual=residual, out=out)

    @cached_property
    def _packed(self) -> PackedMatrix:
        stored = [part.stored for part in self.parts]
        if len({(part.dtype, part.dtype.itemsize) for part in stored}) > 1 or stored[0].dtype == np.float64:
            stored = [part.whole for part in self.parts]
        made = PackedMatrix.gated(*stored, *self.biases) if self.gated else PackedMatrix(stored, self.biases)
        for part in self.parts:
            part.release()
        return made


def read_linear(
    tensors: StoredTensors,
    name: str,
    outputs: int,
    inputs: int,
    *,
    bias: bool = True,
    activation: str | None = None,
) -> Linear:
    """Read a linear layer: the matrix `name`.weight, and `name`.bias if `bias`."""
    return read_linears(tensors, {name: outputs}, inputs, bias=bias, activation=activation)


def read_linears(
    tensors: StoredTensors,
    outputs: dict[str, int],
    inputs: int,
    *,
    bias: bool = True,
    activation: str | None = None,
    gated: bool = False,
) -> Linear:
    """Read several linear layers of the same inputs as one; `outputs` has their names, and their numbers of outputs."""
    parts = [tensors.matrix(f"{name}.weight", count, inputs) for name, count in outputs.items()]
    biases = [tensors.vector(f"{name}.bias", count) if bias else None for name, count in outputs.items()]
    return Linear(parts, biases, activation, gated=gated)


def split(x: Array, heads: int) -> Array:
    """(B, N, H·D) → (B, H, N, D), a view."""
    return x.reshape(*x.shape[:2], heads, x.shape[2] // heads).transpose(0, 2, 1, 3)


def split_three(x: Array, heads: int, key_heads: int) -> tuple[Array, Array, Array]:
    """Queries, keys and values side by side, (B, N, (H + 2·G)·D) → (B, H, N, D) and twice (B, G, N, D), views."""
    every = split(x, heads + 2 * key_heads)
    return every[:, :heads], every[:, heads : heads + key_heads], every[:, heads + key_heads :]
