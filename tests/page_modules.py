"""Modules of the page alone in a browser: their exports, without a page around them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eyeline.views.page import joining


def imported(page: Any, folder: Path, modules: dict[str, list[str]]) -> None:
    """Make exports of modules global in a browser's page, bundled as the page's own are.

    Args:
        page: a Playwright page.
        folder: an empty folder.
        modules: names of exports, by the paths of their modules in the folder of the page's, "live/tokens/line.js".
    """
    for part in sorted({path.partition("/")[0] for path in modules}):
        (folder / part).symlink_to(joining.HERE / part)
    imports = [f'import {{ {", ".join(names)} }} from "./{path}";' for path, names in modules.items()]
    exports = ", ".join(name for names in modules.values() for name in names)
    (folder / "entry.js").write_text("\n".join([*imports, f"export default ({{ {exports} }});", ""]), "utf-8")
    bundle = joining.bare(joining.joined(folder=folder, entry="entry.js"))
    page.evaluate(
        """async (text) => {
          const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
          Object.assign(window, (await import(address)).default);
          URL.revokeObjectURL(address);
        }""",
        bundle,
    )
