"""Linear layers, and splitting vectors into heads, for encoders and decoders."""

from __future__ import annotations

from dataclasses import dataclass

from eyeline.models.checkpoints import Array, StoredMatrix, StoredTensors


@dataclass(frozen=True)
class Linear:
    """A linear layer: x·Wᵀ + b, or x·Wᵀ if the bias is None."""

    weight: StoredMatrix
    bias: Array | None

    def __call__(self, x: Array) -> Array:
        # All tokens of all texts in one product.
        y = self.weight.times(x.reshape(-1, x.shape[-1]))
        if self.bias is not None:
            y += self.bias
        return y.reshape(*x.shape[:-1], y.shape[-1])


def read_linear(tensors: StoredTensors, name: str, outputs: int, inputs: int, *, bias: bool = True) -> Linear:
    """Read a linear layer: the matrix `name`.weight, and `name`.bias if `bias`."""
    weight = tensors.matrix(f"{name}.weight", outputs, inputs)
    return Linear(weight, tensors.vector(f"{name}.bias", outputs) if bias else None)


def split(x: Array, heads: int) -> Array:
    """(B, N, H·D) → (B, H, N, D)."""
    return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def join(x: Array) -> Array:
    """(B, H, N, D) → (B, N, H·D)."""
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)
