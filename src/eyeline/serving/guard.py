"""Access control: refuse requests under other host names, and writes from other origins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eyeline.serving.refusal import RefusalError
from eyeline.words import worded

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: The largest request body in bytes.
LARGEST = 2 << 20
#: The methods that change nothing.
READS = ("GET", "HEAD")
# Only resources from this server are loaded, and nothing inline runs: even a text parsed as HTML would do nothing.
_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src blob:; style-src 'self'; "
    "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"referrer-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]


class Guard:
    """An ASGI application that passes permitted requests on, and adds security headers to every reply.

    Args:
        app: the application that answers them.
        port: the server's port.
    """

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app = app
        names = ("127.0.0.1", "localhost")
        # Browsers leave port 80 out.
        self._hosts = {f"{name}:{port}" for name in names} | (set(names) if port == 80 else set())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *_HEADERS]}
            await send(message)

        try:
            self._check(scope)
        except RefusalError as refusal:
            await refusal.response()(scope, receive, sealed)
        else:
            await self._app(scope, receive, sealed)

    def _check(self, scope: Scope) -> None:
        def sent(name: bytes) -> str | None:
            values = [value for key, value in scope["headers"] if key.lower() == name]
            return values[0].decode("latin-1") if len(values) == 1 else None

        host = sent(b"host")
        # Another site's name may resolve to this machine (DNS rebinding), and its page could then read the data here.
        if host not in self._hosts:
            raise RefusalError(
                421,
                "Host",
                worded("Host must be {hosts}, got {host!r}", hosts=" or ".join(sorted(self._hosts)), host=host),
            )
        if scope["method"] in READS:
            return
        origin = sent(b"origin")
        if origin != f"http://{host}":
            raise RefusalError(
                403,
                "Origin",
                worded(
                    "Origin must be http://{host}, got {origin!r}; ask from the page itself", host=host, origin=origin
                ),
            )
        kind = (sent(b"content-type") or "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise RefusalError(
                415, "Content-Type", worded("Content-Type must be application/json, got {kind!r}", kind=kind)
            )
        length = sent(b"content-length") or "0"
        if not (length.isascii() and length.isdigit() and len(length) <= 20 and int(length) <= LARGEST):
            raise too_large()


def too_large() -> RefusalError:
    """Make the refusal of a body that is too large."""
    return RefusalError(413, "body", worded("body must be at most {most} MiB; send a shorter text", most=LARGEST >> 20))
