"""What a change of the scores is, and the parameters it may have."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import AttentionShape
from eyeline.scores.lowered import Step

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Array = NDArray[np.float64]
#: An array-like, or a torch tensor: it is held as it was given, so that gradients can find it.
Parameter = Any


class Score:
    """One change of the scores, on its way from q·k · scale to the softmax. It is a frozen dataclass."""

    def apply(self, s: Array, problem: AttentionShape) -> Array:
        """Its definition: the changed scores, float64, of all the scores (B, H, N, M)."""
        raise NotImplementedError

    def lower(self, problem: AttentionShape) -> Step:
        """The same as the kernels see it."""
        raise NotImplementedError

    def parameters(self) -> dict[str, Parameter]:
        """What may be learned of it, by name, as it was given."""
        return {}

    def with_parameters(self, parameters: dict[str, Parameter]) -> Self:
        """The same change with other parameters, of the same shapes."""
        this: DataclassInstance = self  # type: ignore[assignment]
        return replace(this, **parameters)  # type: ignore[return-value]

    def pull_back(self, gradient: NDArray[Any], problem: AttentionShape) -> dict[str, Array]:
        """The gradients of the parameters, by name, from that of the array of the step it lowers to."""
        return {}


def held(name: str, value: Parameter, axes: tuple[str, ...] | None = None) -> Parameter:
    """A parameter as it was given, or an array of it if it has no shape; it must have these axes."""
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        value = np.asarray(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "bcOSUmM":
        hint = "; a mask of booleans is eyeline.Dense(array)" if value.dtype.kind == "b" else ""
        raise ValueError(f"{name} must be real numbers, got {value.dtype}{hint}")
    if axes is not None and len(value.shape) != len(axes):
        raise ValueError(f"{name} must be ({', '.join(axes)}{',' * (len(axes) == 1)}), got shape {tuple(value.shape)}")
    return value


def array_of(value: Parameter) -> NDArray[Any]:
    """A parameter as a NumPy array, without a copy where that can be."""
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        if "bfloat16" in str(value.dtype):
            value = value.float()
    return np.asarray(value)


def finite(name: str, value: Parameter) -> Array:
    """A small parameter as float64; it must be finite."""
    array = array_of(value).astype(np.float64)
    wrong = array[~np.isfinite(array)]
    if wrong.size:
        raise ValueError(f"{name} must be finite, got {wrong[0]}")
    return array


def check_heads(name: str, count: int, problem: AttentionShape) -> None:
    if count != problem.heads:
        raise ValueError(f"{name} must have one entry per head ({problem.heads}), got {count}")
