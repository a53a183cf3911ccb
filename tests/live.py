"""A live page for tests: built once, opened from file:// without a network, with what its worker answers."""

from __future__ import annotations

import base64
import fcntl
import os
from pathlib import Path
from typing import Any

import numpy as np
from browser import Watch

from eyeline.models import load
from eyeline.models.rounding import rounded
from eyeline.views.live import save_live

#: Notes each answer of the page's worker, in the order of asking: window.answers.
_NOTING = """(() => {
  const post = Worker.prototype.postMessage;
  const asked = new Map();
  window.answers = [];
  Worker.prototype.postMessage = function (message, transfer) {
    window.worker = this;
    if (message.job) {
      asked.set(message.id, { job: message.job, request: message.request });
      if (!this.noting) this.addEventListener("message", ({ data }) => {
        const about = asked.get(data.id);
        if (about && (data.reply || data.error)) window.answers.push({ ...about, ...data });
      });
      this.noting = true;
    }
    return post.call(this, message, transfer);
  };
})();"""

_DONE = """([job, wanted]) => window.answers.filter((one) => one.job === job && one.reply
  && Object.entries(wanted).every(([name, value]) => one.request[name] === value)).length"""

_NUMBERS = """([kind, wanted]) => window.answers
  .filter(({ job, request, reply }) => job === "answer" && reply && request.kind === kind
    && Object.entries(wanted).every(([name, value]) => request[name] === value))
  .map(({ reply: { reply, buffers } }) => [reply, buffers.map((one) => {
    const whole = new Uint8Array(one.buffer ?? one, one.byteOffset ?? 0, one.byteLength);
    return Array.from(whole.length % 4 ? [] : new Float32Array(whole.slice().buffer));
  })]).at(-1)"""

#: Asks the worker for a job, beside the page; the buffers of its reply as base64.
_JOB = """([job, request]) => new Promise((done, fail) => {
  const id = -1 - Math.random();
  const text = (one) => {
    const bytes = new Uint8Array(one.buffer ?? one, one.byteOffset ?? 0, one.byteLength);
    let signs = "";
    for (let at = 0; at < bytes.length; at += 32768) signs += String.fromCharCode(...bytes.subarray(at, at + 32768));
    return btoa(signs);
  };
  const heard = ({ data }) => {
    if (data.id !== id || data.progress !== undefined) return;
    window.worker.removeEventListener("message", heard);
    if (data.error) fail(new Error(data.error.message));
    else done({ ...data.reply, buffers: data.reply?.buffers?.map(text) });
  };
  window.worker.addEventListener("message", heard);
  window.worker.postMessage({ id, job, request });
})"""


def built(folder: Path) -> Path:
    """The live file with minilm and dates, made by the first who asks: other processes wait for it."""
    path = folder / "lesson.html"
    with open(folder / "live.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            save_live(path)
    return path


def shared_folder(tmp_path_factory: Any) -> Path:
    """The folder that all of pytest-xdist's processes have."""
    root: Path = tmp_path_factory.getbasetemp()
    return root.parent if os.environ.get("PYTEST_XDIST_WORKER") else root


def minilm() -> Any:
    """The model whose weights the live file has."""
    return rounded(load("minilm"))


class LivePage:
    """A live page that is open in a browser, offline if it is a file.

    Args:
        browser: the browser.
        address: a file, or an address.
        within: beginnings of further addresses that it may ask for.
        options: of Playwright's new_context.
    """

    def __init__(self, browser: Any, address: Path | str, within: tuple[str, ...] = (), **options: Any) -> None:
        at = address.as_uri() if isinstance(address, Path) else address
        self.context = browser.new_context(**{"locale": "en-US", "offline": at.startswith("file:"), **options})
        self.watch = Watch(self.context)
        self.watch.begin(at, within)
        self.page = self.context.new_page()
        self.page.add_init_script(_NOTING)
        self.page.goto(at)
        self.page.wait_for_selector(".eyeline [role=tab]")

    def answered(self, job: str, count: int = 1, **wanted: Any) -> None:
        """Wait until the worker has done a job so often, of requests with these values."""
        for _ in range(600):
            if self.page.evaluate(_DONE, [job, wanted]) >= count:
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"the worker hasn't done {job} {count} times")

    def runs(self) -> None:
        """Wait until both models can run."""
        self.answered("ready", 2)

    def asked(self, kind: str, **wanted: Any) -> tuple[dict[str, Any], list[np.ndarray]]:
        """The worker's last reply to a request, and its arrays of float32."""
        reply, buffers = self.page.evaluate(_NUMBERS, [kind, wanted])
        return reply, [np.array(one, np.float32) for one in buffers]

    def ask(self, **request: Any) -> tuple[dict[str, Any], list[bytes]]:
        """The worker's reply to a request of the page, and the bytes of its arrays."""
        answer = self.job("answer", id=0, **request)
        return answer["reply"], [base64.b64decode(one) for one in answer["buffers"]]

    def job(self, name: str, **request: Any) -> dict[str, Any]:
        """What the worker answers to a job that the page didn't ask for; buffers in base64."""
        reply: dict[str, Any] = self.page.evaluate(_JOB, [name, request])
        return reply

    def close(self) -> None:
        """Leave it, and fail if it did what it must not."""
        self.context.close()
        self.watch.check()
