"""A survey loaded from its folder: its tables, one that isn't finished, and folders that are none or are damaged."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pandas
import pyarrow as pa
import pytest

from eyeline import words
from eyeline.surveys import SurveyError
from eyeline.surveys.errors import needed
from eyeline.surveys.folder import SurveyFolder
from eyeline.surveys.loading import load_survey
from eyeline.surveys.tables import documents_schema, examples_schema, heads_schema, tokens_schema
from eyeline.surveys.tally import MEASURES
from tests.surveys import made_survey

L, H, DOCUMENTS = 2, 3, 9


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    folder = tmp_path_factory.mktemp("surveys") / "made"
    return made_survey(folder, layers=L, heads=H, documents=DOCUMENTS, examples=5)


@pytest.fixture
def damaged(tmp_path):
    """A folder to spoil."""
    made_survey(tmp_path, layers=L, heads=H, documents=DOCUMENTS, examples=5)
    return tmp_path


def test_tables_have_the_documented_columns_as_arrow_and_as_pandas(survey):
    schemas = {
        "heads": (heads_schema(), L * H),
        "tokens": (tokens_schema(), survey.tokens(arrow=True).num_rows),
        "examples": (examples_schema(), L * H * 10),
        "documents": (documents_schema(L * H), DOCUMENTS),
    }
    for name, (schema, rows) in schemas.items():
        table = getattr(survey, name)(arrow=True)
        assert isinstance(table, pa.Table)
        assert table.schema.equals(schema), name
        frame = getattr(survey, name)()
        assert isinstance(frame, pandas.DataFrame)
        assert (list(frame.columns), len(frame), table.num_rows) == (schema.names, rows, rows)
    assert survey.types == tuple(survey.info["scales"]["types"])
    assert (survey.model.name, survey.model.layers, survey.model.heads, survey.model.causal) == ("tiny", L, H, False)


def test_one_head_s_rows_are_those_of_all_that_are_its(survey):
    for name in ("tokens", "examples"):
        ask = getattr(survey, name)
        every = ask().drop(columns=["to", "tokens", "positions", "weights", "special"], errors="ignore")
        kept = every.columns
        for layer, head in ((1, 2), (None, 1), (0, None)):
            mask = np.ones(len(every), bool)
            mask &= True if layer is None else (every["layer"] == layer).to_numpy()
            mask &= True if head is None else (every["head"] == head).to_numpy()
            pandas.testing.assert_frame_equal(ask(layer, head)[kept], every[mask].reset_index(drop=True))
    sample = survey.examples(1, 2, "sample")
    assert (set(sample["sort"]), list(sample["rank"])) == ({"sample"}, [0, 1, 2, 3, 4])


def test_only_the_row_groups_of_a_head_are_read(survey, monkeypatch):
    import pyarrow.parquet as parquet

    read, whole = [], parquet.ParquetFile.read_row_groups

    def noted(self, groups, *arguments, **options):
        read.append(list(groups))
        return whole(self, groups, *arguments, **options)

    monkeypatch.setattr(parquet.ParquetFile, "read_row_groups", noted)
    survey.examples(1, 2)
    survey.tokens(0)
    assert read == [[5], [0, 1, 2]]


def test_documents_of_one_head_have_a_number_for_each_measure(survey):
    every, own = survey.documents(), survey.documents(1, 2)
    assert list(own["document"]) == list(range(DOCUMENTS))
    for name in MEASURES:
        np.testing.assert_array_equal(own[name], [values[1 * H + 2] for values in every[name]])
    assert np.isnan(own["punctuation"]).tolist() == [number % 7 == 3 for number in range(DOCUMENTS)]


def test_the_json_has_each_head_with_none_where_nothing_was_measured(survey):
    document = json.loads(survey.json())
    assert (document["schema"], document["state"]) == ("eyeline.survey/1", "complete")
    assert [(row["layer"], row["head"]) for row in document["heads"]] == [(n // H, n % H) for n in range(L * H)]
    assert document["heads"][4]["entropy"] == pytest.approx(survey.heads()["entropy"][4], rel=1e-6)
    assert document["counts"]["documents"] == DOCUMENTS


def test_a_file_uri_is_a_folder_and_its_files_are_whole_or_not_there(survey, tmp_path):
    again = load_survey(f"file://{survey.folder}")
    assert again.heads(arrow=True).equals(survey.heads(arrow=True))
    folder = SurveyFolder(f"file://{tmp_path}/new")
    folder.write("parts/000000.parquet", b"whole")
    assert (folder.local, folder.names("parts"), folder.parts()) == (True, ["000000.parquet"], [0])
    folder.delete("parts/000000.parquet")
    folder.delete("parts/000000.parquet")
    assert (folder.names("parts"), folder.names("nowhere")) == ([], [])


def test_another_filesystem_holds_a_survey_too(monkeypatch):
    """A filesystem without this machine's paths, as an object store is."""
    from pyarrow import fs

    import eyeline.surveys.folder as room

    store = fs._MockFileSystem() if hasattr(fs, "_MockFileSystem") else pa._fs._MockFileSystem()
    monkeypatch.setattr(room, "needed", lambda *_: type("Fs", (), {**vars(fs), "FileSystem": type(
        "Opening", (), {"from_uri": staticmethod(lambda uri: (store, "bucket/survey"))})}))  # fmt: skip
    made = made_survey("s3://bucket/survey", layers=L, heads=H, documents=DOCUMENTS, examples=5)
    assert not made._folder.local
    assert len(load_survey("s3://bucket/survey").heads()) == L * H
    assert len(made.documents()) == DOCUMENTS


