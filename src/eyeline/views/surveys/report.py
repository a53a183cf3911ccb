"""The page of a survey in one file: the map, and as many heads' examples as there is room for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from eyeline import words
from eyeline.version import VERSION
from eyeline.views.labels import printable
from eyeline.views.page.compression import deflated
from eyeline.views.page.file import stored_name
from eyeline.views.page.framing import framed
from eyeline.views.page.joining import SURVEY, bare, joined, style
from eyeline.views.page.markup import as_json, block, document
from eyeline.views.page.still import Row, Still, still_html, why_still
from eyeline.views.surveys.header import header_of
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.surveys.loading import Survey

#: How many examples of each sort a head may have in a file: the most for which all heads find room, else the least.
COUNTS = (256, 32, 16, 8, 4)
#: The heads of which sizes are estimated.
_TRIED = 12


class ReportedPage(Protocol):
    """The page of a report: a `SurveyPage`."""

    surveys: list[Survey]
    state: dict[str, Any]

    def answer(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], list[memoryview]]: ...


def report(page: ReportedPage, room: int) -> bytes:
    """The bytes of the file; docs/page-format.md describes its blocks.

    Args:
        page: the page.
        room: the most bytes that it may have.
    """
    header = header_of(page.surveys, page.state)
    _note(header, [0] * len(page.surveys))
    module = _module()
    first = [block("style", deflated(style(SURVEY).encode())), block("module", deflated(module.encode()))]
    drawn = still_html(still_of(header), why_still())
    title = printable(header["title"])
    fixed = document(title, VERSION, drawn, module, [block("header", _packed(header)), *first], [])
    # The counts of what was kept, filled in below, are some digits longer.
    blocks, kept = _blocks(page, header, room - len(fixed) - 200)
    _note(header, kept)
    return document(title, VERSION, drawn, module, [block("header", _packed(header)), *first], blocks)


def still_of(header: Mapping[str, Any]) -> Still:
    """The still picture, for where scripts don't run: how many heads are of each kind."""
    entry = header["surveys"][0]
    kinds: dict[str, int] = {}
    for kind, *_ in entry["kinds"]:  # a head counts for its first
        kinds[kind] = kinds.get(kind, 0) + 1
    count = len(entry["kinds"])
    table = words.page_table()
    place = words.languages().index(words.language())
    names = {kind: table[f"kind.{kind}"][place] if f"kind.{kind}" in table else printable(kind) for kind in kinds}
    ordered = sorted(kinds.items(), key=lambda item: (item[0] == "mixed", -item[1]))
    told = ", ".join(f"{names[kind]} {number}" for kind, number in ordered)
    counts = entry["counts"]
    about = [
        printable(str(entry["model"]["name"])),
        worded("{count} documents", count=counts["documents"]),
        worded("{count} tokens", count=counts["tokens"]),
        f"eyeline {VERSION}",
    ]
    return Still(
        words.language(),
        header["title"],
        " · ".join(about),
        worded("{count} heads: {kinds}.", count=count, kinds=told),
        tuple(Row(names[kind], str(number), round(number / count, 4), kind == "mixed") for kind, number in ordered),
        "",
        worded("Heads of each kind; bars from 0 to {count}.", count=count),
    )


@cache
def _module() -> str:
    """The page's modules, bundled with the module of this host."""
    return bare(joined("hosts/file.js", entry=SURVEY))


def _packed(header: Mapping[str, Any]) -> bytes:
    return deflated(as_json([header, {}]))


def _note(header: Mapping[str, Any], kept: Sequence[int]) -> None:
    """Note in the header of how many heads the file has the examples."""
    for entry, count in zip(header["surveys"], kept, strict=True):
        if "examples" in entry["holds"]:
            entry["examples"] = {"kept": count, "of": len(entry["kinds"])}


def _places(header: Mapping[str, Any]) -> list[tuple[int, int, int]]:
    """All heads, as survey, layer and head: those of a kind first, then by layer; the surveys in turn."""
    found = []
    for number, entry in enumerate(header["surveys"]):
        heads = entry["model"]["heads"]
        for at, kinds in enumerate(entry["kinds"]):
            found.append((kinds[:1] == ["mixed"], at // heads, at % heads, number))
    return [(number, layer, head) for _, layer, head, number in sorted(found)]


def _blocks(page: ReportedPage, header: Mapping[str, Any], room: int) -> tuple[list[str], list[int]]:
    """The blocks of heads within so many bytes, and how many heads of each survey have theirs."""
    held = [entry["holds"] for entry in header["surveys"]]
    places = [place for place in _places(header) if held[place[0]]]
    kept = [0] * len(page.surveys)
    if room <= 0 or not places:
        return [], kept
    # A head's size is estimated from some of them.
    tried = [_replies(page, place, held[place[0]], COUNTS[0]) for place in places[:: max(len(places) // _TRIED, 1)]]
    sizes = {
        count: sum(map(_size, (cut for one in tried for cut in _cut(one, count)))) / len(tried) for count in COUNTS
    }
    count = next((count for count in COUNTS if sizes[count] * len(places) <= 0.97 * room), COUNTS[-1])
    blocks: list[str] = []
    for place in places:
        made = [block(name, data) for name, data in _cut(_replies(page, place, held[place[0]], count), count)]
        room -= sum(len(one) + 1 for one in made)
        if room < 0:
            break
        blocks += made
        kept[place[0]] += 1
    return blocks, kept


#: The replies to a head's requests, by the names of their blocks.
_Replies = dict[str, tuple[dict[str, Any], list[memoryview]]]


def _replies(page: ReportedPage, place: Sequence[int], kinds: Sequence[str], count: int) -> _Replies:
    """The replies to these requests of one head, with so many examples of each sort."""
    number, layer, head = place
    found: _Replies = {}
    for kind in kinds:
        request = {"kind": kind, "other": number, "layer": layer, "head": head, "first": 0, "count": count}
        found[stored_name(request)] = page.answer({"id": 0, **request})
    return found


def _cut(replies: _Replies, count: int) -> list[tuple[str, bytes]]:
    """The blocks of one head, by name, with so many examples of each sort at most."""
    made = []
    for name, (reply, arrays) in replies.items():
        if "examples" in reply:
            kept: dict[str, int] = {}
            examples = []
            for one in reply["examples"]:
                kept[one["sort"]] = kept.get(one["sort"], 0) + 1
                if kept[one["sort"]] <= count:
                    examples.append(one)
            reply = {**reply, "examples": examples}
        made.append((name, deflated(framed(reply, arrays))))
    return made


def _size(made: tuple[str, bytes]) -> int:
    """The bytes of a block, about."""
    return 80 + len(made[1]) * 4 // 3
