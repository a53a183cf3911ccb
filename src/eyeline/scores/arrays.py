"""Parameters of score modifiers, NumPy arrays or torch tensors: checked, and converted for the definitions."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import AttentionShape, namespace
from eyeline.words import worded

#: An array-like, or a torch tensor: the object itself is kept, so that autograd can reach it.
Parameter = Any


def beside(s: Any, x: Any) -> Any:
    """`x` as an array of s's library, on its device. Whole numbers keep their type; others get s's (NumPy: float64)."""
    if namespace(s) is np:
        array = array_of(x)
        return array if array.dtype.kind in "iu" else array.astype(np.float64)
    tensor = sys.modules["torch"].as_tensor(x, device=s.device)
    return tensor.to(s) if tensor.is_floating_point() else tensor


def held(name: str, value: Parameter, axes: tuple[str, ...] | None = None) -> Parameter:
    """Check a parameter's type and axes; it is returned as it is, or as an array if it has no shape."""
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        value = np.asarray(value)
    kind = value.dtype.kind if isinstance(value, np.ndarray) else _kind(str(value.dtype))
    if kind in "bcOSUmM":
        hint = worded("; a mask of booleans is eyeline.Dense(array)") if kind == "b" else ""
        raise ValueError(
            worded("{name} must be real numbers, got {dtype}{hint}", name=name, dtype=value.dtype, hint=hint)
        )
    if axes is not None and len(value.shape) != len(axes):
        raise ValueError(
            worded(
                "{name} must be ({axes}{value}), got shape {shape}",
                name=name,
                axes=", ".join(axes),
                value="," * (len(axes) == 1),
                shape=tuple(value.shape),
            )
        )
    return value


def _kind(dtype: str) -> str:
    """NumPy's kind letter for a torch type: "b" for booleans, "c" for complex numbers, "f" for all others."""
    if "complex" in dtype:
        return "c"
    return "b" if dtype == "torch.bool" else "f"


def array_of(value: Parameter) -> NDArray[Any]:
    """A parameter as a NumPy array, without a copy where possible."""
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        if "bfloat16" in str(value.dtype):
            value = value.float()
    return np.asarray(value)


def finite(name: str, value: Parameter) -> NDArray[np.float64]:
    """A parameter as float64, checked to be finite; it is copied, so it should be small."""
    array = array_of(value).astype(np.float64)
    wrong = array[~np.isfinite(array)]
    if wrong.size:
        raise ValueError(worded("{name} must be finite, got {wrong}", name=name, wrong=wrong[0]))
    return array


def check_heads(name: str, count: int, shape: AttentionShape) -> None:
    if count != shape.heads:
        raise ValueError(
            worded(
                "{name} must have one entry per head ({heads}), got {count}", name=name, heads=shape.heads, count=count
            )
        )
