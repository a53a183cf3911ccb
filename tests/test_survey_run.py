"""A survey's run in this process: what it refuses, keeps, skips, and what is left when it fails."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from survey_stub import StubModel, sentences

import eyeline as el
from eyeline.surveys import SurveyError
from eyeline.surveys.blocks import MOST_DOCUMENTS, blocks
from eyeline.surveys.document import Document
from eyeline.surveys.folder import SurveyFolder
from eyeline.surveys.settings import Settings

TEXTS = sentences(40)
TABLES = ("heads.parquet", "tokens.parquet", "examples.parquet")


def surveyed(out, texts=TEXTS, **given):
    return el.survey(texts, out=out, **{"model": StubModel(), "block": 2000, **given})


def hashes(folder):
    return [hashlib.sha256((Path(folder) / name).read_bytes()).hexdigest() for name in TABLES]


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a survey that nothing interrupted."""
    folder = tmp_path_factory.mktemp("whole") / "survey"
    surveyed(folder)
    return folder


def test_blocks_end_at_their_characters_or_at_the_most_documents():
    texts = ["a" * 10] * 5 + ["b" * 100] + ["c"] * (MOST_DOCUMENTS + 3)
    corpus = [Document(n, "a.txt", n, text) for n, text in enumerate(texts)]
    settings = Settings(8, 1, block=25)
    found = list(blocks(corpus, settings, {}))
    assert [len(block.documents) for block in found[:4]] == [3, 3, 25, 25]
    assert [block.number for block in found] == list(range(len(found)))
    assert [one for block in found for one in block.documents] == corpus
    many = list(blocks(corpus, Settings(8, 1, block=10**6), {}))
    assert [len(block.documents) for block in many] == [MOST_DOCUMENTS, len(corpus) - MOST_DOCUMENTS]


def test_a_blocks_fingerprint_is_of_documents_settings_and_model():
    one = [Document(0, "a.txt", 0, "time"), Document(1, "a.txt", 1, "flies")]
    settings, model = Settings(8, 1), {"name": "stub", "sha256": "1"}

    def mark(documents=one, settings=settings, model=model):
        return next(blocks(documents, settings, model)).fingerprint

    assert mark() == mark(model={"name": "elsewhere/stub", "sha256": "1", "source": "elsewhere"})
    others = [
        mark([one[0], Document(1, "a.txt", 1, "flies ")]),
        mark([one[0], Document(1, "b.txt", 1, "flies")]),
        mark([one[0], Document(1, "a.txt", 2, "flies")]),
        mark([one[0], Document(2, "a.txt", 1, "flies")]),
        mark([Document(0, "a.txt", 0, "timef"), Document(1, "a.txt", 1, "lies")]),
        mark(settings=Settings(8, 2)),
        mark(model={"name": "stub", "sha256": "2"}),
    ]
    assert len({mark(), *others}) == 8


def test_a_complete_survey_leaves_its_files_and_nothing_else(whole):
    record = json.loads((whole / "survey.json").read_text())
    counts = record["counts"]
    parts = [f"parts/{number:06}.parquet" for number in range(counts["blocks"])]
    assert files(whole) == sorted([*TABLES, "survey.json", *parts])
    assert record["state"] == "complete"
    assert counts["blocks"] == counts["blocks_done"] > 5
    assert (counts["documents"], record["corpus"]["documents"]) == (40, 40)
    assert record["skipped"] == {"counts": {}, "first": []}
    assert record["settings"]["window"] == 64
    assert record["settings"]["overlap"] == 8
    assert record["model"] == StubModel().info
    assert record["versions"]["numpy"]


def test_the_same_call_again_measures_nothing(whole, monkeypatch):
    def looks(self, windows, types, count):
        pytest.fail("something was measured")

    monkeypatch.setattr(StubModel, "looks", looks)
    before = {name: (whole / name).stat().st_mtime_ns for name in files(whole)}
    told = []
    surveyed(whole, progress=told.append)
    assert {name: (whole / name).stat().st_mtime_ns for name in files(whole)} == before
    assert told[-1].kept == told[-1].documents == told[-1].documents_in_all == 40
    assert told[-1].characters_left == 0


