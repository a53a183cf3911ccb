"""The widget without a browser: what it sends, and what a cell shows with it, without it, and in a terminal."""

from __future__ import annotations

import base64
import builtins
import html
import json
import re
import sys
import zlib
from types import SimpleNamespace

import numpy as np
import pages
import pytest

import eyeline as el
from eyeline.views.page import Page, notebook
from eyeline.views.page.joining import bare, joined, style
from eyeline.views.page.still import still, still_html

widget_module = pytest.importorskip("eyeline.views.page.widget", exc_type=ImportError)
Widget = widget_module.Widget


@pytest.fixture
def page():
    return Page([pages.trace("the cat sat", layers=3, heads=2)])


@pytest.fixture
def sent(page, monkeypatch):
    """The page's widget, as a notebook's front end would ask it: gives what is sent back."""
    widget, found = page.widget(), []
    monkeypatch.setattr(widget, "send", lambda content, buffers=None: found.append((content, buffers)))

    def ask(request):
        widget._handle_custom_msg(request, [])
        return found.pop()

    return ask


def test_it_tells_the_page_what_every_host_tells_it(page):
    widget = page.widget()
    assert widget.header == page.header()
    assert {"header", "words", "asset", "still", "_esm"} <= set(widget.keys)
    assert page.widget() is widget


def test_the_modules_are_sent_when_they_are_asked_for_and_saved_with_no_view(page, sent):
    content, buffers = sent({"kind": "module", "whole": True})
    assert content == {"kind": "module"}  # without an id, which a request of the page has
    rooms = "hosts/notebook_rooms.js"
    assert [zlib.decompress(part, -15).decode() for part in buffers] == [
        bare(joined(rooms, exported=True)),
        style(host=rooms),
    ]
    assert sent({"kind": "module", "whole": False}) == ({"kind": "module"}, [])
    assert len(page.widget().asset) == 16


def test_a_saved_view_is_small():
    found = el.view("time flies like an arrow")
    state = found.widget().get_state()
    saved = sum(len(json.dumps(value, default=str)) for value in state.values())
    assert saved < 15_000
    assert "import(" in state["_esm"]


def test_the_still_picture_of_a_view_is_that_of_a_cell(page, kernel):
    shown = page._repr_mimebundle_()
    picture = still(page)
    assert page.widget().still == {**picture.data(), "note": widget_module.still_note()}
    assert shown["text/html"] == still_html(picture)
    assert picture.title == "the cat sat"
    assert [row.label for row in picture.rows] == ["the", "cat", "sat", "special tokens"]


def test_a_page_without_texts_has_no_still_picture(kernel):
    shown = Page([])._repr_mimebundle_()
    assert "text/html" not in shown
    assert shown["text/plain"] == "<Page of no traces>"


def test_a_line_says_what_a_page_is_of(page):
    assert repr(page) == "<Page of 'the cat sat': random, as trained, 3 × 2 heads, 5 tokens>"
    both = Page([*page.traces, pages.trace("a dog")])
    assert repr(both) == "<Page of 2 traces: 'the cat sat' (random, as trained), 'a dog' (random, as trained)>"


def test_a_head_is_sent_as_bytes_of_its_numbers(page, sent):
    content, buffers = sent({"id": 7, "kind": "head", "trace": 0, "layer": 2, "head": 1})
    assert (content["id"], content["arrays"]) == (7, ["q", "k", "lse", "v"])
    layer = page.traces[0].layers[2]
    for name, buffer in zip(content["arrays"], buffers, strict=True):
        np.testing.assert_array_equal(np.frombuffer(buffer, "<f4"), getattr(layer, name)[1].ravel())


@pytest.mark.parametrize(
    ("request_", "argument"),
    [
        ({"id": 7, "kind": "head", "trace": 0, "layer": 3, "head": 1}, "layer"),
        ({"id": 7, "kind": "files"}, "kind"),
        ({"kind": "head"}, "id"),
        ("head", "request"),
        (None, "request"),
    ],
)
def test_a_wrong_request_gets_its_error(sent, request_, argument):
    content, buffers = sent(request_)
    assert content["error"]["argument"] == argument
    assert content["error"]["message"].startswith(f"{argument} must be")
    assert content["id"] == (7 if argument != "id" and request_ != "head" and request_ else None)
    assert not buffers


def test_a_page_does_not_wait_for_an_answer_that_went_wrong(page, monkeypatch):
    widget, found = page.widget(), []
    monkeypatch.setattr(widget, "send", lambda content, buffers=None: found.append(content))
    monkeypatch.setattr(page, "answer", lambda request: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        widget._answer(widget, {"id": 3, "kind": "head"}, [])
    [reply] = found
    assert (reply["id"], reply["error"]["argument"]) == (3, "request")
    assert reply["error"]["message"].startswith("ZeroDivisionError")


@pytest.fixture
def kernel(monkeypatch):
    """As if a notebook's kernel ran this."""
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=1)))


