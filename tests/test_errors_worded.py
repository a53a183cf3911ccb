"""Every error is in the reader's language: each text that is raised goes through `worded`, and what comes is so."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import numpy as np
import pytest

import eyeline as el
from eyeline import words
from eyeline.edits import Cut, Gate, written
from eyeline.traces import TraceError, load_trace, record

SOURCE = Path(el.__file__).parent
#: Only a bug of ours or of another library reaches these, or Python's own protocols do; they are plain English.
PLAIN = {
    "AttributeError",  # of a module or of a tensor's stand-in, as Python words it
    "KeyError",  # turned into an error of ours where it is caught
    "NotImplementedError",  # of a base class; torch turns it into its own error
    "DamagedFileError",  # a library's text, caught in the survey's corpus
    "UnreadError",  # a detail in a survey's files, which have it in English
    "UnreadableError",  # caught: the mask is then taken as it is
}
#: Their texts are for whoever builds Eyeline, or are the catalogue's own.
BUILDERS = ("kernels/compiled", "kernels/wasm/__main__.py", "words/po_file.py")
#: A phrase that an error has: it isn't in a text of the package but within `worded` or `noted`.
TELLING = re.compile(r" must (?!have$)| got |, got|can't | isn't |doesn't |; (give|take|leave|run|add|pass) ")
#: Two words; but for an option with its value, and a command to type.
PHRASE = re.compile(r"(?!--\w|jq )(?s:.*)[A-Za-z]{2,}[,;:]? \S")
FLIES = "time flies like an arrow"


def parsed():
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if not name.startswith(BUILDERS):
            yield name, ast.parse(path.read_text("utf-8"))


def called(node):
    function = node.func
    return getattr(function, "id", None) or getattr(function, "attr", "")


def plain_texts(node):
    """The English phrases in an expression, but for those within `worded` and `noted`."""
    if isinstance(node, ast.Call) and called(node) in ("worded", "noted"):
        for keyword in node.keywords:
            yield from plain_texts(keyword.value)
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and PHRASE.match(node.value):
        yield node.value
    for child in ast.iter_child_nodes(node):
        yield from plain_texts(child)


def raised():
    """Each text that is raised or warned of: where, the exception, its arguments."""
    for name, tree in parsed():
        for node in ast.walk(tree):
            call = node.exc if isinstance(node, ast.Raise) else node
            if not isinstance(call, ast.Call):
                continue
            if isinstance(node, ast.Raise) or (called(call) == "warn" and "warnings" in ast.unparse(call.func)):
                yield f"{name}:{node.lineno}", called(call), call.args


def test_every_text_that_is_raised_is_worded():
    found = list(raised())
    assert len(found) > 600
    left = [(where, text) for where, kind, args in found for one in args for text in plain_texts(one)
            if kind not in PLAIN]  # fmt: skip
    assert left == [], "\n".join(map(str, left))


def test_no_text_of_an_error_is_put_together_elsewhere():
    left = []
    for name, tree in parsed():
        ignored = set()
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Expr)):
                first = node if isinstance(node, ast.Expr) else node.body[0] if node.body else None
                if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                    ignored.add(first.value)  # a docstring
            elif isinstance(node, ast.Call) and called(node) in (
                "worded",
                "noted",
                "Item",
                "Option",
                "Argument",
                *PLAIN,
            ):
                ignored |= {one for one in ast.walk(node) if isinstance(one, ast.Constant)}
        for node in ast.walk(tree):
            text = node.value if isinstance(node, ast.Constant) and node not in ignored else None
            if isinstance(text, str) and TELLING.search(text):
                left.append((f"{name}:{node.lineno}", text))
    assert left == [], "\n".join(map(str, left))


# In Vietnamese

#: English words that are in any error, and are no Vietnamese syllables.
ENGLISH = re.compile(
    r"\b(must|got|the|of|with|for|and|or|which|that|have|has|is|are|not|one|each|give|take|its|this|from|leave|out|"
    r"whole|number|numbers|only|first of|be|isn't|can't|doesn't|there|tokens)\b"
)
#: What stays: code in backticks, quoted texts, options, names with a sign of code in or after them, and file names.
CODE = re.compile(r"`[^`]*`|'[^']*'|\"[^\"]*\"|--[\w-]+|[\w.]+\([^)]*\)|\w+=\S*|\w*[._/]\w[\w./-]*|\[[^]]*\]")
LETTERS = re.compile("[ăâđêôơưàáảãạèéẻẽẹìíỉĩịòóỏõọùúủũụỳýỷỹỵằắẳẵặầấẩẫậềếểễệồốổỗộờớởỡợừứửữự]")
q = np.ones((2, 3, 4), np.float32)


def check_vietnamese(said):
    assert LETTERS.search(said), said
    assert not ENGLISH.findall(CODE.sub("", said)), said


def attend(**given):
    return el.attention(**{"q": q, "k": q, "v": q, **given})


def opened(tmp_path, **changed):
    """A trace's file with other settings."""
    import safetensors
    from safetensors.numpy import save_file

    path = tmp_path / "t.safetensors"
    record(FLIES).save(path)
    with safetensors.safe_open(path, "np") as file:
        about = json.loads(file.metadata()["eyeline"])
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    save_file(arrays, path, {"eyeline": json.dumps({**about, **changed})})
    return load_trace(path)


