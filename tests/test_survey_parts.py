"""A block's part: nothing is lost, the same tally gives the same bytes, and a damaged file is found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from eyeline.surveys import SurveyError
from eyeline.surveys.document import Document, Skipped
from eyeline.surveys.fingerprints import fingerprint
from eyeline.surveys.parts import read_part, write_part
from eyeline.surveys.settings import Settings
from eyeline.surveys.tally import MEASURES, BlockTally
from tests.surveys import made_tally

HOSTILE = (
    "",
    "\x00",
    "</script><!-- ",
    '"; DROP TABLE heads; --',
    "\u202eright to left\u2069",
    "עברית العربية",
    "👩‍👩‍👧 e\u0301\u0301",
    "\r\n\t\x1b[31m",
    "x" * 70_000,
)


def tally(documents=5, layers=2, heads=3, **changes) -> BlockTally:
    return replace(made_tally(np.random.default_rng(1), layers, heads, range(documents), 4), **changes)


def same(one, other):
    """Whether two values are the same to the bit, NaN being NaN."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, dict):
        return set(one) == set(other) and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return same(vars(one), vars(other)) if hasattr(one, "__dict__") else one == other


@pytest.mark.parametrize("documents", [0, 1, 5])
@pytest.mark.parametrize("shape", [(1, 1), (2, 3)])
def test_a_part_is_its_tally_to_the_bit(documents, shape):
    made = tally(documents, *shape)
    part = read_part(write_part(made, "of this", 7))
    assert (part.number, part.fingerprint, part.layers, part.heads) == (7, "of this", *shape)
    assert same(part.tally(), made)


def test_numbers_that_text_would_round_come_back_exactly():
    made = tally()
    made.entropy[0] = 0.1 + 0.2, np.nextafter(1, 2), 5e-324
    made.offsets[0, 0, :3] = -0.0, 1e300, 2**53 + 1
    made.largest[0, 0, 0] = 2**62 + 1
    assert same(read_part(write_part(made, "", 0)).tally(), made)


def test_the_same_tally_gives_the_same_bytes_whatever_order_its_groups_were_found_in():
    made = tally()
    turned = replace(made, groups={key: made.groups[key] for key in reversed(made.groups)})
    for group in turned.groups.values():
        group.to = dict(reversed(group.to.items()))
    assert write_part(made, "of this", 0) == write_part(turned, "of this", 0) == write_part(tally(), "of this", 0)


def test_examples_hold_any_text_and_the_largest_hash():
    made = tally()
    first = made.examples[0]
    places = tuple(range(len(HOSTILE)))
    hostile = replace(
        first, order=2**64 - 1, file="/a b/\x00é.txt", tokens=HOSTILE, positions=places,
        weights=tuple(0.0 for _ in places), special=tuple(False for _ in places),
    )  # fmt: skip
    made.examples[0] = hostile
    made.skipped.append(Skipped("\u202efile", 2**40, "encoding", "no\nUTF-8"))
    found = read_part(write_part(made, "", 0)).tally()
    assert found.examples[0] == hostile
    assert found.skipped == made.skipped


def test_half_characters_become_replacement_characters():
    made = tally()
    made.examples[0] = replace(
        made.examples[0], tokens=("a\ud800b", "\ud83d\ude00", "\udcff"), positions=(0, 1, 2), weights=(0.0, 0.0, 0.0),
        special=(False, False, False), file="caf\udce9.txt",
    )  # fmt: skip
    found = read_part(write_part(made, "", 0)).tally().examples[0]
    assert found.tokens == ("a\ufffdb", "\U0001f600", "\ufffd")
    assert found.file == "caf\ufffd.txt"


def test_a_user_s_types_come_back():
    made = tally()
    group = made.groups["first", 0]
    made.groups["punctuation/quote “", 3] = replace(group, to={"punctuation/quote “": group.entropy * 2})
    assert same(read_part(write_part(made, "", 0)).tally(), made)


