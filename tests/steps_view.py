"""The page's steps as tests read them: opened on a head, and their numbers with all digits."""

from __future__ import annotations

from typing import Any

import numpy as np


def walked(page_of: Any, traces: Any, words: str, **options: Any) -> Any:
    """A page that is opened on its steps, once they are there.

    Args:
        page_of: the fixture.
        traces: what it takes.
        words: of the address.
        options: further ones of `page_of`.
    """
    page = page_of(traces, words=f"view=steps {words}".strip(), **options)
    page.locator(".scores").first.wait_for()
    return page


def values(page: Any, selector: str) -> np.ndarray:
    """The numbers of all elements that have one, with all their digits."""
    return np.array(page.eval_on_selector_all(f"{selector} data", "all => all.map((one) => Number(one.value))"))
