"""Ctrl-C in the middle of a call."""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable

import pytest


def until_interrupted(delay: float, call: Callable[[], object]) -> None:
    """Make a call again and again until Ctrl-C, some time later, ends one of them."""
    timer = threading.Timer(delay, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        _forever(call)
    timer.join()


def _forever(call: Callable[[], object]) -> None:
    while True:
        call()