def test_ray_isnt_started_for_a_survey_that_is_complete(whole, monkeypatch):
    from eyeline.surveys.engines import rays

    monkeypatch.setattr(rays, "connected", lambda *given: pytest.fail("Ray was started"))
    assert surveyed(whole, on="ray").complete


@pytest.mark.parametrize("lost", ["parts/000002.parquet", "heads.parquet"])
def test_a_lost_file_is_made_again(whole, tmp_path, lost):
    folder = copied(whole, tmp_path)
    (folder / lost).unlink()
    surveyed(folder)
    assert files(folder) == files(whole)
    assert hashes(folder) == hashes(whole)


@pytest.mark.parametrize("name", ["heads.parquet", "tokens.parquet", "examples.parquet"])
@pytest.mark.parametrize("harm", ["cut", "swapped"])
def test_a_table_that_is_damaged_or_of_another_survey_is_merged_anew(whole, tmp_path, name, harm):
    folder = copied(whole, tmp_path)
    if harm == "cut":
        (folder / name).write_bytes((folder / name).read_bytes()[:-100])
    else:
        surveyed(tmp_path / "other", texts=TEXTS[:2])
        shutil.copy(tmp_path / "other" / name, folder / name)
    surveyed(folder)
    assert hashes(folder) == hashes(whole)


def test_a_survey_that_measured_nothing_yet_gives_way_to_another(tmp_path):
    with pytest.raises(SurveyError, match="classes must give"):
        surveyed(tmp_path / "survey", classes=lambda tokens: None)
    assert surveyed(tmp_path / "survey").complete


def test_a_damaged_part_is_measured_anew(whole, tmp_path):
    folder = copied(whole, tmp_path)
    part = folder / "parts/000001.parquet"
    for data in (part.read_bytes()[:100], b"", part.read_bytes()):
        part.write_bytes(data)
        (folder / "heads.parquet").unlink()
        surveyed(folder)
        assert hashes(folder) == hashes(whole)


@pytest.mark.parametrize(
    ("changed", "differs"),
    [
        ({"model": StubModel(name="other")}, "model stub, not other"),
        ({"window": 32}, "window 64, not 32; overlap 8, not 4"),
        ({"overlap": 7}, "overlap 8, not 7"),
        ({"block": 3000}, "block 2000, not 3000"),
        ({"examples": (16, 3)}, "sample 16, not 3"),
        ({"classes": len}, "classes None, not builtins:len"),
        ({"texts": [*TEXTS, "more"]}, "corpus: 1 changed, such as the texts"),
        ({"texts": [*TEXTS[:-1], TEXTS[-1][::-1]]}, "corpus: 1 changed, such as the texts"),
    ],
)
def test_another_survey_in_the_folder_is_refused(whole, changed, differs):
    before = hashes(whole)
    with pytest.raises(SurveyError) as refused:
        surveyed(whole, **changed)
    assert str(refused.value) == (
        f"out holds a survey that differs, {str(whole)!r} ({differs}); give another folder, or again=True to "
        "delete it and start over"
    )
    assert hashes(whole) == before


def test_again_starts_over(whole, tmp_path):
    folder = copied(whole, tmp_path)
    found = surveyed(folder, texts=TEXTS[:4], again=True)
    assert found.info["counts"]["documents"] == 4
    assert len(SurveyFolder(folder).parts()) == found.info["counts"]["blocks"] < 5
    surveyed(folder, again=True)
    assert hashes(folder) == hashes(whole)


