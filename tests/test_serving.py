"""The local server: what is served, who may ask for what, and that bad requests get a plain answer."""

from __future__ import annotations

import json
import socket
import subprocess
import sys

import numpy as np
import pytest

from eyeline.serving import Session, listen
from eyeline.serving.guard import LARGEST
from eyeline.views.page import Page
from eyeline.views.page.framing import framed
from tests.served import Served, session_of, unframed

TEXT = "the cat ran"


@pytest.fixture(scope="module")
def shared(tiny_trace, tiny_model):
    """A server for tests that change nothing in it."""
    with Served(session_of(tiny_trace, tiny_model)) as served:
        yield served


@pytest.fixture
def own(tiny_trace, tiny_model):
    with Served(session_of(tiny_trace, tiny_model)) as served:
        yield served


# What is served


def test_the_page_is_served_without_anything_inline_or_from_elsewhere(shared):
    status, headers, html = shared.ask("GET", "/")
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert b'<script type="module" src="page.js"></script>' in html
    assert html.count(b"<script") == 1
    assert b"<style" not in html
    assert b"://" not in html
    for path, kind in (("/page.js", "text/javascript"), ("/page.css", "text/css")):
        status, headers, text = shared.ask("GET", path)
        assert (status, headers["Content-Type"]) == (200, f"{kind}; charset=utf-8")
        assert len(text) > 1000


@pytest.mark.parametrize("path", ["/", "/page.js", "/api/header", "/api/nothing", "/api/jobs/1"])
@pytest.mark.parametrize("host", [None, "elsewhere.example"])
def test_every_reply_says_what_a_browser_must_not_do_with_it(shared, path, host):
    _, headers, _ = shared.ask("GET", path, host=host)
    policy = headers["Content-Security-Policy"].split("; ")
    assert {"default-src 'none'", "style-src 'self'", "frame-ancestors 'none'"} <= set(policy)
    # WebAssembly, and a worker that the page makes itself: nothing more.
    assert {"script-src 'self' 'wasm-unsafe-eval'", "worker-src blob:"} <= set(policy)
    assert headers["Content-Security-Policy"].count("unsafe") == 1
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Cache-Control"] == "no-store"
    assert not [name for name in headers if name.lower().startswith("access-control-")]


def test_the_header_is_the_pages_with_what_a_server_can_do(shared):
    status, _, header = shared.ask("GET", "/api/header")
    assert status == 200
    assert header == {
        **json.loads(json.dumps(shared.session.page.header())),
        "can": {
            "run": True,
            "picture": True,
            "models": ["tiny"],
            "edit": [shared.session.page.traces[0].model.name],
            "fetch": {},
            "files": [],
        },
    }


def test_models_that_would_be_fetched_first_are_named(tiny_trace, tiny_model, tiny_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("EYELINE_CACHE", str(tmp_path))
    session = Session(Page([tiny_trace]), [str(tiny_folder), "smollm2"], ready={str(tiny_folder): tiny_model})
    assert session.header()["can"]["fetch"] == {"smollm2": 98}
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "request_",
    [
        {"id": 7, "kind": "head", "trace": 0, "layer": 2, "head": 3},
        {"id": 8, "kind": "overview", "trace": 0},
        {
            "id": 9,
            "kind": "picture",
            "trace": 0,
            "layer": 0,
            "head": 1,
            "queries": [0, 3],
            "keys": [1, 4],
            "rows": 2,
            "columns": 3,
        },
    ],
)
def test_an_answer_is_the_pages_to_the_byte(shared, request_):
    status, headers, data = shared.ask("POST", "/api/answer", request_)
    assert (status, headers["Content-Type"]) == (200, "application/octet-stream")
    reply, arrays = shared.session.page.answer(request_)
    assert unframed(data) == (reply, [bytes(array) for array in arrays])


@pytest.mark.parametrize("sizes", [[], [0], [1, 8, 0, 17], [0, 0]])
def test_frames_keep_every_array_at_a_multiple_of_eight(sizes):
    arrays = [np.arange(size, dtype=np.uint8) for size in sizes]
    data = framed({"id": 1, "text": "Việt"}, [memoryview(array) for array in arrays])
    assert len(data) % 8 == 0
    assert unframed(data) == ({"id": 1, "text": "Việt"}, [array.tobytes() for array in arrays])


