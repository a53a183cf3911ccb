"""The corpus of a survey: every format, the order of the documents, and everything that can be wrong with a file."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import lzma
import os
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eyeline.surveys import SurveyError
from eyeline.surveys.corpus import corpus, corpus_files
from eyeline.surveys.document import REASONS

FLIES = "time flies like an arrow"
VIET = "Tôi yêu tiếng Việt 🪁"


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    """Every test has a folder of its own, and names its files from there."""
    monkeypatch.chdir(tmp_path)


def write(path, data):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def zst(data):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


COMPRESS = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lambda data: lzma.compress(data, preset=0),
    ".zst": zst,
}


def read(given, column=None):
    """The documents as (file, place, text), and what was skipped as (file, place, reason)."""
    one = corpus(given, column)
    one.scan()
    skipped = []
    found = list(one.documents(skipped=skipped.append))
    assert [document.number for document in found] == list(range(len(found)))
    assert {skip.reason for skip in skipped} <= set(REASONS)
    assert one.document_count == len(found) == sum(file.documents for file in one.files)
    assert one.characters == sum(len(document.text) for document in found)
    return (
        [(document.file, document.place, document.text) for document in found],
        [(skip.file, skip.place, skip.reason) for skip in skipped],
    )


def texts(given, column=None):
    found, skipped = read(given, column)
    assert skipped == []
    return [text for _, _, text in found]


def refused(given, column=None):
    with pytest.raises(SurveyError) as caught:
        corpus(given, column).scan()
    return str(caught.value)


# Formats

LINES = "".join(json.dumps({"id": f"n{n}", "text": text}) + "\n" for n, text in enumerate([FLIES, VIET]))
TABLE = f'id,text\r\n1,{FLIES}\r\n2,"{VIET}"\r\n'


@pytest.mark.parametrize("compression", COMPRESS)
@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.txt", f"{FLIES}\n{VIET}\n", [f"{FLIES}\n{VIET}\n"]),
        ("a.md", f"# {VIET}", [f"# {VIET}"]),
        ("a.jsonl", LINES, [FLIES, VIET]),
        ("a.ndjson", LINES.rstrip("\n"), [FLIES, VIET]),
        ("a.json", LINES.replace("\n", "\r\n\r\n"), [FLIES, VIET]),
        ("a.csv", TABLE, [FLIES, VIET]),
        ("a.tsv", TABLE.replace(",", "\t"), [FLIES, VIET]),
        ("a.csv", TABLE.replace(",", ";"), [FLIES, VIET]),
        ("A.CSV", TABLE, [FLIES, VIET]),
    ],
)
def test_each_format_alone_and_compressed(name, data, expected, compression):
    file = write(name + compression, COMPRESS[compression](data.encode()))
    assert texts(str(file)) == expected
    one = corpus(file)
    one.scan()
    assert one.as_json() == {
        "files": [
            {
                "path": str(file),
                "size": file.stat().st_size,
                "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
                "documents": len(expected),
            }
        ],
        "column": None if name in ("a.txt", "a.md") else "text",
        "documents": len(expected),
        "characters": sum(map(len, expected)),
    }


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(("name", "data"), [("a.txt", VIET), ("a.jsonl", LINES), ("a.csv", TABLE)])
def test_a_byte_order_mark_says_the_encoding(name, data, encoding):
    mark = "\ufeff" if encoding.endswith("e") else ""
    plain = texts(str(write(f"plain/{name}", data)))
    assert texts(str(write(name, (mark + data).encode(encoding)))) == plain


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.binary()])
def test_parquet_by_row_group(kind):
    values = [f"text {n}" for n in range(5000)]
    table = pa.table({"id": range(5000), "review": pa.array(values).cast(kind)})
    pq.write_table(table, "a.parquet", row_group_size=1300)
    assert texts("a.parquet", "review") == values
    if kind != pa.binary():
        assert texts("a.parquet") == values


def test_parquet_with_a_dictionary_and_a_struct():
    messages = [
        {"role": "user", "content": "a"},
        None,
        {"role": "bot", "content": None},
        {"role": "bot", "content": "b"},
    ]
    table = pa.table({"label": pa.array(list("xyxy")).dictionary_encode(), "message": messages})
    pq.write_table(table, "a.parquet")
    assert texts("a.parquet") == ["x", "y", "x", "y"]
    assert read("a.parquet", "message.content") == (
        [("a.parquet", 0, "a"), ("a.parquet", 3, "b")],
        [("a.parquet", 1, "empty"), ("a.parquet", 2, "empty")],
    )


def test_nested_values_and_bare_strings_of_json_lines():
    write("a.jsonl", '{"message": {"content": "a"}}\n{"message.content": "b"}\n{"message": "no"}\n')
    assert read("a.jsonl", "message.content") == (
        [("a.jsonl", 0, "a"), ("a.jsonl", 1, "b")],
        [("a.jsonl", 2, "not text")],
    )
    write("b.jsonl", '"one"\n\n"two"\n')
    assert read("b.jsonl")[0] == [("b.jsonl", 0, "one"), ("b.jsonl", 2, "two")]


def test_rows_of_a_table_over_several_lines():
    write("a.csv", 'n,review\n1,"one\ntwo, ""three"""\n\n2,four\n')
    assert read("a.csv")[0] == [("a.csv", 0, 'one\ntwo, "three"'), ("a.csv", 1, "four")]
    write("long.csv", "text\n" + "x" * 300_000 + "\n")
    assert texts("long.csv") == ["x" * 300_000]