def test_a_survey_that_runs_says_how_far_it_is_and_can_be_looked_at(tmp_path):
    running = made_survey(tmp_path, layers=L, heads=H, documents=DOCUMENTS, examples=5, state="running")
    with pytest.raises(SurveyError, match=r"isn't complete: 2 of 3 blocks are measured; so_far\(\) has these"):
        running.heads()
    assert (running.complete, running.tabled, len(running.documents())) == (False, False, 6)
    so_far = running.so_far()
    assert (so_far.complete, so_far.tabled, so_far.info["counts"]["documents"]) == (False, True, 6)
    assert len(so_far.heads()) == L * H
    assert set(so_far.examples(1, 2)["sort"]) == {"largest", "sample"}
    assert so_far.so_far() is so_far
    assert json.loads(so_far.json())["state"] == "running"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda survey: survey.tokens(2), "layer must be from 0 to 1 in tiny, got 2"),
        (lambda survey: survey.tokens(-1), "layer must be from 0 to 1 in tiny, got -1"),
        (lambda survey: survey.examples(0, 3), "head must be from 0 to 2 in tiny, got 3"),
        (lambda survey: survey.examples(0, "2"), "head must be from 0 to 2 in tiny, got '2'"),
        (lambda survey: survey.examples(True), "layer must be from 0 to 1 in tiny, got True"),
        (lambda survey: survey.examples(sort="best"), "sort must be 'largest' or 'sample', got 'best'"),
        (lambda survey: survey.documents(1), "documents must have both layer and head, or neither, got layer=1 and"),
    ],
)
def test_wrong_arguments_are_told(survey, call, message):
    with pytest.raises(SurveyError, match=message):
        call(survey)


