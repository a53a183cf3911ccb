"""The error of a request that can't be answered."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


class RequestError(ValueError):
    """Raised for a request that can't be answered.

    Attributes:
        argument: the invalid key of the request.
        message: the rule for its value, and the value.
    """

    def __init__(self, argument: str, message: str) -> None:
        super().__init__(message)
        self.argument = argument
        self.message = message

    def reply(self, request: object) -> dict[str, Any]:
        """The reply that reports the error."""
        number = request.get("id") if isinstance(request, Mapping) else None
        known = is_number(number)
        return {"id": number if known else None, "error": {"argument": self.argument, "message": self.message}}


def is_number(value: object) -> bool:
    """Whether a value is a finite number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
