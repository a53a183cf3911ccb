"""A survey on Ray: the same bytes as in one process, whatever dies. One local Ray serves all of these tests."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from survey_stub import StubModel, sentences

import eyeline as el
from eyeline import words
from eyeline.surveys import SurveyError
from eyeline.surveys.engines.ray_cluster import connected

TEXTS = sentences(30)
TABLES = ("heads.parquet", "tokens.parquet", "examples.parquet")


def hashes(folder):
    return [hashlib.sha256((Path(folder) / name).read_bytes()).hexdigest() for name in TABLES]


def surveyed(out, texts=TEXTS, **given):
    return el.survey(texts, out=out, **{"model": StubModel(), "block": 1500, **given})


def workers():
    """The processes of this test's workers."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name = (folder / "cmdline").read_bytes().split(b"\0")[0].decode()
            ours = b"EYELINE_TEST_RUN=" + str(os.getpid()).encode() in (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if ours and name.startswith("ray::Worker"):
            found.append(int(folder.name))
    return found


@pytest.fixture(scope="module")
def local_ray():
    """A Ray of two processors, whose processes find the stub and are told apart from others'."""
    before = dict(os.environ)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    os.environ["EYELINE_TEST_RUN"] = str(os.getpid())
    with connected("local", 2) as (ray, count):
        assert count == 2
        yield ray
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The hashes of the survey in this process."""
    folder = tmp_path_factory.mktemp("whole") / "survey"
    surveyed(folder)
    return hashes(folder)


@pytest.mark.parametrize("count", [1, 2])
def test_workers_give_the_bytes_of_one_process(local_ray, tmp_path, whole, count):
    notes = []
    found = surveyed(tmp_path / "survey", on="ray", workers=count, progress=lambda record: notes.append(record.note))
    assert hashes(tmp_path / "survey") == whole
    assert found.info["counts"]["workers_lost"] == 0
    assert "starting Ray" in notes
    assert notes[-1].startswith("merging")
    assert local_ray.is_initialized()  # whoever started it ends it
    wait_until(lambda: not workers())


def test_a_worker_that_is_killed_is_replaced_and_its_block_done_again(local_ray, tmp_path, whole, capfd):
    killed = []

    def progress(record):
        if record.tokens and not killed:
            killed.extend(workers()[:1])
            os.kill(killed[0], signal.SIGKILL)

    folder = tmp_path / "survey"
    found = surveyed(folder, model=StubModel(pause=0.05), on="ray", workers=2, progress=progress)
    assert killed
    assert hashes(folder) == whole
    assert found.info["counts"]["workers_lost"] == 1
    assert found.info["skipped"]["counts"] == {}


def test_a_block_that_kills_its_worker_three_times_is_skipped(local_ray, tmp_path, whole):
    texts = [*TEXTS[:7], "a killer", *TEXTS[7:]]
    found = surveyed(tmp_path / "survey", texts=texts, on="ray", workers=1)
    skipped = found.info["skipped"]
    assert found.info["counts"]["workers_lost"] == 3
    assert 7 in [one["place"] for one in skipped["first"]]
    assert {one["detail"] for one in skipped["first"]} == {"its block ended the worker 3 times (out of memory?)"}
    assert found.info["counts"]["documents"] == 31 - skipped["counts"]["failed"]


def test_a_survey_goes_on_with_the_other_engine(local_ray, tmp_path, whole):
    folder = tmp_path / "survey"

    def stop(record):
        if record.documents > record.kept + 5:
            raise KeyboardInterrupt

    for engine in ({"on": "ray", "workers": 1}, {"on": "local"}):
        with pytest.raises(KeyboardInterrupt):
            surveyed(folder, **engine, progress=stop)
    wait_until(lambda: not workers())
    found = surveyed(folder, on="ray", workers=1)
    assert hashes(folder) == whole
    assert found.complete


def test_what_is_waited_for_is_said(local_ray, tmp_path):
    @local_ray.remote(num_cpus=2)
    class Greedy:
        def here(self):
            return True

    greedy = Greedy.remote()
    local_ray.get(greedy.here.remote())
    notes = []

    def progress(record):
        notes.append(record.note)
        if "waiting" in record.note:
            local_ray.kill(greedy)

    found = surveyed(tmp_path / "survey", on="ray", workers=1, progress=progress)
    assert "waiting for 1 workers: the cluster has 0 free CPUs" in notes
    assert found.complete


def test_what_a_worker_raises_is_one_line(local_ray, tmp_path):
    with pytest.raises(SurveyError, match=r"^document 0 of the texts can't be measured: RuntimeError: this mod"):
        surveyed(tmp_path / "survey", texts=["a broken clock", "time flies"], on="ray", workers=1, strict=True)
    with pytest.raises(SurveyError, match=r"^a worker could not start: .*not here"):
        surveyed(tmp_path / "survey", texts=["time flies"], model=Unpicklable(), on="ray", workers=1, again=True)
    with pytest.raises(SurveyError, match=r"^a worker could not start: "):
        surveyed(tmp_path / "survey", texts=["time flies"], model=Deadly(), on="ray", workers=1, again=True)


def test_a_worker_tells_it_in_the_language_that_was_chosen(local_ray, tmp_path):
    words.choose("vi")
    try:
        with pytest.raises(SurveyError, match=r"^không đo được tài liệu 0 của các văn bản: RuntimeError: this mod"):
            surveyed(tmp_path / "survey", texts=["a broken clock", "time flies"], on="ray", workers=1, strict=True)
    finally:
        words.choose(None)


class Deadly(StubModel):
    """A model that kills whoever loads it."""

    def __reduce__(self):
        return dying, ()


class Unpicklable(StubModel):
    """A model that no worker can load."""

    def __reduce__(self):
        return raising, ()


def dying():
    os.kill(os.getpid(), signal.SIGKILL)


def raising():
    raise RuntimeError("not here")


ALONE = """
import os, sys
os.environ["PYTHONPATH"] = os.pathsep.join([{tests!r}, *filter(None, sys.path)])
sys.path.insert(0, {tests!r})
import eyeline as el
from eyeline import words
from survey_stub import StubModel, sentences
el.survey(sentences(30), model=StubModel(pause=0.2), block=1500, out=sys.argv[1], on="ray", workers=2)
"""


LABELS = """
LABEL = "odd"

def odd(tokens):
    return [LABEL if place % 2 else "" for place in range(len(tokens))]
"""


def test_our_own_model_and_a_users_labels_on_workers(local_ray, tmp_path, monkeypatch):
    """Each worker loads the model by its name, on one thread; the user's module is only here."""
    (tmp_path / "labels.py").write_text(LABELS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    given = {"model": el.models.load("minilm"), "classes": "labels:odd", "window": 64, "block": 2000}
    found = surveyed("ray", on="ray", workers=1, **given)
    surveyed("local", **{**given, "model": "minilm"})
    assert hashes("ray") == hashes("local")
    assert "word/odd" in found.types


def test_ctrl_c_leaves_no_process_and_no_word_of_rays(tmp_path, whole):
    """A Ray of the survey's own, interrupted as a terminal does: all processes of the group get the signal."""
    folder = tmp_path / "survey"
    environment = {**os.environ, "EYELINE_TEST_RUN": "alone"}
    script = ALONE.format(tests=str(Path(__file__).parent))
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(folder)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True,
    )  # fmt: skip
    wait_until(lambda: process.poll() is not None or len(list(folder.glob("parts/*.parquet"))) > 1)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out == ""
    assert err.rstrip().endswith("KeyboardInterrupt")
    assert "raylet" not in err
    wait_until(lambda: not group(process.pid))
    surveyed(folder)
    assert hashes(folder) == whole


def group(number):
    """The processes of a session that are left."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(folder.name)) == number:
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def wait_until(true, seconds=60):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "this never came about"
        time.sleep(0.02)
