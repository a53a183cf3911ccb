"""What a request is answered that can't be granted, and every reply that is JSON."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import Response


class RefusalError(Exception):
    """A request that isn't granted.

    Args:
        status: of HTTP.
        argument: which part of the request is at fault; None if it is none of them.
        message: what is wrong, and what to do.
        more: what else the reply holds.
    """

    def __init__(self, status: int, argument: str | None, message: str, **more: Any) -> None:
        super().__init__(message)
        self.status = status
        self.argument = argument
        self.message = message
        self.more = more

    def response(self) -> Response:
        """The reply that says so."""
        return as_json({"error": {"argument": self.argument, "message": self.message}, **self.more}, self.status)


def as_json(content: Any, status: int = 200) -> Response:
    """A reply in JSON. In ASCII: a text may hold half a surrogate pair, which has no UTF-8."""
    body = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return Response(body, status, media_type="application/json")
