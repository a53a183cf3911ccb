"""A head's measures in single documents, some at a time: from the parts that hold these documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from eyeline.surveys.folder import SurveyFolder
from eyeline.surveys.tally import MEASURES
from eyeline.views.page.requests.request import Reply, Request, whole
from eyeline.views.surveys.requests.request import AskedSurveyPage, asked, plain, refusing
from eyeline.views.surveys.row_groups import RowGroups, opened

if TYPE_CHECKING:
    import pyarrow as pa

#: The most documents in a reply.
COUNT = 256
_ABOUT = ("document", "file", "place", "characters", "tokens", "windows")


@refusing
def answer(page: AskedSurveyPage, request: Request) -> Reply:
    """The documents whose numbers are `first` or more, at most `count`, as columns: what they are, and each measure."""
    at = asked(page, request)
    first = whole(request, "first", 0, 2**53 - 1)
    count = whole(request, "count", 1, COUNT)
    place = at.layer * at.survey.model.heads + at.head
    found: dict[str, list[Any]] = {name: [] for name in (*_ABOUT, *MEASURES)}
    folder = SurveyFolder(at.survey.folder)
    parts = folder.parts()
    for number in parts[_part_of(folder, parts, first) :]:
        records = opened(folder, folder.part(number)).records("documents")
        room = count - len(found["document"])
        rows = [row for row, one in enumerate(records.field("document").to_pylist()) if one >= first][:room]
        if rows:
            chosen = records.slice(rows[0], len(rows))  # in the order of their numbers
            for name in _ABOUT:
                found[name] += chosen.field(name).to_pylist()
            for name in MEASURES:
                found[name] += plain([row[place] for row in _floats(chosen.field(name), len(rows))])
        if len(found["document"]) == count:
            break
    return found, []


def _floats(lists: pa.FixedSizeListArray, count: int) -> list[list[float]]:
    """The numbers of equally long lists."""
    return lists.flatten().to_numpy(zero_copy_only=False).reshape(count, -1).astype(float).tolist()  # type: ignore[no-any-return]


def _part_of(folder: SurveyFolder, parts: Sequence[int], document: int) -> int:
    """The place of the last part that begins at a document or before: parts are in the order of their documents."""
    low, high = 0, len(parts)
    while high - low > 1:
        middle = (low + high) // 2
        probe = middle
        least = None
        while probe < high and (least := _first_document(opened(folder, folder.part(parts[probe])))) is None:
            probe += 1  # a part of which everything was skipped
        if least is None or least > document:
            high = middle
        else:
            low = probe
    return low


def _first_document(part: RowGroups) -> int | None:
    """The number of a part's first document, from the file's footer; None if it has none."""
    return part.least("documents.list.element.document")
