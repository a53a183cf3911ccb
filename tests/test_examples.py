"""The examples, cut short: what they are to learn from is right, the loss falls, and they print what they promise."""

from __future__ import annotations

import datetime
import random
import statistics
import sys

import pytest
import torch

from examples import corpora, dates, recall, written_dates

DAYS = [datetime.date(1999, 12, 31), datetime.date(2021, 3, 3), datetime.date(1900, 1, 11)]


@pytest.mark.parametrize("form", range(written_dates.FORMS))
@pytest.mark.parametrize("day", DAYS)
def test_each_letter_of_a_date_is_said_to_belong_where_it_does(day, form):
    example = dates.write(day, form)
    assert example.answer == day.isoformat()
    assert len(example.parts) == len(example.text)
    said = ["".join(c for c, part in zip(example.text, example.parts, strict=True) if part == at) for at in range(3)]
    assert said[0].rstrip("stndrh").lstrip("0") == str(day.day)
    assert said[1].capitalize() in (f"{day:%B}", f"{day:%b}", f"{day:%m}", str(day.month))
    assert said[2] == str(day.year)


def test_dates_to_learn_from_and_held_out_are_apart():
    learned, held_out = dates.dates(seed=0)
    assert len(held_out) == 2000
    assert not set(learned) & set(held_out)
    assert len(set(learned) | set(held_out)) == (written_dates.LAST - written_dates.FIRST).days + 1


def test_every_letter_of_every_form_is_one_that_the_model_knows():
    texts = [dates.write(day, form).text for day in DAYS for form in range(written_dates.FORMS)]
    assert len(set(texts)) > 80
    assert set("".join(texts)) <= set(dates.LETTERS)
    assert max(map(len, texts)) <= dates.READ


def test_the_dates_are_learned_and_drawn():
    torch.manual_seed(0)
    model = dates.Rewriter(width=32, heads=2)
    losses = dates.train(model, DAYS, steps=30)
    assert statistics.mean(losses[-5:]) < 0.6 * statistics.mean(losses[:5])
    examples = [dates.write(day, form) for form, day in enumerate(DAYS)]
    batch = dates.gather(examples)
    digits, seen = model(batch)
    assert digits.shape == (3, dates.WRITTEN, len(dates.LETTERS))
    assert seen.weights.shape == (3, 2, dates.WRITTEN, max(batch.lengths))
    assert all(len(answer) <= dates.WRITTEN * len("[START]") for answer in model.rewrite(batch))
    assert dates.looks(model, examples).shape == (dates.WRITTEN, 3)
    lines = dates.picture(model, examples[0]).splitlines()
    assert lines[0].startswith("    31st of December, 1999")
    assert [line[2] for line in lines[1:]] == list("1999-12-31")


@pytest.mark.parametrize("names", [4, 40])
def test_the_answer_is_what_the_name_was_given(names):
    lists = recall.draw(names, torch.Generator().manual_seed(0))
    asked = min(names, recall.ASKED)
    assert lists.names.shape == lists.values.shape == (recall.TOKENS // (names + asked), names + asked)
    for row in range(3):
        given = dict(zip(lists.names[row, :names].tolist(), lists.values[row, :names].tolist(), strict=True))
        assert len(given) == names
        assert [given[name] for name in lists.names[row, names:].tolist()] == lists.answers[row].tolist()
    assert (lists.values[:, names:] == recall.VALUES).all()


@pytest.mark.parametrize("make", [recall.attention, recall.recurrent])
def test_either_model_recalls_better_as_it_learns(make, monkeypatch):
    monkeypatch.setattr(recall, "TOKENS", 2048)
    torch.manual_seed(0)
    model = make()
    losses, _ = recall.train(model, steps=25)
    assert statistics.mean(losses[-5:]) < 0.95 * statistics.mean(losses[:5])
    assert 0 <= recall.recall(model, 4) <= 1


def test_lists_grow_when_those_at_hand_are_mastered():
    course = recall.Course()
    course.after([0.1] * 4)
    assert course.names == 4
    course.after([0.1] * 5)
    assert (course.names, course.since) == (6, 5)
    course.after([0.1] * 9)
    assert course.names == 6
    course = recall.Course(names=recall.LONGEST)
    course.after([0.1] * 5)
    assert course.names == recall.LONGEST


@pytest.mark.parametrize(
    ("example", "says"),
    [
        (dates, ["held-out dates are right", "while it writes the year"]),
        (recall, ["Right answers", "came to"]),
    ],
)
def test_the_scripts_run_from_start_to_end(example, says, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["example", "--steps", "2", "--seed", "3"])
    if example is recall:
        monkeypatch.setattr(recall, "LENGTHS", (4, 8))
        monkeypatch.setattr(recall, "COSTS", (16, 32))
    else:
        monkeypatch.setattr(dates, "dates", lambda seed: (DAYS, random.Random(seed).sample(DAYS, 3)))
    example.main()
    printed = capsys.readouterr().out
    for words in says:
        assert words in printed


def test_verses_become_chapters_and_the_documents_that_are_chosen_keep_their_order():
    lines = [
        ("01:001:001", "In the beginning"),
        ("01:001:002", "and the earth"),
        ("01:002:001", "Thus"),
        ("02:001:001", "Now"),
    ]
    every = corpora.chapters(lines)
    assert every == [("01:001", "In the beginning\nand the earth"), ("01:002", "Thus"), ("02:001", "Now")]
    two = corpora.chosen(every, 2)
    assert two == [one for one in every if one in two]
    assert len(two) == 2
    assert corpora.chosen(reversed(every), 2) == two[::-1]
    assert corpora.chosen(every, None) == every


def test_the_corpus_of_code_is_of_python_files_with_text():
    named = dict(corpora.python_files())
    assert {name.split()[0] for name in named} == set(corpora.CODE)
    assert all(name.endswith(".py") and text.strip() for name, text in named.items())
