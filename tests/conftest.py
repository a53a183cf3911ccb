"""Before all tests: kernels compiled once, so that every process finds them; hypothesis's settings."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import browser
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "dev",
    max_examples=100,
    deadline=None,  # a machine may be busy
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("ci", settings.get_profile("dev"), max_examples=75, derandomize=True, database=None)
settings.register_profile("brief", settings.get_profile("ci"), max_examples=25)
settings.register_profile("night", settings.get_profile("dev"), max_examples=200)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))


@pytest.fixture(scope="session", autouse=True)
def interruptible():
    """Ctrl-C interrupts, also where a shell began this in the background and had it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session", autouse=True)
def kernels():
    """The kernels, compiled into the cache if they aren't there, as many at once as there are processors."""
    from eyeline.kernels import kernel_cache, machine
    from eyeline.kernels.compiled.programs import PROGRAMS

    here = machine.target()
    kinds = [(program, dtype) for program in PROGRAMS for dtype in ("float32", "float64")]
    # Of several processes that run tests side by side (pytest -n), each compiles its share.
    count = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    share = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))

    def missing(some):
        return [kind for kind in some if not kernel_cache.path(*kind, here).exists()]

    def compile_apart(kind):
        code = f"from eyeline.kernels import kernel_cache; kernel_cache.kernel{kind!r}"
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)

    with ThreadPoolExecutor(max((os.cpu_count() or 1) // count, 1)) as pool:
        list(pool.map(compile_apart, missing(kinds[share::count])))
    patience = time.monotonic() + 300
    while missing(kinds) and time.monotonic() < patience:
        time.sleep(0.2)
    for kind in kinds:
        kernel_cache.kernel(*kind)


@pytest.fixture
def say(capsys):
    """The command in this process: exit code, stdout, stderr."""
    from eyeline import cli

    def call(*arguments):
        code = cli.main(list(arguments))
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture(scope="session")
def chromium():
    """The one browser of all tests."""
    with browser.launched() as running:
        yield running


@pytest.fixture
def open_page(chromium, tmp_path):
    """Opens addresses in fresh contexts of the browser. At the end: no request left a page, no error, no warning."""
    opener = browser.Opener(chromium, tmp_path)
    yield opener
    opener.close()


@pytest.fixture
def page_of(open_page):
    """The Playwright page that shows the exported file of traces, opened offline, and watched likewise."""
    return open_page.page_of


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory):
    """A folder with a tiny decoder of random weights."""
    from tiny import save_decoder

    return save_decoder(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def tiny_model(tiny_folder):
    """The decoder."""
    from eyeline.models import load

    return load(tiny_folder)


@pytest.fixture(scope="session")
def tiny_trace(tiny_model):
    """What it makes of "the cat ran"."""
    from eyeline.traces import record

    return record("the cat ran", model=tiny_model)
