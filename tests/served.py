"""A server in a thread, requests to it, and a model that runs as slowly as one likes."""

from __future__ import annotations

import http.client
import json
import socket
import struct
import threading
import time

from eyeline.serving import Session, listen
from eyeline.serving.server import server_of
from eyeline.views.page import Page

JSON = {"Content-Type": "application/json"}


def session_of(trace, model, **settings):
    """A session of one trace, in which one model may be named."""
    return Session(Page([trace]), ["tiny"], ready={"tiny": model}, **settings)


class Served:
    """A session that is served in a thread, and requests to it."""

    def __init__(self, session):
        self.session = session
        self._listening = listen()
        self.port = self._listening.getsockname()[1]
        self.host = f"127.0.0.1:{self.port}"
        self._server = server_of(session, self._listening)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._listening]})

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.should_exit = True
        self._thread.join(20)
        assert not self._thread.is_alive()
        self.session.close()

    def ask(self, method, path, body=None, headers=None, *, host=None, origin=""):
        """Status, headers, and what was said: JSON as what it means. As a browser asks that shows the page."""
        sent = {"Host": self.host if host is None else host}
        if method not in ("GET", "HEAD"):
            sent |= JSON | ({} if origin is None else {"Origin": origin or f"http://{sent['Host']}"})
        sent = {name: value for name, value in (sent | (headers or {})).items() if value is not None}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            data = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
            if data is not None:
                sent.setdefault("Content-Length", str(len(data)))
            for name, value in sent.items():
                connection.putheader(name, value)
            connection.endheaders(data)
            response = connection.getresponse()
            found = response.read()
        finally:
            connection.close()
        kind = response.headers["Content-Type"]
        return response.status, response.headers, json.loads(found) if found and kind == "application/json" else found

    def raw(self, data):
        """What comes back for these bytes, till the connection is closed or nothing more comes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as connection:
            connection.sendall(data)
            connection.settimeout(1)
            found = b""
            try:
                while part := connection.recv(65536):
                    found += part
            except TimeoutError:
                pass
            return found

    def refused(self, status, argument, *request, **settings):
        """Ask, and be refused; gives the message."""
        got, headers, said = self.ask(*request, **settings)
        assert (got, headers["Content-Type"]) == (status, "application/json")
        assert said["error"]["argument"] == argument
        message = said["error"]["message"]
        assert "\n" not in message
        assert len(message) < 300
        return message

    def run(self, asked):
        """The report of a job that is over."""
        status, _, said = self.ask("POST", "/api/texts", asked)
        assert status == 202
        return self.over(said["job"])

    def over(self, job):
        """The report of a job, once it is over."""
        for _ in range(2000):
            report = self.ask("GET", f"/api/jobs/{job}")[2]
            if report["state"] != "running":
                return report
            time.sleep(0.01)
        raise AssertionError(report)


def gated(monkeypatch, model):
    """Make each layer wait till it is let through; gives the list of those that were run, and the gate."""
    ran, gate = [], threading.Semaphore(0)
    layers = model.layers

    def counted(*arguments, **settings):
        for layer in layers(*arguments, **settings):
            ran.append(len(ran))
            assert gate.acquire(timeout=30)
            yield layer

    monkeypatch.setattr(model, "layers", counted)
    return ran, gate


def until(true):
    for _ in range(2000):
        if true():
            return
        time.sleep(0.005)
    raise AssertionError("it never came to be")


def unframed(data):
    (length,) = struct.unpack_from("<I", data)
    reply = json.loads(data[4 : 4 + length])
    at, arrays = 4 + length, []
    for size in reply.pop("lengths"):
        at += -at % 8
        arrays.append(data[at : at + size])
        at += size
    assert len(data) == at + -at % 8
    return reply, arrays
