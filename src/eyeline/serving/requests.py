"""Read and check a browser's requests; an invalid one raises a `RefusalError` that names the argument."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from eyeline.serving.guard import LARGEST, too_large
from eyeline.serving.refusal import RefusalError
from eyeline.words import worded

if TYPE_CHECKING:
    from starlette.requests import Request


@dataclass(frozen=True)
class RunRequest:
    """A request to run a text or to open a file.

    Attributes:
        text: the text as typed; None to open a file.
        file: the index of a file of the session; None if a text is given.
        model: the name of a model of the session.
        mask: "causal", or None for the model's own mask only.
        scale: the factor of the scores; as trained if None.
    """

    text: str | None
    file: int | None
    model: str
    mask: Literal["causal"] | None
    scale: float | None


def run_request(sent: Mapping[str, Any], models: Collection[str], files: int) -> RunRequest:
    """Check a request for a run.

    Args:
        sent: {"text": …} or {"file": …}, and optionally the other fields of `RunRequest`.
        models: the allowed names; the first is the default.
        files: the number of files.

    Raises:
        RefusalError: 400, naming the invalid argument.
    """
    known = ("text", "file", "model", "mask", "scale")
    for name in sent:
        if name not in known:
            message = worded("body must hold none but {known}, got {name!r}", known=", ".join(known), name=name[:40])
            raise RefusalError(400, name[:40], message)
    text, file, scale = sent.get("text"), sent.get("file"), sent.get("scale")
    model, mask = sent.get("model", next(iter(models))), sent.get("mask")
    if (text is None) == (file is None):
        raise RefusalError(400, "text", worded("text must be given, or file, and not both"))
    if text is not None and not isinstance(text, str):
        raise _wrong("text", worded("a string"), text)
    if file is not None and not (_is_whole(file) and 0 <= file < files):
        if not files:
            raise RefusalError(
                400, "file", worded("file must not be given, for there are none, got {value}", value=_shown(file))
            )
        raise _wrong("file", worded("from 0 to {last}", last=files - 1), file)
    if not isinstance(model, str) or model not in models:
        raise _wrong("model", worded("one of {names}", names=", ".join(models)), model)
    if mask not in (None, "causal"):
        raise _wrong("mask", worded("'causal' or null"), mask)
    if scale is not None:
        if not (_is_whole(scale) or isinstance(scale, float)) or not 0 < abs(scale) <= 1e6:
            raise _wrong("scale", worded("a number up to a million, and not 0"), scale)
        scale = float(scale)
    return RunRequest(text, file, model, mask, scale)


async def read_json(request: Request) -> dict[str, Any]:
    """Read the JSON object in the body of a request.

    Raises:
        RefusalError: 413 as soon as the body is too long, whatever length it declares; 400 if it isn't a JSON object.
    """
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > LARGEST:
            raise too_large()
        parts.append(part)
    try:
        found = json.loads(b"".join(parts).decode(), parse_constant=_finite, parse_float=_finite, parse_int=_short)
    except (ValueError, RecursionError) as error:
        reason = worded("it is nested too deeply") if isinstance(error, RecursionError) else str(error)
        raise RefusalError(400, "body", worded("body must be JSON in UTF-8; {reason}", reason=reason)) from None
    if not isinstance(found, dict):
        raise _wrong("body", worded("a JSON object"), found)
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(worded("numbers must be finite, got {text}", text=text[:20]))
    return number


def _short(text: str) -> int:
    if len(text) > 20:
        raise ValueError(worded("whole numbers must have at most 20 digits, got {count}", count=len(text)))
    return int(text)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _wrong(argument: str, rule: str, value: object) -> RefusalError:
    """Make a 400 with the argument's rule and its value, shortened."""
    line = worded("{name} must be {rule}, got {value}", name=argument, rule=rule, value=_shown(value))
    return RefusalError(400, argument, line)


def _shown(value: object) -> str:
    kinds = {dict: worded("an object"), list: worded("a list"), type(None): "null"}
    shown = kinds.get(type(value)) or repr(value)
    return shown if len(shown) <= 60 else shown[:60] + "…"