# Who may ask


@pytest.mark.parametrize(
    "host",
    [
        "elsewhere.example",
        "elsewhere.example:{port}",
        "127.0.0.1",
        "localhost",
        "127.0.0.1:1",
        "127.0.0.1:{port}.elsewhere.example",
        "127.0.0.1:0{port}",
        "127.0.0.1:{port},elsewhere.example",
        "me@127.0.0.1:{port}",
        "127.0.0.2:{port}",
        "127.1:{port}",
        "2130706433:{port}",
        "0.0.0.0:{port}",
        "[::1]:{port}",
        "[::ffff:127.0.0.1]:{port}",
        "localhost.:{port}",
        "sub.localhost:{port}",
        "LOCALHOST:{port}",
        "",
    ],
)
def test_other_names_are_refused(shared, host):
    name = host.format(port=shared.port)
    for method, path in (("GET", "/"), ("GET", "/api/header"), ("HEAD", "/")):
        status, _, said = shared.ask(method, path, host=name)
        assert status == 421
        assert said == b"" if method == "HEAD" else said["error"]["argument"] == "Host"
    origin = f"http://{name}"
    shared.refused(421, "Host", "POST", "/api/texts", {"text": TEXT}, host=name, origin=origin)


def test_both_names_of_this_machine_are_taken(shared):
    for name in ("127.0.0.1", "localhost"):
        host = f"{name}:{shared.port}"
        assert shared.ask("GET", "/api/header", host=host)[0] == 200
        assert shared.ask("POST", "/api/answer", {"id": 1, "kind": "overview", "trace": 0}, host=host)[0] == 200


def test_port_80_may_be_left_out(tiny_trace, tiny_model):
    from eyeline.serving.guard import Guard

    assert {"127.0.0.1", "localhost:80"} <= Guard(None, 80)._hosts
    assert Guard(None, 8080)._hosts == {"127.0.0.1:8080", "localhost:8080"}


def test_no_name_or_two_are_refused(shared):
    assert shared.raw(b"GET / HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    assert shared.raw(b"GET / HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 421 ")
    two = f"GET / HTTP/1.1\r\nHost: {shared.host}\r\nHost: elsewhere.example\r\n\r\n"
    assert shared.raw(two.encode()).startswith(b"HTTP/1.1 400 ")
    absolute = f"GET http://{shared.host}/ HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n"
    assert shared.raw(absolute.encode()).startswith(b"HTTP/1.1 421 ")
    forwarded = f"GET / HTTP/1.1\r\nHost: elsewhere.example\r\nX-Forwarded-Host: {shared.host}\r\n\r\n"
    assert shared.raw(forwarded.encode()).startswith(b"HTTP/1.1 421 ")


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "null",
        "http://elsewhere.example",
        "https://127.0.0.1:{port}",
        "http://localhost:{port}",
        "http://127.0.0.1",
        "http://127.0.0.1:1",
        "http://127.0.0.1:{port}/",
        "http://127.0.0.1:{port}.elsewhere.example",
        "http://127.0.0.1:{port} http://elsewhere.example",
        "file://",
    ],
)
@pytest.mark.parametrize("request_", [("POST", "/api/texts"), ("POST", "/api/answer"), ("DELETE", "/api/jobs/1")])
def test_other_origins_writes_are_refused_before_anything_is_done(shared, origin, request_):
    origin = origin and origin.format(port=shared.port)
    shared.refused(403, "Origin", *request_, {"text": TEXT}, origin=origin)
    assert shared.session.jobs._jobs == {}


