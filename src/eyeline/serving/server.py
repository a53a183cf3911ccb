"""Listen at an address that only this machine can reach, and serve there until stopped."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from typing import TYPE_CHECKING

from eyeline.answers import QuestionError
from eyeline.words import system_message, worded

if TYPE_CHECKING:
    from uvicorn import Server

    from eyeline.serving.session import Session
    from eyeline.serving.survey_session import SurveySession


def listen(port: int = 0) -> socket.socket:
    """Open a socket that listens on 127.0.0.1, where no other machine can reach it.

    Args:
        port: the port; 0 for any free port.

    Raises:
        QuestionError: if the port is in use or not permitted.
    """
    if not 0 <= port <= 65535:
        raise QuestionError(worded("port must be from 1 to 65535, got {port}", port=port))
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # on other systems this would let two programs listen on the same port
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(("127.0.0.1", port))
        found.listen(128)
    except OSError as error:
        found.close()
        raise QuestionError(
            worded(
                "port must be free, got {port} ({strerror}); give another one, or none: a free one is taken then",
                port=port,
                strerror=system_message(error),
            )
        ) from None
    return found


def address(listening: socket.socket) -> str:
    """The address to open in a browser."""
    return f"http://127.0.0.1:{listening.getsockname()[1]}/"


def server_of(session: Session | SurveySession, listening: socket.socket) -> Server:
    """Make the server."""
    from uvicorn import Config, Server

    from eyeline.serving.app import app_of

    config = Config(
        app_of(session, listening.getsockname()[1]),
        # The same whichever other packages are installed.
        http="h11",
        ws="none",
        loop="asyncio",
        lifespan="off",
        # uvicorn would log a traceback for each request cut off at the end; `app` reports our errors.
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=2,
    )
    return Server(config)


def serve(session: Session | SurveySession, listening: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM, then stop the running job."""
    server = server_of(session, listening)
    # uvicorn stops at both signals, and then raises them again for the previous handlers.
    if threading.current_thread() is threading.main_thread():
        before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
    finally:
        session.close()
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)
