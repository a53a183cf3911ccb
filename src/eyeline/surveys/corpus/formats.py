"""Which files are read, and how: by the endings of their names."""

from __future__ import annotations

from dataclasses import dataclass

#: The endings of each kind of file. "text": the file is one document; "lines": JSON, a document on each line; "table":
#: separated values with a header; "parquet".
KINDS = {
    "text": (".txt", ".text", ".md", ".markdown"),
    "lines": (".jsonl", ".ndjson", ".json"),
    "table": (".csv", ".tsv"),
    "parquet": (".parquet",),
}
#: The endings of compressed files, after the kind's own. Parquet is compressed inside.
COMPRESSIONS = (".gz", ".zst", ".bz2", ".xz")
#: The longest line, and the longest document, in bytes. Longer ones are skipped, so that memory stays bounded.
LONGEST = 1 << 26

_KIND_OF = {ending: kind for kind, endings in KINDS.items() for ending in endings}


@dataclass(frozen=True)
class Format:
    """How a file is read.

    Attributes:
        kind: one of `KINDS`.
        compression: one of `COMPRESSIONS`, or empty.
        tabs: whether a table's values are separated by tabs, as .tsv says.
    """

    kind: str
    compression: str = ""
    tabs: bool = False


def format_of(name: str) -> Format | None:
    """The format of a file by its name; None if it isn't known.

    >>> format_of("reviews.CSV.gz")
    Format(kind='table', compression='.gz', tabs=False)
    """
    stem = name.rpartition("/")[2].lower()
    compression = next((ending for ending in COMPRESSIONS if stem.endswith(ending)), "")
    stem = stem.removesuffix(compression)
    ending = f".{stem.rpartition('.')[2]}" if "." in stem else ""
    kind = _KIND_OF.get(ending)
    if kind is None or (kind == "parquet" and compression):
        return None
    return Format(kind, compression, ending == ".tsv")


def as_text(name: str) -> Format:
    """The format of a file that is named itself, whatever its ending: an unknown one is read as text."""
    known = format_of(name)
    if known is not None:
        return known
    return Format("text", next((ending for ending in COMPRESSIONS if name.lower().endswith(ending)), ""))


def endings() -> str:
    """All endings, for messages."""
    kinds = " ".join(ending for endings in KINDS.values() for ending in endings)
    return f"{kinds} ({' '.join(COMPRESSIONS)})"