@pytest.mark.parametrize(
    "kind", [None, "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "text/json"]
)
def test_writes_that_are_not_json_are_refused(shared, kind):
    shared.refused(415, "Content-Type", "POST", "/api/texts", {"text": TEXT}, {"Content-Type": kind})
    shared.refused(415, "Content-Type", "DELETE", "/api/jobs/1", None, {"Content-Type": kind})


def test_a_page_of_elsewhere_is_not_told_that_it_may_ask(shared):
    headers = {"Origin": "http://elsewhere.example", "Access-Control-Request-Method": "POST", "Content-Type": None}
    status, headers, _ = shared.ask("OPTIONS", "/api/texts", None, headers)
    assert status == 403
    assert not [name for name in headers if name.lower().startswith("access-control-")]


# Sizes and forms


def test_a_body_that_says_it_is_too_large_is_refused_unread(shared):
    head = f"POST /api/texts HTTP/1.1\r\nHost: {shared.host}\r\nOrigin: http://{shared.host}\r\n"
    head += "Content-Type: application/json\r\n"
    for length in (LARGEST + 1, 10**18):
        said = shared.raw(f"{head}Content-Length: {length}\r\n\r\n".encode())
        assert said.startswith(b"HTTP/1.1 413 ")
        assert b'"argument":"body"' in said


def test_a_body_that_goes_on_for_ever_is_refused(shared):
    head = f"POST /api/texts HTTP/1.1\r\nHost: {shared.host}\r\nOrigin: http://{shared.host}\r\n"
    head += "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    with socket.create_connection(("127.0.0.1", shared.port), timeout=30) as connection:
        connection.sendall(head.encode())
        for _ in range(LARGEST // 0x10000 + 1):
            connection.sendall(chunk)
        assert connection.recv(65536).startswith(b"HTTP/1.1 413 ")


def test_a_body_as_large_as_may_be_is_read(shared):
    body = json.dumps({"text": "", "model": "none"}).encode()
    body += b" " * (LARGEST - len(body))
    assert "model must be one of tiny" in shared.refused(400, "model", "POST", "/api/texts", body)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"text": "a"',
        b'{"text": "\xff"}',
        '{"text": "a"}'.encode("utf-16"),
        b"text=a",
        b"[" * 200_000,
        b'{"a":' * 50_000,
        b'{"scale": NaN}',
        b'{"scale": -Infinity}',
        b'{"scale": 1e999}',
        b'{"scale": ' + b"9" * 5000 + b"}",
        b"[]",
        b"null",
        b'"text"',
        b"3",
        b"\x00",
    ],
)
def test_what_is_no_object_in_json_is_refused(shared, body):
    for path in ("/api/texts", "/api/answer"):
        assert shared.refused(400, "body", "POST", path, body).startswith("body must be ")


MISTAKES = [
    ({}, "text", "text must be given, or file, and not both"),
    ({"text": "a", "file": 0}, "text", "text must be given, or file, and not both"),
    ({"text": None}, "text", "text must be given"),
    ({"text": 3}, "text", "text must be a string, got 3"),
    ({"text": ["a"]}, "text", "text must be a string, got a list"),
    ({"text": {"a": 1}}, "text", "got an object"),
    ({"file": 0}, "file", "file must not be given, for there are none, got 0"),
    ({"text": "a", "model": "smollm2"}, "model", "model must be one of tiny, got 'smollm2'"),
    ({"text": "a", "model": "../tiny"}, "model", "model must be one of tiny"),
    ({"text": "a", "model": "/etc"}, "model", "model must be one of tiny"),
    ({"text": "a", "model": None}, "model", "model must be one of tiny, got null"),
    ({"text": "a", "model": ["tiny"]}, "model", "model must be one of tiny, got a list"),
    ({"text": "a", "model": "x" * 5000}, "model", "…"),
    ({"text": "a", "model": "\ud800"}, "model", r"got '\ud800'"),
    ({"text": "a", "mask": "window"}, "mask", "mask must be 'causal' or null, got 'window'"),
    ({"text": "a", "mask": False}, "mask", "mask must be 'causal' or null, got False"),
    ({"text": "a", "mask": []}, "mask", "got a list"),
    ({"text": "a", "scale": "1"}, "scale", "scale must be a number"),
    ({"text": "a", "scale": True}, "scale", "scale must be a number"),
    ({"text": "a", "scale": 0}, "scale", "scale must be a number up to a million, and not 0, got 0"),
    ({"text": "a", "scale": 1e300}, "scale", "up to a million"),
    (
        {"text": "a", "path": "/etc/passwd"},
        "path",
        "body must hold none but text, file, model, mask, scale, got 'path'",
    ),
    ({"text": "a", "\ud800\n": 1}, "\ud800\n", r"got '\ud800\n'"),
]


