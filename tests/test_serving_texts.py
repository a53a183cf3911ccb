"""The local server: how texts are run, followed, cancelled and forgotten, and files opened by their numbers."""

from __future__ import annotations

import json
import threading
import time

import numpy as np
import pytest

from eyeline.serving import InputFile, Session
from eyeline.serving import session as session_module
from eyeline.serving.jobs import REMEMBERED
from eyeline.traces import record
from eyeline.views.page import Page
from tests.served import Served, gated, session_of, unframed, until

TEXT = "the cat ran"


@pytest.fixture
def own(tiny_trace, tiny_model):
    with Served(session_of(tiny_trace, tiny_model)) as served:
        yield served


def test_a_text_is_run_as_the_library_runs_it(own, tiny_model):
    for asked in ({"text": "a fox flies"}, {"text": "a fox flies", "model": "tiny", "mask": None, "scale": 1.0}):
        report = own.run(asked)
        number = report["trace"]
        assert report == {
            "job": number,
            "state": "done",
            "line": "",
            "layers": [3, 3],
            "seconds": report["seconds"],
            "trace": number,
            "entry": own.ask("GET", "/api/header")[2]["traces"][number],
        }
        expected = record("a fox flies", model=tiny_model, scale=asked.get("scale"))
        request = {"id": 1, "kind": "head", "trace": number, "layer": 2, "head": 0}
        reply, arrays = unframed(own.ask("POST", "/api/answer", request)[2])
        of = dict(zip(reply["arrays"], arrays, strict=True))
        for name, array in (("q", expected.layers[2].q[0]), ("lse", expected.layers[2].lse[0])):
            np.testing.assert_array_equal(np.frombuffer(of[name], np.float32), array.ravel())
    assert [one["name"] for one in own.ask("GET", "/api/header")[2]["traces"]] == ["as trained"] * 2 + ["without ÷ √d"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "text must have at least one word"),
        (" \n\t", "text must have at least one word"),
        ("a" * 500, "200 positions"),
        ("a\ud800b", "valid Unicode"),
    ],
)
def test_a_text_that_cannot_be_run_fails_with_the_librarys_words(own, text, message):
    report = own.run({"text": text})
    assert report["state"] == "failed"
    assert report["error"]["argument"] == "text"
    assert message in report["error"]["message"]
    assert len(own.session.page.traces) == 1
    assert own.run({"text": TEXT})["state"] == "done"


def test_odd_texts_come_back_as_they_were_typed(own):
    for text in ("</script><img src=x onerror=alert(1)>", "a\x00b\u2028c\u202ed", "🦜👨‍👩‍👧 e\u0301", "'\"\\"):
        report = own.run({"text": text})
        assert report["entry"]["queries"]["text"] == text


def test_a_run_is_cancelled_between_two_layers(own, tiny_model, monkeypatch):
    ran, gate = gated(monkeypatch, tiny_model)
    job = own.ask("POST", "/api/texts", {"text": TEXT})[2]["job"]
    until(lambda: len(ran) == 1)
    status, _, report = own.ask("GET", f"/api/jobs/{job}")
    assert (status, report["state"], report["layers"]) == (200, "running", [0, 3])
    gate.release()
    until(lambda: len(ran) == 2)
    assert own.ask("GET", f"/api/jobs/{job}")[2]["layers"] == [1, 3]
    assert own.ask("DELETE", f"/api/jobs/{job}")[2]["state"] == "running"  # till the layer is done
    gate.release()
    report = own.over(job)
    assert report["state"] == "cancelled"
    assert "trace" not in report
    assert len(ran) == 2
    assert len(own.session.page.traces) == 1
    # And once more: it is over already.
    assert own.ask("DELETE", f"/api/jobs/{job}")[2]["state"] == "cancelled"


def test_a_run_that_is_cancelled_in_its_last_layer_leaves_no_trace(own, tiny_model, monkeypatch):
    ran, gate = gated(monkeypatch, tiny_model)
    job = own.ask("POST", "/api/texts", {"text": TEXT})[2]["job"]
    gate.release(2)
    until(lambda: len(ran) == 3)
    own.ask("DELETE", f"/api/jobs/{job}")
    gate.release()
    assert own.over(job)["state"] == "cancelled"
    assert len(own.session.page.traces) == 1


