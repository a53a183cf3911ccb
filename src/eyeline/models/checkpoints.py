"""Reading a model's folder: its three files, and the tensors of model.safetensors, believed only as far as checked."""

from __future__ import annotations

import json
import os
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.models.errors import ModelError

Array = NDArray[np.float32]
_HERE = "a model's folder holds config.json, model.safetensors and tokenizer.json"


def check_folder(folder: Path) -> None:
    """Raise `ModelError` unless `folder` is a folder with the three files of a model."""
    if not folder.exists():
        raise ModelError(f"there is no folder {folder}; {_HERE}")
    if not folder.is_dir():
        raise ModelError(f"{folder} is a file, not a folder; give the folder: {_HERE}")
    if not os.path.isfile(folder / "config.json"):
        raise ModelError(f"{folder} has no config.json; {_HERE}")
    if not os.path.isfile(folder / "model.safetensors"):
        raise ModelError(f"{folder} has {_instead(folder)}")
    if not os.path.isfile(folder / "tokenizer.json"):
        make = "AutoTokenizer.from_pretrained(folder).save_pretrained(folder)"
        raise ModelError(f"{folder} has no tokenizer.json; {_HERE} (transformers makes it: {make})")


def _instead(folder: Path) -> str:
    """What there is in place of model.safetensors, and what to do about it."""
    if os.path.isfile(folder / "model.safetensors.index.json"):
        save = 'save_pretrained(new_folder, max_shard_size="100GB")'
        return f"its weights in several files, which Eyeline doesn't read; save them as one model.safetensors ({save})"
    if pickled := sorted(file.name for file in folder.iterdir() if file.suffix in (".bin", ".pt", ".pth", ".ckpt")):
        convert = "AutoModel.from_pretrained(folder).save_pretrained(new_folder)"
        return (
            f"{pickled[0]} but no model.safetensors; Eyeline never unpickles, since a pickle can run any code: if you "
            f"trust it, convert it with transformers ({convert})"
        )
    return f"no model.safetensors; {_HERE}"


#: Up to so many rows are multiplied by a part of a matrix at a time, and so many of them together, so that no product
#: takes more multiplications than OpenBLAS does in the thread that asks: threads that wait for each other on a busy
#: machine took twenty times as long.
_FEW, _TOGETHER, _ALONE = 64, 16, 2**18


class Matrix:
    """A matrix as a file holds it, in any of its types. Float32 is made of it when it is used, which takes a moment.

    Attributes:
        stored: (rows, columns), a view of the file.
    """

    def __init__(self, stored: NDArray[Any]) -> None:
        self.stored = stored
        self._used = False

    def times(self, x: Array) -> Array:
        """x·Wᵀ for x, (rows, columns). For few rows, float32 is made part by part the first time, and not kept."""
        if len(x) > _FEW:
            return np.asarray(x @ self.whole.T)
        source = self.whole if self._used else self.stored
        self._used = True
        y = np.empty((len(x), len(source)), np.float32)
        part = max(_ALONE // (min(len(x), _TOGETHER) * x.shape[1] or 1), 1)
        for first in range(0, len(source), part):
            some = _float32(source[first : first + part]).T
            for row in range(0, len(x), _TOGETHER):
                rows = slice(row, row + _TOGETHER)
                np.matmul(x[rows], some, out=y[rows, first : first + part])
        return y

    def __getitem__(self, rows: NDArray[np.int64]) -> Array:
        """Some rows, float32. Only they ever leave the disk."""
        return _float32(self.stored[rows])

    @cached_property
    def whole(self) -> Array:
        """The whole, float32, kept from then on; a view of the file if that is what the file holds."""
        return _float32(self.stored)


_TYPES = {"F32": "<f4", "F16": "<f2", "F64": "<f8", "BF16": "<u2"}


def _float32(stored: NDArray[Any]) -> Array:
    if stored.dtype == np.uint16:
        # bfloat16, the upper half of a float32, which NumPy has no type for.
        stored = (stored.astype(np.uint32) << 16).view(np.float32)
    return np.require(stored, np.float32, "A")


class Checkpoint:
    """The tensors of a model.safetensors, mapped from the file.

    Each is asked for by name and shape, and a `ModelError` says which is missing or has another shape.
    """

    def __init__(self, path: Path, prefix: str = "") -> None:
        from safetensors import SafetensorError, safe_open

        self.path = path
        try:
            # The library's own parser checks the header against the file: sizes, overlaps, holes, the end.
            with safe_open(path, "np"):
                pass
            with open(path, "rb") as file:
                length = int.from_bytes(file.read(8), "little")
                header = json.loads(file.read(length))
            # Mapped, not read: only the rows of the embeddings that a text needs ever leave the disk.
            self._data = np.asarray(np.memmap(path, np.uint8, "r"))[8 + length :]
        except (SafetensorError, ValueError, RecursionError) as error:
            reason = str(error).removeprefix("Error while deserializing header: ")
            raise ModelError(f"{path} is damaged or was cut short ({reason}); get the file again") from None
        except OSError as error:
            raise ModelError(f"{path} can't be read: {error.strerror or error}") from None
        header.pop("__metadata__", None)
        # A file with a task head prefixes its other tensors; old ones call a norm's weights gamma and beta.
        self._header = {_current(name.removeprefix(prefix)): entry for name, entry in header.items()}

    def __contains__(self, name: str) -> bool:
        return name in self._header

    def vector(self, name: str, size: int) -> Array:
        """A vector, float32."""
        return _float32(self._stored(name, size))

    def matrix(self, name: str, rows: int, columns: int) -> Matrix:
        """A matrix, as the file holds it."""
        return Matrix(self._stored(name, rows, columns))

    def _stored(self, name: str, *shape: int) -> NDArray[Any]:
        entry = self._header.get(name)
        if entry is None:
            raise ModelError(f"{self.path} has no tensor {name}, which config.json's model needs; get the model again")
        if tuple(entry["shape"]) != shape:
            raise ModelError(
                f"{self.path}: {name} must have shape {shape} by config.json, got {tuple(entry['shape'])}; the two "
                f"files must be of one model"
            )
        kind = entry["dtype"]
        if kind not in _TYPES:
            known = ", ".join(_TYPES)
            raise ModelError(f"{self.path}: {name} must be one of {known}, got {kind}; save the model in one of these")
        first, last = entry["data_offsets"]
        return self._data[first:last].view(_TYPES[kind]).reshape(shape)

    def shape(self, name: str, otherwise: tuple[int, int]) -> tuple[int, int]:
        """The shape of a matrix whose size config.json doesn't say; `otherwise` if there is no matrix of that name."""
        shape = self._header.get(name, {"shape": ()})["shape"]
        return (shape[0], shape[1]) if len(shape) == 2 else otherwise


def _current(name: str) -> str:
    return name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
