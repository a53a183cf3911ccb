"""The notebooks run, say what they were saved with, and can be read where nothing runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")
nbconvert = pytest.importorskip("nbconvert")
pytest.importorskip("transformers")

from examples import notebooks  # noqa: E402

ROOT = Path(__file__).parent.parent
NAMES = [path.stem for path in notebooks.NOTEBOOKS]


def saved(name):
    return nbformat.read(ROOT / "examples" / f"{name}.ipynb", 4)


def test_there_are_three():
    assert NAMES == ["long_text", "sentence", "transformers_model"]


def said(output):
    """What an output says in words; a picture's bytes may differ."""
    data = output.get("data", {})
    return output.get("text") or re.sub(r"0x[0-9a-f]+", "", data.get("text/plain", ""))


@pytest.mark.parametrize("name", NAMES)
def test_it_runs_as_it_was_saved(name, tmp_path):
    there = saved(name)
    again = notebooks.run(saved(name), str(tmp_path))
    for cell, new in zip(there.cells, again.cells, strict=True):
        outputs = [[said(one) for one in one_cell.get("outputs", [])] for one_cell in (cell, new)]
        assert outputs[0] == outputs[1]
        kinds = [[sorted(one.get("data", {})) for one in one_cell.get("outputs", [])] for one_cell in (cell, new)]
        assert kinds[0] == kinds[1]


@pytest.mark.parametrize("name", NAMES)
def test_a_saved_notebook_is_small_and_names_no_machine(name):
    path = ROOT / "examples" / f"{name}.ipynb"
    assert path.stat().st_size < 500_000
    assert not re.search(r"/(home|root|tmp|work|Users)/", path.read_text("utf-8"))


def test_every_result_shows_without_a_kernel(chromium, tmp_path):
    """As nbconvert's HTML, without scripts: pictures are there, and what `view` leaves is more than a line."""
    context = chromium.new_context(java_script_enabled=False)
    for name in NAMES:
        html, _ = nbconvert.HTMLExporter(embed_images=True).from_notebook_node(saved(name))
        file = tmp_path / f"{name}.html"
        file.write_text(html, "utf-8")
        page = context.new_page()
        page.route(re.compile("^https?:"), lambda route: route.abort())
        page.goto(file.as_uri())
        outputs = page.locator(".jp-OutputArea-output")
        assert outputs.count() >= 5
        for place in range(outputs.count()):
            box = outputs.nth(place).bounding_box()
            assert box is not None
            assert box["height"] > 10
        assert page.locator(".jp-OutputArea-output img").count() == html.count('src="data:image/png')
        page.close()
    context.close()
