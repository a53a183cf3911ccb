"""What isn't as it was written: a damaged file, and the folder on a host, with its cache, its faults and its policy."""

from __future__ import annotations

import functools
import hashlib
import http.server
import threading
from contextlib import contextmanager

import pytest
from live import LivePage
from playwright.sync_api import expect

from eyeline.views.live import save_live_folder
from eyeline.words import page_table

DAMAGED, CHANGED, UNFETCHED, HOSTLESS = (
    f"Not run: {page_table()[f'live.{key}'][0]}" for key in ("damaged", "changed", "unfetched", "hostless")
)


def turned(data, name, at=1000):
    """A file with one sign of a block turned into another."""
    place = data.index(f'id="eyeline-{name}">'.encode()) + at
    other = b"A" if data[place : place + 1] != b"A" else b"B"
    return data[:place] + other + data[place + 1 :]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: turned(data, "weights-0-5"),
        lambda data: turned(data, "weights-1-0", 20),
        lambda data: data[: len(data) // 2],
        lambda data: data[: data.index(b'<script type="application/octet-stream" id="eyeline-weights-0-9"')],
        lambda data: data.replace(b'id="eyeline-weights-0-3">', b'id="eyeline-weights-0-3">#', 1),
    ],
    ids=["a sign", "the first piece", "cut in a piece", "cut between pieces", "no base64"],
)
def test_a_damaged_file_says_so_and_shows_what_it_can(chromium, live_file, tmp_path, damage):
    path = tmp_path / "damaged.html"
    path.write_bytes(damage(live_file.read_bytes()))
    live = LivePage(chromium, path)
    expect(live.page.locator(".prompt .trouble")).to_have_text(DAMAGED)
    expect(live.page.locator(".panel")).to_contain_text("arrow")  # the first picture
    live.page.locator(".prompt textarea").fill("another sentence")
    live.page.keyboard.press("Control+Enter")
    expect(live.page.locator(".prompt .trouble")).to_have_text(DAMAGED)
    live.page.get_by_role("tab", name="Matrix").click()
    expect(live.page.locator(".panel")).to_contain_text("arrow")
    expect(live.page.locator(".eyeline > .trouble")).to_be_hidden()
    live.close()


class Host(http.server.SimpleHTTPRequestHandler):
    """A static host that notes what it is asked for."""

    asked: list[str]

    def do_GET(self):
        self.asked.append(self.path.rpartition("/")[2])
        super().do_GET()

    def log_message(self, *_):
        """Nothing is printed."""


@contextmanager
def hosted(folder):
    """A static host of a folder: its address, and the list of what it was asked for."""
    asked: list[str] = []
    handler = type("Noting", (Host,), {"asked": asked})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join(20)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The page of dates as a folder."""
    folder = tmp_path_factory.mktemp("host") / "site"
    save_live_folder(folder, "dates")
    return folder


def test_a_folder_has_its_page_and_weights_named_by_their_hash(site):
    index, weights = sorted(site.iterdir())
    named = f"weights-{hashlib.sha256(weights.read_bytes()).hexdigest()[:16]}.bin"
    assert (index.name, weights.name) == ("index.html", named)
    text = index.read_text()
    assert "connect-src &#x27;self&#x27;" in text
    assert 'id="eyeline-weights' not in text


def test_a_host_sends_the_weights_once(chromium, site):
    (weights,) = site.glob("*.bin")
    with hosted(site) as (address, asked):
        live = LivePage(chromium, address, within=(address,))
        live.answered("ready")
        typed(live)
        live.page.goto("about:blank")
        live.page.goto(address)
        live.answered("ready")
        typed(live)
        live.close()
    assert asked.count(weights.name) == 1
    assert set(asked) <= {"", weights.name, "favicon.ico"}


def typed(live):
    """Rewrite a date on the page."""
    live.page.locator(".prompt textarea").fill("5 May 1998")
    live.answered("run")
    entries = live.page.evaluate("window.answers.filter((one) => one.job === 'run' && one.reply).at(-1).reply.entries")
    assert [entry["name"] for entry in entries] == ["encoder", "decoder", "cross"]
    assert entries[2]["queries"]["text"] == "1998-05-05"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda path: path.unlink(), UNFETCHED),
        (lambda path: path.write_bytes(path.read_bytes()[:-9]), CHANGED),
        (lambda path: path.write_bytes(path.read_bytes() + b"more"), CHANGED),
        (lambda path: path.write_bytes(path.read_bytes()[:5000] + bytes(100) + path.read_bytes()[5100:]), CHANGED),
    ],
    ids=["missing", "cut short", "longer", "changed"],
)
def test_a_host_without_the_right_weights_is_told_apart(chromium, site, tmp_path, change, said):
    for file in site.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    change(next(tmp_path.glob("*.bin")))
    with hosted(tmp_path) as (address, _):
        live = LivePage(chromium, address, within=(address,))
        expect(live.page.locator(".prompt .trouble")).to_have_text(said)
        live.watch.faults.clear()  # the browser reports a file that isn't there
        live.close()


def test_a_folder_that_is_opened_without_a_host_says_so(chromium, site):
    live = LivePage(chromium, site / "index.html")
    expect(live.page.locator(".prompt .trouble")).to_have_text(HOSTLESS)
    expect(live.page.locator(".panel")).to_contain_text("2021-03-03")
    live.watch.faults.clear()  # the browser reports what it refused
    live.close()
