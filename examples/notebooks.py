"""`python -m examples.notebooks` runs the notebooks of this folder again, and saves them with what their cells print.

A saved cell is read where nothing runs: on GitHub, or as nbconvert's HTML. So a page leaves its still picture, and the
state of widgets isn't saved.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent
NOTEBOOKS = sorted(HERE.glob("*.ipynb"))


def run(notebook: nbformat.NotebookNode, folder: str) -> nbformat.NotebookNode:
    """Run a notebook's cells in `folder`, and keep their results: no times, no warnings, no state of widgets."""
    client = NotebookClient(notebook, timeout=600, store_widget_state=False, resources={"metadata": {"path": folder}})
    client.execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [one for one in cell.outputs if one.get("name") != "stderr"]
            for output in cell.outputs:
                output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)
    return notebook


def main() -> None:
    for path in NOTEBOOKS:
        with tempfile.TemporaryDirectory() as folder:
            made = run(nbformat.read(path, 4), folder)
        nbformat.write(made, path)
        print(path.name, file=sys.stderr)


if __name__ == "__main__":
    main()
