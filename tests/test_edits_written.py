"""Edits in words: read and written, and every wrong form's error."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyeline import edits as ed
from eyeline.edits import EditError, MeanOutputs, parse, words_of
from eyeline.edits.selection import indices, selected
from eyeline.edits.written_places import sites_of, sites_words, tokens_of, tokens_words

MEANS = MeanOutputs("m", 3, {"encoder self": np.zeros((6, 12, 4), np.float32)})
#: A form, as it is written, and the edit.
FORMS = [
    ("cut L5H3 flies>time", ed.Cut(layer=5, head=3, queries="flies", keys="time")),
    ("cut L5H3 flies>", ed.Cut(layer=5, head=3, queries="flies")),
    ("cut L5H3 >#0", ed.Cut(layer=5, head=3, keys=0)),
    ("cut all >", ed.Cut()),
    ("cut H3 #2->#2-5,time", ed.Cut(head=3, queries=slice(2, None), keys=[2, 3, 4, 5, "time"])),
    ("reweight L5H3 flies>time,like 0.5", ed.Reweight(layer=5, head=3, queries="flies", keys=["time", "like"], by=0.5)),
    (
        'reweight L5H3 "New York">"a \\"b\\\\",5 0',
        ed.Reweight(layer=5, head=3, queries="New York", keys=['a "b\\', "5"]),
    ),
    ("uniform L5H3,L5H4", ed.Uniform(layer=5, head=[3, 4])),
    ("uniform decoder L0", ed.Uniform(layer=0, kind="decoder self")),
    ("gate cross L0H1 0", ed.Gate(layer=0, head=1, kind="cross")),
    ("gate encoder L0-2 -0.25", ed.Gate(layer=slice(0, 3), by=-0.25, kind="encoder self")),
    ("gate L1H0-3 0,1,0.1", ed.Gate(layer=1, head=slice(0, 4), by=[0, 1, 0.1])),
    ("gate L1H0 0.5,", ed.Gate(layer=1, head=0, by=[0.5])),
    ("mean L5H3", ed.MeanOutput(MEANS, layer=5, head=3)),
]
place = st.integers(0, 9)
word = st.one_of(
    st.text(min_size=1, max_size=5), st.sampled_from(["flies", "#2", "a>b", "3", "New York", '"', "\\", ","])
)
ranges = st.builds(lambda first, more: slice(first, first + more), place, st.integers(1, 4))
to_the_end = st.builds(lambda first: slice(first, None), place)
number = st.one_of(st.none(), place, ranges, to_the_end, st.lists(place, min_size=1, max_size=4))
tokens = st.one_of(number, word, st.lists(st.one_of(place, word), min_size=1, max_size=4))
by = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.lists(st.floats(-2, 2), min_size=1, max_size=3),
)
kind = st.sampled_from([None, "encoder self", "decoder self", "cross"])


def alike(one, other):
    """Whether two selections are of the same among 20."""
    if isinstance(one, str) or isinstance(other, str):
        one, other = ((x,) if isinstance(x, (int, str)) else x for x in (one, other))
    if any(isinstance(x, tuple) and any(isinstance(y, str) for y in x) for x in (one, other)):
        return set(one) == set(other)
    at = np.arange(20)[None]
    return (selected("x", one, at) == selected("x", other, at)).all()


def same(one, other):
    assert type(one) is type(other)
    assert one.kind == other.kind
    for name in ("layer", "head"):
        assert indices(name, getattr(one, name), 20) == indices(name, getattr(other, name), 20)
    for name in ("queries", "keys"):
        assert alike(getattr(one, name, None), getattr(other, name, None))
    np.testing.assert_array_equal(getattr(one, "by", 0), getattr(other, "by", 0))
    assert np.ndim(getattr(one, "by", 0)) == np.ndim(getattr(other, "by", 0))
    assert getattr(one, "means", None) is getattr(other, "means", None)


@pytest.mark.parametrize(("words", "edit"), FORMS, ids=[words for words, _ in FORMS])
def test_a_form_reads_as_its_edit(words, edit):
    same(parse(words, MEANS), edit)
    same(parse(words_of(edit), MEANS), edit)


@pytest.mark.parametrize("words", [words for words, _ in FORMS if "#2-5,time" not in words and "0-3" not in words])
def test_what_is_read_is_written_alike(words):
    assert words_of(parse(words, MEANS)) == words


def test_a_factor_may_be_left_out_and_letters_be_large_or_small():
    same(parse("Gate l5h3"), ed.Gate(layer=5, head=3, by=0.0))
    same(parse("reweight L5H3 >#0"), ed.Reweight(layer=5, head=3, keys=0, by=0.0))
    same(parse("gate L0H0,L0H1,L2H0,L2H1"), ed.Gate(layer=[0, 2], head=[0, 1]))


@given(kind, number, number, tokens, tokens, by)
def test_whatever_is_written_reads_back(kind, layer, head, queries, keys, by):
    at = {"layer": layer, "head": head, "kind": kind}
    for edit in (
        ed.Cut(queries=queries, keys=keys, **at),
        ed.Reweight(queries=queries, keys=keys, by=by, **at),
        ed.Uniform(**at),
        ed.Gate(by=by, **at),
        ed.MeanOutput(MEANS, **at),
    ):
        words = words_of(edit)
        same(parse(words, MEANS), edit)
        assert words_of(parse(words, MEANS)) == words


@given(st.text(max_size=12), st.sampled_from(["", "cut ", "cut L5H3 ", "gate L1H2 ", "reweight all >", "uniform "]))
def test_any_text_is_an_edit_or_an_error_of_edits(text, before):
    try:
        found = parse(before + text, MEANS)
    except EditError:
        return
    same(parse(words_of(found), MEANS), found)


def test_a_list_of_numbers_is_written_without_repeats():
    assert sites_words((3, 5), slice(0, 2), None) == "L3H0-1,L5H0-1"
    assert sites_of("L3H0-1,L5H0-1") == ((3, 5), slice(0, 2))
    assert sites_of("L3,L4-5") == ((3, 4, 5), None)
    assert tokens_words(slice(None, 3), None) == "#0-2"
    assert tokens_words(slice(1, 8, 3), None) == "#1,#4,#7"
    assert tokens_of("#1,#1-2,#4>") == ((1, 2, 4), None)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "edit must be an edit in words, got ''; such as 'cut L5H3 flies>time'"),
        (3, "edit must be an edit in words, got 3"),
        ("snip L5H3", "edit must be one of cut, reweight, uniform, gate, mean, got 'snip L5H3'; such as"),
        ("pattern L5H3", "which takes another run; write it in Python, with edits="),
        ("cut", "edit must be cut and heads, got 'cut'"),
        ("gate cross", "edit must be gate and heads, got 'gate cross'; such as 'gate L5H3 0.5'"),
        ('cut L5H3 "flies>time', "edit must be words whose quotes are closed"),
        ("cut 5.3 >", "heads must be L5H3, L5, H3 or all, several with commas, got '5.3', in 'cut 5.3 >'"),
        ("gate L5H3,", "heads must be L5H3, L5, H3 or all, several with commas, got ''"),
        ("gate L5H3,L6H4", "heads must be the same ones in each layer, got 'L5H3,L6H4'; write two edits"),
        ("gate L5-,L2", "layers must be all, or a range to the end, or several, got a mix of these"),
        ("cut L5H3", "tokens must be queries>keys, without spaces (> alone for all), got ''"),
        ("cut L5H3 flies > time", "tokens must be queries>keys, without spaces (> alone for all), got 'flies'"),
        ("cut L5H3 flies>time>like", "tokens must stand with commas between them, got '>like'"),
        ("cut L5H3 flies,>time", "tokens must have a word or a position after each comma"),
        ("cut L5H3 flies>time,", "tokens must have a word or a position after each comma"),
        ("cut L5H3 #x>time", "tokens must be words or positions such as #2 and #2-5"),
        ("cut L5H3 #5-2>time", "a range must go up, got '5-2'"),
        ("cut L5H3 #2-,time>", "tokens must be all, or a range to the end, or several, got a mix of these"),
        ("cut L5H3 flies>time 0.5", "cut must have nothing after it but cut L5H3 flies>time, got '0.5'"),
        ("gate L5H3 half", "by must be a number, or one per position with commas, got 'half'"),
        ("cut L5 #0-999999999,#1>#2", "tokens must be at most 100000 in several ranges, got 1000000000"),
        ("gate L0-999999999,L1", "must be at most 100000 in several ranges, got 1000000000"),
        ("gate L5H3 nan", "by must be a finite number, or one per position, got nan"),
        ("gate L5H3 0.5 0.5", "gate must have nothing after it but gate L5H3 0.5, got '0.5'"),
    ],
)
def test_a_wrong_form_says_what_is_wrong(words, said):
    with pytest.raises(EditError) as caught:
        parse(words)
    assert said in str(caught.value)


def test_a_mean_needs_its_means():
    with pytest.raises(EditError, match=r"means must be given for mean; say over which texts, with --over FILE, in"):
        parse("mean L5H3")


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (ed.Patch(object(), "q", layer=5), "edit must be one that words can say, got Patch"),
        (ed.Pattern(object(), layer=5), "edit must be one that words can say, got Pattern"),
        (ed.Cut(queries=[]), "edit must choose something to be written in words, got Cut"),
        (ed.Cut(keys=slice(3, 3)), "edit must choose something to be written in words, got Cut"),
        (ed.Cut(keys=slice(-2, None)), "edit must choose from the front to be written in words, got Cut"),
        (ed.Gate(head=slice(None, None, 2)), "edit must choose from the front to be written in words, got Gate"),
    ],
)
def test_what_words_cannot_say_is_refused(edit, said):
    with pytest.raises(EditError) as caught:
        words_of(edit)
    assert said in str(caught.value)
