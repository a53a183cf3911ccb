"""`eyeline survey`: it makes a survey, goes on with it and shows it; one line for a mistake; quiet when piped."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from surveys import made_survey

from eyeline.cli.survey_progress import Pace, SurveyShown, line_of
from eyeline.surveys.corpus import Corpus
from eyeline.surveys.progress import Progress

COMMAND = [sys.executable, "-c", "import sys; from eyeline.cli import main; sys.exit(main())", "survey"]
TEXTS = ["Time flies like an arrow.", "Fruit flies like a banana.", "The capital of France is Paris."]


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    """Every test has a folder of its own, with a corpus in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "texts").mkdir()
    for number, text in enumerate(TEXTS):
        (tmp_path / "texts" / f"{number}.txt").write_text(text)


def about(folder="out"):
    with open(f"{folder}/survey.json", encoding="utf-8") as file:
        return json.load(file)


def test_a_survey_is_made_and_shown_and_gone_on_with(say):
    code, printed, said = say("survey", "texts", "--out", "out")
    assert (code, said) == (0, f"wrote out: 3 documents, {about()['counts']['tokens']} tokens\n")
    assert printed.startswith("minilm over 3 documents, ")
    tables = [Path(f"out/{name}.parquet").read_bytes() for name in ("heads", "tokens", "examples")]
    assert say("survey", "texts", "--out", "out") == (code, printed, said)
    assert [Path(f"out/{name}.parquet").read_bytes() for name in ("heads", "tokens", "examples")] == tables
    for shown in (["out"], ["--out", "out"]):
        assert say("survey", *shown) == (0, printed, "")
    assert say("survey", Path("out").absolute().as_uri())[::2] == (0, "")


def test_what_was_skipped_is_counted_at_the_end(say):
    with open("texts/a.jsonl", "w") as file:
        file.write('{"text": "one"}\nnonsense\n{"text": ""}\n{"text": " "}\n')
    code, _, said = say("survey", "texts", "--out", "out")
    assert code == 0
    assert said == (
        f"wrote out: 4 documents, {about()['counts']['tokens']} tokens; skipped: damaged line 1, empty 2 "
        "(see survey.json)\n"
    )
    assert about()["skipped"]["counts"] == {"damaged line": 1, "empty": 2}
    code, _, said = say("--lang", "vi", "survey", "texts", "--out", "out")
    assert said == (
        f"đã ghi out: 4 tài liệu, {about()['counts']['tokens']} token; bỏ qua: dòng bị hỏng 1, trống 2 "
        "(xem survey.json)\n"
    )


def test_json_csv_and_the_report(say):
    made_survey("made", layers=2, heads=3)
    code, printed, _ = say("survey", "made", "--json")
    assert (code, json.loads(printed)["schema"]) == (0, "eyeline.survey/1")
    code, printed, _ = say("survey", "--out", "made", "--csv")
    assert (code, len(printed.splitlines())) == (0, 7)
    code, _, said = say("survey", "made", "--html", "report.html")
    assert (code, said) == (0, "wrote report.html\n")
    assert os.path.getsize("report.html") < 5_000_000
    code, _, said = say("survey", "made", "--headvis", "shown")
    assert (code, said) == (0, "wrote shown\n")
    assert "config.json" in os.listdir("shown")


def test_a_survey_that_is_not_whole_shows_what_it_has(say):
    made_survey("half", layers=2, heads=3, state="running")
    code, printed, said = say("survey", "half")
    assert (code, said) == (0, "")
    assert "tiny over" in printed


