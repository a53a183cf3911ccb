"""A page of the kernel's room alone: the modules as they are in every page, under the same policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eyeline.views.page import joining
from eyeline.views.page.compression import deflated
from eyeline.views.page.markup import block, document

#: The modules whose exports the page has as `room`.
MODULES = (
    "kernel/client.js",
    "kernel/jobs.js",
    "kernel/kernel.js",
    "kernel/memory.js",
    "kernel/module.js",
    "kernel/page_kernel.js",
)


def kernel_page(path: Path, policy: tuple[str, str] | None = None, more: tuple[str, ...] = ()) -> Path:
    """Write the page.

    Args:
        path: the file.
        policy: what in the page's policy is replaced, and by what.
        more: further modules whose exports it has.
    """
    modules = [*MODULES, *more]
    rooms = ", ".join(f"...{joining._identifier(name)}" for name in modules)
    module = joining._joined(modules, joining.HERE, "", joining.WORKER)
    module = joining.bare(f"{module}globalThis.room = {{ {rooms} }};\n")
    text = document(
        "Kernel", "0", "", module, [block("style", deflated(b"")), block("module", deflated(module.encode()))], []
    )
    if policy is not None:
        assert policy[0].encode() in text
        text = text.replace(policy[0].encode(), policy[1].encode())
    path.write_bytes(text)
    return path


def opened(open_page: Any, path: Path) -> Any:
    """The page, opened in a browser, once its modules are there."""
    page = open_page(path)
    page.wait_for_function("() => globalThis.room")
    return page
