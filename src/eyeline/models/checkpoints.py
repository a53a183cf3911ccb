"""Reading a model's folder: its files, and the tensors of its weights, with every size and name checked."""

from __future__ import annotations

import json
import os
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.models.errors import ModelError
from eyeline.words import worded

Array = NDArray[np.float32]
_HERE = "a model's folder holds config.json, model.safetensors and tokenizer.json"


def check_folder(folder: Path) -> None:
    """Check that `folder` is a folder with the three files of a model; raises `ModelError` if not."""
    if not folder.exists():
        raise ModelError(f"there is no folder {folder}; {_HERE}")
    if not folder.is_dir():
        raise ModelError(f"{folder} is a file, not a folder; give the folder: {_HERE}")
    if not os.path.isfile(folder / "config.json"):
        raise ModelError(f"{folder} has no config.json; {_HERE}")
    if not weights_file(folder).is_file():
        raise ModelError(f"{folder} has {_instead(folder)}")
    if not os.path.isfile(folder / "tokenizer.json"):
        make = "AutoTokenizer.from_pretrained(folder).save_pretrained(folder)"
        raise ModelError(f"{folder} has no tokenizer.json; {_HERE} (transformers makes it: {make})")


def weights_file(folder: Path) -> Path:
    """The file of a folder's weights: model.safetensors, or the index of a sharded checkpoint."""
    index = folder / "model.safetensors.index.json"
    whole = folder / "model.safetensors"
    return index if index.is_file() and not whole.is_file() else whole


def _instead(folder: Path) -> str:
    """The files found in place of model.safetensors, and the advice, for an error message."""
    if pickled := sorted(file.name for file in folder.iterdir() if file.suffix in (".bin", ".pt", ".pth", ".ckpt")):
        convert = "AutoModel.from_pretrained(folder).save_pretrained(new_folder)"
        return (
            f"{pickled[0]} but no model.safetensors; Eyeline never unpickles, since a pickle can run any code: if you "
            f"trust it, convert it with transformers ({convert})"
        )
    return f"no model.safetensors; {_HERE}"


#: Up to _FEW rows are multiplied by a matrix part by part, _TOGETHER rows at a time, so that no product has more than
#: _ALONE multiplications, which OpenBLAS runs in the calling thread: on a busy machine, its threads wait for each other
#: and took twenty times as long.
_FEW, _TOGETHER, _ALONE = 64, 16, 2**18


class StoredMatrix:
    """A matrix in a file, in the file's own type; it is converted to float32 on use.

    Attributes:
        stored: (rows, columns), a view of the mapped file.
    """

    def __init__(self, stored: NDArray[Any]) -> None:
        self.stored = stored
        self._used = False

    def times(self, x: Array) -> Array:
        """x·Wᵀ for x, (rows, columns). For few rows, the matrix is converted part by part, and the result not kept."""
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
        """Some rows, float32. Only these are read from the disk."""
        return _float32(self.stored[rows])

    @cached_property
    def whole(self) -> Array:
        """The whole matrix, float32, kept from then on; a view of the file if that is float32."""
        return _float32(self.stored)


_TYPES = {"F32": "<f4", "F16": "<f2", "F64": "<f8", "BF16": "<u2"}


def _float32(stored: NDArray[Any]) -> Array:
    if stored.dtype == np.uint16:
        # bfloat16, for which NumPy has no type, is the upper half of a float32.
        stored = (stored.astype(np.uint32) << 16).view(np.float32)
    return np.require(stored, np.float32, "A")


class StoredTensors:
    """The tensors of a checkpoint, memory-mapped from its file or files.

    Tensors are read by name and shape; a `ModelError` names the one that is missing or has another shape.

    Args:
        path: a model.safetensors, or the model.safetensors.index.json of a sharded checkpoint.
        prefix: the prefix of all names in a file that also has a task head.
    """

    def __init__(self, path: Path, prefix: str = "") -> None:
        self.path = path
        self._entries: dict[str, tuple[NDArray[np.uint8], dict[str, Any]]] = {}
        for file in _shards(path) if path.suffix == ".json" else [path]:
            data, header = _mapped(file)
            for name, entry in header.items():
                # In old files a norm's weights are named gamma and beta.
                self._entries[_current(name.removeprefix(prefix))] = (data, entry)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def vector(self, name: str, size: int) -> Array:
        """A vector, float32."""
        return _float32(self._stored(name, size))

    def matrix(self, name: str, rows: int, columns: int) -> StoredMatrix:
        """A matrix, in the file's own type."""
        return StoredMatrix(self._stored(name, rows, columns))

    def _stored(self, name: str, *shape: int) -> NDArray[Any]:
        if name not in self._entries:
            raise ModelError(f"{self.path} has no tensor {name}, which config.json's model needs; get the model again")
        data, entry = self._entries[name]
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
        return data[first:last].view(_TYPES[kind]).reshape(shape)

    def shape(self, name: str, otherwise: tuple[int, int]) -> tuple[int, int]:
        """The shape of a matrix whose size isn't in config.json; `otherwise` if there is no matrix of that name."""
        shape: list[int] = self._entries[name][1]["shape"] if name in self._entries else []
        return (shape[0], shape[1]) if len(shape) == 2 else otherwise


def _shards(index: Path) -> list[Path]:
    """The files of a sharded checkpoint, from its index."""
    try:
        mapped = json.loads(index.read_bytes())["weight_map"]
        names = sorted(set(mapped.values()))
    except OSError as error:
        raise ModelError(f"{index} can't be read: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        line = worded("{file} must hold a weight_map of names and files, got none; get the file again", file=index)
        raise ModelError(line) from None
    for name in names:
        if not isinstance(name, str) or os.path.basename(name) != name or not name.endswith(".safetensors"):
            raise ModelError(
                worded(
                    "{file}: weight_map must name .safetensors files of its own folder, got {name}",
                    file=index,
                    name=f"{name!r:.60}",
                )
            )
        if not (index.parent / name).is_file():
            raise ModelError(
                worded(
                    "{folder} has no {name}, which {index} names; get the model again",
                    folder=index.parent,
                    name=name,
                    index=index.name,
                )
            )
    if not names:
        raise ModelError(worded("{file} must name one file at least, got none; get the file again", file=index))
    return [index.parent / name for name in names]


def _mapped(path: Path) -> tuple[NDArray[np.uint8], dict[str, Any]]:
    """The bytes of a safetensors file's tensors, mapped, and its header."""
    from safetensors import SafetensorError, safe_open

    try:
        # The library's parser checks the header against the file: sizes, overlaps, gaps, the end.
        with safe_open(path, "np"):
            pass
        with open(path, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(length))
        # Mapped, not read: of the embeddings, only the rows that a text needs are read from the disk.
        data = np.asarray(np.memmap(path, np.uint8, "r"))[8 + length :]
    except (SafetensorError, ValueError, RecursionError) as error:
        reason = str(error).removeprefix("Error while deserializing header: ")
        raise ModelError(f"{path} is damaged or was cut short ({reason}); get the file again") from None
    except OSError as error:
        raise ModelError(f"{path} can't be read: {error.strerror or error}") from None
    header.pop("__metadata__", None)
    return data, header


def _current(name: str) -> str:
    return name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
