"""Before all tests: kernels compiled once, so that every process finds them; hypothesis's settings."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import browser
import pytest
from hypothesis import HealthCheck, settings

os.environ["LC_ALL"] = "C.UTF-8"  # texts are in English, whatever the locale of this machine
os.environ.pop("EYELINE_LANG", None)

CI = bool(os.environ.get("CI"))
#: How many cases a property draws: by default, on a narrower vector or an older package again, and over a night.
DRAWS = {"default": 60, "brief": 25, "night": 400}
for name, draws in DRAWS.items():
    settings.register_profile(
        name,
        max_examples=draws,
        deadline=None,  # a machine may be busy
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        # The same cases each time in CI, and wherever there are few.
        **({"derandomize": True, "database": None} if name == "brief" or (CI and name == "default") else {}),
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(scope="session", autouse=True)
def interruptible():
    """Ctrl-C interrupts, also where a shell began this in the background and had it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def no_plans_of_other_tests():
    """Each test makes its own plans: some change what a plan is made of."""
    from eyeline.attention import plans

    plans.forget()


@pytest.fixture
def two_threads(monkeypatch):
    """Two threads at every call, however small."""
    from eyeline.kernels import launch, threads

    monkeypatch.setattr(launch, "WORTH_A_THREAD", 0)
    threads.set_threads(2)
    yield
    threads.set_threads(None)


def pytest_sessionstart(session):
    """Kernels are compiled before any test, and before pytest-xdist starts its workers, which all find them."""
    if not hasattr(session.config, "workerinput") and not session.config.option.collectonly:
        compile_kernels()


def kernel_kinds():
    from eyeline.kernels.compiled.programs import PROGRAMS

    return [(program, dtype) for program, dtypes in PROGRAMS.items() for dtype in dtypes]


def compile_kernels():
    """The kernels that aren't in the cache, as many at once as there are processors."""
    from eyeline.kernels import kernel_cache, machine

    here = machine.target()
    missing = [kind for kind in kernel_kinds() if not kernel_cache.path(*kind, here).exists()]
    if missing:
        print(f"compiling {len(missing)} kernels", flush=True)

    def compile_apart(kind):
        code = f"from eyeline.kernels import kernel_cache; kernel_cache.kernel{kind!r}"
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(compile_apart, missing))


@pytest.fixture(scope="session", autouse=True)
def kernels():
    """The kernels, loaded, so that tests may change where the cache is."""
    from eyeline.kernels import kernel_cache

    for kind in kernel_kinds():
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
def live_file(tmp_path_factory):
    """The live page with minilm and dates as a file, built once for all processes."""
    from live import built, shared_folder

    return built(shared_folder(tmp_path_factory))


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