@pytest.mark.parametrize(
    ("arguments", "english", "vietnamese"),
    [
        (
            [],
            "corpus must be files or a folder, got none; such as: eyeline survey texts/ --out survey",
            "corpus phải là các tệp hoặc một thư mục, nhưng không nhận được gì; chẳng hạn: eyeline survey texts/ --out "
            "survey",
        ),
        (
            ["texts"],
            "--out must be the folder of the survey, got none; add --out survey",
            "--out phải là thư mục của khảo sát, nhưng không nhận được gì; hãy thêm --out survey",
        ),
        (
            ["nowhere", "--out", "out"],
            "corpus must be files that exist, got 'nowhere', where there is none; check the path",
            "corpus phải là các tệp có thật, nhận được 'nowhere', nơi không có tệp nào; hãy kiểm tra đường dẫn",
        ),
        (
            ["a.csv", "--out", "out"],
            "column must be named, since a.csv has several with text: title, review; such as --column review",
            "column phải được nêu tên, vì a.csv có nhiều cột văn bản: title, review; chẳng hạn --column review",
        ),
        (
            ["bad.jsonl", "--out", "out", "--strict"],
            "bad.jsonl, line 2: damaged line (not JSON: Expecting value: line 1 column 1 (char 0))",
            "bad.jsonl, dòng 2: dòng bị hỏng (không phải JSON: Expecting value: line 1 column 1 (char 0))",
        ),
        (
            ["made", "--window", "5"],
            "--window must come with a corpus, got a survey that is there",
            "--window phải đi cùng một kho văn bản, nhận được một khảo sát đã có",
        ),
        (
            ["texts", "--out", "out", "--html", "no/x.html"],
            "--html must be in a folder that exists, got 'no/x.html'; make no first",
            "--html phải nằm trong một thư mục đã có, nhận được 'no/x.html'; hãy tạo no trước",
        ),
        (
            ["texts", "--out", "out", "--headvis", "texts"],
            "--headvis must be a folder that is new or empty, got 'texts'",
            "--headvis phải là một thư mục mới hoặc trống, nhận được 'texts'",
        ),
        (["made", "--html", "x.txt"], "--html must be a file name that ends in .html, got 'x.txt'", None),
        (["made", "--json", "--csv"], "--json and --csv can't go together; choose one", None),
        (["texts", "--out", "out", "--on", "spark"], "--on must be one of local, ray, got 'spark'", None),
        (["texts", "--out", "out", "--model", "nothing"], "there is no model or folder named 'nothing'", None),
    ],
)
def test_mistakes_are_one_line_in_both_languages(say, arguments, english, vietnamese):
    with open("a.csv", "w") as file:
        file.write("title,review\na,b\n")
    with open("bad.jsonl", "w") as file:
        file.write('{"text": "a"}\nx\n')
    made_survey("made", layers=1, heads=1)
    for language, line in (("en", english), ("vi", vietnamese)):
        if line is not None:
            code, printed, said = say("--lang", language, "survey", *arguments)
            assert (code, printed) == (2, "")
            assert said.startswith(f"eyeline: {line}")
            assert said.count("\n") == 1
    assert not os.path.exists("out")


def test_the_arguments_of_python_are_options_in_advice(say):
    say("survey", "texts", "--out", "out")
    code, _, said = say("survey", "texts", "--out", "out", "--window", "64")
    assert code == 2
    assert said.endswith("give another folder, or --again to delete it and start over\n")
    assert "again=True" not in said
    assert say("survey", "texts", "--out", "out", "--window", "64", "--again")[0] == 0
    assert about()["settings"]["window"] == 64


def test_the_help_has_every_option_and_examples_in_both_languages(say):
    code, printed, _ = say("survey", "--help")
    assert code == 0
    options = (
        "column model out window overlap block examples classes on address workers again strict html headvis json csv"
    )
    for name in options.split():
        assert f"--{name} " in printed, name
    assert "Examples\n   eyeline survey texts/ --out survey\n" in printed
    _, printed, _ = say("--lang", "vi", "survey", "--help")
    assert "Ví dụ\n   eyeline survey texts/ --out survey\n" in printed


def test_your_own_function_labels_tokens_from_the_folder_that_you_are_in(say):
    with open("labels_here.py", "w") as file:
        file.write("def by_length(tokens):\n    return ['long' if len(one) > 4 else '' for one in tokens.pieces]\n")
    code, _, said = say("survey", "texts", "--out", "out", "--classes", "labels_here:by_length")
    assert code == 0, said
    assert about()["settings"]["classes"] == "labels_here:by_length"
    assert "word/long" in about()["scales"]["types"]


# Progress


def record(documents, tokens, characters, left, **more):
    return Progress(documents=documents, documents_in_all=50, tokens=tokens, characters=characters,
                    characters_left=left, **more)  # fmt: skip