def about(folder, **changes):
    path = folder / "survey.json"
    info = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**info, **changes}), "utf-8")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: (folder / "survey.json").unlink(), "which has no survey.json; eyeline survey … --out FOLDER"),
        (lambda folder: (folder / "survey.json").write_text('{"format": '), "survey.json is damaged"),
        (lambda folder: (folder / "survey.json").write_bytes(b"\xff\xfe\x00"), "survey.json is damaged"),
        (lambda folder: (folder / "survey.json").write_text("[" * 100_000), "survey.json is damaged"),
        (lambda folder: (folder / "survey.json").write_text("[]"), "got None; it is no survey of Eyeline's"),
        (lambda folder: about(folder, format="eyeline.survey/2"), "got eyeline.survey/2, of a newer Eyeline"),
        (lambda folder: about(folder, format="other/1"), "got 'other/1'; it is no survey of Eyeline's"),
        (lambda folder: about(folder, scales=[]), "must have 'scales.types' of the type list, got NoneType"),
        (lambda folder: about(folder, model={"name": "tiny"}), "must have 'model.layers' of the type int, got None"),
        (lambda folder: about(folder, labels={}), "must have 'labels.kinds' of the type list, got None"),
    ],
)  # fmt: skip
def test_folders_that_are_no_survey_are_told_in_one_line(damaged, spoil, message):
    spoil(damaged)
    with pytest.raises(SurveyError, match=message) as caught:
        load_survey(damaged)
    assert "\n" not in str(caught.value)


def test_no_folder_is_told(tmp_path):
    with pytest.raises(
        SurveyError, match=r"^folder must be a survey's folder, got '.*none', which doesn't exist; eyeline"
    ):
        load_survey(tmp_path / "none")
    (tmp_path / "file").write_text("")
    with pytest.raises(SurveyError, match=r"which has no survey\.json"):
        load_survey(tmp_path / "file")
    with pytest.raises(SurveyError, match=r"^folder must be a path, or a URI that pyarrow can open, got 'gopher://x'"):
        load_survey("gopher://x")


@pytest.mark.parametrize("name", ["heads.parquet", "tokens.parquet", "examples.parquet"])
def test_tables_that_are_missing_cut_or_damaged_are_told(damaged, name):
    ask = name.removesuffix(".parquet")
    path = damaged / name
    data = path.read_bytes()
    for spoilt, message in (
        (data[:-7], "is no table of a survey, or is damaged"),
        (data[:100], "is no table of a survey, or is damaged"),
        (b"", "is no table of a survey, or is damaged"),
        (data[:1000] + bytes(500) + data[1500:], "is no table of a survey, or is damaged"),
    ):
        path.write_bytes(spoilt)
        with pytest.raises(SurveyError, match=message) as caught:
            getattr(load_survey(damaged), ask)()
        assert "\n" not in str(caught.value)
    path.unlink()
    with pytest.raises(SurveyError, match=f"{name} is missing; run the same survey again"):
        getattr(load_survey(damaged), ask)()


def test_a_table_of_something_else_is_told(damaged):
    import pyarrow.parquet as parquet

    parquet.write_table(pa.table({"layer": [0], "head": [0]}), damaged / "heads.parquet")
    with pytest.raises(SurveyError, match=r"is no table of a survey, or is damaged .*it has no column kind"):
        load_survey(damaged).heads()


def test_a_damaged_part_is_told_by_its_path(damaged):
    path = damaged / "parts" / "000001.parquet"
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(SurveyError, match=r"parts/000001\.parquet is no part of a survey, or is damaged"):
        load_survey(damaged).documents()


def test_a_missing_package_is_told_with_the_way_to_install_it(monkeypatch):
    with pytest.raises(
        SurveyError, match=r"^a survey needs nowhere, which isn't installed; pip install 'eyeline\[ray\]'$"
    ):
        needed("nowhere.at_all", "a survey", "ray")
    words.choose("vi")
    try:
        with pytest.raises(
            SurveyError, match=r"cần nowhere, vốn chưa được cài; hãy chạy pip install 'eyeline\[survey\]'"
        ):
            needed("nowhere", words.worded("a survey"))
    finally:
        words.choose(None)


def test_loading_the_room_loads_no_optional_package():
    code = (
        "import sys, eyeline.surveys.loading, eyeline.views.attach_survey\n"
        "print([name for name in ('pyarrow', 'pandas', 'torch', 'ray') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
