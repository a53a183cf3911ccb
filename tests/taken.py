"""What a page lets be taken away, read back."""

from __future__ import annotations

import csv
import io
from typing import Any
from xml.etree import ElementTree


def taken(page: Any, kind: str) -> str:
    """The text of the file that the page makes of what it shows.

    Args:
        page: Playwright's.
        kind: "csv", "json" or "svg".
    """
    page.get_by_role("button", name="Save and share").click()
    with page.expect_download() as download:
        page.locator(".export").get_by_text(kind.upper(), exact=True).click()
    text = download.value.path().read_text("utf-8")
    page.locator(".export").get_by_role("button", name="Close").click()
    return text


def numbers(page: Any) -> list[dict[str, str]]:
    """The numbers of what the page shows, a row each, by the names of their columns."""
    return list(csv.DictReader(io.StringIO(taken(page, "csv"), newline="")))


def picture(page: Any) -> ElementTree.Element:
    """The picture of what the page shows."""
    return ElementTree.fromstring(taken(page, "svg"))
