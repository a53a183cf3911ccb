"""The last measurement of `eyeline bench growth` on this machine, kept in the cache folder: pages show its times."""

from __future__ import annotations

import json
import math
import platform
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from eyeline.caches import cache_folder, write_whole
from eyeline.version import VERSION
from eyeline.views.measurements import Curve, Growth

SCHEMA = "eyeline.growth/1"


def path() -> Path:
    """The file."""
    return cache_folder() / "growth.json"


def keep(found: Growth, *, threads: int, heads: int, head_dim: int) -> Path:
    """Write a measurement, with the machine, the versions and the day that it is of.

    Args:
        found: the measurement.
        threads: the number of threads it was measured with.
        heads, head_dim: the sizes of the attention; the RNN has the same width, heads · head_dim.

    Returns:
        The file.

    Raises:
        OSError: if it can't be written.
    """
    entry = {
        "schema": SCHEMA,
        "version": VERSION,
        "date": date.today().isoformat(),
        "machine": processor(),
        "threads": threads,
        "versions": {name: there for name in ("numpy", "torch") if (there := _version(name))},
        "heads": heads,
        "head_dim": head_dim,
        "attention": _curve(found.attention),
        "recurrent": _curve(found.recurrent),
    }
    file = path()
    write_whole(file, json.dumps(entry, ensure_ascii=False).encode())
    return file


def kept() -> dict[str, Any] | None:
    """The measurement as plain data, as docs/page-format.md has it; None if there is none, or it can't be read."""
    try:
        entry = json.loads(path().read_text("utf-8"))
    except (OSError, ValueError):
        return None
    sound = isinstance(entry, dict) and entry.get("schema") == SCHEMA
    return entry if sound and _are_points(entry, "attention") and _are_points(entry, "recurrent") else None


def processor() -> str:
    """The name of this machine's processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _curve(curve: Curve) -> dict[str, Any]:
    points = [[point.tokens, float(f"{point.seconds:.4g}")] for point in curve.points]
    return {"name": curve.name, "points": points}


def _are_points(entry: dict[str, Any], name: str) -> bool:
    """Whether the entry has two or more measured points, [tokens, seconds], of positive numbers."""
    points = entry[name].get("points") if isinstance(entry.get(name), dict) else None
    return (
        isinstance(points, list)
        and len(points) > 1
        and all(isinstance(point, list) and len(point) == 2 and all(map(_is_positive, point)) for point in points)
    )


def _is_positive(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < math.inf


def _version(package: str) -> str | None:
    try:
        return version(package).split("+")[0]
    except PackageNotFoundError:
        return None
