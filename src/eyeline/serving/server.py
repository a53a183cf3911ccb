"""Listening at an address of this machine alone, and serving there until it is stopped."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from typing import TYPE_CHECKING

from eyeline.answers import QuestionError

if TYPE_CHECKING:
    from uvicorn import Server

    from eyeline.serving.session import Session


def listen(port: int = 0) -> socket.socket:
    """A socket that listens on 127.0.0.1, where no other machine can reach it.

    Args:
        port: the port; 0 for any that is free.

    Raises:
        QuestionError: if it is taken, or may not be taken.
    """
    if not 0 <= port <= 65535:
        raise QuestionError(f"port must be from 1 to 65535, got {port}")
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # elsewhere it would let two programs have the same port
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(("127.0.0.1", port))
        found.listen(128)
    except OSError as error:
        found.close()
        raise QuestionError(
            f"port must be free, got {port} ({error.strerror}); give another one, or none: a free one is taken then"
        ) from None
    return found


def address(listening: socket.socket) -> str:
    """The address to open in a browser."""
    return f"http://127.0.0.1:{listening.getsockname()[1]}/"


def server_of(session: Session, listening: socket.socket) -> Server:
    """The server, ready to run."""
    from uvicorn import Config, Server

    from eyeline.serving.app import app_of

    config = Config(
        app_of(session, listening.getsockname()[1]),
        # The same whatever else is installed.
        http="h11",
        ws="none",
        loop="asyncio",
        lifespan="off",
        # It would show a traceback for each request that is cut off at the end; `app` shows errors of ours.
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=2,
    )
    return Server(config)


def serve(session: Session, listening: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM, the usual end of a server, and then stop the running job."""
    server = server_of(session, listening)
    # uvicorn stops at both, and when it has stopped raises them anew for whoever handled them before.
    if threading.current_thread() is threading.main_thread():
        before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
    finally:
        session.close()
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)
