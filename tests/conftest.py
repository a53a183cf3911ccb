"""Before all tests: kernels compiled once, so that every process finds them; hypothesis's settings."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "dev",
    max_examples=100,
    deadline=None,  # a machine may be busy
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("ci", settings.get_profile("dev"), derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


@pytest.fixture(scope="session", autouse=True)
def kernels():
    """The kernels, compiled into the cache if they aren't there, and loaded."""
    from eyeline.kernels import library

    for dtype in ("float32", "float64"):
        library.kernel("forward", dtype)
        library.kernel("decode", dtype)