CALLS = {
    "attention: axes": lambda: attend(k=q[0]),
    "attention: type": lambda: attend(q=[[1.0]]),
    "attention: heads": lambda: attend(q=np.ones((3, 3, 4), np.float32)),
    "attention: scale": lambda: attend(scale="x"),
    "attention: array as mask": lambda: attend(mask=np.ones((3, 3))),
    "attention: list as mask": lambda: attend(mask=[1]),
    "masks: lengths": lambda: el.Padding(),
    "masks: negative lengths": lambda: el.Padding([-1]),
    "masks: real lengths": lambda: el.Padding([1.5]),
    "masks: side": lambda: el.Padding([1], side="up"),
    "masks: window": lambda: el.Window(-1),
    "masks: function": lambda: el.MaskFunction(3),
    "masks: callable": lambda: el.MaskFunction(print),
    "scores: a mask": lambda: attend(scores=el.Causal()),
    "scores: an array": lambda: attend(scores=q),
    "scores: a number": lambda: attend(scores=3),
    "scores: booleans": lambda: el.Bias(np.ones((3, 3), bool)),
    "scores: cap": lambda: el.Softcap(-1),
    "scores: function": lambda: el.ScoreFunction(3),
    "readouts: class": lambda: el.observe(q, q, q, read=[el.TopK]),
    "readouts: string": lambda: el.observe(q, q, q, read="entropy"),
    "readouts: twice": lambda: el.observe(q, q, q, read=[el.Entropy(), el.Entropy()]),
    "readouts: count": lambda: el.TopK(0),
    "readouts: reduce": lambda: el.observe(q, q, q, read=el.Received(reduce="x")),
    "readouts: another": lambda: el.observe(q, q, q, read=el.Entropy()).received,
    "kernels: threads": lambda: el.set_threads(0),
    "edits: head": lambda: el.explain(FLIES, "flies", edits=[Cut(layer=9)]),
    "edits: word": lambda: el.explain(FLIES, "flies", edits=[Cut(layer=1, queries="bees")]),
    "edits: factor": lambda: Gate(layer=1, by="x"),
    "edits: numbers": lambda: Cut(layer=-1),
    "edits: words": lambda: written.parse("cat L5H3"),
    "edits: place": lambda: written.parse("cut Q5"),
    "answers: steps": lambda: el.explain(FLIES, steps=True),
    "answers: nth": lambda: el.explain(FLIES, "flies", nth=3),
    "answers: scale": lambda: el.explain(FLIES, "flies", scale=float("nan")),
    "answers: text": lambda: el.explain(3),
    "answers: long text": lambda: el.explain("word " * 700),
    "answers: toy": lambda: el.toy(q=[[1, 2], [3]]),
    "answers: large toy": lambda: el.toy(q=[[1e9]]),
    "answers: many words": lambda: el.toy(words=list("abcdefghij")),
    "traces: words": lambda: el.Trace.of(q[None], q[None], q[None], queries=["a"]),
    "traces: no layers": lambda: record(""),
    "models: unknown": lambda: el.explain(FLIES, model="miniln"),
    "models: number": lambda: el.explain(FLIES, model=3),
}


@pytest.fixture
def vietnamese(monkeypatch):
    monkeypatch.setenv(words.VARIABLE, "vi")


@pytest.mark.parametrize("name", CALLS)
def test_an_error_is_in_vietnamese(vietnamese, name):
    with pytest.raises((ValueError, TypeError, AttributeError)) as caught:
        CALLS[name]()
    check_vietnamese(str(caught.value))


FILES = {
    "schema": {"schema": "other"},
    "kind": {"kind": "none"},
    "layers": {"layers": []},
    "name": {"name": 3},
    "places": {"vector_tokens": [99]},
    "edits": {"edits": ["cut everything"]},
    "model": {"model": 3},
}


@pytest.mark.parametrize("name", FILES)
def test_a_trace_s_file_is_refused_in_vietnamese(vietnamese, tmp_path, name):
    with pytest.raises(TraceError) as caught:
        opened(tmp_path, **FILES[name])
    check_vietnamese(str(caught.value).replace(str(tmp_path), ""))