@pytest.mark.parametrize(("sent", "argument", "message"), MISTAKES)
def test_wrong_arguments_are_named(shared, sent, argument, message):
    assert message in shared.refused(400, argument, "POST", "/api/texts", sent)
    assert shared.session.jobs._jobs == {}


@pytest.mark.parametrize(
    ("sent", "argument"),
    [
        ({"kind": "head"}, "id"),
        ({"id": 1}, "kind"),
        ({"id": 1, "kind": "__init__"}, "kind"),
        ({"id": 1, "kind": ["head"]}, "kind"),
        ({"id": 1, "kind": "head", "trace": 1, "layer": 0, "head": 0}, "trace"),
        ({"id": 1, "kind": "head", "trace": [0], "layer": 0, "head": 0}, "trace"),
        ({"id": 1, "kind": "head", "trace": {}, "layer": 0, "head": 0}, "trace"),
        ({"id": 1, "kind": "head", "trace": 0, "layer": -1, "head": 0}, "layer"),
        ({"id": 1, "kind": "head", "trace": 0, "layer": 0, "head": 1e300}, "head"),
        ({"id": 1, "kind": "head", "trace": 0, "layer": 0, "head": 10**19}, "head"),
        ({"id": 1, "kind": "picture", "trace": 0, "layer": 0, "head": 0, "queries": "ab", "keys": [0, 1]}, "queries"),
    ],
)
def test_a_wrong_request_for_numbers_is_refused(shared, sent, argument):
    shared.refused(400, argument, "POST", "/api/answer", sent)


@pytest.mark.parametrize(
    "path",
    [
        "/index.html",
        "/page.py",
        "/page.js/",
        "//page.js",
        "/api",
        "/api/",
        "/api/header/",
        "/api//header",
        "/api/jobs/../header",
        "/api/jobs/..%2fheader",
        "/../../../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/..%5c..%5cetc",
        "/page.js%00",
        "/api/texts/etc/passwd",
        "/favicon.ico",
        "/" + "a" * 5000,
    ],
)
def test_there_is_nothing_at_other_paths(shared, path):
    shared.refused(404, "path", "GET", path)


@pytest.mark.parametrize("number", ["0", "1", "-1", "1e0", "01", "%31%00", "None", "9" * 5000, "..", "١"])
def test_there_is_no_job_of_another_number(shared, number):
    path = "/api/jobs/" + number.replace("١", "%D9%A1")
    shared.refused(404, "job", "GET", path)
    shared.refused(404, "job", "DELETE", path)


@pytest.mark.parametrize(
    "request_",
    [("POST", "/"), ("PUT", "/api/texts"), ("DELETE", "/api/header"), ("PATCH", "/api/jobs/1"), ("GET", "/api/texts")],
)
def test_other_methods_are_refused(shared, request_):
    shared.refused(405, "method", *request_)


def test_what_is_no_http_is_refused_and_the_server_goes_on(shared):
    for data in (b"GET\r\n\r\n", b"\x16\x03\x01\x02\r\n\r\n", b"GET / HTTP/1.1\r\nHost" + b"a" * 100_000):
        assert shared.raw(data).startswith(b"HTTP/1.1 400 ")
    assert shared.ask("GET", "/api/header")[0] == 200


def test_a_mistake_of_ours_is_told_in_json_and_shown_in_the_terminal(own, monkeypatch, capfd):
    def broken():
        raise ValueError("ours")

    monkeypatch.setattr(own.session.page, "header", broken)
    assert "the terminal shows which" in own.refused(500, None, "GET", "/api/header")
    assert "ValueError: ours" in capfd.readouterr().err


# Addresses


def test_only_this_machine_is_listened_to():
    with listen() as found:
        assert found.getsockname()[0] == "127.0.0.1"


def test_importing_the_command_loads_no_server():
    code = (
        "import sys, eyeline, eyeline.cli; "
        "print({'starlette', 'uvicorn', 'anyio', 'eyeline.serving'} & set(sys.modules) or '')"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert ran.stdout.strip() == ""
