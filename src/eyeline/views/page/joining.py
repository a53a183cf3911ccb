"""The bundler: joins the page's modules into one, for a file or a notebook."""

from __future__ import annotations

import base64
import json
import posixpath
import re
from functools import cache
from pathlib import Path

from eyeline.kernels.wasm import module_bytes, records_text
from eyeline.views.page.compression import deflated
from eyeline.words import own_names, page_table, worded

#: The folder of the modules.
HERE = Path(__file__).parent
#: The module that renders the page of texts, and the one that renders a survey's. Each is bundled alone.
MAIN = "main.js"
SURVEY = "survey/survey.js"
#: The module whose texts come from the catalogue of words.
WORDS = "words.js"
#: What runs in a page's worker.
WORKER = "kernel/worker.js"
#: The modules of what isn't JavaScript: the layout of a kernel's call, the kernel, and the worker's own modules.
RECORDS, MODULE, WORKER_TEXT = "kernel/records.js", "kernel/module.js", "kernel/worker_text.js"

#: What a survey's page has no texts of: the views of a text, and the keys that are the same in all of them.
_OF_TEXTS = frozenset(
    (
        *("sentence", "steps", "matrix", "overview", "compare", "toy", "positions", "cost"),
        *("lesson", "prompt", "page", "editing", "matters", "sources", "typing", "live"),
    )
)

