"""Parameters of scores as they are given, and as a definition needs them: on NumPy arrays or torch tensors alike."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import AttentionShape, namespace

#: An array-like, or a torch tensor: it is held as it was given, so that gradients can find it.
Parameter = Any


def beside(s: Any, x: Any) -> Any:
    """`x` in a form that can be computed with `s`: whole numbers as they are, others of its type (float64 in NumPy)."""
    if namespace(s) is np:
        array = array_of(x)
        return array if array.dtype.kind in "iu" else array.astype(np.float64)
    tensor = sys.modules["torch"].as_tensor(x, device=s.device)
    return tensor.to(s) if tensor.is_floating_point() else tensor


def held(name: str, value: Parameter, axes: tuple[str, ...] | None = None) -> Parameter:
    """A parameter as it was given, or an array of it if it has no shape; it must have these axes."""
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        value = np.asarray(value)
    kind = value.dtype.kind if isinstance(value, np.ndarray) else _kind(str(value.dtype))
    if kind in "bcOSUmM":
        hint = "; a mask of booleans is eyeline.Dense(array)" if kind == "b" else ""
        raise ValueError(f"{name} must be real numbers, got {value.dtype}{hint}")
    if axes is not None and len(value.shape) != len(axes):
        raise ValueError(f"{name} must be ({', '.join(axes)}{',' * (len(axes) == 1)}), got shape {tuple(value.shape)}")
    return value


def _kind(dtype: str) -> str:
    """NumPy's letter for torch's booleans and complex numbers; nothing for others."""
    if "complex" in dtype:
        return "c"
    return "b" if dtype == "torch.bool" else "f"


def array_of(value: Parameter) -> NDArray[Any]:
    """A parameter as a NumPy array, without a copy where that can be."""
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        if "bfloat16" in str(value.dtype):
            value = value.float()
    return np.asarray(value)


def finite(name: str, value: Parameter) -> NDArray[np.float64]:
    """A small parameter as float64; it must be finite."""
    array = array_of(value).astype(np.float64)
    wrong = array[~np.isfinite(array)]
    if wrong.size:
        raise ValueError(f"{name} must be finite, got {wrong[0]}")
    return array


def check_heads(name: str, count: int, shape: AttentionShape) -> None:
    if count != shape.heads:
        raise ValueError(f"{name} must have one entry per head ({shape.heads}), got {count}")
