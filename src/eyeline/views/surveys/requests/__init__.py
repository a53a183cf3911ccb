"""What is asked of one head of a survey."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: How each kind of request is answered.
KINDS: dict[str, Callable[..., Any]] = {}
