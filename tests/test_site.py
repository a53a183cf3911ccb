"""The guide as a site: built once by its command, then read as files, and opened from its folder in a browser."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit

import polib
import pytest
from browser import settled

from docs import building, messages
from docs.building import BuildError, languages
from docs.extensions.lesson import VIEWS
from docs.live_pages import LIVE_PAGES, LivePage

ROOT = Path(__file__).parent.parent


class Links(HTMLParser):
    """Of a page: the addresses that it loads, those that it links to, its anchors, and its text."""

    def __init__(self, path):
        super().__init__()
        self.loads, self.links, self.anchors, self.text = [], [], set(), ""
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors |= {given["id"]} if given.get("id") else set()
        for name in ("src", "href", "data", "poster"):
            if given.get(name):
                aside = tag == "a" or (tag == "link" and given.get("rel") != "stylesheet")
                (self.links if aside else self.loads).append(given[name])

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The site, as `python -m docs` builds it; and what that said."""
    folder = tmp_path_factory.mktemp("guide").resolve()
    done = subprocess.run(
        [sys.executable, "-m", "docs", "--out", str(folder / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert {path.name for path in folder.iterdir()} == {"site"}, "something half-written is left beside it"
    return SimpleNamespace(folder=folder / "site", said=done.stderr)


@pytest.fixture(scope="session")
def pages(site):
    """The links of every page of the guide, by its path."""
    return {path: Links(path) for code in languages() for path in sorted((site.folder / code).rglob("*.html"))}


def test_it_is_built_in_each_language_without_a_word_of_warning(site):
    assert all(line.startswith("docs: ") for line in site.said.splitlines()), site.said
    sources = {
        str(path.relative_to(ROOT / "docs").with_suffix(""))
        for path in (ROOT / "docs").rglob("*.md")
        if "surveys" not in path.parts
    }
    for code in languages():
        there = {
            str(path.relative_to(site.folder / code).with_suffix("")) for path in (site.folder / code).rglob("*.html")
        }
        assert there == sources | {"genindex", "search"}
    assert {path.stem for path in (site.folder / "live").iterdir()} == set(LIVE_PAGES)


def test_every_link_leads_to_a_page_and_a_place_in_it(site, pages):
    wrong = []
    for path, page in pages.items():
        for link in [*page.links, *page.loads]:
            if (parts := urlsplit(link)).scheme in ("http", "https", "mailto", "data"):
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            lost = parts.fragment and there in pages and unquote(parts.fragment) not in pages[there].anchors
            if lost or not there.is_file() or not there.is_relative_to(site.folder):
                wrong.append(f"{path.relative_to(site.folder)}: {link}")
    assert not wrong, "\n".join(sorted(wrong))


def test_nothing_is_loaded_from_elsewhere(site, pages):
    assert [link for page in pages.values() for link in page.loads if urlsplit(link).scheme] == []
    for path in (*site.folder.rglob("*.css"), *site.folder.rglob("*.js")):
        loaded = re.findall(r"(?:url\(|@import|import\s*\(|fetch\()\s*['\"]?(?:https?:)?//", path.read_text("utf-8"))
        assert not loaded, path


def test_every_page_links_itself_in_the_other_languages(site, pages):
    for path, page in pages.items():
        code, _, name = path.relative_to(site.folder).as_posix().partition("/")
        for other in languages():
            same = f"{'../' * (name.count('/') + 1)}{other}/{name}"
            assert (same in page.links) == (other != code), (path, other)


def test_the_first_page_has_a_link_to_each_language(site):
    assert Links(site.folder / "index.html").links == [f"{code}/index.html" for code in languages()]


def test_a_link_to_a_file_outside_the_guide_is_text(pages):
    source, name = (ROOT / "docs" / "guide" / "training.md").read_text("utf-8"), "examples/recall.py"
    assert f"](../../{name})" in source
    page = next(page for path, page in pages.items() if path.match("en/guide/training.html"))
    assert name in page.text
    assert not [link for link in page.links if name in link]


def test_formulas_are_drawn_by_the_browser_itself(site):
    for code, said in (("en", "weights"), ("vi", "trọng số")):
        written = (site.folder / code / "guide" / "first-look.html").read_text("utf-8")
        formula = re.search(r"<math .*?</math>", written, re.DOTALL)
        assert formula is not None
        assert f"<mtext>{said}</mtext>" in formula[0]
        assert "<mfrac>" in formula[0]


def test_the_api_has_descriptions_in_each_language(site):
    wanted = {"en": "Scaled dot-product attention, exact", "vi": "Chạy một mô hình trên một văn bản"}
    pages = {"en": "attention", "vi": "traces"}
    for code in languages():
        assert wanted[code] in Links(site.folder / code / "api" / f"{pages[code]}.html").text


def test_the_stops_are_those_of_the_lesson():
    stops = (ROOT / "src" / "eyeline" / "views" / "page" / "lesson" / "stops.js").read_text("utf-8")
    assert re.findall(r'\bname: "(\w+)"', stops) == list(VIEWS)


@pytest.mark.parametrize(("width", "dark", "code"), [(1280, False, "en"), (390, True, "vi")])
def test_no_page_is_too_wide_and_none_has_an_error(site, pages, open_page, width, dark, code):
    shown = open_page(site.folder / code / "index.html", width=width, dark=dark, within=(site.folder.as_uri(),))
    for path in pages:
        if path.is_relative_to(site.folder / code):
            shown.goto(path.as_uri())
            wide = shown.evaluate("[document.documentElement.scrollWidth, document.querySelector('article') !== null]")
            assert wide == [width, True], path.relative_to(site.folder)


def test_a_live_page_speaks_the_guides_language_and_answers_a_press(site, open_page):
    shown = open_page(site.folder / "vi" / "guide" / "first-look.html", within=(site.folder.as_uri(),))
    frame = shown.locator("iframe.live").first
    frame.scroll_into_view_if_needed()
    live = frame.content_frame
    live.get_by_role("tab", name="Câu", exact=True).wait_for()
    assert frame.get_attribute("title") == "“time flies like an arrow”"
    headline = live.locator(".eyeline .says")
    before, steps = headline.inner_text(), shown.evaluate("history.length")
    live.locator(".eyeline .token", has_text="arrow").first.click()
    headline.filter(has_not_text=before).wait_for()
    assert headline.inner_text().startswith("“arrow” nhìn")
    assert shown.evaluate("history.length") == steps  # Back leaves the guide's page, and undoes nothing in the frame


def test_a_live_page_is_as_dark_as_the_guide(site, open_page):
    shown = open_page(site.folder / "en" / "guide" / "first-look.html", within=(site.folder.as_uri(),))
    frame = shown.locator("iframe.live").first
    frame.scroll_into_view_if_needed()
    live = frame.content_frame
    live.locator(".eyeline[data-theme=light]").wait_for()
    shown.evaluate("document.body.dataset.theme = 'dark'")
    live.locator(".eyeline[data-theme=dark]").wait_for()
    shown.evaluate("document.body.dataset.theme = 'auto'")
    live.locator(".eyeline[data-theme=light]").wait_for()


def test_each_stop_shows_what_it_shows_in_the_lesson_and_leaves_the_guide_where_it_is(site, open_page):
    guide = open_page(site.folder / "en" / "guide" / "lesson.html", within=(site.folder.as_uri(),))
    frames = guide.locator("iframe.live")
    assert frames.count() == len(VIEWS)
    links = guide.locator("figure.live figcaption a")
    lesson = open_page(site.folder / "live" / "lesson.html")
    for at in range(len(VIEWS)):
        address = links.nth(at).get_attribute("href")
        lesson.goto("about:blank")
        lesson.goto(f"{(site.folder / 'live' / 'lesson.html').as_uri()}#{address.partition('#')[2]}")
        settled(lesson)
        words = lesson.evaluate("location.hash")[1:].split("&")
        lasting = {word for word in words if not word.startswith(("stop=", "language="))}
        shown = frames.nth(at).get_attribute("src").partition("#")[2].split("&")
        assert lasting == set(shown) - {"stop=none", "language=en"}, at
    steps = frames.nth(2).content_frame.locator(".eyeline .step[data-step='1'] h3")
    frames.nth(2).scroll_into_view_if_needed()
    steps.wait_for()
    before = guide.evaluate("scrollY")
    guide.wait_for_timeout(800)  # of a smooth scroll, if there were one
    assert guide.evaluate("scrollY") == before


def test_the_page_with_the_model_is_loaded_when_it_is_asked_for(site, open_page):
    shown = open_page(site.folder / "en" / "guide" / "first-look.html", within=(site.folder.as_uri(),))
    held = shown.locator("details.live")
    assert "30 MB" in held.locator("summary").inner_text()
    assert not any("live/live.html" in frame.url for frame in shown.frames)
    held.locator("summary").click()
    held.locator("iframe").content_frame.locator(".eyeline [role=tab]").first.wait_for()


@pytest.mark.parametrize(
    ("code", "words", "summary"),
    [("en", "softmax", r"found \d+ pages matching"), ("vi", "attention", r"Tìm thấy \d+ trang")],
)
def test_the_search_works_from_the_folder(site, open_page, code, words, summary):
    shown = open_page(site.folder / code / "index.html", within=(site.folder.as_uri(),))
    shown.locator("input.sidebar-search").fill(words)
    shown.keyboard.press("Enter")
    found = shown.locator("#search-results ul.search li a")
    found.first.wait_for()
    shown.get_by_text(re.compile(summary)).wait_for()
    found.first.click()
    shown.locator("article h1").wait_for()
    assert f"/{code}/" in shown.url
    assert words in shown.locator("article").inner_text().lower()


def test_a_build_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    def fails(file):
        file.write_text("half")
        raise BuildError("no page")

    there = tmp_path / "site"
    there.mkdir()
    (there / building.MARK).write_text("before")
    monkeypatch.setattr(building, "sphinx", lambda builder, target, *rest: target.mkdir())
    monkeypatch.setattr("docs.live_pages.LIVE_PAGES", {"one": LivePage("One", fails)})
    with pytest.raises(BuildError, match="no page"):
        building.build(there, ["en"])
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
    assert (there / building.MARK).read_text() == "before"
    monkeypatch.setattr("docs.live_pages.LIVE_PAGES", {})
    building.build(there, ["en"])
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
    assert {path.name for path in there.iterdir()} == {"en", "index.html", "live", building.MARK}


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(BuildError, match="--out must be a new folder or one with a site in it"):
        building.build(tmp_path, ["en"])
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_without_sphinx_it_says_what_brings_it(tmp_path, monkeypatch):
    monkeypatch.setattr(building, "find_spec", lambda name: None if name == "furo" else name)
    with pytest.raises(BuildError, match=re.escape("furo, not here yet: pip install -e '.[docs]'")):
        building.build(tmp_path / "site", ["en"])
    assert not list(tmp_path.iterdir())


def test_a_text_that_changed_is_to_be_translated_again(tmp_path, monkeypatch, capsys):
    def texts(*some):
        made = polib.POFile()
        made.extend(polib.POEntry(msgid=text) for text in some)
        return made

    monkeypatch.setattr(messages, "DOCS", tmp_path)
    monkeypatch.setattr(messages, "languages", lambda: ["en", "vi"])
    now = {"guide/page": texts("One word", "Two words")}
    monkeypatch.setattr(messages, "_extracted", lambda folder: now)
    file = tmp_path / "locale" / "vi" / "LC_MESSAGES" / "guide" / "page.po"
    assert messages.update() == 0
    written = polib.pofile(str(file))
    for entry in written:
        entry.msgstr = "đã dịch"
    written.save()
    assert messages.check() == 0
    now["guide/page"] = texts("One word, changed", "Two words")
    with pytest.raises(BuildError, match="1 pages"):
        messages.check()
    assert re.search(r"vi guide/page +2 +1 +0 +1\n", capsys.readouterr().out)
    messages.update()
    assert [(entry.msgid, entry.msgstr) for entry in polib.pofile(str(file))] == [
        ("One word, changed", ""),
        ("Two words", "đã dịch"),
    ]
    now["guide/page"] = texts("Two words.")  # so little that the translation may do, once it was looked at
    messages.update()
    assert [(entry.msgid, entry.msgstr, entry.fuzzy) for entry in polib.pofile(str(file))] == [
        ("Two words.", "đã dịch", True)
    ]
    with pytest.raises(BuildError, match="1 pages"):
        messages.check()


@pytest.mark.parametrize(
    ("text", "prose"),
    [("`--json`", False), ("1.5 ms", False), ("12 × 3", False), ("`mask`: where to look", True), ("Lời", True)],
)
def test_code_and_numbers_are_no_texts_to_translate(text, prose):
    assert messages.is_prose(text) == prose