def test_the_pace_and_the_line_are_those_of_the_measuring():
    now = [10.0]
    pace = Pace(lambda: now[0])
    pace.add(Progress(note="reading the corpus"))
    assert line_of(Progress(note="loading the model"), pace) == "loading the model"
    note = "waiting for 2 workers"
    assert line_of(Progress(documents=2, note=note), pace) == f"2 documents · {note}"
    pace.add(record(5, 0, 0, 900, kept=5))
    assert (pace.tokens_a_second, pace.seconds_left) == (None, None)
    now[0] = 20.0
    pace.add(record(10, 3000, 100, 800, kept=5))
    assert (pace.tokens_a_second, pace.seconds_left) == (300.0, 80.0)
    now[0] = 30.0
    pace.add(record(12, 9000, 300, 600, kept=5, skipped=2))
    assert (pace.tokens_a_second, pace.seconds_left) == (450.0, 40.0)
    last = record(12, 9000, 300, 600, kept=5, skipped=2)
    assert line_of(last, pace) == "12 of 50 documents · 450 tokens a second · 0:00:40 left · 2 skipped"
    merging = record(50, 9000, 300, 0, kept=5, skipped=2, note="merging 3 blocks")
    assert line_of(merging, pace) == "50 of 50 documents · 2 skipped · merging 3 blocks"
    now[0] = 35.5
    assert pace.seconds_left == 34.5
    now[0] = 80.0
    assert pace.seconds_left == 0.0
    pace.add(record(12, 9000, 300, None))
    assert pace.seconds_left is None


def test_what_is_waited_for_long_is_said_once_where_stderr_is_no_terminal(capsys):
    now = [0.0]
    shown = SurveyShown(lambda: now[0])
    with shown:
        for second in range(200):
            now[0] = float(second)
            shown(Progress(note="waiting for 2 workers"))
        shown(record(1, 10, 10, 10))
    assert capsys.readouterr().err == "waiting for 2 workers\n"


def test_the_terminal_shows_documents_and_erases_them(tmp_path):
    lines = 'import json\nfor n in range(400): print(json.dumps({"text": f"Time flies like arrow {n}. " * 40}))'
    with open("many.jsonl", "w") as file:
        subprocess.run([sys.executable, "-c", lines], stdout=file, check=True, timeout=60)
    terminal, side = pty.openpty()
    with subprocess.Popen([*COMMAND, "many.jsonl", "--out", "out", "--block", "20000"],
                          stdout=subprocess.DEVNULL, stderr=side) as running:  # fmt: skip
        os.close(side)
        shown = b""
        while more := _read(terminal):
            shown += more
        assert running.wait(60) == 0
    os.close(terminal)
    assert b" of 400 documents" in shown
    assert b"tokens a second" in shown
    assert b"wrote out: 400 documents" in shown
    assert b"\x1b[?25h" in shown  # the cursor is there again


def _read(terminal):
    try:
        return os.read(terminal, 4096)
    except OSError:  # Linux's way to say that the other side is closed
        return b""


def test_ctrl_c_before_anything_is_measured(say, monkeypatch):
    def interrupted(self, strict=False, progress=None):
        progress(Progress(note="reading the corpus: 1,000 documents"))
        raise KeyboardInterrupt

    monkeypatch.setattr(Corpus, "scan", interrupted)
    assert say("survey", "texts", "--out", "out") == (130, "", "stopped, with nothing measured yet\n")
    assert not os.path.exists("out")


def test_ctrl_c_says_what_is_kept_and_the_same_command_goes_on():
    with open("many.jsonl", "w") as file:
        for number in range(3000):
            file.write(json.dumps({"text": f"Time flies like arrow {number}. " * 40}) + "\n")
    command = [*COMMAND, "many.jsonl", "--out", "out", "--block", "20000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        until = time.monotonic() + 60
        while time.monotonic() < until and not (os.path.isdir("out/parts") and len(os.listdir("out/parts")) > 2):
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        printed, said = running.communicate(timeout=60)
    kept = len([name for name in os.listdir("out/parts") if name.endswith(".parquet")])
    assert (running.returncode, printed) == (130, "")
    assert said.endswith(" documents are kept in out, and the same command goes on from there\n")
    assert said.startswith("stopped; ")
    assert said.count("\n") == 1
    assert kept > 1
    with open("many.jsonl") as file:
        lines = file.readlines()[: int(said.split()[1].replace(",", ""))]
    assert sum(len(json.loads(line)["text"]) for line in lines) >= kept * 20_000
