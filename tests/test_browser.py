"""The watch on pages notices what a page must not do."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("markup", "fault"),
    [
        ("<img src='https://example.org/x.png'>", "a request: https://example.org/x.png"),
        ("<img src='other.png'>", "a request: file:"),
        ("<script>console.warn('careful')</script>", "console warning: careful"),
        ("<script>throw new Error('broken')</script>", "an error: broken"),
        ("<script>alert(1)</script>", "a dialog: 1"),
        ("<script>new WebSocket('ws://127.0.0.1:9/')</script>", "a request: ws:"),
        ("<script>open('data:,x'); fetch('https://example.org/').catch(() => 0)</script>", "a request: https:"),
    ],
)
def test_a_fault_is_noticed(open_page, tmp_path, markup, fault):
    (tmp_path / "page.html").write_text(f"<!doctype html><body>{markup}", "utf-8")
    page = open_page(tmp_path / "page.html")
    page.wait_for_timeout(50)
    with pytest.raises(AssertionError, match=fault):
        open_page.close()
    open_page.forget()


def test_a_page_that_keeps_to_itself_is_let_be(open_page, tmp_path):
    markup = "<!doctype html><img src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>é"
    (tmp_path / "page.html").write_text(markup, "utf-8")
    page = open_page(tmp_path / "page.html", words="view=matrix layer=2", dark=True, language="vi")
    assert page.evaluate("[location.hash, navigator.language, matchMedia('(prefers-color-scheme: dark)').matches]") == [
        "#view=matrix&layer=2",
        "vi",
        True,
    ]