def test_one_text_is_run_at_a_time(own, tiny_model, monkeypatch):
    _, gate = gated(monkeypatch, tiny_model)
    job = own.ask("POST", "/api/texts", {"text": TEXT})[2]["job"]
    status, _, said = own.ask("POST", "/api/texts", {"text": "another"})
    assert (status, said["job"], said["error"]["argument"]) == (409, job, "text")
    gate.release(3)
    assert own.over(job)["state"] == "done"
    gate.release(3)
    assert own.run({"text": "another"})["state"] == "done"


def test_the_page_is_answered_while_a_text_is_run(own, tiny_model, monkeypatch):
    _, gate = gated(monkeypatch, tiny_model)
    job = own.ask("POST", "/api/texts", {"text": TEXT})[2]["job"]
    assert own.ask("POST", "/api/answer", {"id": 1, "kind": "overview", "trace": 0})[0] == 200
    gate.release(3)
    assert own.over(job)["state"] == "done"


def test_closing_cancels_what_runs_and_waits_for_it(tiny_trace, tiny_model, monkeypatch):
    ran, gate = gated(monkeypatch, tiny_model)
    with Served(session_of(tiny_trace, tiny_model)) as served:
        job = served.ask("POST", "/api/texts", {"text": TEXT})[2]["job"]
        until(lambda: len(ran) == 1)
        found = served.session.jobs.job(str(job))
        going_on = threading.Thread(target=lambda: (until(found.cancelled), gate.release()))
        going_on.start()
    going_on.join()
    assert found.state == "cancelled"
    assert len(ran) == 1


def test_fetching_a_model_is_cancelled_at_its_next_line(tiny_trace, tiny_model, monkeypatch):
    begun, lines = threading.Event(), []

    asked_model = session_module.asked_model

    def slowly(name, progress=None):
        if progress is None:  # the one that is there already
            return asked_model(name)
        while True:
            progress(f"fetching {name}: {len(lines)} of 91 MB")
            lines.append(name)
            begun.set()
            time.sleep(0.01)

    monkeypatch.setattr(session_module, "asked_model", slowly)
    with Served(Session(Page([tiny_trace]), ["tiny", "minilm"], ready={"tiny": tiny_model})) as served:
        job = served.ask("POST", "/api/texts", {"text": TEXT, "model": "minilm"})[2]["job"]
        assert begun.wait(10)
        report = served.ask("GET", f"/api/jobs/{job}")[2]
        assert report["line"].startswith("fetching minilm: ")
        assert report["layers"] == [0, 0]
        served.ask("DELETE", f"/api/jobs/{job}")
        assert served.over(job)["state"] == "cancelled"
    assert set(lines) == {"minilm"}


def test_a_job_that_fails_by_our_mistake_says_so(own, monkeypatch, capfd):
    def broken(*_, **__):
        raise RuntimeError("ours")

    monkeypatch.setattr(session_module, "record_text", broken)
    report = own.run({"text": TEXT})
    assert (report["state"], "the terminal shows which" in report["error"]["message"]) == ("failed", True)
    assert "RuntimeError: ours" in capfd.readouterr().err

    def too_much(*_, **__):
        raise MemoryError

    monkeypatch.setattr(session_module, "record_text", too_much)
    assert "must fit in memory" in own.run({"text": TEXT})["error"]["message"]


def test_old_jobs_are_forgotten(own):
    first = own.run({"text": TEXT})["job"]
    for _ in range(REMEMBERED):
        last = own.run({"text": TEXT})["job"]
    own.refused(404, "job", "GET", f"/api/jobs/{first}")
    assert own.ask("GET", f"/api/jobs/{last}")[0] == 200
    assert len(own.session.jobs._jobs) == REMEMBERED


