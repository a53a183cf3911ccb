"""`eyeline view`: what it can be given, what it prints, and how it ends."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import webbrowser

import pytest
from tiny import save_decoder

from eyeline import serving
from eyeline.answers import QuestionError
from eyeline.cli import browser as command
from eyeline.serving import source_of
from eyeline.serving.source import EXAMPLE, LARGEST
from eyeline.traces import record
from tests.surveys import made_survey
from tests.test_cli import COMMAND

FLIES = "time flies like an arrow; fruit flies like a banana"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return str(save_decoder(tmp_path_factory.mktemp("tiny")))


@pytest.fixture
def shown(say, monkeypatch):
    """The command in this process, without serving: its exit code, what it printed, and the session."""
    sessions = []
    monkeypatch.setattr(serving, "serve", lambda session, listening: sessions.append(session))

    def call(*arguments):
        code, out, err = say("view", "--no-browser", *arguments)
        return code, out, err, sessions.pop() if sessions else None

    return call


class Running:
    """The command in a process of its own."""

    def __init__(self, *arguments, env=None):
        environment = {**os.environ, "PYTHONIOENCODING": "utf-8", **(env or {})}
        self.process = subprocess.Popen(
            [*COMMAND, "view", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            text=True,
            encoding="utf-8",
            # A process that a shell put into the background doesn't hear Ctrl-C.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        self.address = self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def get(self, path):
        with urllib.request.urlopen(self.address + path, timeout=30) as response:
            return json.load(response)

    def post(self, path, sent):
        headers = {"Origin": self.address[:-1], "Content-Type": "application/json"}
        asked = urllib.request.Request(self.address + path, json.dumps(sent).encode(), headers)
        with urllib.request.urlopen(asked, timeout=30) as response:
            return json.load(response)

    def end(self, number):
        """Send a signal; gives the exit code, and what else was printed."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err


# How it begins and ends


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_prints_its_address_serves_and_ends_when_it_is_told_to(model, number):
    with Running("the cat ran", "--model", model, "--no-browser") as running:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", running.address)
        assert running.get("api/header")["title"] == "the cat ran"
        assert running.end(number) == (0, "", "Ctrl-C ends it\n")
        with pytest.raises(OSError, match="refused"):
            running.get("api/header")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_while_a_text_is_run_and_a_browser_is_connected(model, number):
    with Running("the cat ran", "--model", model, "--no-browser") as running:
        host, port = running.address[7:-1].split(":")
        with socket.create_connection((host, int(port))) as idle, socket.create_connection((host, int(port))) as half:
            idle.sendall(b"GET /api/header HTTP/1.1\r\n")
            half.sendall(
                f"POST /api/answer HTTP/1.1\r\nHost: {host}:{port}\r\nOrigin: {running.address[:-1]}\r\n"
                "Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{".encode()
            )
            running.post("api/texts", {"text": "a fox ran " * 15})
            assert running.end(number) == (0, "", "Ctrl-C ends it\n")


