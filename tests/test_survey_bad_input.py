"""What can be wrong with a corpus: it is skipped, counted and told, with the rest measured; `strict` stops instead."""

from __future__ import annotations

import errno
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_survey_corpus import COMPRESS, read, refused, texts, write

from eyeline import words
from eyeline.surveys import SurveyError
from eyeline.surveys.corpus import corpus, in_words, storage
from eyeline.surveys.corpus.formats import LONGEST
from eyeline.surveys.document import REASONS, Skipped


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    """Every test has a folder of its own, and names its files from there."""
    monkeypatch.chdir(tmp_path)


def skips(given, column=None):
    """What is skipped, with the details, and the texts of the rest."""
    one = corpus(given, column)
    one.scan()
    skipped = []
    rest = [document.text for document in one.documents(skipped=skipped.append)]
    assert rest == [document.text for document in one.documents()]
    return [(skip.file, skip.place, skip.reason, skip.detail) for skip in skipped], rest


def test_lines_that_are_no_json():
    lines = [
        b'{"text": "a"}',
        b'{"text": "b"',
        b'{"text": "caf\xe9"}',
        b'{"text": "\\ud800x"}',
        b'{"text": "x\\u0000"}',
    ]
    lines += [b"[" * 200_000, b'{"text": "c"}', b'{"n": ' + b"9" * 5000 + b"}"]
    write("a.jsonl", b"\n".join(lines))
    assert skips("a.jsonl") == (
        [
            ("a.jsonl", 1, "damaged line", "not JSON: Expecting ',' delimiter: line 1 column 13 (char 12)"),
            ("a.jsonl", 2, "encoding", "no UTF-8: byte 0xe9 at 13"),
            ("a.jsonl", 3, "encoding", "no valid Unicode at character 0"),
            ("a.jsonl", 4, "not text", "the NUL character at 1"),
            ("a.jsonl", 5, "damaged line", "JSON nested too deeply"),
            ("a.jsonl", 7, "damaged line", skips("a.jsonl")[0][-1][3]),
        ],
        ["a", "c"],
    )


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
def test_what_comes_before_the_cut_end_of_a_compressed_file_counts(ending):
    lines = b"".join(b'{"text": "number %d"}\n' % number for number in range(20))
    write(f"a.jsonl{ending}", COMPRESS[ending](lines)[:-4])
    found, rest = skips(f"a.jsonl{ending}")
    assert [reason for _, _, reason, _ in found] == ["damaged file"]
    assert rest == [f"number {number}" for number in range(20)]


def test_whole_files_in_another_encoding_or_of_bytes():
    write("a/latin.txt", "café".encode("latin-1"))
    write("a/bytes.txt", b"ab\0\1")
    write("a/wide.txt", "a".encode("utf-32"))
    write("a/without_mark.txt", "ab".encode("utf-16-le"))
    write("a/half.txt", "\ufeffab".encode("utf-16-le")[:-1])
    write("a/lone.txt", b"\xff\xfea\0\0\xd8b\0")
    write("a/z.txt", "café")
    assert skips("a") == (
        [
            ("a/bytes.txt", 0, "not text", "a NUL byte at 2"),
            ("a/half.txt", 0, "encoding", "no UTF-8: byte 0xff at 1"),
            ("a/latin.txt", 0, "encoding", "no UTF-8: byte 0xe9 at 3"),
            ("a/lone.txt", 0, "encoding", "no UTF-8: byte 0xed at 1"),
            ("a/wide.txt", 0, "not text", "a NUL byte at 0"),
            ("a/without_mark.txt", 0, "not text", "a NUL byte at 1"),
        ],
        ["café"],
    )


def test_empty_documents_and_files():
    write("a/1.txt", "")
    write("a/2.txt", " \n\t\u3000")
    write("a/3.jsonl", "")
    write("a/4.jsonl", '{"text": ""}\n{"text": "x"}\n')
    write("a/5.csv", "")
    write("a/6.csv", "text\n")
    write("a/7.csv", "\n\n")
    write("a/8.parquet", "")
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), "a/9.parquet")
    assert skips("a") == (
        [
            ("a/1.txt", 0, "empty", "an empty file"),
            ("a/2.txt", 0, "empty", "no text"),
            ("a/3.jsonl", 0, "empty", "an empty file"),
            ("a/4.jsonl", 0, "empty", "no text"),
            ("a/5.csv", 0, "empty", "an empty file"),
            ("a/7.csv", 0, "empty", "no header"),
            ("a/8.parquet", 0, "empty", "an empty file"),
        ],
        ["x"],
    )
    assert refused("a/2.txt") == (
        "corpus must have at least one document, got none; the first was skipped: a/2.txt: empty (no text)"
    )