# Columns


def test_the_column_is_found_where_only_one_has_text():
    write("a.csv", "stars,review\n5,good\n1,bad\n")
    write("b.jsonl", '{"stars": 5, "review": null}\n{"stars": 1, "review": "bad"}\n')
    pq.write_table(pa.table({"stars": [5], "review": ["good"]}), "c.parquet")
    assert read(["a.csv", "b.jsonl", "c.parquet"]) == (
        [("a.csv", 0, "good"), ("a.csv", 1, "bad"), ("b.jsonl", 1, "bad"), ("c.parquet", 0, "good")],
        [("b.jsonl", 0, "empty")],
    )


def test_the_column_that_was_found_is_told_if_it_is_one():
    write("a.csv", "stars,review\n5,good\n")
    write("b.jsonl", '{"review": "bad"}\n')
    pq.write_table(pa.table({"text": ["fair"]}), "c.parquet")
    write("d.txt", "one")
    for given, column, told in [
        (["a.csv", "b.jsonl", "d.txt"], None, "review"),
        (["a.csv", "c.parquet"], None, None),
        (["c.parquet"], None, "text"),
        (["a.csv"], "stars", "stars"),
        (["d.txt"], None, None),
    ]:
        one = corpus(given, column)
        one.scan()
        assert one.as_json()["column"] == told
    data = Path("c.parquet").read_bytes()
    one = corpus("c.parquet")
    one.scan()
    assert (one.files[0].size, one.files[0].sha256) == (len(data), hashlib.sha256(data).hexdigest())


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_columns_that_are_not_there_or_not_clear(name):
    frame = pd.DataFrame({"title": ["one"], "stars": [5], "review": ["good"]})
    {
        "a.csv": lambda: frame.to_csv(name, index=False),
        "a.jsonl": lambda: frame.to_json(name, orient="records", lines=True),
        "a.parquet": lambda: frame.to_parquet(name, index=False),
    }[name]()
    assert texts(name, "review") == ["good"]
    assert refused(name, "reviews") == (
        f"column must be one that {name} has, got 'reviews'; there are title, stars, review"
    )
    assert refused(name) == (
        f"column must be named, since {name} has several with text: title, review; such as column='review'"
    )


def test_columns_of_numbers_and_of_lists():
    write("a.jsonl", '{"n": 1, "l": ["a"]}\n{"n": 2, "l": []}\n')
    assert refused("a.jsonl") == "a.jsonl must have a column of text, got none; name one, or leave the file out"
    assert refused("a.jsonl", "n") == "column must be text, got 'n' of a.jsonl, where it is a number"
    assert refused("a.jsonl", "l") == "column must be text, got 'l' of a.jsonl, where it is a list"
    pq.write_table(pa.table({"n": [1], "l": [["a"]], "m": [[{"content": "x"}]]}), "a.parquet")
    assert refused("a.parquet") == "a.parquet must have a column of text, got none; name one, or leave the file out"
    assert refused("a.parquet", "n") == "column must be text, got 'n' of a.parquet, where it is int64"
    assert refused("a.parquet", "l").startswith("column must be text, got 'l' of a.parquet, where it is list<")
    assert (
        refused("a.parquet", "m.content") == "column must be one that a.parquet has, got 'm.content'; there are n, l, m"
    )
    write("a.csv", "n,m\n1,2\n")
    assert refused("a.csv") == "a.csv must have a column of text, got none; name one, or leave the file out"
    write("ids.csv", "n\n17\n18\n")
    assert texts("ids.csv") == ["17", "18"]