@pytest.fixture
def without_anywidget(monkeypatch):
    """As if it weren't installed."""
    real = builtins.__import__

    def refused(name, *arguments, **options):
        if name.partition(".")[0] == "anywidget":
            raise ModuleNotFoundError(f"No module named {name!r}")
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", refused)
    monkeypatch.delitem(sys.modules, "eyeline.views.page.widget")


def test_a_cell_shows_the_widget(page, kernel):
    shown = page._repr_mimebundle_()
    assert shown["application/vnd.jupyter.widget-view+json"]["model_id"] == page.widget().model_id
    assert shown["text/plain"] == repr(page)


def test_a_terminal_shows_a_line(page, monkeypatch):
    assert page._repr_mimebundle_() == {"text/plain": repr(page)}
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: object()))
    assert page._repr_mimebundle_() == {"text/plain": repr(page)}
    assert "\n" not in repr(page)


def test_without_anywidget_a_cell_shows_the_file_in_a_frame(page, kernel, without_anywidget, tmp_path, open_page):
    shown = page._repr_mimebundle_()
    assert set(shown) == {"text/plain", "text/html"}
    (tmp_path / "cell.html").write_text(f"<!doctype html><meta charset=utf-8>{shown['text/html']}", "utf-8")
    cell = open_page(tmp_path / "cell.html")
    assert "pip install 'eyeline[notebook]'" in cell.inner_text("body")
    frame = cell.frame_locator("iframe")
    frame.get_by_role("tab", name="Matrix").click()
    assert frame.get_by_role("tab", name="Matrix").get_attribute("aria-selected") == "true"
    page.save(tmp_path / "page.html")
    [inside] = re.findall(r'srcdoc="([^"]*)"', shown["text/html"])
    assert html.unescape(inside) == (tmp_path / "page.html").read_text("utf-8")


def test_a_page_too_large_for_a_cell_says_so(page, kernel, without_anywidget, monkeypatch):
    monkeypatch.setattr(notebook, "MOST", 1000)
    shown = page._repr_mimebundle_()["text/html"]
    assert "page.save(" in shown
    assert "iframe" not in shown


LOADER = """<!doctype html><meta charset=utf-8><div id=one></div><div id=two></div><script type=module>
const loader = (() => {{ {loader} return {{ render }}; }})();
globalThis.asked = [];
const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const parts = {parts}.map(bytes);
const model = (state, answers) => {{
  const listeners = [];
  return {{
    get: (name) => state[name],
    on: (_, listener) => listeners.push(listener),
    off: () => {{}},
    send: (request) => {{
      asked.push(request);
      if (answers && request.kind === "module") {{
        setTimeout(() => listeners.forEach((one) => one({{ kind: "module" }}, request.whole ? parts : [])), 50);
      }}
    }},
  }};
}};
for (const [id, answers] of [["one", {one}], ["two", {two}]]) {{
  loader.render({{ model: model({state}, answers), el: document.getElementById(id) }});
}}
</script>"""


@pytest.fixture
def loaded(page, tmp_path, open_page):
    """Open two views of a page in a document, whose kernels answer or don't."""

    def opened(one, two):
        widget = page.widget()
        state = {name: getattr(widget, name) for name in ("header", "words", "asset", "still")}
        text = LOADER.format(
            loader=widget._esm.replace("export default { render };", "").replace("export default{render};", ""),
            parts=json.dumps([base64.b64encode(part).decode() for part in widget_module.assets()[1]]),
            state=json.dumps(state).replace("<", "\\u003c"),
            one=json.dumps(one),
            two=json.dumps(two),
        )
        assert "export default" not in text
        (tmp_path / "views.html").write_text(text, "utf-8")
        return open_page(tmp_path / "views.html")

    return opened


def test_two_views_share_the_modules_of_one_answer(loaded):
    shown = loaded(True, True)
    shown.wait_for_function("document.querySelectorAll('.eyeline [role=tab]').length > 4")
    assert shown.locator("#one .eyeline").count() == shown.locator("#two .eyeline").count() == 1
    modules = shown.evaluate("asked.filter((request) => request.kind === 'module').map((request) => request.whole)")
    assert modules == [True, False]
    assert shown.locator("style[data-eyeline]").count() == 1


def test_without_a_kernel_a_view_is_a_still_picture(loaded, page):
    shown = loaded(False, True)
    shown.wait_for_selector("#two .eyeline [role=tab]")  # though the view that asked first got no answer
    shown.wait_for_selector("#one table")
    assert shown.locator("#one h3").inner_text() == "the cat sat"
    cells = shown.locator("#one td").all_inner_texts()
    assert list(zip(cells[::3], cells[2::3], strict=True)) == [(row.label, row.number) for row in still(page).rows]
    measure = "(all) => all.map((bar) => bar.getBoundingClientRect().width)"
    widths = shown.locator("#one table div").evaluate_all(measure)
    assert widths == pytest.approx([200 * row.length for row in still(page).rows], abs=0.1)
    assert "no kernel answers" in shown.locator("#one").inner_text()
