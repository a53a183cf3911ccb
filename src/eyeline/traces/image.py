"""The picture that a vision model saw, with the grid of its patches, in a trace and its file."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.traces.errors import TraceError
from eyeline.traces.safetensors_file import StoredArrays
from eyeline.traces.settings import StoredSettings
from eyeline.traces.tokenized_text import TokenizedText, Word
from eyeline.words import worded

Pixels = NDArray[np.uint8]

#: The largest width and height in pixels of a picture that is kept.
LARGEST = 512


@dataclass(frozen=True, eq=False)
class Image:
    """A picture and its patches: the token `first` is the patch at the top left, and the others follow row by row.

    Attributes:
        pixels: red, green and blue, uint8, (height, width, 3), at most 512 × 512.
        rows, columns: of patches, which divide the picture evenly.
        first: the position of the first patch's token, after [CLS] and the like.
    """

    pixels: Pixels
    rows: int
    columns: int
    first: int

    @property
    def height(self) -> int:
        """In pixels."""
        return int(self.pixels.shape[0])

    @property
    def width(self) -> int:
        """In pixels."""
        return int(self.pixels.shape[1])

    @property
    def entry(self) -> dict[str, int]:
        """The grid's entry in the page's header, and in the file."""
        return {"rows": self.rows, "columns": self.columns, "first": self.first}

    def png(self) -> bytes:
        """The picture as a PNG."""
        lines = np.zeros((self.height, 1 + 3 * self.width), np.uint8)  # each line begins with its filter, 0: none
        lines[:, 1:] = self.pixels.reshape(self.height, -1)
        size = self.width.to_bytes(4, "big") + self.height.to_bytes(4, "big")
        parts = [(b"IHDR", size + bytes([8, 2, 0, 0, 0])), (b"IDAT", zlib.compress(lines.tobytes())), (b"IEND", b"")]
        return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")


def shrunk(pixels: NDArray[np.floating]) -> Pixels:
    """A picture as `Image` holds it: in 8 bits, and at most 512 × 512; each pixel is the mean of those it stands for.

    Args:
        pixels: (height, width, 3), from 0 to 1; what lies beyond is cut.
    """
    height, width = pixels.shape[:2]
    factor = max(height, width) / LARGEST
    if factor > 1:
        for axis, size in enumerate((height, width)):
            edges = np.arange(max(int(size / factor), 1)) * size // max(int(size / factor), 1)
            counts = np.diff(edges, append=size)
            pixels = np.add.reduceat(pixels, edges, axis) / counts.reshape((-1, 1, 1) if axis == 0 else (1, -1, 1))
    result: Pixels = np.round(np.clip(pixels, 0, 1) * 255).astype(np.uint8)
    return result


def patch_tokens(image: Image, leading: list[str]) -> TokenizedText:
    """The tokens of a picture: those before the patches, which are set aside, and each patch by its row and column.

    >>> tokens = patch_tokens(Image(np.zeros((4, 4, 3), np.uint8), 2, 2, 1), ["[CLS]"])
    >>> tokens.pieces
    ('[CLS]', 'row 0, column 0', 'row 0, column 1', 'row 1, column 0', 'row 1, column 1')
    """
    names = [f"row {row}, column {column}" for row in range(image.rows) for column in range(image.columns)]
    spans: list[tuple[int, int] | None] = [None] * len(leading)
    end = 0
    for name in names:
        spans.append((end, end + len(name)))
        end += len(name) + 1
    return TokenizedText(
        " ".join(names),
        (-1,) * len(spans),
        (*leading, *names),
        tuple(spans),
        tuple(Word((place, place + 1), span) for place, span in enumerate(spans)),
        tuple(range(len(leading))),
    )


def stored_image(image: Image | None) -> tuple[dict[str, NDArray[Any]], dict[str, int] | None]:
    """The array of a picture in a trace's file, and its metadata entry; nothing and None without one."""
    return ({}, None) if image is None else ({"image": image.pixels}, image.entry)


def opened_image(tensors: StoredArrays, about: StoredSettings, tokens: int) -> Image | None:
    """Load the picture of a trace from its file, checked; None if there is none, as in older files.

    Args:
        tensors, about: the file's arrays and metadata.
        tokens: the trace's number of tokens.
    """
    if about.get("image") is None:
        return None
    entry = about.object("image")
    rows, columns, first = (entry.whole(name, least) for name, least in (("rows", 1), ("columns", 1), ("first", 0)))
    if first + rows * columns != tokens:
        entry.wrong("rows", worded("such that first + rows × columns is the number of tokens, {tokens}", tokens=tokens))
    shape = tensors.shape("image")
    if len(shape) != 3 or not rows <= shape[0] <= LARGEST or not columns <= shape[1] <= LARGEST or shape[2] != 3:
        raise TraceError(
            worded(
                "{path}: image must be of shape (height, width, 3), from {rows} × {columns} to {largest} × "
                "{largest} pixels, got {shape}; save the trace again",
                path=tensors.path,
                rows=rows,
                columns=columns,
                largest=LARGEST,
                shape=shape,
            )
        )
    return Image(tensors.array("image", "U8", shape), rows, columns, first)