def test_measures_are_of_each_document_and_nan_where_there_are_none():
    part = read_part(write_part(tally(5), "", 0))
    for name in MEASURES:
        assert part.measures(name).shape == (5, 2, 3)
    assert np.isnan(part.measures("punctuation")[:, 0, 0]).tolist() == [False, False, False, True, False]


@pytest.mark.parametrize("cut", [0, 3, 8, 1000, -1, -200])
def test_a_part_cut_short_is_found(cut):
    data = write_part(tally(), "of this", 0)[:cut]
    with pytest.raises(
        SurveyError, match=r"^parts/000000.parquet is no part of a survey, or is damaged \(.*\); run the same"
    ):
        read_part(data, "parts/000000.parquet")


def test_a_flipped_bit_is_found_wherever_it_is():
    data = write_part(tally(), "of this", 0)
    end = len(data) - 8 - int.from_bytes(data[-8:-4], "little")  # where the footer begins
    at = [*range(4, 40), *np.random.default_rng(0).integers(4, end, 200), end - 1]
    for place in at:
        damaged = bytearray(data)
        damaged[place] ^= 0x10
        with pytest.raises(SurveyError, match="damaged"):
            read_part(bytes(damaged))


def test_a_table_of_something_else_is_no_part():
    import io

    import pyarrow as pa
    import pyarrow.parquet as parquet

    file = io.BytesIO()
    parquet.write_table(pa.table({"number": [1]}), file)
    with pytest.raises(SurveyError, match="is no part of a survey"):
        read_part(file.getvalue())


def test_a_part_of_another_version_is_no_part_of_this(monkeypatch):
    monkeypatch.setattr("eyeline.surveys.parts.FORMAT", "eyeline.survey.part/2")
    data = write_part(tally(), "of this", 0)
    monkeypatch.undo()
    with pytest.raises(SurveyError, match=r"must be a part of the format eyeline\.survey\.part/1, got"):
        read_part(data)


MODEL = {"name": "minilm", "family": "bert", "layers": 6, "heads": 12, "causal": False, "sha256": "ab"}
DOCUMENTS = [Document(0, "a.txt", 0, "time flies"), Document(1, "b.txt", 0, "like an arrow")]
#: The same texts, one after the other, cut elsewhere.
APART = [replace(DOCUMENTS[0], text="time flie"), replace(DOCUMENTS[1], text="slike an arrow")]


@pytest.mark.parametrize(
    ("documents", "settings", "model"),
    [
        (DOCUMENTS[:1], Settings(512, 64), MODEL),
        ([DOCUMENTS[0], replace(DOCUMENTS[1], text="like an arrow.")], Settings(512, 64), MODEL),
        ([DOCUMENTS[0], replace(DOCUMENTS[1], file="c.txt")], Settings(512, 64), MODEL),
        ([replace(one, number=one.number + 1) for one in DOCUMENTS], Settings(512, 64), MODEL),
        (APART, Settings(512, 64), MODEL),
        (DOCUMENTS, Settings(256, 64), MODEL),
        (DOCUMENTS, Settings(512, 64, classes="mine:labels"), MODEL),
        (DOCUMENTS, Settings(512, 64), MODEL | {"sha256": "cd"}),
        (DOCUMENTS, Settings(512, 64), MODEL | {"sha256": None}),
    ],
)  # fmt: skip
def test_what_decides_the_figures_changes_the_fingerprint(documents, settings, model):
    assert fingerprint(documents, settings, model) != fingerprint(DOCUMENTS, Settings(512, 64), MODEL)


def test_where_the_model_lies_does_not_change_the_fingerprint():
    moved = MODEL | {"name": "/elsewhere/minilm", "source": "a folder"}
    assert fingerprint(DOCUMENTS, Settings(512, 64), moved) == fingerprint(DOCUMENTS, Settings(512, 64), MODEL)
    unknown = [MODEL | {"sha256": None, "name": name} for name in ("one", "other")]
    one, other = (fingerprint(DOCUMENTS, Settings(512, 64), model) for model in unknown)
    assert one != other
