"""The widget in a real JupyterLab, whose cells are run and whose page is looked at and used."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pages
import pytest

expect = pytest.importorskip("playwright.sync_api").expect
TESTS = Path(__file__).parent
TEXT = "the cat sat"
MARKUP = "</script><img src=x onerror=window.ran=1> dog"
MAKE = f"""
import sys
sys.path.insert(0, {str(TESTS)!r})
import pages
from eyeline.views.page import Page
page = Page([pages.trace({TEXT!r}, layers=3, heads=2)], {{"head": "mean"}})
page
"""
CELLS = [
    MAKE,
    f"Page([pages.trace({MARKUP!r})], {{'head': 'mean'}})",
    "page.widget().words",
    "import eyeline as el; el.explain('time flies', 'flies')",
]


def notebook(*cells):
    """A notebook file of cells of code that haven't run."""
    code = [
        {"cell_type": "code", "id": f"cell{at}", "source": cell, "metadata": {}, "outputs": [], "execution_count": None}
        for at, cell in enumerate(cells)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": code})


@pytest.fixture
def lab(tmp_path):
    """JupyterLab's address, with its token. All that it keeps stands in the test's folder; it asks for no news."""
    home = tmp_path / "home"
    settings = home / "config" / "labconfig" / "page_config.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": true}}')
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "page.ipynb").write_text(notebook(*CELLS), "utf-8")
    folders = {
        "HOME": "",
        "IPYTHONDIR": "ipython",
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
    }
    environment = os.environ | {name: str(home / folder) for name, folder in folders.items()}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ServerApp.port=0"]
    command += [f"--ServerApp.root_dir={tmp_path / 'work'}", "--LabApp.expose_app_in_browser=True"]
    command += ["--LabApp.extension_manager=readonly", "--LabApp.news_url=", "--ServerApp.ip=127.0.0.1"]
    with (
        (tmp_path / "log").open("wb") as log,
        subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=tmp_path) as server,
    ):
        try:
            yield address_of(server, home / "runtime", tmp_path / "log")
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()


def address_of(server, folder, log):
    """Where a server that was just started is to be found, as it says itself."""
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up and server.poll() is None:
        for path in folder.glob(f"jpserver-{server.pid}.json"):
            if text := path.read_text():
                found = json.loads(text)
                return found["url"], found["token"]
        time.sleep(0.1)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text()[-2000:]}")


def looks_of(query, head):
    """What the first page's third layer says: whom a word looks at, in whole per cent of its row, the most first."""
    trace = pages.trace(TEXT, layers=3, heads=2)
    words = TEXT.split()
    row = 100 * trace.weights(2, head, 1 + words.index(query))[0]
    names = ["itself" if word == query else word for word in words]
    listed = [(names[at], f"{row[1 + at]:.0f}%") for at in np.argsort(-row[1:-1])]
    return [*listed, ("special tokens", f"{row[0] + row[-1]:.0f}%")]


def test_the_widget_shows_and_answers_in_jupyterlab(lab, open_page):
    address, token = lab
    shown = open_page(
        f"{address}lab/tree/page.ipynb?token={token}",
        within=(address, address.replace("http", "ws", 1)),
        ours=lambda message: message.location["url"].startswith("blob:") or "eyeline" in message.text,
    )
    shown.set_default_timeout(60_000)
    shown.wait_for_selector(".jp-Notebook .jp-CodeCell")
    # Asked to run before its kernel is there, it would ask which one.
    status = "window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status"
    shown.wait_for_function(f"{status} === 'idle'")

    def run(which):
        shown.evaluate(f"void window.jupyterapp.commands.execute('notebook:{which}')")

    def listed(page):
        rows = [item.inner_text().split() for item in page.locator(".bars li").all()]
        return [(" ".join(row[:-1]).partition(" longer than")[0], row[-1]) for row in rows]  # what a cut bar says

    run("run-all-cells")
    first, second = shown.locator(".eyeline").nth(0), shown.locator(".eyeline").nth(1)

    # The texts, as typed; the second is markup to whoever takes it for that.
    expect(first.locator(".token")).to_have_text(TEXT.split(), timeout=60_000)
    expect(second.locator(".token")).to_have_text(MARKUP.split())
    assert shown.evaluate("window.ran") is None
    assert not shown.locator("img[src=x]").count()

    # A head, its numbers from the kernel, and another one.
    first.locator(".token", has_text="cat").click()
    first.get_by_role("combobox", name="Head").select_option("0")
    expect(first.locator(".bars li")).to_contain_text([share for _, share in looks_of("cat", 0)])
    assert listed(first) == looks_of("cat", 0)
    # A key of the page's own, which JupyterLab would have taken: a cell's shortcuts are letters, digits and signs.
    first.locator(".token", has_text="cat").press("}")
    expect(first.get_by_role("combobox", name="Head")).to_have_value("1")
    expect(first.locator(".bars li")).to_contain_text([share for _, share in looks_of("cat", 1)])
    assert listed(first) == looks_of("cat", 1)
    expect(second.get_by_role("combobox", name="Head")).not_to_have_value("")  # each page has its own state

    # What one opens takes the focus with it, so that the keys stay the page's: "x" would cut the cell, "d d" delete it.
    cells = shown.locator(".jp-CodeCell")
    count, past = cells.count(), shown.evaluate("history.length")
    inside = "document.activeElement.closest('.eyeline') !== null"
    shown.keyboard.press("4")
    expect(first.get_by_role("tab", selected=True)).to_have_text("Overview")
    assert shown.evaluate(inside)
    first.locator(".head").nth(3).click()
    expect(first.get_by_role("tab", selected=True)).to_have_text("Matrix")
    expect(first.locator("canvas[data-state=done]")).to_be_visible()
    assert shown.evaluate(inside)
    for key in ("x", "d", "d", "a", "1"):
        shown.keyboard.press(key)
    expect(first.get_by_role("tab", selected=True)).to_have_text("Sentence")
    assert shown.evaluate(inside)
    assert cells.count() == count
    assert shown.evaluate("history.length") == past  # the address is the notebook's
    first.get_by_role("combobox", name="Layer").select_option("2")
    first.get_by_role("combobox", name="Head").select_option("1")

    # The kernel knows it, and the page follows the notebook's colours.
    last = shown.locator(".jp-CodeCell").nth(2)
    last.locator(".cm-content").click()
    run("run-cell")
    expect(last.locator(".jp-OutputArea-output")).to_have_text("'head=1 token=2'")
    shown.evaluate("void window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    expect(first).to_have_attribute("data-theme", "dark")
    ids = shown.evaluate("[...document.querySelectorAll('.eyeline [id]')].map((part) => part.id)")
    assert ids
    assert len(ids) == len(set(ids))

    # An answer beside it keeps the notebook's colours: dark ones here.
    answer = shown.locator(".jp-CodeCell").nth(3)
    answer.locator(".cm-content").click()
    run("run-cell")
    expect(answer.locator(".eyeline-answer")).to_contain_text("flies takes most from")
    ink, paper = answer.locator(".eyeline-answer").evaluate(
        """(part) => {
          const rgb = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
          const panel = document.querySelector(".jp-NotebookPanel-notebook, .jp-Notebook");
          return [rgb(getComputedStyle(part).color), rgb(getComputedStyle(panel).backgroundColor)];
        }"""
    )
    assert min(ink) - max(paper) > 100

    # The modules came once, and aren't in the notebook's file.
    assert shown.evaluate("Object.keys(globalThis.eyelinePages).length") == 1
    assert shown.locator("style[data-eyeline]").count() == 1