def test_texts_that_come_once_cant_be_gone_on_with(tmp_path, whole):
    folder = tmp_path / "survey"
    found = surveyed(folder, texts=iter(TEXTS))
    assert hashes(folder) == hashes(whole)
    assert found.info["corpus"]["documents"] == 40
    with pytest.raises(SurveyError, match="texts must be a list to go on"):
        surveyed(folder, texts=iter(TEXTS))
    surveyed(folder, texts=iter(TEXTS), again=True)


def test_a_folder_with_something_else_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    for again in (False, True):
        with pytest.raises(SurveyError, match=r"which holds 'thesis.tex' and no survey.json"):
            surveyed(tmp_path, again=again)
    assert files(tmp_path) == ["thesis.tex"]
    with pytest.raises(SurveyError, match=r"out must be a folder, got .*, which is a file"):
        surveyed(tmp_path / "thesis.tex")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/survey.json").write_text('{"format": "somebody else\'s"}')
    for again in (False, True):
        with pytest.raises(SurveyError, match="is no survey of Eyeline's"):
            surveyed(tmp_path / "other", again=again)
    assert files(tmp_path / "other") == ["survey.json"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"on": "spark"}, "on must be 'local' or 'ray', got 'spark'"),
        ({"workers": 2}, "workers must be left out without Ray, got 2; add on='ray'"),
        ({"on": "ray", "workers": 0}, "workers must be a whole number, 1 or more, got 0"),
        ({"on": "ray", "address": ""}, "address must be a cluster's, as '10.0.0.1:6379', got ''"),
        ({"window": 65}, "window must be at most 64, the model's positions, got 65"),
        ({"window": 4}, "window must be a whole number, 8 or more, got 4"),
        ({"window": 64, "overlap": 33}, "overlap must be at most half of the window, 32, got 33"),
        ({"block": "many"}, "block must be a whole number, 1 or more, got 'many'"),
        ({"examples": -1}, "examples must be a whole number, 0 or more, got -1"),
        ({"examples": (1, 2, 3)}, "examples must be a number, or a pair: largest and sample; got (1, 2, 3)"),
        ({"classes": "punctuation"}, "classes must be a function or its name, 'module:function', got 'punctuation'"),
        ({"classes": "os:nothing"}, "classes must be a function that can be imported, got 'os:nothing': module 'os' "),
        ({"classes": "os:name"}, "classes must be a function, got 'os:name', which is none"),
        ({"out": "nowhere://here"}, "folder must be a path, or a URI that pyarrow can open, got 'nowhere://here' "),
        ({"texts": []}, "corpus must have at least one document, got none"),
        ({"again": "no"}, "again must be True or False, got 'no'"),
        ({"strict": 1}, "strict must be True or False, got 1"),
        ({"out": None}, "folder must be a path or a URI, got None"),
        ({"out": b"x"}, "folder must be a path or a URI, got b'x'"),
        ({"texts": [Path(__file__), 5]}, "corpus must be paths or texts, got 5 among paths"),
    ],
)
def test_arguments_are_checked_before_anything_is_made(tmp_path, given, message):
    with pytest.raises(SurveyError) as refused:
        surveyed(**{"out": tmp_path / "new" / "survey", **given})
    assert str(refused.value).startswith(message)
    assert not (tmp_path / "new" / "survey").exists()