def test_some_values_that_are_no_text_are_skipped():
    rows = [
        {"text": "a"},
        {"text": 1},
        {"text": None},
        {"text": ["b"]},
        {"other": "c"},
        7,
        {"text": " \n"},
        {"text": "d"},
    ]
    write("a.jsonl", "\n".join(map(json.dumps, rows)))
    found, skipped = read("a.jsonl")
    assert found == [("a.jsonl", 0, "a"), ("a.jsonl", 7, "d")]
    assert [(place, reason) for _, place, reason in skipped] == [
        (1, "not text"),
        (2, "empty"),
        (3, "not text"),
        (4, "not text"),
        (5, "not text"),
        (6, "empty"),
    ]


# What is found


def names(given):
    return [file for file, _, _ in read(given)[0]]


@pytest.fixture
def tree():
    for name in ("b.txt", "a/z.txt", "a/b/c.md", "a-b.txt", "a/.hidden.txt", ".git/d.txt", "a/e.py", "c.jpg"):
        write(f"tree/{name}", f"in {name}")
    return "tree"


def test_folders_are_read_in_order_without_hidden_files(tree):
    expected = ["tree/a/b/c.md", "tree/a/z.txt", "tree/a-b.txt", "tree/b.txt"]
    assert names(tree) == names("./tree/") == names([Path(tree)]) == expected
    os.chdir(tree)
    assert names(".") == [name.removeprefix("tree/") for name in expected]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("tree/*.txt", ["tree/a-b.txt", "tree/b.txt"]),
        ("tree/**/*.txt", ["tree/a/z.txt", "tree/a-b.txt", "tree/b.txt"]),
        ("tree/**", ["tree/a/b/c.md", "tree/a/z.txt", "tree/a-b.txt", "tree/b.txt"]),
        ("tree/*", ["tree/a/b/c.md", "tree/a/z.txt", "tree/a-b.txt", "tree/b.txt"]),
        ("*/a", ["tree/a/b/c.md", "tree/a/z.txt"]),
        ("tree/**/*.py", ["tree/a/e.py"]),
        ("tree/[ab].tx?", ["tree/b.txt"]),
        ("tree/a/.h*.txt", ["tree/a/.hidden.txt"]),
    ],
)
def test_patterns(tree, pattern, expected):
    assert names(pattern) == expected
    assert names(f"./{pattern}") == expected
    absolute = [str(Path(name).absolute()) for name in expected]
    assert names(str(Path.cwd() / pattern)) == absolute
    assert names(Path.cwd().as_uri() + f"/{pattern}") == [f"file://{name}" for name in absolute]


def test_paths_keep_their_order_and_each_is_read_once(tree):
    assert names(["tree/b.txt", "tree", "tree/./a-b.txt"]) == [
        "tree/b.txt",
        "tree/a/b/c.md",
        "tree/a/z.txt",
        "tree/a-b.txt",
    ]
    assert names(Path("tree").glob("b*")) == ["tree/b.txt"]


def test_uris_are_opened_by_pyarrow():
    pq.write_table(pa.table({"text": [FLIES]}), "a.parquet")
    write("b.jsonl.zst", zst(LINES.encode()))
    here = Path.cwd().as_uri()
    assert read(f"{here}/a.parquet")[0] == [(f"{here}/a.parquet", 0, FLIES)]
    assert texts([f"{here}/a.parquet", f"{here}/b.jsonl.zst"]) == [FLIES, FLIES, VIET]
    assert names(here) == [f"{here}/a.parquet", f"{here}/b.jsonl.zst", f"{here}/b.jsonl.zst"]
    assert "can't be opened" in refused("nowhere://x/a.txt")


def test_a_survey_in_the_corpus_is_no_part_of_it(tree):
    expected = names(tree)
    for name in ("survey.json", "parts/000000.parquet", "heads.parquet"):
        write(f"tree/a/out/{name}", "x")
    for given in (tree, "tree/**", Path(tree).absolute().as_uri()):
        assert [name[name.index("tree/") :] for name in names(given)] == expected


def test_names_with_wildcards_in_them_and_names_that_are_no_unicode():
    write("a[1].txt", "one")
    assert names("a[1].txt") == ["a[1].txt"]
    write(os.fsdecode(b"odd/caf\xe9.txt"), "two")
    assert read("odd") == ([("odd/caf\\xe9.txt", 0, "two")], [])
    json.dumps(corpus("odd").as_json()).encode()


