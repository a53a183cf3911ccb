"""The connection to Ray: a cluster's, or one of this machine that ends with the survey."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from eyeline.surveys.errors import SurveyError, needed
from eyeline.surveys.one_line import one_line
from eyeline.words import worded

#: Seconds in which a cluster must answer.
_PATIENCE = 10.0


@contextmanager
def connected(address: str | None, workers: int | None) -> Iterator[tuple[Any, int]]:
    """Ray, and the number of workers to start on it.

    A program that is connected to Ray already keeps its connection. Otherwise it is the cluster at `address`, or at
    `RAY_ADDRESS`, or, if neither is given, a Ray on this machine with a processor for each worker, all of whose
    processes end here.

    Raises:
        SurveyError: if Ray isn't installed, or the cluster can't be reached.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # and nothing is said of graphics cards
    ray = needed("ray", "on='ray'", "ray")
    if ray.is_initialized():
        yield ray, workers or _processors(ray)
        return
    with _quiet():
        try:
            _connect(ray, address or os.environ.get("RAY_ADDRESS"), workers)
            yield ray, workers or _processors(ray)
        finally:
            ray.shutdown()


def free_processors(ray: Any) -> float:
    """The processors of the cluster that nothing uses."""
    return float(ray.available_resources().get("CPU", 0.0))


def _processors(ray: Any) -> int:
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _connect(ray: Any, address: str | None, workers: int | None) -> None:
    quiet: dict[str, Any] = {"log_to_driver": False, "configure_logging": False, "include_dashboard": False}
    if not address or address == "local":
        _start(ray, num_cpus=workers, **quiet)
        return
    del quiet["include_dashboard"]  # the cluster's own affair
    try:
        _reach(address)
        ray.init(address=address, **quiet)
    except (OSError, RuntimeError, ValueError, ImportError, ray.exceptions.RayError) as error:
        raise SurveyError(
            worded(
                "address must be of a Ray that runs, got {address!r}: {reason}; start one with `ray start --head`, and "
                "set RAY_AUTH_MODE=token here if it asks for a token",
                address=address,
                reason=one_line(error),
            )
        ) from None


def _start(ray: Any, **how: Any) -> None:
    """Start a Ray on this machine, a second time if it isn't there within Ray's own 30 seconds, as where a machine is
    busy with other things.

    Raises:
        SurveyError: if it doesn't start.
    """
    for last in (False, True):
        try:
            ray.init(address="local", **how)
            return
        except Exception as error:  # Ray raises it as such
            ray.shutdown()
            if last:
                raise SurveyError(
                    worded(
                        "Ray could not start on this machine: {reason}; run the same again, or leave out on='ray'",
                        reason=one_line(error),
                    )
                ) from error


def _reach(address: str) -> None:
    """Try whether anything answers at HOST:PORT. Ray itself would try for minutes, and say nothing.

    Raises:
        OSError: if nothing does.
    """
    host, _, port = address.rpartition(":")
    if port.isdecimal() and "/" not in host:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Ray's own news from the user, what it prints of workers that die too; and its handler of SIGTERM from the
    program."""
    from ray._private import worker

    logger = logging.getLogger("ray")
    level, main = logger.level, threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGTERM) if main else None
    prints = getattr(worker, "_worker_logs_enabled", True)
    logger.setLevel(logging.ERROR)
    worker._worker_logs_enabled = False  # as Ray's own debugger does; there is no setting
    try:
        yield
    finally:
        logger.setLevel(level)
        worker._worker_logs_enabled = prints
        if main and handler is not None:
            signal.signal(signal.SIGTERM, handler)