def test_an_interrupt_before_the_page_is_there_is_quiet(say, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("eyeline.traces.record_text", interrupted)
    assert say("view", "time flies", "--no-browser") == (130, "", "")


def test_two_at_once_and_a_port_that_is_taken(model):
    with Running("the cat", "--model", model, "--no-browser") as one:
        port = one.address.split(":")[-1][:-1]
        with Running("a fox", "--model", model, "--no-browser") as other:
            assert [running.get("api/header")["title"] for running in (one, other)] == ["the cat", "a fox"]
        with Running("a fox", "--model", model, "--no-browser", "--port", port) as third:
            out, err = third.process.communicate(timeout=60)
            assert (third.process.returncode, third.address, out) == (2, "", "")
            assert re.fullmatch(rf"eyeline: port must be free, got {port} \([^\n]+\); give another one[^\n]+\n", err)
        assert one.get("api/header")["title"] == "the cat"


def test_a_port_can_be_chosen(model):
    with serving.listen() as found:
        port = found.getsockname()[1]
    with Running("the cat", "--model", model, "--no-browser", "--port", str(port)) as running:
        assert running.address == f"http://127.0.0.1:{port}/"
        assert running.get("api/header")["title"] == "the cat"


@contextlib.contextmanager
def changed(model, code):
    """The command in a process in which something was done before; gives the process and its address."""
    code = f"import sys; from eyeline.cli import main; {code}; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "view", "the cat", "--model", model, "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def test_a_mistake_of_ours_is_shown_in_the_terminal(model):
    broken = "from eyeline.serving import Session; Session.header = lambda self: 1 / 0"
    with changed(model, broken) as (process, address):
        with pytest.raises(OSError, match="500"):
            urllib.request.urlopen(address + "api/header", timeout=30)
        process.terminate()
        assert "ZeroDivisionError" in process.communicate(timeout=30)[1]


def test_what_runs_is_stopped_at_the_end(model):
    program = (
        "import time",
        "from eyeline.serving import session",
        "def record_text(model, text, cancelled, **_):",
        "    while not cancelled(): time.sleep(0.01)",
        "    print('stopped', file=sys.stderr, flush=True)",
        "    raise session.Cancelled",
        "session.record_text = record_text",
    )
    with changed(model, f"exec({chr(10).join(program)!r})") as (process, address):
        headers = {"Origin": address[:-1], "Content-Type": "application/json"}
        asked = urllib.request.Request(address + "api/texts", b'{"text": "a"}', headers)
        urllib.request.urlopen(asked, timeout=30).close()
        process.terminate()
        assert process.communicate(timeout=30)[1] == "Ctrl-C ends it\nstopped\n"
        assert process.returncode == 0


# What it can be given


def test_a_text(shown):
    code, out, err, session = shown(FLIES, "--layer", "2", "--head", "4", "--token", "fruit")
    assert (code, err) == (0, "Ctrl-C ends it\n")
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\n", out)
    header = session.header()
    assert [trace["queries"]["text"] for trace in header["traces"]] == [FLIES]
    assert header["state"] == {"view": "sentence", "trace": 0, "layer": 2, "head": 4, "token": 7}
    assert header["traces"][0]["queries"]["pieces"][7] == "fruit"
    assert header["can"]["models"] == ["minilm", "smollm2", "e5", "dates"]


def test_nothing_is_an_example_with_the_lesson_beside_it(shown):
    code, _, _, session = shown()
    assert code == 0
    header = session.header()
    assert header["title"] == EXAMPLE
    opens = {"view": "sentence", "trace": 0, "layer": 5, "head": 11, "token": 2, "stop": None}
    assert header["state"] == opens
    assert header["lesson"] == {"flies": 0, "fruit": 1, "encoder": 2, "decoder": 3, "cross": 4}


@pytest.mark.parametrize(
    "asked", [["--layer", "0"], ["--token", "arrow"], ["--head", "3"], ["--layer", "0", "--head", "3"]]
)
def test_the_example_opens_where_it_would_without_the_lesson(shown, asked):
    token = [] if "--token" in asked else ["--token", "flies"]  # the word that the example opens at
    opens = shown(EXAMPLE, *asked, *token)[3].header()["state"]
    assert shown(*asked)[3].header()["state"] == opens | {"stop": None}


def test_a_mask_is_run_beside_what_was_trained(shown):
    _, _, _, session = shown("time flies", "--mask", "causal")
    header = session.header()
    assert [trace["name"] for trace in header["traces"]] == ["as trained", "causal"]
    assert header["state"]["trace"] == 1


def test_the_word_that_is_meant_can_be_said(shown):
    code, _, err, _ = shown(FLIES, "--token", "flies")
    assert (code, "say which with --nth 1 or 2" in err) == (2, True)
    assert shown(FLIES, "--token", "flies", "--nth", "2")[3].header()["state"]["token"] == 8
    assert shown(FLIES, "--token", "[CLS]")[3].header()["state"]["token"] == 0


def test_stdin_is_read_for_a_dash(model):
    process = subprocess.Popen(
        [*COMMAND, "view", "-", "--model", model, "--no-browser"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        process.stdin.write("\ufeffand/or\n".encode())
        process.stdin.close()
        address = process.stdout.readline().decode().strip()
        with urllib.request.urlopen(address + "api/header", timeout=30) as response:
            assert json.load(response)["title"] == "and/or"
        process.terminate()
        assert process.wait(30) == 0


def test_a_file_of_text(shown, tmp_path):
    file = tmp_path / "a text without a suffix"
    file.write_text("\ufeffThời gian\nthấm thoắt\n", "utf-8")
    _, _, _, session = shown(str(file))
    assert session.page.traces[0].queries.text == "Thời gian\nthấm thoắt"
    assert session.files == ()


def test_a_trace_file(shown, tmp_path):
    file = tmp_path / "one.safetensors"
    trace = record("time flies", mask="causal")
    trace.save(file)
    _, _, _, session = shown(str(file), "--layer", "1", "--token", "flies")
    assert session.header()["traces"][0]["queries"]["text"] == "time flies"
    assert session.header()["state"] == {"view": "sentence", "trace": 0, "layer": 1, "head": 9, "token": 2}
    code, _, err, _ = shown(str(file), "--mask", "causal")
    assert (code, "a trace and --mask can't go together" in err) == (2, True)


def test_a_models_folder(shown, model, tmp_path, monkeypatch):
    _, _, _, session = shown(model)
    assert session.header()["title"] == EXAMPLE
    assert session.header()["traces"][0]["model"]["name"] == model
    assert session.models == (model, "minilm", "smollm2", "e5", "dates")
    # One that lies here under the name of a known model is meant itself.
    (tmp_path / "minilm").symlink_to(model)
    monkeypatch.chdir(tmp_path)
    _, _, _, session = shown("minilm")
    assert session.models == (os.path.join(".", "minilm"), "minilm", "smollm2", "e5", "dates")
    assert session.header()["traces"][0]["model"]["layers"] == 3
    code, _, err, _ = shown("minilm", "--model", "smollm2")
    assert (code, "can't go together" in err) == (2, True)


def test_a_folder_of_files(shown, tmp_path):
    for name in ("10.txt", "2.txt", "b.MD", ".hidden.txt", "c.py", "d.txt~"):
        (tmp_path / name).write_text(f"text of {name[0]}")
    record("time flies").save(tmp_path / "t.safetensors")
    (tmp_path / "folder.txt").mkdir()
    (tmp_path / "link.txt").symlink_to("2.txt")
    (tmp_path / "out.txt").symlink_to("/etc/hostname")
    (tmp_path / "nothing.txt").symlink_to("gone.txt")
    (tmp_path / "ring.txt").symlink_to("ring.txt")
    os.mkfifo(tmp_path / "pipe.txt")
    _, _, err, session = shown(str(tmp_path))
    assert err == "Ctrl-C ends it\n"
    assert session.header()["can"]["files"] == [
        {"name": "2.txt", "kind": "text"},
        {"name": "10.txt", "kind": "text"},
        {"name": "b.MD", "kind": "text"},
        {"name": "link.txt", "kind": "text"},
        {"name": "t.safetensors", "kind": "trace"},
    ]
    assert session.header()["title"] == "text of 2"


def test_a_folder_whose_first_file_is_too_long_opens_with_an_example(shown, tmp_path):
    (tmp_path / "a\x1b[31m.txt").write_text("word " * 600)
    (tmp_path / "b.txt").write_text("time flies")
    code, _, err, session = shown(str(tmp_path))
    assert code == 0
    assert re.fullmatch(
        r"a[^\x1b]+\.txt can't be shown: [^\n]*512 positions[^\n]*got 602 tokens[^\n]*\nCtrl-C ends it\n", err
    )
    assert session.header()["title"] == EXAMPLE
    assert len(session.files) == 2


MISTAKES = [
    ([""], "text must have at least one word, got ''"),
    (["no/such/file"], "TEXT must be a sentence, or a file or folder that exists, got 'no/such/file'"),
    (["gone.txt"], "got 'gone.txt', where there is none"),
    (["gone.safetensors"], "where there is none"),
    (["empty"], "must be a model's folder, or have files to show (.txt, .text, .md, .rst, .csv, .log, .safetensors)"),
    (["bytes.txt"], "bytes.txt must be UTF-8 text, got byte 0xe9 at 3"),
    (["long.txt"], "512 positions"),
    (["large.txt"], "large.txt must have at most 2 MiB of text"),
    (["blank.txt"], "text must have at least one word"),
    (["broken.safetensors"], "broken.safetensors"),
    (["half"], "must be a model's folder"),
    (["a word", "--model", "minilmm"], "minilm"),
    (["a word", "--model", "no/such/folder"], "no/such/folder"),
    (["a word", "--layer", "6"], "layer must be from 0 to 5 in minilm, got 6; the last is 5"),
    (["a word", "--layer", "-1"], "layer must be from 0 to 5 in minilm, got -1"),
    (["a word", "--head", "12"], "head must be from 0 to 11 in minilm, got 12; the last is 11"),
    (["a word", "--token", "words"], "token must be a word of the text, got 'words'"),
    (["a word", "--nth", "1"], "add --token WORD"),
    (["a word", "--mask", "x"], "--mask"),
    (["a word", "--port", "70000"], "--port"),
    (["a word", "--port", "x"], "--port"),
    (["a", "word"], "text must be in quotes, got 2 words without"),
    (["a\udcff b"], "valid Unicode"),
    (["a\x00/b"], "where there is none"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_a_mistake_is_one_line_and_exit_code_2(shown, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    for name in ("empty", "half"):
        (tmp_path / name).mkdir()
    (tmp_path / "half" / "config.json").write_text("{}")
    (tmp_path / "bytes.txt").write_bytes(b"caf\xe9")
    (tmp_path / "long.txt").write_text("word " * 600)
    (tmp_path / "large.txt").write_text("word " * (LARGEST // 5 + 1))
    (tmp_path / "blank.txt").write_text("\n")
    (tmp_path / "broken.safetensors").write_bytes(b"\xff" * 64)
    code, out, err, session = shown(*arguments)
    assert (code, out, session) == (2, "", None)
    assert re.fullmatch(r"eyeline: [^\n\x1b]+\n", err)
    assert message in err


def test_what_is_given_is_told_apart(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for text in ("time flies", "either / or", "a.b", "what is a .txt file?", "…", "x" * 100_000, "a\nb"):
        assert source_of(text).text == text
    (tmp_path / "time flies").write_text("a file")
    assert source_of("time flies").file.path.name == "time flies"
    for path in ("a/b", "a\\b", "./x", "x.TXT", "my notes.md"):
        with pytest.raises(QuestionError, match="TEXT must be a sentence, or a file or folder that exists"):
            source_of(path)


# The browser


def opened_by(monkeypatch, browser):
    monkeypatch.delenv("BROWSER", raising=False)
    monkeypatch.setattr(webbrowser, "get", browser)
    command._open("http://127.0.0.1:1/")


def test_the_browser_is_opened_at_the_address(say, monkeypatch, model):
    opened = []
    monkeypatch.setattr(command, "_open", opened.append)
    monkeypatch.setattr(serving, "serve", lambda session, listening: time.sleep(0.1))
    code, out, _ = say("view", "the cat", "--model", model)
    assert (code, opened) == (0, [out.strip()])
    say("view", "the cat", "--model", model, "--no-browser")
    assert len(opened) == 1


def test_a_browser_that_cannot_be_opened_is_no_failure(monkeypatch):
    def none():
        raise webbrowser.Error("there is none")

    opened_by(monkeypatch, none)


def test_a_browser_for_terminals_is_left_alone(monkeypatch, tmp_path):
    asked = []

    class Window(webbrowser.BaseBrowser):
        def open(self, url, new=0, autoraise=True):
            asked.append(url)
            return False

    opened_by(monkeypatch, Window)
    assert asked == ["http://127.0.0.1:1/"]
    opened_by(
        monkeypatch, lambda: webbrowser.GenericBrowser([sys.executable, "-c", f"open({str(tmp_path / 'x')!r}, 'w')"])
    )
    assert not (tmp_path / "x").exists()


def test_an_encoder_decoder_has_three_parts_and_opens_on_cross_attention(shown):
    _, _, _, session = shown("3rd of March, 2021", "--model", "dates")
    header = session.header()
    assert [trace["name"] for trace in header["traces"]] == ["encoder", "decoder", "cross"]
    assert header["state"]["trace"] == 2
    code, _, err, _ = shown("3rd of March, 2021", "--model", "dates", "--mask", "causal")
    assert (code, "mask and scale must be left out with an encoder-decoder, got causal" in err) == (2, True)


# A survey


def test_a_surveys_folder_is_shown_or_two_beside_each_other(shown, tmp_path):
    made_survey(tmp_path / "one", layers=2, heads=3, documents=6, examples=2)
    made_survey(tmp_path / "other", layers=2, heads=3, documents=6, examples=2, seed=1, state="running")
    code, out, _, session = shown(str(tmp_path / "one"))
    assert (code, out.startswith("http://127.0.0.1:")) == (0, True)
    assert [survey.folder for survey in session.page.surveys] == [str(tmp_path / "one")]
    assert "view" not in session.page.state
    _, _, err, session = shown(str(tmp_path / "one"), str(tmp_path / "other"), "--layer", "1", "--head", "2")
    assert len(session.page.surveys) == 2
    assert f"{tmp_path / 'other'} isn't complete: what it has so far is shown" in err
    assert {**session.page.state, "language": None} == {"view": "head", "layer": 1, "head": 2, "language": None}


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["{one}", "--model", "minilm"], "--model can't go with a survey, which was measured already; leave it out"),
        (["{one}", "--token", "flies"], "--token can't go with a survey"),
        (["{one}", "--head", "3"], "head must be from 0 to 2 in tiny, got 3"),
        (["{one}", "{none}"], "which doesn't exist"),
        (["time", "flies"], 'text must be in quotes, got 2 words without; put it in: eyeline view "time flies"'),
        (["time flies", "{one}"], "there must be no more words than"),
    ],
)
def test_what_cant_go_with_a_survey_is_said(shown, tmp_path, arguments, line):
    made_survey(tmp_path / "one", layers=2, heads=3, documents=6, examples=2)
    places = {"one": tmp_path / "one", "none": tmp_path / "none"}
    code, out, err, session = shown(*(argument.format(**places) for argument in arguments))
    assert (code, out, session) == (2, "", None)
    assert line in err
    assert len(err.splitlines()) == 1
