"""The widget in a real JupyterLab, whose cells are run and whose page is looked at and used."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
MAKE = f"""
import sys
sys.path.insert(0, {str(TESTS)!r})
import pages
from eyeline.views.page import Page
page = Page([pages.trace("the cat sat", layers=3, heads=2)])
page
"""
HOSTILE = 'Page([pages.trace("</script><img src=x onerror=window.ran=1> dog")], {"view": "steps"})'
CELLS = [MAKE, HOSTILE, "page.widget().words"]


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


def test_the_widget_shows_and_answers_in_jupyterlab(lab, open_page):
    address, token = lab
    within = (address, address.replace("http", "ws", 1))
    shown = open_page(
        f"{address}lab/tree/page.ipynb?token={token}",
        within=within,
        ours=lambda message: message.location["url"].startswith("blob:") or "eyeline" in message.text,
    )
    T = time.time()
    shown.wait_for_selector(".jp-Notebook .jp-CodeCell")
    print("notebook", time.time() - T)
    status = "window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status"
    shown.wait_for_function(f"{status} === 'idle'", timeout=60_000)  # asked for earlier, it asks for a kernel
    print("kernel", time.time() - T)
    shown.evaluate("void window.jupyterapp.commands.execute('notebook:run-all-cells')")
    pages = shown.locator(".eyeline")
    try:
        pages.nth(1).locator("[role=tab]").first.wait_for(timeout=30000)
    finally:
        shown.screenshot(path="/tmp/w/browser-lab.png")
        print("shown", time.time() - T)
        print(shown.inner_text("body")[:3000])
    print(pages.count(), pages.nth(0).inner_text(), pages.nth(1).inner_text())