def test_ray_that_isnt_installed_is_told_before_anything_is_made(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(SurveyError, match=r"on='ray' needs ray, which isn't installed; pip install 'eyeline\[ray\]'"):
        surveyed(tmp_path / "survey", on="ray")
    assert not (tmp_path / "survey").exists()


def test_a_cluster_that_isnt_there_is_told_at_once(tmp_path):
    with socket.socket() as nobody:  # bound, and not listening
        nobody.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{nobody.getsockname()[1]}"
        with pytest.raises(SurveyError) as refused:
            surveyed(tmp_path / "survey", on="ray", address=address)
    assert str(refused.value).startswith(f"address must be of a Ray that runs, got {address!r}: ")
    assert "Connection refused" in str(refused.value)
    assert surveyed(tmp_path / "survey").complete


def test_a_uri_is_a_folder_too(tmp_path, whole):
    found = surveyed(f"file://{tmp_path}/survey")
    assert hashes(tmp_path / "survey") == hashes(whole)
    assert found.folder == f"file://{tmp_path}/survey"


def test_a_document_that_makes_the_model_fail_is_skipped(tmp_path):
    texts = ["time flies", "a broken clock", "like an arrow"]
    found = surveyed(tmp_path / "some", texts=texts)
    assert found.info["counts"]["documents"] == 2
    assert found.info["skipped"]["counts"] == {"failed": 1}
    (first,) = found.info["skipped"]["first"]
    assert (first["place"], first["detail"]) == (1, "RuntimeError: this model can't read that")
    surveyed(tmp_path / "rest", texts=[texts[0], texts[2]])
    assert hashes(tmp_path / "some")[0] == hashes(tmp_path / "rest")[0]
    # Whoever is strict later isn't content with what was skipped before.
    for folder in ("some", "new"):
        with pytest.raises(SurveyError, match="document 1 of the texts can't be measured: RuntimeError: this model"):
            surveyed(tmp_path / folder, texts=texts, strict=True)


def test_a_model_that_reads_nothing_stops_the_survey(tmp_path):
    with pytest.raises(SurveyError, match="got 2 documents that it can't, and none that it can; the first: Runtime"):
        surveyed(tmp_path / "survey", texts=["broken", "more that is broken"])
    with pytest.raises(SurveyError, match="corpus must have a document that can be measured, got 1 that can't"):
        surveyed(tmp_path / "survey", texts=["broken"], again=True)


def test_a_labelling_functions_error_stops_the_survey(tmp_path):
    def wrong(tokens):
        raise KeyError("noun")

    with pytest.raises(SurveyError, match="classes must give a label for each token of a text, but it raised KeyErr"):
        surveyed(tmp_path / "survey", classes=wrong)


@pytest.mark.parametrize("target", ["000003.parquet", "heads.parquet", "survey.json"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_write_that_fails_leaves_whole_files(tmp_path, whole, monkeypatch, target, error):
    """A full disk, and Ctrl-C in the middle of a file."""
    folder, write_bytes, times = tmp_path / "survey", Path.write_bytes, []

    def failing(path, data):
        write_bytes(path, data[: len(data) // 2])
        if times:
            times.pop()
            raise error
        return write_bytes(path, data)

    real = SurveyFolder.write

    def write(self, name, data):
        if name.endswith(target):
            times.append(1)
        real(self, name, data)

    with monkeypatch.context() as patched:
        patched.setattr(SurveyFolder, "write", write)
        patched.setattr(Path, "write_bytes", failing)
        with pytest.raises((SurveyError, KeyboardInterrupt)) as failed:
            surveyed(folder)
    if isinstance(error, OSError):
        assert str(failed.value) == (
            f"out must be a folder that can be written, got {str(folder)!r}: No space left on device; once it can, the "
            "same survey goes on where it was"
        )
    assert not [name for name in files(folder) if not name.endswith((".parquet", ".json"))]
    assert f"parts/{target}" not in files(folder)
    surveyed(folder)
    assert hashes(folder) == hashes(whole)
    assert files(folder) == files(whole)


def test_an_error_anywhere_leaves_a_survey_that_goes_on(tmp_path, whole):
    """An error raised at each step that progress is told of, one after another in one folder."""
    folder, kept = tmp_path / "survey", []
    for step in range(1, 100):
        told = []

        def progress(record, told=told, step=step):
            told.append(record)
            if len(told) == step:
                raise KeyboardInterrupt

        try:
            surveyed(folder, progress=progress)
            break
        except KeyboardInterrupt:
            kept.append(len(SurveyFolder(folder).parts()))
    assert hashes(folder) == hashes(whole)
    assert kept == sorted(kept)


SCRIPT = """
import sys
sys.path[:0] = {paths!r}
import eyeline as el
from survey_stub import StubModel, sentences
el.survey(sentences(40), model=StubModel(pause=0.02), block=2000, out=sys.argv[1])
"""


def started(folder):
    """A process that makes the survey, once it has made some parts."""
    script = SCRIPT.format(paths=[str(Path(__file__).parent)])
    process = subprocess.Popen([sys.executable, "-c", script, str(folder)], stderr=subprocess.PIPE, text=True)
    while process.poll() is None and len(SurveyFolder(folder).parts()) < 2:
        time.sleep(0.005)
    return process


@pytest.mark.parametrize("ended_by", [signal.SIGINT, signal.SIGKILL])
def test_a_process_that_is_ended_leaves_a_survey_that_goes_on(tmp_path, whole, ended_by):
    folder = tmp_path / "survey"
    process = started(folder)
    with pytest.raises(SurveyError, match=f"where process {process.pid} is at work"):
        surveyed(folder)
    process.send_signal(ended_by)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == -ended_by
    assert ("KeyboardInterrupt" in said) == (ended_by == signal.SIGINT)
    done = len(SurveyFolder(folder).parts())
    assert 2 <= done < json.loads((whole / "survey.json").read_text())["counts"]["blocks"]
    (folder / f"parts/.new-{0:016x}").write_bytes(b"half a part")  # as one that was killed while it wrote leaves
    told = []
    surveyed(folder, progress=told.append)
    assert max(record.kept for record in told) > 0
    assert hashes(folder) == hashes(whole)
    assert files(folder) == files(whole)


def test_two_surveys_of_one_process_dont_share_a_folder(tmp_path):
    reached, go = threading.Event(), threading.Event()

    def wait(record):
        reached.set()
        assert go.wait(30)

    first = threading.Thread(target=surveyed, args=(tmp_path / "survey",), kwargs={"progress": wait})
    first.start()
    assert reached.wait(30)
    try:
        with pytest.raises(SurveyError, match=f"where process {os.getpid()} is at work; wait for it"):
            surveyed(tmp_path / "survey")
    finally:
        go.set()
        first.join()
    assert el.load_survey(tmp_path / "survey").complete


def test_threads_dont_change_a_byte(tmp_path):
    """Our own model: a block in each of two threads, and both threads for the last block."""
    texts = sentences(24)
    given = {"model": "minilm", "window": 128, "block": 3000}
    for count in (1, 2, 3):
        el.set_threads(count)
        try:
            surveyed(tmp_path / str(count), texts=texts, **given)
            surveyed(tmp_path / f"{count} at once", texts=texts[:9], **{**given, "block": 10**6})
        finally:
            el.set_threads(None)
    assert hashes(tmp_path / "1") == hashes(tmp_path / "2") == hashes(tmp_path / "3")
    assert hashes(tmp_path / "1 at once") == hashes(tmp_path / "2 at once") == hashes(tmp_path / "3 at once")


def test_an_error_stops_the_other_threads_too(tmp_path, two_threads):
    def stop(record):
        if record.tokens:
            raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        surveyed(tmp_path / "survey", model="minilm", progress=stop)
    assert threading.active_count() <= before
    surveyed(tmp_path / "survey", model="minilm")


def test_memory_doesnt_grow_with_the_corpus():
    """A made-up corpus streams through a model of one layer: 8 times the size takes no more memory, but for noise."""
    peaks = []
    for megabytes in (2, 16):
        script = Path(__file__).parents[1] / "bench/survey_memory.py"
        ran = subprocess.run([sys.executable, script, str(megabytes)], capture_output=True, text=True, check=True)
        peaks.append(int(re.search(r"peak ([\d,]+) MB", ran.stdout)[1].replace(",", "")))
    assert peaks[0] < 400
    assert peaks[1] < peaks[0] + 60


def copied(whole, to):
    return Path(shutil.copytree(whole, to / "copy"))