_IMPORT = re.compile(r'^import \{([^{}]*)\} from "((?:\./|(?:\.\./)+)(?:[a-z]+/)*[a-z][a-z0-9_]*\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async function|function|class|const) ([A-Za-z_$][\w$]*))", re.MULTILINE)
_DEFAULT = re.compile(r"^export default ", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
# Comments on lines of their own, and indentation.
_COMMENTS = re.compile(r"^[ ]*(?://.*|/\*\*(?:[^*]|\*(?!/))*\*/[ ]*)\n|^[ ]+", re.MULTILINE)
# A comment after code on its line; the code may have strings, but no other quotes, in which it might be no comment.
_BEHIND = re.compile(r'^((?:[^"\'`/]|"(?:[^"\\]|\\.)*"|/(?!/))*\S)[ ]+// .*$')
_STRING = re.compile(r'("(?:[^"\\]|\\.)*")')
_CAST = re.compile(r"/\*\* @type \{[^*]*\} \*/ ?")
_SLASH = re.compile(r"(?<! )/|/(?! )")
# Except + and -: two of them side by side would be another operator.
_AROUND = re.compile(r" ?(=>|[=!]==?|[=<>?:,;{}()\[\]|&*]+) ?")
_OTHER = re.compile(r"^\s*(?:import|export)\b.*|\bimport\s*[(.].*", re.MULTILINE)


def joined(
    host: str | None = None,
    folder: Path = HERE,
    entry: str = MAIN,
    *,
    exported: bool = False,
    worker: str = WORKER,
) -> str:
    """Bundle the page as one ES module. Its default export renders the page; with a host, the module starts the host.

    Each file becomes a function that is called once, in the order of the imports. So the only forms allowed are `import
    { a, b } from "./x.js";` (or "../drawing/x.js"), and `export function`, `export async function`, `export class` or
    `export const` with a name, each at the beginning of a line; only main.js has `export default`.

    Args:
        host: a host's module, such as "hosts/file.js", whose `start` is called with main.js's default export.
        folder: the folder of the modules.
        exported: whether the module's default export is what the host's `start` returns.
        worker: the module that runs in the page's worker, whose `start` is called there.

    Raises:
        ValueError: if a module has another form of import or export, or two import each other.
    """
    parts = _joined([name for name in (entry, host) if name], folder, entry, worker)
    main = f"{_identifier(entry)}.main"
    made = main if host is None else f"{_identifier(host)}.start({main})"
    return parts + ("export default " if host is None or exported else "") + f"{made};\n"


@cache
def joined_worker(worker: str = WORKER, folder: Path = HERE) -> str:
    """Bundle what runs in a worker as one plain script, without comments, which calls the module's `start`."""
    return bare(_joined([worker], folder, "", worker) + f"{_identifier(worker)}.start();\n")


def _joined(names: list[str], folder: Path, entry: str, worker: str) -> str:
    """Modules, and those that they import, as functions that are called once each."""
    order: list[str] = []
    texts: dict[str, str] = {}
    for name in names:
        _visit(name, folder, entry, order, texts, ())
    if WORKER_TEXT in texts:
        texts[WORKER_TEXT] = _with(texts[WORKER_TEXT], "WORKER", joined_worker(worker, folder))
    return "".join(f"const {_identifier(name)} = (() => {{\n{texts[name]}\n}})();\n" for name in order)


def without_texts(module: str, prefix: str) -> str:
    """A bundle without the texts whose keys begin with a prefix, for a page that never shows them."""
    return re.sub(rf'^"{re.escape(prefix)}[^\n]*\n', "", module, flags=re.MULTILINE)


def bare(module: str) -> str:
    """Strip a module of types, comments and needless spaces, for a small file.

    Raises:
        ValueError: if a string in it has several lines, since spaces count there.
    """
    lines = _CAST.sub("", _COMMENTS.sub("", module)).splitlines()
    if any(line.count("`") % 2 for line in lines):
        raise ValueError(worded("texts must be of one line each, got one of several; join them"))
    return "\n".join(_closer(_BEHIND.sub(r"\1", line)) for line in lines) + "\n"


def _closer(line: str) -> str:
    """Remove the spaces around a line's operators, unless a string or pattern in it may contain operators."""
    parts = _STRING.split(line)
    if any(sign in part for part in parts[::2] for sign in "`'") or _SLASH.search("".join(parts[::2])):
        return line
    parts[::2] = [_AROUND.sub(r"\1", part) for part in parts[::2]]
    return "".join(parts)


@cache
def style(entry: str = MAIN, host: str | None = None) -> str:
    """The style of a page: the frame's, then that of each folder that its modules are in, and its host's."""
    order: list[str] = []
    texts: dict[str, str] = {}
    for name in filter(None, (entry, host)):
        _visit(name, HERE, entry, order, texts, ())
    folders = {posixpath.dirname(name) for name in order} - {""}
    sheets = sorted(path for folder in folders for path in (HERE / folder).glob("*.css"))
    return "\n".join(path.read_text("utf-8") for path in [HERE / "style.css", *sheets])


def _identifier(name: str) -> str:
    """The variable that holds a module's exports: "drawing/dom.js" is __drawing$dom."""
    return "__" + name.removesuffix(".js").replace("/", "$")


def _resolved(target: str, name: str) -> str:
    """The path, relative to the folder of all modules, of the module that `name` imports as `target`."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), target))


def _visit(
    name: str, folder: Path, entry: str, order: list[str], texts: dict[str, str], inside: tuple[str, ...]
) -> None:
    """Append a module after the modules that it imports."""
    if name in inside:
        raise ValueError(worded("modules must not need each other, got {value}", value=" → ".join([*inside, name])))
    if name in texts:
        return
    text = (folder / name).read_text("utf-8")
    if name == WORDS:
        text = _with_words(text, entry)
    elif name == MODULE:
        text = _with(text, "MODULE", base64.b64encode(deflated(module_bytes())).decode())
    elif name == RECORDS:
        text = text.replace("({})", json.dumps(json.loads(records_text()), separators=(",", ":")))
    for match in _IMPORT.finditer(text):
        _visit(_resolved(match[2], name), folder, entry, order, texts, (*inside, name))
    texts[name] = _body(name, text, name == entry)
    order.append(name)


def _shown(key: str, entry: str) -> bool:
    """Whether a page may show the text of a key: those with "survey" in their keys belong to a survey's page alone."""
    parts = key.split(".")
    if "survey" in parts:
        return entry == SURVEY
    return entry == MAIN or _OF_TEXTS.isdisjoint(parts[:2])


def _with_words(text: str, entry: str) -> str:
    """Insert the catalogue's texts that a page may show into the module of texts."""
    shown = {key: texts for key, texts in page_table().items() if _shown(key, entry)}
    lines = [f"{json.dumps(key)}: {json.dumps(texts, ensure_ascii=False)}," for key, texts in shown.items()]
    text = text.replace("const WORDS = {};", "const WORDS = {\n" + "\n".join(lines) + "\n};")
    names = json.dumps([*own_names().items()], ensure_ascii=False)
    return text.replace("export const LANGUAGES = [];", f"export const LANGUAGES = {names};")


def _with(text: str, name: str, value: str) -> str:
    """A module with a string in the place of its empty constant of this name."""
    return text.replace(f'const {name} = "";', f"const {name} = {json.dumps(value)};")


def _body(name: str, text: str, renders: bool) -> str:
    """The body of a module's function: its imports become variables at the top, its exports the returned object; the
    default export of the one that renders the page is `main`."""
    exported = [match[2] for match in _EXPORT.finditer(text)]

    def imported(match: re.Match[str]) -> str:
        names = [one.strip() for one in match[1].split(",") if one.strip()]
        for one in names:
            if not _NAME.fullmatch(one):
                raise ValueError(
                    worded(
                        '{name}: imports must be names, got {one!r} of "{match}"', name=name, one=one, match=match[2]
                    )
                )
        return f"const {{ {', '.join(names)} }} = {_identifier(_resolved(match[2], name))};"

    text = _EXPORT.sub(r"\1", _IMPORT.sub(imported, text))
    if renders:
        text, times = _DEFAULT.subn("const main = ", text)
        if times != 1:
            raise ValueError(
                worded("{name} must say export default once, got it {times} times", name=name, times=times)
            )
        exported.append("main")
    if wrong := _OTHER.search(text):
        raise ValueError(
            worded(
                "{name}: modules must import and export by name, each at the beginning of a line, got {strip!r}",
                name=name,
                strip=wrong[0].strip(),
            )
        )
    return f"{text.strip()}\nreturn {{ {', '.join(exported)} }};"
