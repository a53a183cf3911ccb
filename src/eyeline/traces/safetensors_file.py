"""The safetensors file of a trace's arrays, with everything else as JSON in its metadata."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.caches import whole
from eyeline.traces.errors import TraceError
from eyeline.words import worded

#: The version of the trace file's format.
SCHEMA = "eyeline.trace/1"
#: Of a trace with edits, whose weights are other than q, k and lse alone say.
EDITED_SCHEMA = "eyeline.trace/2"
_KEY = "eyeline"
_TYPES = {"F32": "<f4", "I32": "<i4", "U8": "u1"}
_NAMES = {np.dtype(np.float32): "F32", np.dtype(np.int32): "I32", np.dtype(np.uint8): "U8"}


def write_trace(path: Path, arrays: dict[str, NDArray[Any]], about: dict[str, Any]) -> None:
    """Write arrays, and `about` as metadata. (The library's writer holds the whole file in memory, or makes a file that
    no other user may read.)"""
    header: dict[str, Any] = {"__metadata__": {_KEY: json.dumps(about, allow_nan=False)}}
    order = sorted(arrays, key=lambda name: -arrays[name].itemsize)  # so that each number is aligned
    end = 0
    for name in order:
        array = arrays[name]
        first, end = end, end + array.nbytes
        header[name] = {"dtype": _NAMES[array.dtype], "shape": array.shape, "data_offsets": [first, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with whole(path) as beside, open(beside, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name in order:
            little = arrays[name].astype(arrays[name].dtype.newbyteorder("<"), copy=False)
            file.write(np.ascontiguousarray(little).data)


class StoredArrays:
    """The memory-mapped arrays of a file, and its metadata."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        from safetensors import SafetensorError, safe_open

        self.path = Path(path)
        try:
            # The library's own parser checks the header against the file: sizes, overlaps, holes, the end.
            with safe_open(self.path, "np"):
                pass
            with open(self.path, "rb") as file:
                length = int.from_bytes(file.read(8), "little")
                header = json.loads(file.read(length))
            self._data = np.asarray(np.memmap(self.path, np.uint8, "r"))[8 + length :]
        except (SafetensorError, ValueError, RecursionError) as error:
            reason = " ".join(str(error).removeprefix("Error while deserializing header: ").split())
            raise TraceError(
                worded("{path} is no trace, or was cut short ({reason}); save it again", path=self.path, reason=reason)
            ) from None
        self._header = header
        try:
            self.about = json.loads(header.pop("__metadata__", {})[_KEY])
        except (KeyError, TypeError):
            raise TraceError(
                worded(
                    "{path} must have {key!r} in its metadata, got none; it is no trace of Eyeline's",
                    path=self.path,
                    key=_KEY,
                )
            ) from None
        except (ValueError, RecursionError):
            raise TraceError(
                worded("{path}: {key!r} in its metadata must be JSON; save the trace again", path=self.path, key=_KEY)
            ) from None

    def array(self, name: str, kind: str, shape: tuple[int, ...]) -> NDArray[Any]:
        """Read an array, checked to have this dtype and shape."""
        entry = self._header.get(name)
        if entry is None:
            raise TraceError(
                worded("{path} must have an array {name}, got none; save the trace again", path=self.path, name=name)
            )
        found = (entry["dtype"], tuple(entry["shape"]))
        if found != (kind, shape):
            raise TraceError(
                worded(
                    "{path}: {name} must be {kind} of shape {shape} by the file's own sizes, got {found} of "
                    "shape {got}; save the trace again",
                    path=self.path,
                    name=name,
                    kind=kind,
                    shape=shape,
                    found=found[0],
                    got=found[1],
                )
            )
        first, last = entry["data_offsets"]
        # In another program's file, numbers may be unaligned.
        return np.require(self._data[first:last].view(_TYPES[kind]).reshape(shape), requirements="A")

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of an array; () if there is no such array."""
        return tuple(self._header.get(name, {"shape": ()})["shape"])

    def finite(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float32]:
        """Read a float32 array, checked to be finite."""
        array = self.array(name, "F32", shape)
        if not np.isfinite(array).all():
            raise TraceError(
                worded(
                    "{path}: {name} must be finite numbers, got others; record the trace again",
                    path=self.path,
                    name=name,
                )
            )
        return array