def test_rows_of_other_lengths_and_quotes_that_are_not_closed():
    write("a.csv", b'id,text\n1,a\n2,b,c\n3\n4,caf\xe9\n5,d"e\n\xe9,f\n7,"g\n8,h\n')
    assert skips("a.csv") == (
        [
            ("a.csv", 1, "damaged line", "3 values, where the header has 2"),
            ("a.csv", 2, "damaged line", "1 values, where the header has 2"),
            ("a.csv", 3, "encoding", "no valid Unicode at character 3"),
            ("a.csv", 6, "damaged line", "a quote that isn't closed (line 8)"),
        ],
        ["a", 'd"e', "f"],
    )
    assert sys.modules["csv"].field_size_limit() == 131072


@pytest.mark.parametrize("compression", [one for one in COMPRESS if one])
@pytest.mark.parametrize("kind", ["txt", "jsonl", "csv"])
def test_compressed_files_that_end_too_early(kind, compression):
    draw = random.Random(0)
    lines = [f"{draw.getrandbits(120):030x}" for _ in range(60_000)]
    data = {
        "txt": "\n".join(lines),
        "jsonl": "".join(json.dumps({"text": line}) + "\n" for line in lines),
        "csv": "text\n" + "\n".join(lines),
    }[kind]
    whole = COMPRESS[compression](data.encode())
    file = str(write(f"a.{kind}{compression}", whole[: len(whole) * 2 // 3]))
    write("b.txt", "rest")
    skipped, rest = skips([file, "b.txt"])
    assert [one[:3] for one in skipped] == [(file, len(rest) - 1, "damaged file")]
    assert rest == [*lines[: len(rest) - 1], "rest"]
    assert len(rest) == 1 if kind == "txt" else len(rest) > 1000
    write(file, b"\x00garbage" * 10)
    assert [one[:3] for one in skips([file, "b.txt"])[0]] == [(file, 0, "damaged file")]


def test_parquet_that_is_cut_off_or_damaged():
    values = [f"{n:06}" * 50 for n in range(20_000)]
    pq.write_table(
        pa.table({"text": values}), "whole.parquet", row_group_size=8000, compression="NONE", use_dictionary=False
    )
    data = bytearray(Path("whole.parquet").read_bytes())
    write("cut.parquet", bytes(data[:-100]))
    write("no.parquet", b"no parquet")
    middle = len(data) // 2
    data[middle : middle + 4000] = b"\xff" * 4000
    write("damaged.parquet", bytes(data))
    skipped, rest = skips(["cut.parquet", "damaged.parquet", "no.parquet"])
    assert [one[0::2] for one in skipped] == [(f"{name}.parquet", "damaged file") for name in ("cut", "damaged", "no")]
    assert rest[:8000] == values[:8000]
    assert rest[-4000:] == values[-4000:]
    place = skipped[1][1]
    assert 8000 < place < 16000
    assert skipped[1][3].startswith(f"rows {place} to 15999: ")
    assert len(rest) == place + 4000


def test_a_parquet_value_that_is_no_utf8():
    pq.write_table(pa.table({"text": pa.array([b"a", b"\xff", b"b"])}), "a.parquet")
    assert skips("a.parquet", "text") == ([("a.parquet", 1, "encoding", "no UTF-8: byte 0xff at 0")], ["a", "b"])


def test_files_that_vanish_or_change_between_the_readings():
    for name in "abcd":
        write(f"{name}.txt", name)
    one = corpus(["a.txt", "b.txt", "c.txt", "d.txt"])
    one.scan()
    os.remove("b.txt")
    write("c.txt", "changed")
    skipped = []
    assert [(document.number, document.text) for document in one.documents(skipped=skipped.append)] == [
        (0, "a"),
        (1, "d"),
    ]
    assert skipped == [
        Skipped("b.txt", 0, "missing file", "No such file or directory"),
        Skipped("c.txt", 0, "missing file", "it was changed since the survey read it first"),
    ]
    assert [file.documents for file in one.files] == [1, 1, 1, 1]


def test_files_and_folders_that_may_not_be_read(monkeypatch):
    """Root may read everything, so the system's answers are made up."""
    for name in ("b.txt", "c.txt", "d/e.txt"):
        write(f"a/{name}", name)
    refuses = {"a/b.txt"}

    def guarded(function):
        def call(path, *arguments, **options):
            if path in refuses:
                raise PermissionError(errno.EACCES, "Permission denied", path)
            return function(path, *arguments, **options)

        return call

    monkeypatch.setattr(storage, "open", guarded(open), raising=False)
    monkeypatch.setattr(storage.os, "listdir", guarded(os.listdir))
    assert skips("a") == ([("a/b.txt", 0, "unreadable file", "Permission denied")], ["c.txt", "d/e.txt"])
    refuses.add("a/d")
    assert refused("a") == "a/d can't be read: Permission denied"


def test_pipes_and_devices_in_a_folder():
    write("a/b.txt", "b")
    os.mkfifo("a/c.txt")
    os.symlink("/dev/zero", "a/d.txt")
    os.symlink("nowhere", "a/e.txt")
    assert skips("a") == (
        [
            ("a/c.txt", 0, "unreadable file", "no file but a device or a pipe"),
            ("a/d.txt", 0, "unreadable file", "no file but a device or a pipe"),
            ("a/e.txt", 0, "missing file", "No such file or directory"),
        ],
        ["b"],
    )


def test_ten_million_characters_are_a_document():
    text = "time flies " * 1_000_000
    write("a.txt", text)
    write("b.jsonl", json.dumps({"text": text}))
    write("c.csv", f"text\n{text}\n")
    pq.write_table(pa.table({"text": [text]}), "d.parquet")
    assert texts(["a.txt", "b.jsonl", "c.csv", "d.parquet"]) == [text] * 4


MEMORY = """
import resource, sys
from eyeline.surveys.corpus import corpus
import pyarrow.parquet
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
one = corpus(sys.argv[1])
one.scan()
skipped = []
for document in one.documents(skipped=skipped.append): pass
print(one.document_count, [skip.reason for skip in skipped])
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)
"""


def memory(file):
    """What a corpus holds, and how many MB its reading took at most."""
    ran = subprocess.run([sys.executable, "-c", MEMORY, file], capture_output=True, text=True, check=True, timeout=300)
    counts, size = ran.stdout.splitlines()
    return counts, int(size)


def test_memory_does_not_grow_with_a_file():
    line = json.dumps({"text": "time flies like an arrow " * 400}) + "\n"
    with open("a.jsonl", "w") as file:
        file.writelines([line] * 12_000)  # 120 MB
    counts, size = memory("a.jsonl")
    assert counts == "12000 []"
    assert size < 40
    table = pa.table({"text": [f"{n} {line}" for n in range(12_000)]})
    pq.write_table(table, "a.parquet", row_group_size=12_000, use_dictionary=False)
    counts, size = memory("a.parquet")
    assert counts == "12000 []"
    assert size < 100


def test_a_line_that_is_too_long_is_skipped_in_bounded_memory():
    with open("a.jsonl", "wb") as file:
        file.write(b'{"text": "a"}\n{"text": "')
        for _ in range(300):
            file.write(b"x" * (1 << 20))
        file.write(b'"}\n{"text": "b"}\n')
    counts, size = memory("a.jsonl")
    assert counts == "2 ['damaged line']"
    assert size < 2 * LONGEST >> 20
    os.rename("a.jsonl", "a.csv")
    assert skips(["a.csv"], None)[0][0][2] == "damaged line"


def test_a_text_that_is_too_long_says_what_to_do():
    with open("a.txt", "wb") as file:
        file.write(b"x" * (LONGEST + 1))
    assert refused("a.txt") == (
        "corpus must have at least one document, got none; the first was skipped: a.txt: not text (longer than "
        "67,108,864 bytes; split it, such as with: split -C 1m --additional-suffix=.txt FILE PART-)"
    )
    with open("a.txt", "w") as file:
        file.writelines(["time flies like an arrow\n"] * 100_000)
    subprocess.run(["split", "-C", "1m", "--additional-suffix=.txt", "a.txt", "part-"], check=True)
    assert len(read("part-*.txt")[0]) == 3


# strict, and both languages


@pytest.mark.parametrize(
    ("name", "data", "english", "vietnamese"),
    [
        (
            "a.jsonl",
            '{"text": "a"}\n\nx\n',
            "a.jsonl, line 3: damaged line (not JSON: Expecting value: line 1 column 1 (char 0))",
            "a.jsonl, dòng 3: dòng bị hỏng (không phải JSON: Expecting value: line 1 column 1 (char 0))",
        ),
        (
            "a.csv",
            "text,n\na,1\nb\n",
            "a.csv, row 2: damaged line (1 values, where the header has 2)",
            "a.csv, hàng 2: dòng bị hỏng (1 giá trị, trong khi dòng tiêu đề có 2)",
        ),
        ("a.txt", "", "a.txt: empty (an empty file)", "a.txt: trống (tệp rỗng)"),
    ],
)
def test_strict_stops_at_the_first_with_file_and_line(name, data, english, vietnamese):
    write(name, data)
    for code, line in (("en", english), ("vi", vietnamese)):
        words.choose(code)
        try:
            with pytest.raises(SurveyError) as caught:
                corpus(name).scan(strict=True)
            assert str(caught.value) == line
            if name != "a.txt":
                with pytest.raises(SurveyError) as caught:
                    list(corpus(name).documents(strict=True))
                assert str(caught.value) == line
        finally:
            words.choose(None)


def test_every_reason_has_words_in_both_languages():
    for code in words.languages():
        words.choose(code)
        try:
            said = {in_words(Skipped("", 0, reason, "why")) for reason in REASONS}
        finally:
            words.choose(None)
        assert len(said) == len(REASONS)
        assert all(line.startswith("text 1: " if code == "en" else "văn bản 1: ") for line in said)


def test_errors_in_vietnamese():
    words.choose("vi")
    try:
        assert refused("nowhere.txt") == (
            "corpus phải là các tệp có thật, nhận được 'nowhere.txt', nơi không có tệp nào; hãy kiểm tra đường dẫn"
        )
        write("a.csv", "title,review\na,b\n")
        assert refused("a.csv", "text") == (
            "column phải là một cột có trong a.csv, nhận được 'text'; ở đó có title, review"
        )
    finally:
        words.choose(None)
