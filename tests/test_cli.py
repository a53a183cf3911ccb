"""The command line: `eyeline explain`, `eyeline compare`, and what it says to mistakes."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tiny import save_decoder

import eyeline
from eyeline import cli
from eyeline.answers import Comparison, Effects, Explanation, Heads, Rollout, Toy, Why
from eyeline.surveys import Survey
from eyeline.traces.own_model import OwnModel

FLIES = "time flies like an arrow"
BANANA = "fruit flies like a banana"
DOCS = Path(__file__).parent.parent / "docs" / "json.md"
COMMAND = [sys.executable, "-c", "import sys; from eyeline.cli import main; sys.exit(main())"]


def run(*arguments, **options):
    """The command in a process of its own."""
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", **options.pop("env", {})}
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, env=environment, timeout=120, check=False, **options
    )


def test_the_main_job_in_a_process_of_its_own():
    ran = run("explain", FLIES, "--token", "flies")
    assert (ran.returncode, ran.stderr) == (0, b"")
    text = ran.stdout.decode()
    assert "flies takes most from time (17%) and itself (14%)." in text
    assert "\x1b" not in text


def test_nothing_heavy_is_loaded_for_it():
    code = (
        "import sys; from eyeline.cli import main; main(['explain', 'time flies', '--token', 'flies']); "
        "print([m for m in ('torch', 'transformers', 'matplotlib') if m in sys.modules], file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert ran.stderr.strip() == "[]"


def test_stdin_is_read_for_a_dash():
    ran = run("explain", "-", "--token", "Việt", "--json", input="\ufeffTôi yêu tiếng Việt\n".encode())
    assert ran.returncode == 0
    assert json.loads(ran.stdout)["text"] == "Tôi yêu tiếng Việt"
    ran = run("explain", "-", input=b"caf\xe9")
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.decode().splitlines() == ["eyeline: text must be UTF-8, got byte 0xe9 at 3"]


@pytest.fixture
def say_in(monkeypatch):
    """The command in this process, with a stdout of an encoding: the exit code, and the bytes that it wrote."""

    def call(encoding, *arguments):
        paper = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="strict", newline="\n", write_through=True)
        monkeypatch.setattr(sys, "stdout", paper)
        code = cli.main(list(arguments))
        return code, paper.buffer.getvalue()

    return call


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_utf8_gets_what_it_can_show(say_in, encoding):
    code, out = say_in(encoding, "explain", "Tôi yêu Việt", "--token", "Việt")
    assert code == 0
    assert b"Vi\\u1ec7t looks at" in out
    assert b"####" in out
    code, out = say_in(encoding, "explain", "Tôi yêu Việt", "--csv", "--no-scale")
    assert "without ÷ √d,5,mean,3,Việt,3,Việt," in out.decode()
    code, out = say_in(encoding, "explain", "Tôi yêu Việt", "--json")
    assert json.loads(out.decode("ascii"))["text"] == "Tôi yêu Việt"


def test_a_closed_pipe_is_no_traceback():
    with subprocess.Popen(
        [*COMMAND, "explain", "word " * 400, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        child.stdout.read(10)
        child.stdout.close()
        error = child.stderr.read()
        child.wait(timeout=120)
    assert error == b""
    assert child.returncode in (0, 1)


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize("words", [["models"], ["explain", "ab", "--json"]])
def test_an_output_that_was_closed_before_the_start_is_no_traceback(words):
    shell = ["sh", "-c", 'exec "$@" >&-', "sh"]
    done = subprocess.run([*shell, *COMMAND, *words], stderr=subprocess.PIPE, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_an_interrupt_is_quiet(say, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("eyeline.views.attach.explain", interrupted)
    assert say("explain", FLIES) == (130, "", "")


def keys_of(value):
    """All keys anywhere in a document."""
    if isinstance(value, dict):
        return set(value).union(*map(keys_of, value.values()))
    return set().union(*map(keys_of, value)) if isinstance(value, list) else set()


def test_docs_describe_the_documents_that_there_are():
    """Under the names that they say of themselves."""
    schemas = {answer.schema for answer in (Comparison, Effects, Explanation, Heads, Rollout, Survey, Toy, Why)}
    assert set(re.findall(r"^## `(eyeline\.\w+/\d+)`", DOCS.read_text("utf-8"), re.MULTILINE)) == schemas


def test_docs_name_every_key_and_no_other(say, tmp_path):
    folder = str(save_decoder(tmp_path))
    _, explained, _ = say(
        "explain", "time flies", "--model", folder, "--token", "time", "--steps", "--generate", "2", "--json"
    )
    _, unknown, _ = say("explain", "I love 爱", "--json")
    _, written, _ = say("explain", "3rd of March, 2021", "--model", "dates", "--token", "2021", "--json")
    _, compared, _ = say("compare", FLIES, BANANA, "--token", "flies", "--json")
    documented = DOCS.read_text("utf-8")
    first, second = documented.split("## `eyeline.compare/2`")
    second = second.split("## `eyeline.rollout/2`")[0]
    rows = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)
    assert set(rows.findall(first)) == keys_of([*map(json.loads, (explained, written)), json.loads(unknown)["unknown"]])
    top, side = second.split("Each of the `sides`:")
    found = json.loads(compared)
    assert set(rows.findall(top)) == set(found)
    assert set(rows.findall(side)) == set(found["sides"][0])
    assert keys_of(found) <= set(rows.findall(documented))


def test_docs_name_the_columns_of_the_csv(say, tmp_path):
    documented = DOCS.read_text("utf-8").split("# The output of `--csv`")[1]
    generate = ["--model", str(save_decoder(tmp_path)), "--generate", "1"]
    for extra in ([], ["--token", "flies"], ["--token", "flies", "--steps"], generate):
        code, out, err = say("explain", FLIES, *extra, "--csv")
        assert (code, err) == (0, "")
        assert f"`{out.splitlines()[0]}`" in documented


def test_json_equals_the_library(say):
    _, out, err = say(
        "explain", FLIES, "--token", "flies", "--layer", "2", "--head", "5", "--mask", "causal", "--no-scale", "--json"
    )
    found = eyeline.explain(FLIES, "flies", layer=2, head=5, mask="causal", scale=1.0)
    assert json.loads(out) == found.document()
    assert err == ""
    _, out, _ = say("compare", FLIES, BANANA, "--token", "flies", "--layer", "3", "--special", "--json")
    assert json.loads(out) == eyeline.compare(FLIES, BANANA, "flies", layer=3, special=True).document()


def test_every_option_reaches_the_library(say):
    for arguments, expected in [
        (["--pieces"], ("unit", "piece")),
        (["--special"], ("special", True)),
        (["--layer", "1"], ("layer", 1)),
        (["--head", "11"], ("head", 11)),
        (["--nth", "2"], ("nth", 2)),
    ]:
        _, out, _ = say("explain", "flies like flies", "--token", "flies", "--nth", "1", *arguments, "--json")
        assert json.loads(out)["question"][expected[0]] == expected[1]


def test_png(say, tmp_path):
    pytest.importorskip("matplotlib")
    target = tmp_path / "x.png"
    code, out, err = say("explain", FLIES, "--token", "flies", "--json", "--png", str(target))
    assert code == 0
    assert json.loads(out)["text"] == FLIES
    assert err == f"wrote {target}\n"
    assert target.read_bytes().startswith(b"\x89PNG")


LONG = "the cat and an owl ran " * 8


@pytest.mark.parametrize("extra", [[], ["--steps"], ["--rollout"]])
def test_a_long_text_shows_the_strongest_words_and_how_many_more(say, tiny_folder, extra):
    asked = ("explain", LONG, "--token", "owl", "--nth", "8", "--model", str(tiny_folder), *extra)
    document = json.loads(say(*asked, "--json")[1])
    found = document if "--rollout" in extra else document["runs"][0]
    steps = found.get("steps")
    looks = found["made_of"] if "--rollout" in extra else found["looks_at"]
    whole = len(steps["keys"]) if steps else sum(look["share"] is not None for look in looks)
    lines = {}
    for top in (3, 40, 1000):
        code, out, err = say(*asked, "--top", str(top))
        assert (code, err) == (0, "")
        more = re.findall(r"^  and (\d+) more, together \S+%$", out, re.MULTILINE)
        assert list(map(int, more)) == ([whole - top] if top < whole else [])
        lines[top] = len(out.splitlines())
    assert lines[40] - lines[3] == 37
    assert lines[1000] - lines[40] == whole - 40 - 1
    assert say(*asked)[1] == say(*asked, "--top", "40")[1]
    code, out, err = say(*asked, "--top", "0")
    assert (code, out) == (2, "")
    assert err.startswith("eyeline: ")


def test_only_the_first_is_called_the_first(say, tiny_folder):
    code, out, _ = say("explain", "T\x10his is \x10 fine", "--model", str(tiny_folder), "--token", "fine")
    assert code == 0
    text = " ".join(out.split())
    assert text.count("(the first)") == 1
    assert "T (the first), control characters" in text or "T (the first) and control characters" in text


def test_a_tokenizer_that_panics_is_one_line(tmp_path):
    folder = save_decoder(tmp_path)
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["pre_tokenizer"] = {
        "type": "Split",
        "pattern": {"Regex": "(a+)+$"},
        "behavior": "Isolated",
        "invert": False,
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    ran = run("explain", "a" * 40 + "!", "--model", str(folder))
    assert (ran.returncode, ran.stdout) == (2, b"")
    (line,) = ran.stderr.decode().splitlines()
    assert line.startswith("eyeline: tokenizer.json can't cut this text into tokens (")


def test_a_family_that_transformers_runs_says_so(say, tmp_path):
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    folder = tmp_path / "small"
    torch.manual_seed(0)
    save_decoder(tmp_path)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(tmp_path / "tokenizer.json"))
    sizes = {"vocab_size": len(tokenizer), "n_positions": 64, "n_embd": 24, "n_layer": 2, "n_head": 4}
    config = transformers.GPT2Config(**sizes, bos_token_id=None, eos_token_id=None)
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    say("--version")  # and with it goes what transformers said
    asked = ("explain", "the cat ran", "--token", "cat", "--model", str(folder))
    code, out, err = say(*asked)
    assert (code, err) == (0, "small: gpt2 runs through transformers\n")
    assert "L1 of L0 to L1 · mean of H0 to H3" in " ".join(out.split())
    assert say("--lang", "vi", *asked)[2] == "small: gpt2 chạy qua transformers\n"
    code, _, err = say(*asked, "--html", str(tmp_path / "page.html"))
    assert (code, err.splitlines()[-1]) == (0, f"wrote {tmp_path / 'page.html'}")


@pytest.mark.parametrize(
    "asked", [["explain", FLIES, "--token", "flies"], ["compare", FLIES, BANANA, "--token", "flies"]]
)
def test_a_page_costs_no_second_run(say, tmp_path, monkeypatch, asked):
    runs = []
    layers = OwnModel.record

    def counted(self, *arguments, **options):
        runs.append(1)
        return layers(self, *arguments, **options)

    monkeypatch.setattr(OwnModel, "record", counted)
    assert say(*asked)[0] == 0
    plain = len(runs)
    assert say(*asked, "--html", str(tmp_path / "page.html"))[0] == 0
    assert len(runs) - plain == plain == (1 if asked[0] == "explain" else 2)


def test_layers_are_counted_on_a_terminal_alone(say, monkeypatch):
    assert say("explain", FLIES)[2] == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    for asked in (["explain", FLIES], ["explain", FLIES, "--rollout"], ["compare", FLIES, BANANA, "--token", "flies"]):
        err = say(*asked)[2]
        assert [f"{done} of 6 layers" in err for done in range(1, 7)] == [True] * 6


MISTAKES = [
    (["explain", ""], "text must have at least one word, got ''"),
    (["explain", FLIES, "--token", "fles"], "the words are time, flies, like, an, arrow"),
    (
        ["explain", "flies flies", "--token", "flies"],
        "which is there 2 times: 1 is [flies] flies; 2 is flies [flies]; say which with --nth 1 or 2",
    ),
    (["explain", "word " * 600], "got 602 tokens"),
    (["explain", FLIES, "--model", "minilmm"], "minilm"),
    (["explain", FLIES, "--model", "no/such/folder"], "no/such/folder"),
    (["explain", FLIES, "--layer", "6"], "layer must be from 0 to 5 in minilm, got 6; the last is 5"),
    (["explain", FLIES, "--head", "12"], "head must be from 0 to 11 in minilm, got 12; the last is 11"),
    (["explain", FLIES, "--layer", "x"], "--layer"),
    (["explain", FLIES, "--mask", "x"], "--mask"),
    (["explain", FLIES, "--json", "--csv"], "--json and --csv can't go together"),
    (["explain", FLIES, "--steps"], "add --token WORD"),
    (["explain", FLIES, "--nth", "1"], "add --token WORD"),
    (["explain", FLIES, "--token", "[SEP]"], "add --special"),
    (["explain", FLIES, "--png", "no/such/folder/x.png"], "no/such/folder/x.png: No such file or directory"),
    (["explain", FLIES, "--png", "x.pdf"], "must be a file name that ends in .png"),
    (["explain", FLIES, "--html", "x.png"], "--html must be a file name that ends in .html, got 'x.png'"),
    (["explain", FLIES, "--html", "no/such/x.html"], "no/such/x.html: No such file or directory"),
    (["explain", FLIES, "--half"], "--half must come with --html"),
    (["explain", FLIES, "--rollout", "--html", "x.html"], "--rollout and --html can't go together"),
    (["compare", FLIES, BANANA, "--token", "flies", "--html", "x"], "--html must be a file name that ends in .html"),
    (["explain"], "TEXT must be given"),
    (["explain", FLIES, "--nonsense"], "--nonsense"),
    (["nonsense"], "nonsense"),
    (["compare", FLIES, BANANA], "--token"),
    (["compare", FLIES, "bananas", "--token", "flies"], "text B: token must be a word of the text, got 'flies'"),
    (["compare", "flies flies", BANANA, "--token", "flies"], "say which with --nth-a 1 or 2"),
    (["explain", "a\udcff b"], "valid Unicode"),
    (["explain", FLIES, "--token", "\x1b[31m"], "isn't there"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_a_mistake_is_one_line_and_exit_code_2(say, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = say(*arguments)
    assert code == 2
    assert out == ""
    assert re.fullmatch(r"eyeline: [^\n\x1b]+\n", err)
    assert message in err
    assert not list(tmp_path.iterdir())


def test_a_mistake_of_ours_is_not_hidden(monkeypatch):
    def broken(*_, **__):
        raise ValueError("ours")

    monkeypatch.setattr("eyeline.views.attach.explain", broken)
    with pytest.raises(ValueError, match=r"^ours$"):
        cli.main(["explain", FLIES])


def test_version_and_help(say):
    assert say("--version") == (0, f"eyeline {eyeline.__version__}\n", "")
    code, bare, _ = say("--help")
    assert code == 0
    for command in ("explain", "compare", "heads", "view", "models", "doctor"):
        assert command in bare
        code, out, err = say(command, "--help")
        assert (code, err) == (0, "")
        assert "Usage: eyeline " + command in out
