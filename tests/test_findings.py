"""docs/what-heads-do.md says what the surveys beside it hold."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import eyeline as el

DOCS = Path(__file__).parent.parent / "docs"
PAGE = " ".join((DOCS / "what-heads-do.md").read_text("utf-8").split())
NAMES = ["minilm-prose", "minilm-code", "smollm2-prose", "smollm2-code"]
COLUMNS = [
    "broad",
    "first-token sink",
    "previous token",
    "next token",
    "same token",
    "punctuation",
    "induction",
    "mixed",
]


@pytest.fixture(scope="module")
def surveys():
    return {name: el.load_survey(DOCS / "surveys" / name) for name in NAMES}


def heads(surveys, name):
    return surveys[name].heads().set_index(["layer", "head"])


@pytest.mark.parametrize("name", NAMES)
def test_the_table_counts_the_kinds(surveys, name):
    info, kinds = surveys[name].info, surveys[name].heads()["kind"].value_counts()
    numbers = [f"{info['counts'][what]:,}" for what in ("documents", "tokens")]
    numbers += [str(kinds.get(kind, 0)) for kind in COLUMNS]
    model, corpus = name.split("-")
    assert f"| {model}, {corpus} | {' | '.join(numbers)} |" in PAGE


@pytest.mark.parametrize("name", NAMES)
def test_a_survey_in_the_docs_is_whole_and_names_no_place_of_a_machine(surveys, name):
    assert surveys[name].info["state"] == "complete"
    assert [file["path"] for file in surveys[name].info["corpus"]["files"]] == [f"corpora/{name.split('-')[1]}.jsonl"]
    assert "/home" not in (DOCS / "surveys" / name / "survey.json").read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "head", "column", "says"),
    [
        (
            "minilm-prose",
            (0, 2),
            "previous",
            "L0H2 gives 81% of its weight to the previous token in prose and 82% in code",
        ),
        ("minilm-code", (0, 2), "previous", "in prose and 82% in code"),
        ("minilm-prose", (1, 8), "next", "L1H8 gives 65% and 61% to the next one"),
        ("minilm-code", (1, 8), "next", "65% and 61% to the next one"),
        ("smollm2-prose", (16, 0), "previous", "L16H0 gives 81% to the previous token in prose"),
        ("smollm2-prose", (11, 6), "same", "L11H6 (71%)"),
        ("smollm2-prose", (29, 1), "same", "L29H1 (58%)"),
        ("minilm-prose", (0, 5), "punctuation", "mixed in prose, where it gives 26% to punctuation"),
        ("minilm-code", (0, 5), "punctuation", "a punctuation head in code, with 63%"),
        ("smollm2-prose", (1, 1), "punctuation", "L1H1 that looks at punctuation, with 69% in prose"),
        ("smollm2-code", (1, 1), "punctuation", "69% in prose and 72% in code"),
        *(
            ("smollm2-prose", head, "induction", f"L{head[0]}H{head[1]} ({share}%)")
            for head, share in {(18, 6): 89, (17, 3): 79, (17, 4): 76, (17, 5): 64, (18, 7): 61, (23, 2): 52}.items()
        ),
    ],
)
def test_a_share_in_the_text_is_the_survey_s(surveys, name, head, column, says):
    assert says in PAGE
    assert f"{heads(surveys, name).loc[head, column]:.0%}" in re.findall(r"\d+%", says)


def test_what_is_said_of_all_heads(surveys):
    prose, code, decoder = (heads(surveys, name) for name in NAMES[:3])
    assert "punctuation takes 14% in prose and 37% in code" in PAGE
    assert [f"{one['punctuation'].mean():.0%}" for one in (prose, code)] == ["14%", "37%"]
    types = surveys["minilm-prose"].types
    to = np.array(prose["to"].tolist())[:, types.index("capital")]
    assert "L5H5 gives 22% of its weight in prose to tokens that begin with a capital, where heads give 10% on" in PAGE
    assert (f"{to[5 * 12 + 5]:.0%}", f"{to.mean():.0%}") == ("22%", "10%")
    sinks = [set(one.index[one["kind"] == "first-token sink"]) for one in (prose, code)]
    assert "In code 12 more of minilm's heads are sinks than in prose: none of prose's 16 is lost" in PAGE
    assert sinks[0] < sinks[1]
    assert [len(some) for some in sinks] == [16, 28]
    sink = decoder["sink"]
    assert "at most 14%" in PAGE
    assert f"{sink.loc[10:11].max():.0%}" == "14%"
    assert "which give 44% on average, and layers 12 to 29 with 60%" in PAGE
    assert [f"{sink.loc[first:last].mean():.0%}" for first, last in ((3, 9), (12, 29))] == ["44%", "60%"]
    assert "with an entropy of 0.002 nats" in PAGE
    assert f"{decoder.loc[(18, 8), 'entropy']:.3f}" == "0.002"
    assert "in code as in prose: L1H2, L2H1, L11H1 and L19H3" in PAGE
    for one in (decoder, heads(surveys, "smollm2-code")):
        assert set(one.index[one["previous"] > 0.5]) == {(1, 2), (2, 1), (11, 1), (16, 0), (19, 3)}