def test_links_to_folders_that_go_round():
    write("a/x.txt", "x")
    os.symlink("..", "a/up")
    os.symlink("x.txt", "a/y.txt")
    os.symlink("round.txt", "a/round.txt")
    assert read("a") == ([("a/x.txt", 0, "x"), ("a/y.txt", 0, "x")], [("a/round.txt", 0, "unreadable file")])


def test_what_is_no_corpus():
    write("empty/x.jpg", b"")
    os.mkfifo("pipe")
    os.mkfifo("empty/pipe.txt")
    write("array.json", '[{"text": "a"}]')
    assert refused("nowhere.txt") == (
        "corpus must be files that exist, got 'nowhere.txt', where there is none; check the path"
    )
    assert refused("no/*.txt") == (
        "corpus must be a pattern that some file matches, got 'no/*.txt', which none does; check the path"
    )
    Path("empty/pipe.txt").rename("empty/pipe")
    assert refused("empty") == (
        "corpus must be a folder with files that can be read, got 'empty', where none is; their names end with .txt "
        ".text .md .markdown .jsonl .ndjson .json .csv .tsv .parquet (.gz .zst .bz2 .xz)"
    )
    for device in ("pipe", "/dev/zero"):
        assert refused(device) == (f"corpus must be files, which can be read twice, got a device or a pipe: {device}")
    assert refused("-") == "corpus must be a file, a folder or a pattern, got '-'; write stdin to a file"
    assert refused([]) == "corpus must have at least one document, got none"
    assert refused("array.json") == (
        "array.json must have a JSON object on each line, got an array; write one with: jq -c '.[]' FILE > FILE.jsonl"
    )
    assert refused(["array.json", FLIES]) == (
        f"corpus must be paths or texts, got the path 'array.json' and the text '{FLIES}'; pass pathlib.Path(...) for "
        "each file, or iter(...) of the texts"
    )
    for given in (7, {"a": 1}, {"a"}, b"text", pd.DataFrame({"text": ["a"]}), pa.table({"text": ["a"]})):
        assert refused(given).startswith("corpus must be paths or texts, got ")


def test_of_very_many_files_the_folders_are_listed(monkeypatch):
    for name in ("a/1.txt", "a/2.txt", "b/c/3.txt", "b/d/4.txt", "5.txt"):
        write(f"many/{name}", name)
    one = corpus("many")
    one.scan()
    monkeypatch.setattr(corpus_files, "MOST_LISTED", 4)
    found = corpus_files.listed(one.files)
    assert [(entry["path"], entry["files"]) for entry in found] == [
        ("many/", 1),
        ("many/a/", 2),
        ("many/b/c/", 1),
        ("many/b/d/", 1),
    ]
    run = subprocess.run(["sha256sum", "many/a/1.txt", "many/a/2.txt"], capture_output=True, check=True)
    assert found[1] == {
        "path": "many/a/",
        "size": 14,
        "sha256": hashlib.sha256(run.stdout).hexdigest(),
        "documents": 2,
        "files": 2,
    }
    monkeypatch.setattr(corpus_files, "MOST_LISTED", 3)
    found = corpus_files.listed(one.files)
    assert [(entry["path"], entry["files"]) for entry in found] == [("./", 1), ("many/", 2), ("many/b/", 2)]


# Texts that are given


def test_texts_themselves():
    for given in ([FLIES, VIET], pd.Series([FLIES, VIET]), np.array([FLIES, VIET]), pa.array([FLIES, VIET])):
        assert texts(given) == [FLIES, VIET]
    one = corpus([FLIES, VIET])
    one.scan()
    data = b"".join(len(text.encode()).to_bytes(8, "little") + text.encode() for text in (FLIES, VIET))
    assert one.files[0].sha256 == hashlib.sha256(data).hexdigest()
    assert (one.files[0].path, one.files[0].size, one.once) == ("", len(data) - 16, False)
    assert read(pd.Series(["a", None, float("nan"), 7]))[1] == [("", 1, "empty"), ("", 2, "empty"), ("", 3, "not text")]
    assert texts([{"body": "a"}, {"body": "b"}], "body") == ["a", "b"]
    assert refused([{"body": "a"}], "text") == "column must be one that the list has, got 'text'; there are body"


def test_a_generator_is_read_once():
    drawn = []

    def generated():
        for text in ("a", "", "b"):
            drawn.append(text)
            yield text

    one = corpus(generated())
    one.scan()
    assert (one.once, one.document_count, one.files, drawn) == (True, None, (), ["a"])
    assert [document.text for document in one.documents()] == ["a", "b"]
    assert (one.document_count, one.characters, drawn) == (2, 2, ["a", "", "b"])
    assert corpus(one) is one
