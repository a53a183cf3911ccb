"""Record a vision model of transformers over a picture, and keep the picture with its patches."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.edits import Edit
from eyeline.traces.errors import TraceError
from eyeline.traces.image import LARGEST, Image, patch_tokens, shrunk
from eyeline.traces.keep import Keep
from eyeline.traces.trace import Trace
from eyeline.traces.transformers_traces import record_inputs
from eyeline.words import worded


def record_picture(
    picture: Any,
    model: Any,
    processor: Any,
    keep: Keep,
    cancelled: Callable[[], bool] | None,
    progress: Callable[[str], None] | None,
    edits: Sequence[Edit] = (),
) -> Trace:
    """The trace of one pass of a vision model over a picture; see `eyeline.record`.

    The picture that is kept is what the model saw: cropped and resized as the processor does it, so that the patches
    lie where they belong.
    """
    if not callable(processor):
        raise TraceError(
            worded(
                "processor must be called with a picture, got {value}; AutoImageProcessor.from_pretrained(...) loads "
                "one",
                value=f"{processor!r:.60}",
            )
        )
    found = processor(images=opened(picture), return_tensors="np")
    inputs = {name: value for name, value in found.items() if name == "pixel_values"}
    values = np.asarray(inputs.get("pixel_values", np.empty(0)), np.float64)
    if values.ndim != 4 or values.shape[:2] != (1, 3):
        raise TraceError(
            worded(
                "processor must give pixel_values of shape (1, 3, height, width), one picture in colour, got {shape}",
                shape=values.shape,
            )
        )
    inputs["pixel_values"] = np.asarray(values, np.float32)
    # The measures need to know which tokens are patches: they are computed at their first use.
    traces = record_inputs(inputs, model, None, None, replace(keep, measures=False), cancelled, progress, edits)
    if len(traces) != 1:
        raise TraceError(worded("model must have attention of one kind over a picture, got {count}", count=len(traces)))
    (trace,) = traces
    height, width = _patch_size(model)
    rows, columns = values.shape[2] // height, values.shape[3] // width
    first = len(trace.queries) - rows * columns
    if rows < 1 or columns < 1 or max(rows, columns) > LARGEST or not 0 <= first <= 64:
        raise TraceError(
            worded(
                "model must have one token for each patch of a picture, got {tokens} tokens for {rows} × {columns} "
                "patches; record its inputs alone: eyeline.record(dict(processor(picture)), model=model)",
                tokens=len(trace.queries),
                rows=rows,
                columns=columns,
            )
        )
    seen = _as_seen(values[0].transpose(1, 2, 0), processor)[: rows * height, : columns * width]
    image = Image(shrunk(seen), rows, columns, first)
    return replace(trace, queries=patch_tokens(image, _leading(model, first)), image=image)


def opened(picture: Any) -> Any:
    """A picture: a path is opened with Pillow; a uint8 array and a picture of Pillow's are taken as they are.

    Raises:
        TraceError: if it is none of these, or Pillow isn't installed.
        OSError: if a file can't be read as a picture.
    """
    if isinstance(picture, (str, os.PathLike)):
        try:
            from PIL import Image as pillow  # noqa: N813
        except ImportError:
            raise TraceError(
                worded("picture must be an array where Pillow isn't installed, got a path; pip install pillow")
            ) from None
        with pillow.open(os.path.expanduser(os.fspath(picture))) as file:
            return file.convert("RGB")
    if hasattr(picture, "convert"):
        return picture.convert("RGB")
    array: NDArray[Any] = np.asarray(picture) if not isinstance(picture, Mapping) else np.empty(0)
    if array.dtype != np.uint8 or array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (1, 3, 4)):
        got = (
            worded("{dtype} of shape {shape}", dtype=array.dtype, shape=array.shape)
            if isinstance(picture, np.ndarray)
            else type(picture).__name__
        )
        raise TraceError(
            worded(
                "picture must be a path, a picture of Pillow's, or a uint8 array of (height, width, 3), got {got}",
                got=got,
            )
        )
    if array.ndim == 2 or array.shape[2] == 1:
        return np.repeat(array.reshape(*array.shape[:2], 1), 3, axis=2)
    return array[..., :3]


def _patch_size(model: Any) -> tuple[int, int]:
    """The height and width of a patch in pixels, by the model's configuration."""
    config = model.config
    config = getattr(config, "vision_config", None) or config
    size = getattr(config, "patch_size", None)
    sides: Any = tuple(size) if isinstance(size, (list, tuple)) else (size, size)
    if len(sides) != 2 or not all(isinstance(side, int) and side > 0 for side in sides):
        raise TraceError(
            worded("model.config.patch_size must be one whole number or two, got {size}", size=f"{size!r:.40}")
        )
    return int(sides[0]), int(sides[1])


def _leading(model: Any, first: int) -> list[str]:
    """The names of the tokens before the patches: [CLS], then registers (DINOv2) or DeiT's second one."""
    registers = int(getattr(model.config, "num_register_tokens", 0) or 0)
    rest = first - 1
    if rest == 1 and not registers:
        return ["[CLS]", "[DIST]"]
    return ["[CLS]", *(f"[REG {place}]" for place in range(rest))][:first]


def _as_seen(values: NDArray[np.float64], processor: Any) -> NDArray[np.float64]:
    """Undo a processor's normalization: (height, width, 3) from 0 to 1."""
    if getattr(processor, "do_normalize", False):
        mean, deviation = (
            np.asarray(getattr(processor, f"image_{name}", None) or default, np.float64)
            for name, default in (("mean", 0.0), ("std", 1.0))
        )
        values = values * deviation + mean
    return values if getattr(processor, "do_rescale", True) else values / 255
