"""The page as one file: inert whatever the text, small, whole or not at all; and the joining of its modules."""

from __future__ import annotations

import base64
import hashlib
import html
import itertools
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from answers import Blocks

from eyeline.masks import Documents
from eyeline.models import load
from eyeline.traces import Trace, TraceError, record
from eyeline.views.page import Page
from eyeline.views.page.file import page_file
from eyeline.views.page.joining import HERE, MAIN, SURVEY, WORKER, bare, joined, joined_worker, style, without_texts
from eyeline.views.viewing import view

TEXT = "time flies like an arrow"


@pytest.fixture(scope="module")
def sentence():
    return Page([record(TEXT)])


def many(values: bool = False) -> Trace:
    """12 layers × 12 heads × 512 tokens of width 64, random."""
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((12, 12, 512, 64), np.float32) for _ in range(3))
    return Trace.of(q, k, v if values else None, queries=[f"w{place}" for place in range(512)])


class Tags(HTMLParser):
    """The tags of a page, with what stands in scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    "<!--<script>",
    "-->",
    "\"'`&amp;&lt;",
    "\u2028\u2029",
    "\x00\x01\x7f",
    "\u202eevil\u202c\u2066",
    "]]>",
    "\ufeff",
    "${alert(1)}",
    "</ScRiPt >",
    "</title><script>alert(2)</script>",
    "\\",
    "🦜",
]


def test_hostile_text_is_inert_on_the_bytes():
    q = np.zeros((1, 1, len(HOSTILE), 1))
    traces = [Trace.of(q, q, queries=HOSTILE, keys=HOSTILE, name="</script>", model="<b>model")]
    page = Page(traces, {"note": "</script>"})
    data = page_file(page)
    blocks = Blocks(data)
    plain = Page([Trace.of(q, q, queries=["w"] * len(HOSTILE), keys=["w"] * len(HOSTILE))])
    count = page_file(plain).lower().count(b"</script")
    assert data.lower().count(b"</script") == count  # those of our own markup alone
    assert data.lower().count(b"<script") == page_file(plain).lower().count(b"<script")
    for wrong in (b"<img", b"<!--", "\u2028".encode(), "\u2029".encode(), b"\x00", b"</title><", b"<b>model"):
        assert wrong not in data
    line = blocks.header["traces"][0]["queries"]
    assert line["pieces"] == HOSTILE
    wide = line["text"].encode("utf-16-le")
    places = zip(line["starts"], line["ends"], strict=True)
    assert [wide[2 * start : 2 * end].decode("utf-16-le") for start, end in places] == HOSTILE
    tags = [tag for tag, _ in Tags(blocks.text).tags]
    assert tags == [tag for tag, _ in Tags(page_file(plain).decode()).tags]
    still = {"section", "h2", "bdi", "b", "table", "tr", "td", "svg", "rect"}
    assert set(tags) == {"html", "head", "meta", "title", "body", "p", "div", "script"} | still


def test_the_title_is_safe_and_straight():
    q = np.zeros((1, 1, 1, 1))
    text = page_file(Page([Trace.of(q, q, queries=["</title>\u202e\x00&amp;"])])).decode()
    (title,) = re.findall("<title>(.*)</title>", text)
    assert html.unescape(title) == "</title>\\u202e␀&amp;"


def test_nothing_runs_but_the_scripts_of_the_policy(sentence):
    text = page_file(sentence).decode()
    tags = Tags(text).tags
    (policy,) = (dict(a)["content"] for tag, a in tags if tag == "meta" and "http-equiv" in a)
    assert "default-src 'none'" in policy
    assert "img-src data: blob:" in policy
    assert "http" not in policy
    hashes = set(re.findall(r"'sha256-([^']+)'", policy))
    running = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert len(running) == 2
    module = Blocks(text.encode()).bytes("module").decode()
    want = {base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in (*running, module)}
    assert hashes == want
    kinds = {attributes.get("type") for tag, attributes in tags if tag == "script"}
    assert kinds == {None, "application/octet-stream"}
    assert not [a for _, attributes in tags for a in attributes if a in ("src", "href") or a.startswith("on")]


def test_the_file_holds_the_page_and_its_style(sentence):
    blocks = Blocks(page_file(sentence))
    module = joined("hosts/text_file.js")
    for prefix in ("editing", "typing.", "sources.", "keys.overview.off", "lesson.", "matters."):
        assert f'\n"{prefix}' in module
        module = without_texts(module, prefix)
    assert blocks.bytes("module").decode() == bare(module)
    assert blocks.bytes("style").decode() == style()
    header = sentence.header()
    header["can"] |= {"picture": False, "edit": []}
    header["traces"][0]["picture"] = None
    assert blocks.header == header


def test_small_pictures_go_along_where_their_cells_are_more_than_one_weight(sentence):
    assert not any(name.startswith("overview") for name in Blocks(page_file(sentence)).found)
    x = np.random.default_rng(0).standard_normal((1, 2, 33, 4))
    longer = Trace.of(x, x, queries=["x"] * 33)
    blocks, measures = Blocks(page_file(Page([longer]))), longer.measures
    assert blocks.header["traces"][0]["picture"] == [32, 32]
    assert blocks.bytes("overview-0") == measures.pictures.tobytes() + measures.most.astype("<f4").tobytes()


def test_one_sentence_takes_less_than_600_kb_with_the_matrices_of_its_head():
    data = page_file(view(TEXT))
    assert b'id="eyeline-projections-0-' in data
    assert len(data) < 700_000


def test_twelve_layers_of_512_tokens_take_what_the_guide_says():
    page = " ".join((Path(__file__).parents[1] / "docs" / "guide" / "first-look.md").read_text("utf-8").split())
    said = re.search(r"12 heads × 512 tokens of width 64 take (\d+) MB \((\d+) MB with `--half`\)", page)
    assert said is not None
    for half, megabytes in ((False, int(said[1])), (True, int(said[2]))):
        assert len(page_file(Page([many()]), half=half)) / 1e6 == pytest.approx(megabytes, abs=0.75)


def test_minilm_at_512_tokens_takes_less_than_7_mb_in_half():
    model = load("minilm")
    words = ["the", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog"]
    text = " ".join(words[place % len(words)] for place in range(510))
    assert len(model.tokens(text)) == 512
    page = Page([record(text, model=model)])
    blocks = Blocks(page_file(page, half=True))
    assert len(blocks.text.encode()) < 7e6
    assert blocks.header["traces"][0]["values"] is False


def test_values_go_along_while_they_are_small(sentence):
    def kept(page, **asked):
        return [trace["values"] for trace in Blocks(page_file(page, **asked)).header["traces"]]

    rng = np.random.default_rng(0)
    words = ["w"] * 512
    just, beyond = (Page([Trace.of(*rng.standard_normal((3, 1, 1, 512, D)), queries=words)]) for D in (682, 683))
    assert (kept(just), kept(beyond)) == ([True], [False])  # 4 MiB of q, k and v
    assert kept(Page([*just.traces, *sentence.traces])) == [False, False]
    assert kept(beyond, values=True) == kept(beyond, half=True) == [True]
    assert kept(sentence, values=False) == [False]
    without = Page([record(TEXT, values=False)])
    assert kept(without) == [False]
    with pytest.raises(TraceError, match="values must be False where none were kept, got True"):
        page_file(without, values=True)


def test_a_mask_of_many_layers_is_kept_once():
    rng = np.random.default_rng(0)
    q = rng.standard_normal((3, 2, 8, 4))
    blocks = Blocks(page_file(Page([Trace.of(q, q, mask=Documents([3, 5]), queries=list("abcdefgh"))])))
    assert blocks.contents["traces"] == [{"masks": [0, 0, 0], "mask_shapes": [[1, 8, 1, 2]]}]
    assert [name for name in blocks.found if name.startswith("mask-")] == ["mask-0-0"]


def test_what_is_opened_with_comes_first(sentence):
    names = list(Blocks(page_file(Page(sentence.traces, {"layer": 3}))).found)
    assert names[:4] == ["header", "style", "module", "layer-0-3"]


def test_numbers_too_large_for_float16_are_refused():
    q = np.full((1, 1, 1, 1), 7e4)
    page = Page([Trace.of(q / 7e4, q, queries=["a"])])
    assert Blocks(page_file(page)).weights(0, 0, 0).tolist() == [[1.0]]
    with pytest.raises(TraceError, match="half must be left out where k goes beyond 65504"):
        page_file(page, half=True)


def test_a_page_of_nothing_is_no_file(tmp_path):
    with pytest.raises(TraceError, match="traces must be at least one for a file, got none"):
        Page([]).save(tmp_path / "x.html")
    assert list(tmp_path.iterdir()) == []


def test_the_file_is_there_whole_or_not_at_all(sentence, tmp_path, monkeypatch):
    sentence.save(tmp_path / "x.html")
    assert (tmp_path / "x.html").read_bytes() == page_file(sentence)
    with pytest.raises(OSError, match="No such file") as caught:
        sentence.save(tmp_path / "no" / "x.html")
    assert caught.value.filename == str(tmp_path / "no" / "x.html")

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("eyeline.caches.os.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sentence.save(tmp_path / "y.html")
    assert [path.name for path in tmp_path.iterdir()] == ["x.html"]


MODULES = {
    "main.js": 'import {\n  shown,\n  more,\n} from "./b.js";\n\nexport default { render: () => shown(more) };\n',
    "b.js": 'import { one } from "./a.js";\n\nconst own = 1;\nexport const more = one + own;\n'
    "export async function shown(x) {\n  return x;\n}\nexport class Kind {}\nexport function last() {}\n",
    "a.js": "// import and export in words\nconst own = 40;\nexport const one = own;\n",
    "host.js": 'import { one } from "./a.js";\n\nexport const start = (main) => main.render(one);\n',
}


@pytest.fixture
def folder(tmp_path):
    for name, text in MODULES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_modules_are_joined_in_the_order_in_which_they_need_one_another(folder):
    text = joined(folder=folder)
    assert re.findall(r"^const __(\w+) = \(\(\) => \{$", text, re.MULTILINE) == ["a", "b", "main"]
    assert "const { shown, more } = __b;" in text
    assert "return { more, shown, Kind, last };" in text
    assert text.endswith("export default __main.main;\n")
    hosted = joined("host.js", folder)
    assert re.findall(r"^const __(\w+) = ", hosted, re.MULTILINE) == ["a", "b", "main", "host"]
    assert hosted.endswith("\n__host.start(__main.main);\n")
    assert joined("host.js", folder, exported=True).endswith("\nexport default __host.start(__main.main);\n")


def test_comments_and_needless_spaces_are_left_out():
    text = "// one\n/** Two\n * lines * and / more.\n */\nconst a = 1; // too\n  // gone\nconst b = `/** ${a} */`;\n"
    assert bare(text) == "const a=1;\nconst b = `/** ${a} */`;\n"
    assert bare('say("a // b"); // two "words"\n') == 'say("a // b");\n'
    for line in ("say(`a // b`);", "say('a // b');", 'say("a // b");'):
        assert bare(line) == f"{line}\n"
    assert bare('  const [a, b] = [x === "y = z" ? 1 : 2, (c) => c];\n') == 'const[a,b]=[x==="y = z"?1:2,(c)=>c];\n'
    assert bare("  /** @type {number} */\n  const a = /** @type {any} */ (b);\n") == "const a=(b);\n"
    for line in ("a + +b - -c / d", "const x = `a = b`;", "const y = 'a = b';", "const z = / = /.test(a);"):
        assert bare(line) == f"{line}\n"
    for path in HERE.rglob("*.js"):  # what begins a line within a text over several lines would be taken for one
        lines = path.read_text("utf-8").splitlines()
        assert [line for line in lines if line.count("`") % 2] == [], path.name


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.js", 'import * as b from "./b.js";\nexport const one = 1;\n', "must import and export by name"),
        ("a.js", 'import { one as two } from "./c.js";\n', "imports must be names, got 'one as two' of \"./c.js\""),
        ("a.js", "export default 1;\n", "must import and export by name"),
        ("a.js", 'export { one } from "./c.js";\n', "must import and export by name"),
        ("a.js", 'const one = await import("./c.js");\n', "must import and export by name"),
        ("a.js", 'import one from "https://example.org/x.js";\n', "must import and export by name"),
        (
            "a.js",
            'import { shown } from "./b.js";\nexport const one = 1;\n',
            "must not need each other",
        ),
        ("main.js", "export const x = 1;\n", "main.js must say export default once, got it 0 times"),
        ("main.js", "export default 1;\nexport default 2;\n", "must say export default once, got it 2 times"),
    ],
)
def test_a_module_that_says_something_else_is_refused(folder, name, text, says):
    (folder / "c.js").write_text("export const one = 1;\n")
    (folder / name).write_text(text)
    with pytest.raises(ValueError, match=says):
        joined(folder=folder)


def test_modules_of_folders_are_found_from_where_they_are_named(folder):
    for name in ("one", "other"):
        (folder / name).mkdir()
    (folder / "one" / "d.js").write_text('import { e } from "../other/e.js";\nexport const d = e;\n')
    (folder / "other" / "e.js").write_text('import { one } from "../a.js";\nexport const e = one;\n')
    (folder / "main.js").write_text('import { d } from "./one/d.js";\nexport default d;\n')
    text = joined(folder=folder)
    assert re.findall(r"^const __([\w$]+) = ", text, re.MULTILINE) == ["a", "other$e", "one$d", "main"]
    assert "const { e } = __other$e;" in text


def test_modules_of_different_folders_may_have_one_name(folder):
    for name in ("one", "other"):
        (folder / name).mkdir()
    (folder / "one" / "a.js").write_text('import { one } from "../a.js";\nexport const ten = one * 10;\n')
    (folder / "other" / "a.js").write_text('import { ten } from "../one/a.js";\nexport const hundred = ten * 10;\n')
    (folder / "main.js").write_text(
        'import { hundred } from "./other/a.js";\nimport { one } from "./a.js";\nexport default hundred + one;\n'
    )
    text = joined(folder=folder)
    assert re.findall(r"^const __([\w$]+) = ", text, re.MULTILINE) == ["a", "one$a", "other$a", "main"]
    assert "const { ten } = __one$a;" in text


def test_every_module_is_reached():
    modules = {path.relative_to(HERE).as_posix(): path.read_text("utf-8") for path in HERE.rglob("*.js")}
    begins = {name for name, text in modules.items() if "export const start = " in text}
    workers = {name for name in begins if name.endswith("/worker.js")}
    hosts = begins - workers
    assert workers == {WORKER, "live/worker.js"}
    assert sorted(hosts) == [
        f"hosts/{name}.js"
        for name in ("effects_file", "file", "live", "notebook_rooms", "server", "survey_server", "text_file")
    ]
    reached = set()
    for worker in workers:
        names = re.findall(r"^const __([\w$]+)=\(\(\)=>\{$", joined_worker(worker), re.MULTILINE)
        reached |= {f"{name.replace('$', '/')}.js" for name in names}
    assert not any(name.startswith("hosts/") for name in reached - {"hosts/unpacking.js"})  # no page is in a worker
    for host, entry in itertools.product(hosts, (MAIN, SURVEY)):
        names = re.findall(r"^const __([\w$]+) = \(\(\) => \{$", joined(host, entry=entry), re.MULTILINE)
        found = {f"{name.replace('$', '/')}.js" for name in names}
        assert not any(name.startswith("survey/") for name in found) or entry == SURVEY
        reached |= found
    # The notebook's loader stands alone, and asks the kernel for the others.
    assert reached == set(modules) - {"hosts/notebook.js"}


def test_nothing_of_another_place_is_named_in_the_page():
    for path in [*HERE.rglob("*.js"), *HERE.rglob("*.css")]:
        text = path.read_text("utf-8")
        assert set(re.findall(r"https?://[^\s\"'`)]+", text)) <= {
            "http://www.w3.org/2000/svg",
            "http://www.w3.org/1999/xhtml",
        }
        assert not re.search(r"@import|url\((?!\"?data:|#|\"?#)", text), path.name
