"""Reading a model's folder: its files, and the tensors of its weights, with every size and name checked."""

from __future__ import annotations

import json
import mmap
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eyeline.models.errors import ModelError
from eyeline.words import system_message, worded

Array = NDArray[np.float32]


def check_folder(folder: Path) -> None:
    """Check that `folder` is a folder with the three files of a model; raises `ModelError` if not."""
    if not folder.exists():
        raise ModelError(worded("there is no folder {folder}; {here}", folder=folder, here=_here()))
    if not folder.is_dir():
        raise ModelError(
            worded("{folder} is a file, not a folder; give the folder: {here}", folder=folder, here=_here())
        )
    if not os.path.isfile(folder / "config.json"):
        raise ModelError(worded("{folder} has no config.json; {here}", folder=folder, here=_here()))
    if not weights_file(folder).is_file():
        raise ModelError(worded("{folder} has {instead}", folder=folder, instead=_instead(folder)))
    if not os.path.isfile(folder / "tokenizer.json"):
        make = "AutoTokenizer.from_pretrained(folder).save_pretrained(folder)"
        raise ModelError(
            worded(
                "{folder} has no tokenizer.json; {here} (transformers makes it: {make})",
                folder=folder,
                here=_here(),
                make=make,
            )
        )


def _here() -> str:
    return worded("a model's folder holds config.json, model.safetensors and tokenizer.json")


def weights_file(folder: Path) -> Path:
    """The file of a folder's weights: model.safetensors, or the index of a sharded checkpoint."""
    index = folder / "model.safetensors.index.json"
    whole = folder / "model.safetensors"
    return index if index.is_file() and not whole.is_file() else whole


def _instead(folder: Path) -> str:
    """The files found in place of model.safetensors, and the advice, for an error message."""
    if pickled := sorted(file.name for file in folder.iterdir() if file.suffix in (".bin", ".pt", ".pth", ".ckpt")):
        convert = "AutoModel.from_pretrained(folder).save_pretrained(new_folder)"
        return worded(
            "{pickled} but no model.safetensors; Eyeline never unpickles, since a pickle can run any "
            "code: if you trust it, convert it with transformers ({convert})",
            pickled=pickled[0],
            convert=convert,
        )
    return worded("no model.safetensors; {here}", here=_here())


class StoredMatrix:
    """A matrix in a file, in the file's own type.

    Attributes:
        stored: (rows, columns), a view of the mapped file.
    """

    def __init__(self, stored: NDArray[Any], mapped: mmap.mmap | None = None) -> None:
        self.stored = stored
        self._mapped = mapped

    def __getitem__(self, rows: NDArray[np.int64]) -> Array:
        """Some rows, float32. Only these are read from the disk."""
        return _float32(self.stored[rows])

    @property
    def whole(self) -> Array:
        """The whole matrix, float32: a view of the file if that is float32."""
        return _float32(self.stored)

    def release(self) -> None:
        """Give the memory of the file's pages back; they are read again when they are needed again."""
        if self._mapped is None or not hasattr(self._mapped, "madvise"):
            return
        first = self.stored.ctypes.data - np.frombuffer(self._mapped, np.uint8).ctypes.data
        last = first + self.stored.nbytes
        first, last = -(-first // mmap.PAGESIZE) * mmap.PAGESIZE, last // mmap.PAGESIZE * mmap.PAGESIZE
        if first < last:
            self._mapped.madvise(mmap.MADV_DONTNEED, first, last - first)


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
        self._entries: dict[str, tuple[_File, dict[str, Any]]] = {}
        for file in shards_of(path) if path.suffix == ".json" else [path]:
            opened, header = _mapped(file)
            for name, entry in header.items():
                # In old files a norm's weights are named gamma and beta.
                self._entries[_current(name.removeprefix(prefix))] = (opened, entry)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def vector(self, name: str, size: int) -> Array:
        """A vector, float32."""
        return _float32(self._stored(name, size)[0])

    def matrix(self, name: str, rows: int, columns: int) -> StoredMatrix:
        """A matrix, in the file's own type."""
        return StoredMatrix(*self._stored(name, rows, columns))

    def _stored(self, name: str, *shape: int) -> tuple[NDArray[Any], mmap.mmap]:
        if name not in self._entries:
            raise ModelError(
                worded(
                    "{path} has no tensor {name}, which config.json's model needs; get the model again",
                    path=self.path,
                    name=name,
                )
            )
        file, entry = self._entries[name]
        if tuple(entry["shape"]) != shape:
            raise ModelError(
                worded(
                    "{path}: {name} must have shape {shape} by config.json, got {entry}; the two files must be "
                    "of one model",
                    path=self.path,
                    name=name,
                    shape=shape,
                    entry=tuple(entry["shape"]),
                )
            )
        kind = entry["dtype"]
        if kind not in _TYPES:
            known = ", ".join(_TYPES)
            raise ModelError(
                worded(
                    "{path}: {name} must be one of {known}, got {kind}; save the model in one of these",
                    path=self.path,
                    name=name,
                    known=known,
                    kind=kind,
                )
            )
        first, last = entry["data_offsets"]
        return file.data[first:last].view(_TYPES[kind]).reshape(shape), file.mapped

    def shape(self, name: str, otherwise: tuple[int, int]) -> tuple[int, int]:
        """The shape of a matrix whose size isn't in config.json; `otherwise` if there is no matrix of that name."""
        shape: list[int] = self._entries[name][1]["shape"] if name in self._entries else []
        return (shape[0], shape[1]) if len(shape) == 2 else otherwise


def shards_of(index: Path) -> list[Path]:
    """The files of a sharded checkpoint, from its index."""
    try:
        mapped = json.loads(index.read_bytes())["weight_map"]
        names = sorted(set(mapped.values()))
    except OSError as error:
        raise ModelError(worded("{index} can't be read: {value}", index=index, value=system_message(error))) from None
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


class _File(NamedTuple):
    """A mapped file, and the bytes of its tensors."""

    mapped: mmap.mmap
    data: NDArray[np.uint8]


def _mapped(path: Path) -> tuple[_File, dict[str, Any]]:
    """A safetensors file, mapped, and its header."""
    from safetensors import SafetensorError, safe_open

    try:
        # The library's parser checks the header against the file: sizes, overlaps, gaps, the end.
        with safe_open(path, "np"):
            pass
        with open(path, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(length))
            # Mapped, not read: of the embeddings, only the rows that a text needs are read from the disk.
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (SafetensorError, ValueError, RecursionError) as error:
        reason = str(error).removeprefix("Error while deserializing header: ")
        raise ModelError(
            worded("{path} is damaged or was cut short ({reason}); get the file again", path=path, reason=reason)
        ) from None
    except OSError as error:
        raise ModelError(worded("{path} can't be read: {value}", path=path, value=system_message(error))) from None
    header.pop("__metadata__", None)
    return _File(mapped, np.frombuffer(mapped, np.uint8)[8 + length :]), header


def _current(name: str) -> str:
    return name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
