"""Edits in the live page: in words, and as the same weights give them in Python."""

from __future__ import annotations

import re

import numpy as np
import pytest
from live import LivePage, minilm
from playwright.sync_api import Error

from eyeline.edits import EditError, parse, words_of
from eyeline.models import load
from eyeline.traces import Keep, record_text, text_model
from eyeline.traces.own_encoder_decoder import OwnEncoderDecoder
from eyeline.views.page import Page
from tests.page_modules import imported

TEXT = "the old bank by the river was flooded by the bank"
DATE = "5 May 1998"
KEEP = Keep(values=True, vectors="all", measures=True, input=True)
#: Edits of every kind, and of several that act on one another.
EDITS = (
    ["cut L5H3 #2>#3"],
    ["cut L5H3 >river", "cut L5 old,#6-8>#0,#4-5"],
    ["gate L2H1"],
    ["gate L1,L3 0.5", "gate L3H2 -2"],
    ["uniform L0H4", "cut L0H4 >#0", "reweight L0H4 river>#1-3 0.25", "gate L0H4 3"],
    ["reweight L4H2 >flooded 0", "reweight L4 #2>#2,#3 1.5"],
    ["reweight L5H1 >#3 1,2,3,4,5,6,7,8,9,10,11,12,13"],
    ["cut L2H0 #4>"],
)
#: What is read and written alike, and what is refused.
WORDS = (
    *("cut L5H3 flies>time", 'reweight L5H3,L5H4 "New York",#2>#2-5 0.5', "CUT encoder L0-2H1 >", "uniform all"),
    *("gate H3", "gate L2- 1e-7", "gate L1 1e20,2,", "gate L1 -0", 'cut L1 "a\\"b\\\\c"> ', "cut L1,L2H3 >"),
    *("cut L1H1,L1H1 #1,#1,x>#3-3", "cut L5H3", "cut", "", "cut L5H3 a>b>c", "cut L5H3 a,>b", "cut L5H3 a b>c"),
    *('cut L5H3 "a>b', "uniform L5 1", "gate L5 x", "gate L5 inf", "gate L5H3,L4H2", "cut L5H3 #5-2>"),
    *("cut L5H3 #0-999999999,#1>#2", "gate L0-999999999,L1"),
    *("cut L5H3 #1-,#9>", "rotate L5", "reweight L5H3 #1>", "cut cross L0 >#1"),
)


@pytest.fixture(scope="module")
def live(chromium, live_file):
    """The file in a browser without a network, with a sentence and a date that were run."""
    shown = LivePage(chromium, live_file)
    shown.runs()
    yield shown
    shown.close()


def refusal(live, **request):
    """The error of a request that the worker refuses: its argument, its message, and the values of that."""
    with pytest.raises(Error):
        live.ask(**request)
    error = live.page.evaluate("window.answers.at(-1).error")
    return error["argument"], error["message"], error.get("values")


def traces(live):
    """How many traces the worker has: it says so of a number beyond them."""
    _, message, _ = refusal(live, kind="edited", trace=10_000, edits=[], known=0)
    return int(re.search(r"from 0 to (\d+)", message)[1]) + 1


def run(live, text, model):
    """Run a text in the page's worker, and keep its traces; the number of the first."""
    first = traces(live)
    live.job("run", text=text, model=model, mask=None, scale=None)
    live.job("keep", first=first)
    return first


@pytest.fixture(scope="module")
def sentence(live):
    return run(live, TEXT, "minilm int8")


@pytest.fixture(scope="module")
def model():
    return text_model(minilm())


@pytest.fixture(scope="module")
def page(model):
    return Page([record_text(model, model.read(TEXT), keep=KEEP)], models={"minilm int8": model})


def near(got, want, tolerance=2e-5):
    """Fails unless plain data are alike, numbers to five digits."""
    if isinstance(want, dict):
        assert got.keys() == want.keys()
        for key, value in want.items():
            near(got[key], value, tolerance)
    elif isinstance(want, list):
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            near(one, other, tolerance)
    elif isinstance(want, float):
        assert got == pytest.approx(want, rel=1e-3, abs=tolerance)
    else:
        assert got == want


@pytest.mark.parametrize("edits", EDITS, ids=lambda edits: edits[0])
def test_a_run_with_edits_is_pythons(live, sentence, page, edits):
    known = len(page.traces)
    want, _ = page.answer({"id": 1, "kind": "edited", "trace": 0, "edits": edits, "known": known})
    before = traces(live)
    got, _ = live.ask(kind="edited", trace=sentence, edits=edits, known=before)
    assert got["made"] == before
    (entry,), (wanted,) = got["entries"], want["entries"]
    for name in ("name", "kind", "queries", "layers", "entropy", "distance", "aside", "edits"):
        near(entry[name], wanted[name])
    arrays_near(live, got["made"], page, want["made"])
    changes = {"kind": "changes", "trace": 0, "other": want["made"]}
    want_changes, _ = page.answer({"id": 2, **changes})
    got_changes, _ = live.ask(kind="changes", trace=sentence, other=got["made"])
    assert got_changes["turned"] == want_changes["turned"]
    assert got_changes["rows"] == want_changes["rows"]
    near(got_changes["vectors"], want_changes["vectors"])
    near([look[3] for look in got_changes["looks"]], [look[3] for look in want_changes["looks"]])
    strong = [look[:3] for look in want_changes["looks"] if look[3] > 1e-3]
    assert [look[:3] for look in got_changes["looks"]][: len(strong)] == strong
    again, _ = live.ask(kind="edited", trace=sentence, edits=edits, known=before + 1)
    assert (again["made"], again["entries"]) == (got["made"], [])


