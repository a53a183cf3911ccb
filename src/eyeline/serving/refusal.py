"""Refusals of requests, and replies in JSON."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import Response

from eyeline.words import worded


class RefusalError(Exception):
    """Raised to refuse a request.

    Args:
        status: the HTTP status.
        argument: the invalid part of the request; None if it is none of them.
        message: the mistake, and what to do.
        more: further keys of the reply.
    """

    def __init__(self, status: int, argument: str | None, message: str, **more: Any) -> None:
        super().__init__(message)
        self.status = status
        self.argument = argument
        self.message = message
        self.more = more

    def response(self) -> Response:
        """The HTTP response."""
        return as_json({"error": {"argument": self.argument, "message": self.message}, **self.more}, self.status)


def own_mistake() -> str:
    """The message of an error that is ours: the terminal has its traceback."""
    return worded("Eyeline made a mistake of its own; the terminal shows which")


def as_json(content: Any, status: int = 200) -> Response:
    """Make a reply in JSON, in ASCII: a text may contain half a surrogate pair, which has no UTF-8."""
    body = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return Response(body, status, media_type="application/json")
