"""A toy: the textbook's example, equal to the reference whatever its numbers; its tables, its page, its mistakes."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import eyeline as el
from eyeline import reference
from eyeline.answers import QuestionError
from eyeline.masks import Dense
from eyeline.views.toy_page import toy_page, toy_text
from tests.test_cli import DOCS

ROW = {"a": [1.0, 2.0], "b": [3.0, -1.0]}


def small(rows, width):
    return arrays.arrays(np.float64, (rows, width), elements=st.floats(-1000, 1000, width=32))


@st.composite
def numbers(draw):
    """Queries, keys and values of a toy, and what is asked of it."""
    N, D, E = draw(st.integers(1, 8)), draw(st.integers(1, 4)), draw(st.integers(1, 4))
    q, k, v = draw(small(N, D)), draw(small(N, D)), draw(small(N, E))
    masks = [None, "causal", *(["padding"] if N > 1 else [])]
    return q, k, v, draw(st.sampled_from(masks)), draw(st.booleans())


def test_flies_gives_45_10_and_45():
    found = el.toy()
    assert found.words == ("time", "flies", "arrow")
    assert [f"{weight:.2f}" for weight in found.weights[1]] == ["0.45", "0.10", "0.45"]
    assert found.scores[1].tolist() == [2.0, pytest.approx(-0.1), 2.0]
    assert all(
        abs(10 * number - round(10 * number)) < 1e-9 for array in (found.q, found.k, found.v) for number in array.flat
    )


@given(numbers())
def test_every_step_is_the_references(asked):
    q, k, v, mask, scale = asked
    N = len(q)
    found = el.toy([f"w{place}" for place in range(N)], q=q, k=k, v=v, mask=mask, scale=scale)
    allowed = {"causal": np.tri(N, dtype=bool), "padding": np.arange(N) < N - 1}.get(mask, True)
    allowed = np.broadcast_to(allowed, (N, N))
    truth = reference.steps(q, k, v, mask=Dense(allowed), scale=None if scale else 1.0)
    assert found.scale == truth.scale
    np.testing.assert_array_equal(found.scores, truth.scores)
    np.testing.assert_array_equal(found.scaled, truth.scaled)
    np.testing.assert_array_equal(found.allowed, allowed)
    np.testing.assert_array_equal(found.weights, truth.weights)
    np.testing.assert_array_equal(found.output, truth.output)
    with np.errstate(divide="ignore", invalid="ignore"):
        by_hand = np.where(found.sums[:, None] > 0, found.exponentials / found.sums[:, None], 0.0)
    np.testing.assert_allclose(by_hand, truth.weights, rtol=1e-12, atol=1e-300)
    assert np.isfinite(found.exponentials).all()


def test_large_scores_are_shifted_and_small_ones_are_not():
    assert el.toy().shifts.tolist() == [0.0, 0.0, 0.0]
    found = el.toy(["a", "b"], q=[[1.0], [1.0]], k=[[900.0], [901.0]], v=[[1.0], [2.0]])
    assert found.shifts.tolist() == [901.0, 901.0]
    assert found.weights[0].tolist() == pytest.approx([1 / (1 + np.e), np.e / (1 + np.e)])
    low = el.toy(["a", "b"], q=[[1.0], [1.0]], k=[[-900.0], [-901.0]], v=[[1.0], [2.0]])
    assert low.weights[0].tolist() == pytest.approx([np.e / (1 + np.e), 1 / (1 + np.e)])


def test_the_future_and_padding():
    causal = el.toy(mask="causal")
    assert causal.weights[0].tolist() == [1.0, 0.0, 0.0]
    assert causal.allowed.tolist() == np.tri(3, dtype=bool).tolist()
    padded = el.toy(mask="padding")
    assert padded.weights[:, 2].tolist() == [0.0, 0.0, 0.0]
    assert padded.weights.sum(axis=1).tolist() == pytest.approx([1, 1, 1])


def test_a_fourth_word_has_numbers_and_a_fifth_has_none():
    found = el.toy(["time", "flies", "arrow", "fast"])
    assert found.weights.shape == (4, 4)
    assert el.toy(q=np.eye(2), k=np.eye(2), v=np.eye(2)).words == ("time", "flies")
    assert el.toy(q=np.ones((5, 1)), k=np.ones((5, 1)), v=np.ones((5, 1))).words == ("x0", "x1", "x2", "x3", "x4")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {
                "q": [[1, 2], [3]],
            },
            "q must have rows of one length, got rows of 1 and of 2 numbers",
        ),
        ({"q": [[1, 2]] * 3, "k": [[1]] * 3}, "k must have rows of 2 numbers, as many as q's, got rows of 1"),
        ({"q": [[1, 2]] * 2, "k": [[1, 2]] * 3, "v": [[1]] * 2}, "k must have 2 rows, one for each token, got 3"),
        ({"v": [[np.nan]] * 3}, "v must have numbers from -1000 to 1000, got NaN"),
        ({"v": [[1e9]] * 3}, "v must have numbers from -1000 to 1000, got 1e+09"),
        ({"k": "abc"}, "k must have numbers, got 'abc'"),
        ({"q": 3}, "q must be a list of rows of numbers, got 3"),
        ({"q": [[[1]]]}, "q must have 1 to 8 rows of 1 to 4 numbers, got the shape (1, 1, 1)"),
        ({"q": np.ones((9, 1))}, "q must have 1 to 8 rows of 1 to 4 numbers, got the shape (9, 1)"),
        ({"q": np.ones((2, 5))}, "q must have 1 to 8 rows of 1 to 4 numbers, got the shape (2, 5)"),
        ({"words": []}, "words must be from 1 to 8 tokens, got 0"),
        ({"words": ["a"] * 9}, "words must be from 1 to 8 tokens, got 9"),
        ({"words": "time"}, "words must be a list of strings, got 'time'"),
        ({"words": ["a", " ", "b"]}, "words must have a letter each, got ' ' at index 1"),
        ({"words": ["a"] * 5}, "q must be given for more than 4 tokens, got 5 tokens without q; give q="),
        ({"words": ["one"], "mask": "padding"}, "mask must be None or causal for one word, got 'padding'; add a word"),
        ({"v": [[10**400]] * 3}, "v must have numbers from -1000 to 1000, got one beyond float64's"),
        ({"v": [[1j]] * 3}, "v must have numbers, got [[1j], [1j], [1j]]"),
        ({"v": np.ones((3, 1), complex)}, "v must have numbers, got array([[1.+0.j]"),
        ({"mask": np.ones((3, 3))}, 'mask must be "causal", "padding" or None, got array([[1., 1., 1.]'),
        ({"mask": "window"}, 'mask must be "causal", "padding" or None, got \'window\''),
        ({"scale": 0.5}, "scale must be True or False, got 0.5"),
    ],
)
def test_mistakes_are_named(given, message):
    with pytest.raises(QuestionError, match=re.escape(message)):
        el.toy(**given)


def test_it_prints_the_steps(say):
    code, out, err = say("toy")
    assert (code, err) == (0, "")
    assert "  flies    0.45    0.10    0.45" in out
    assert "flies gives 45% to time, 10% to flies, 45% to arrow." in out
    assert "2  ÷ √2 = ÷ 1.414" in out
    _, plain, _ = say("toy", "--no-scale", "--mask", "causal")
    assert "2  not divided by √2" in plain
    assert re.search(r"time     0\.00 +−∞ +−∞", plain)
    _, vietnamese, _ = say("--lang", "vi", "toy")
    assert "flies dành 45% cho time, 10% cho flies, 45% cho arrow." in vietnamese


def test_one_number_each_is_divided_by_1(say):
    _, out, _ = say("toy", "--words", "a b", "--q", "1;2", "--k", "1;0", "--v", "1;2")
    assert out.startswith("softmax(QKᵀ / √1) V\n")  # as the page says
    assert "2  ÷ √1 = ÷ 1.000" in out


def test_given_numbers(say):
    arguments = ["--words", "a,b", "--q", "1,0; 0,−1", "--k", "2 1;0 0.5", "--v", "1;-1"]
    _, out, _ = say("toy", *arguments, "--json")
    found = json.loads(out)
    assert found == el.toy(["a", "b"], q=[[1, 0], [0, -1]], k=[[2, 1], [0, 0.5]], v=[[1], [-1]]).document()
    assert found["scores"] == [[2.0, 0.0], [-1.0, -0.5]]
    code, out, err = say("toy", "--q", "1,x")
    assert (code, out) == (2, "")
    assert err == "eyeline: --q must have numbers, got 'x'; separate numbers by commas and rows by semicolons\n"
    assert "where a row is empty" in say("toy", "--q", "1;;2")[2]
    assert "give --q, a row for each token" in say("toy", "--words", "a b c d e")[2]


def test_a_narrow_or_plain_terminal():
    from eyeline.views.ink import Ink
    from eyeline.views.toy_terminal import toy

    eight = el.toy(list("abcdefgh"), q=np.eye(8, 2), k=np.eye(8, 2), v=np.eye(8, 2))
    narrow = "\n".join(line.plain for line in toy(eight, Ink("utf-8", 40)))
    assert "A wider terminal, --csv or --json show all columns." in " ".join(narrow.split())
    assert max(map(len, narrow.splitlines())) <= 40
    plain = "\n".join(line.plain for line in toy(el.toy(mask="causal"), Ink("ascii", 80)))
    assert plain.isascii()
    assert "\\u" not in plain
    assert "softmax(QK^T / sqrt 2) V" in plain
    assert re.search(r"arrow +sum$", plain, re.MULTILINE)


def test_wide_numbers_stay_apart(say):
    q, k, v = "1000,1000;-999.123,2;3,4", "1000,1000;-1000,-1000;999.5,1", "999.123,-1000;1,2;3,4"
    out = say("toy", "--q", q, "--k", k, "--v", v)[1]
    assert re.search(r"time +1000 +1000 +1000 +1000 +999\.123 +−1000$", out, re.MULTILINE)
    assert re.search(r"time +2000000\.00 +−2000000\.00 +1000500\.00$", out, re.MULTILINE)


def test_the_csv_has_every_step(say):
    _, out, _ = say("toy", "--csv")
    head, *lines = out.splitlines()
    assert f"`{head}`" in DOCS.read_text("utf-8")
    assert len(lines) == 9
    found = el.toy()
    cells = dict(zip(head.split(","), lines[3].split(","), strict=True))
    assert (cells["query"], cells["key"]) == ("flies", "time")
    assert float(cells["weight"]) == pytest.approx(found.weights[1, 0], rel=1e-6)
    assert float(cells["output1"]) == 1.0


def test_docs_name_every_key():
    section = DOCS.read_text("utf-8").split("## `eyeline.toy/1`")[1].split("\n# ")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(el.toy().document())


def test_a_notebook_s_drawing_escapes_words():
    markup = el.toy(["<b>x</b>", "b"], q=[[1], [2]], k=[[1], [2]], v=[[1], [2]])._repr_html_()
    assert "<b>x" not in markup
    assert "&lt;b&gt;x&lt;/b&gt;" in markup


def test_its_page_opens_on_it(tmp_path, say):
    page = toy_page(el.toy(mask="causal", scale=False))
    assert page.state["view"] == "toy"
    assert (
        page.state["toy"]
        == "time:0.5,-1.5:1.5,0.5:2,0;flies:1,1:0.4,-0.5:-1,1;arrow:0,-1:0.5,1.5:0,2/causal/unscaled/row1"
    )
    assert toy_text(el.toy(["a b&c", "ü:"], q=[[1], [0]], k=[[1], [2]], v=[[0], [0]]), 0) == (
        "a$20b$26c:1:1:0;ü$3a:0:2:0/row0"
    )
    code, _, err = say("toy", "--html", str(tmp_path / "toy.html"))
    assert (code, err.split()[-1]) == (0, str(tmp_path / "toy.html"))
    assert (tmp_path / "toy.html").stat().st_size < 700_000