REQUESTS = [
    {},
    {"text": 3},
    {"file": 0},
    {"text": "a", "model": "other"},
    {"text": "a", "mask": "window"},
    {"text": "a", "scale": 0},
    {"text": "a", "size": 1},
]


@pytest.mark.parametrize("sent", REQUESTS)
def test_a_request_is_refused_in_vietnamese(vietnamese, sent):
    from eyeline.serving.refusal import RefusalError
    from eyeline.serving.requests import run_request

    with pytest.raises(RefusalError) as caught:
        run_request(sent, ["minilm"], 0)
    check_vietnamese(caught.value.message)


COMMANDS = [
    ("explain", ""),
    ("explain", FLIES, "--token", "bees"),
    ("explain", FLIES, "--layer", "6"),
    ("explain", FLIES, "--head", "99"),
    ("explain", FLIES, "--token", "flies", "--top", "0"),
    ("explain", FLIES, "--special", "--shares"),
    ("explain", FLIES, "--steps"),
    ("explain", FLIES, "--nth", "2"),
    ("explain", "rose, rose", "--token", "rose"),
    ("explain", FLIES, "--token", "[SEP]"),
    ("explain", FLIES, "--model", "minilmm"),
    ("explain", FLIES, "--model", "no/such/folder"),
    ("explain", FLIES, "--generate", "3"),
    ("explain", FLIES, "--edit", "cut"),
    ("explain", FLIES, "--edit", "mean L5H3"),
    ("explain", FLIES, "--html", "no/such/x.html"),
    ("explain", FLIES, "--png", "x.jpg"),
    ("explain", *FLIES.split()),
    ("compare", FLIES, "fruit flies", "--token", "banana"),
    ("heads", "no/such/file.txt"),
    ("heads", FLIES, "--first", "1"),
    ("heads", FLIES, "--label", "none"),
    ("effects", FLIES, "--next", "x"),
    ("effects", FLIES, "--by", "mean"),
    ("why", FLIES),
    ("why", FLIES, "--token", "flies", "--key", "bees"),
    ("toy", "--q", "a,b"),
    ("toy", "--q", "1,2;3"),
    ("toy", "--words", "a b c d e f g h i j"),
    ("view", "{folder}/none.safetensors"),
    ("lesson", "--html", "l.txt"),
    ("lesson", "--half"),
    ("live", "--model", "smollm2", "--out", "x.html"),
    ("embed", "{folder}/none.txt", "-o", "{folder}/v.npy"),
    ("models", "get", "miniln"),
    ("survey", "{folder}/none", "--out", "{folder}/survey"),
    ("survey", "{folder}/bad.jsonl", "--out", "{folder}/survey", "--strict"),
    ("survey", "{folder}/bad.csv", "--out", "{folder}/survey", "--strict"),
    ("survey", "{folder}/zero.txt", "--out", "{folder}/survey"),
]


@pytest.mark.parametrize("given", COMMANDS, ids=" ".join)
def test_a_mistake_on_the_command_line_is_told_in_vietnamese(vietnamese, say, tmp_path, monkeypatch, given):
    monkeypatch.chdir(tmp_path)
    Path("bad.jsonl").write_text('{"text": "one"}\n{"text": 3}\n')
    Path("bad.csv").write_text("text,more\none,two\nthree\n")
    Path("zero.txt").write_bytes(b"a\0b")
    code, out, err = say(*(one.format(folder=tmp_path) for one in given))
    assert (code, out) == (2, ""), err
    check_vietnamese(err.removeprefix("eyeline: ").replace(str(tmp_path), ""))


def test_a_survey_s_file_keeps_its_reasons_in_english(vietnamese, say, tmp_path):
    file = tmp_path / "lines.jsonl"
    file.write_text('{"text": "time flies"}\n{"text": 3}\n{"text"\n')
    assert say("survey", str(file), "--out", str(tmp_path / "survey"))[0] == 0
    about = json.loads((tmp_path / "survey" / "survey.json").read_text("utf-8"))
    assert [one["detail"].split(":")[0] for one in about["skipped"]["first"]] == ["the value is a number", "not JSON"]


def test_what_was_said_in_english_is_translated_with_its_values():
    words.choose("vi")
    try:
        assert words.reworded("longer than 3 bytes (line 4)", ["longer than {count} bytes (line {line})"]) == (
            "dài hơn 3 byte (dòng 4)"
        )
        assert words.reworded("of another library", ["longer than {count} bytes"]) == "of another library"
        assert words.system_message(OSError(13, "Permission denied")) == "không có quyền truy cập"
    finally:
        words.choose(None)