def test_old_traces_make_room_for_new_ones(tiny_trace, tiny_model):
    given = session_module.bytes_of(tiny_trace)
    with Served(session_of(tiny_trace, tiny_model)) as served:
        served.run({"text": TEXT})
        kept = 3 * session_module.bytes_of(served.session.page.traces[1])
    with Served(session_of(tiny_trace, tiny_model, kept=kept)) as served:
        for number in range(1, 6):
            assert served.run({"text": TEXT})["trace"] == number
        request = {"id": 1, "kind": "head", "layer": 0, "head": 0}
        states = [served.ask("POST", "/api/answer", {**request, "trace": place})[0] for place in range(6)]
        assert states == [410, 410, 410, 200, 200, 200]
        assert "run its text anew" in served.refused(410, "trace", "POST", "/api/answer", {**request, "trace": 0.0})
        assert sum(map(session_module.bytes_of, served.session.page.traces)) <= kept
        entries = served.ask("GET", "/api/header")[2]["traces"]
        assert [entry["queries"]["text"] for entry in entries] == [TEXT] * 6
    assert session_module.bytes_of(tiny_trace) == given  # what was given isn't changed


def test_one_text_larger_than_all_that_is_kept_is_kept(tiny_trace, tiny_model):
    with Served(session_of(tiny_trace, tiny_model, kept=1)) as served:
        number = served.run({"text": TEXT})["trace"]
        request = {"id": 1, "kind": "head", "layer": 0, "head": 0, "trace": number}
        assert served.ask("POST", "/api/answer", request)[0] == 200


def test_files_are_opened_by_their_number(tiny_trace, tiny_model, tmp_path):
    (tmp_path / "a.txt").write_text("\ufeffthe fox\n", "utf-8")
    (tmp_path / "bad.txt").write_bytes(b"caf\xe9")
    tiny_trace.save(tmp_path / "b.safetensors")
    files = [
        InputFile(name, tmp_path / name, "trace" if "safe" in name else "text", tmp_path)
        for name in ("a.txt", "b.safetensors", "bad.txt", "gone.txt")
    ]
    with Served(session_of(tiny_trace, tiny_model, files=files)) as served:
        can = served.ask("GET", "/api/header")[2]["can"]
        assert can["files"][:2] == [{"name": "a.txt", "kind": "text"}, {"name": "b.safetensors", "kind": "trace"}]
        assert str(tmp_path) not in json.dumps(can)
        assert served.run({"file": 0})["entry"]["queries"]["text"] == "the fox"
        assert served.run({"file": 1})["entry"]["queries"]["text"] == TEXT
        assert "must be UTF-8 text, got byte 0xe9 at 3" in served.run({"file": 2})["error"]["message"]
        assert served.run({"file": 3})["state"] == "failed"
        for wrong in (4, -1, True, 1.5, "0", "a.txt", "../a.txt", 10**19):
            message = served.refused(400, "file", "POST", "/api/texts", {"file": wrong})
            assert message.startswith("file must be from 0 to 3, got ")


def test_a_file_that_has_become_a_link_out_of_its_folder_is_not_read(tiny_trace, tiny_model, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    tiny_trace.save(tmp_path / "secret.safetensors")
    files = []
    for name, kind in (("secret.txt", "text"), ("secret.safetensors", "trace")):
        (folder / name).symlink_to(tmp_path / name)
        files.append(InputFile(name, folder / name, kind, folder))
    with Served(session_of(tiny_trace, tiny_model, files=files)) as served:
        for number in range(2):
            report = served.run({"file": number})
            assert (report["state"], "must be a file of" in report["error"]["message"]) == ("failed", True)


def test_an_encoder_decoder_gives_three_traces_and_shows_its_cross_attention(tiny_trace):
    with Served(Session(Page([tiny_trace]), ["dates"])) as served:
        report = served.run({"text": "3rd of March, 2021", "model": "dates"})
        traces = served.ask("GET", "/api/header")[2]["traces"]
        assert [trace["name"] for trace in traces[1:]] == ["encoder", "decoder", "cross"]
        assert (report["state"], report["trace"], report["entry"]) == ("done", 3, traces[3])
        refused = served.run({"text": "3rd of March, 2021", "model": "dates", "mask": "causal"})
        assert refused["error"]["argument"] == "mask"
        unknown = served.run({"text": "3. März 2021", "model": "dates"})
        assert "got 'ä' at 4" in unknown["error"]["message"]