def arrays_near(live, number, page, place):
    """All heads' queries, keys, values and lse, and the factors of their weights."""
    for layer in range(6):
        for head in (0, 1, 3, 4):
            asked = {"kind": "head", "layer": layer, "head": head}
            want, arrays = page.answer({"id": 3, "trace": place, **asked})
            got, buffers = live.ask(trace=number, **asked)
            assert {**got, "id": 3} == want
            seen = 1
            for name, one, other in zip(want["arrays"], buffers, arrays, strict=True):
                kind = "<i4" if name == "bounds" else "<f4"
                ours, theirs = np.frombuffer(one, kind), np.frombuffer(other, kind)
                if name == "bounds":
                    bounds, keys = theirs.reshape(*want["mask_shape"][:2], 1, 2), np.arange(want["shape"]["M"])
                    seen = ((bounds[..., 0] <= keys) & (keys < bounds[..., 1])).any(axis=1).ravel()
                elif name == "factors":
                    ours, theirs = ours * seen, theirs * seen
                if kind == "<f4":
                    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=2e-5, err_msg=f"{name} of L{layer}H{head}")
                else:
                    assert np.array_equal(ours, theirs), f"{name} of L{layer}H{head}"


def test_words_are_read_and_written_as_by_python(chromium, tmp_path):
    def python(words):
        try:
            return words_of(parse(words))
        except EditError:
            return None

    context = chromium.new_context(offline=True)
    page = context.new_page()
    imported(page, tmp_path, {"live/editing/written.js": ["parse", "wordsOf"], "host_error.js": ["HostError"]})
    got = page.evaluate(
        """(all) => all.map((words) => { try { return wordsOf(parse(words)); } catch (error) {
             if (!error.message.startsWith("live.edit.")) throw error; return null; } })""",
        list(WORDS),
    )
    context.close()
    assert got == [python(words) for words in WORDS]
    assert None in got


@pytest.mark.parametrize(
    ("edits", "key", "values"),
    [
        ([], "count", {"most": 64}),
        (["cut L5H3"], "form", {"words": "cut L5H3"}),
        (["mean L5H3"], "elsewhere", {"words": "mean L5H3"}),
        (["patch q L5H3"], "elsewhere", {"words": "patch q L5H3"}),
        (["gate L6"], "layer", {"most": 5, "number": 6, "words": "gate L6 0"}),
        (["gate L5H12"], "head", {"most": 11, "number": 12, "words": "gate L5H12 0"}),
        (["uniform L5", "uniform L5H3"], "once", {"words": "uniform L5H3"}),
        (["gate cross L0"], "kind", {"kinds": "encoder", "kind": "cross", "words": "gate cross L0 0"}),
        (["gate L0 1,2"], "by", {"last": 12, "count": 2}),
        (["cut L0 bank>"], "repeated", {"side": "queries", "word": "bank", "count": 2, "places": "#3, #11"}),
    ],
)
def test_what_cannot_be_made_is_refused_with_the_reason(live, sentence, edits, key, values):
    asked = {"kind": "edited", "trace": sentence, "edits": edits, "known": 0}
    assert refusal(live, **asked) == ("edits", f"live.edit.{key}", values)


def test_a_word_that_is_not_there_is_refused_with_the_words(live, sentence):
    asked = {"kind": "edited", "trace": sentence, "edits": ["cut L0 >sea"], "known": 0}
    values = {"side": "keys", "word": "sea", "words": "the, old, bank, by, river, was, flooded"}
    assert refusal(live, **asked) == ("edits", "live.edit.missing", values)


@pytest.fixture(scope="module")
def date(live):
    return run(live, DATE, "dates")


@pytest.mark.parametrize(
    ("kind", "edits"),
    [
        ("cross", ["gate L0H1", "cut L1 >#1"]),
        ("encoder", ["cut L0 >May", "reweight L1H1 #2-4>#0 2"]),
        ("decoder", ["uniform decoder L1H0", "cut cross L0 #3->#3"]),
    ],
)
def test_edits_of_what_writes_a_date(live, date, kind, edits):
    """Every kind of attention can be edited; where none is said, it is the shown one."""
    kinds = ("encoder", "decoder", "cross")
    got, _ = live.ask(kind="edited", trace=date + kinds.index(kind), edits=edits, known=0)
    whole = [one if any(name in one for name in kinds) else one.replace(" ", f" {kind} ", 1) for one in edits]
    parts = OwnEncoderDecoder(load("dates")).record_parts(
        DATE, Keep(measures=True), edits=[parse(one) for one in whole]
    )
    first = got["made"] - kinds.index(kind)
    for place, name in enumerate(kinds):
        want, entry = getattr(parts, name), got["entries"][first + place]
        assert entry["name"] == want.name
        assert entry["edits"] == [words_of(one) for one in want.edits]
        assert entry["queries"]["text"] == want.queries.text
        assert np.abs(np.array(entry["entropy"]) - want.measures.entropy).max() < 1e-3
