"""Merging parts: what each column is, whatever blocks documents are shared out in; in memory that doesn't grow."""

from __future__ import annotations

import gc
import hashlib
import json
import weakref
from dataclasses import replace

import numpy as np
import pyarrow.parquet as parquet
import pytest

from eyeline.surveys import SurveyError
from eyeline.surveys.best_examples import best, ranked_examples
from eyeline.surveys.folder import SurveyFolder
from eyeline.surveys.merging import merge
from eyeline.surveys.parts import read_part, write_part
from eyeline.surveys.scales import NEXT, POSITION_EDGES, PREVIOUS, SAME, TYPES
from eyeline.surveys.table_files import write_tables
from eyeline.surveys.tally import MEASURES, BlockTally
from tests.surveys import made_examples, made_survey, made_tally

L, H = 2, 3
INFO = {
    "model": {"name": "tiny", "layers": L, "heads": H, "causal": False},
    "settings": {"window": 512, "largest": 4, "sample": 4},
    "induction": None,
}
MEANS = ("entropy", "distance", "previous", "next", "same", "first", "special", "separator", "punctuation")


def tallies(count=4, documents=5, seed=0) -> list[BlockTally]:
    random = np.random.default_rng(seed)
    return [made_tally(random, L, H, range(n * documents, (n + 1) * documents), 6) for n in range(count)]


def parts(found):
    return (read_part(write_part(tally, "", number)) for number, tally in enumerate(found))


def merged(found, **changes):
    return merge(parts(found), INFO | changes)


def column(table, name):
    return np.array(table.column(name).to_pylist(), float)


def joined(one: BlockTally, other: BlockTally) -> BlockTally:
    """The tally of two blocks as one."""
    names = ("entropy", "distance", "entropy_squares", "offsets", "entropies", "largest", "special")
    groups = dict(one.groups)
    for key, more in other.groups.items():
        mine = groups.get(key)
        groups[key] = more if mine is None else replace(
            mine, count=mine.count + more.count, entropy=mine.entropy + more.entropy,
            distance=mine.distance + more.distance, received=mine.received + more.received,
            to={name: sums + more.to[name] for name, sums in mine.to.items()},
        )  # fmt: skip
    return BlockTally(
        one.tokens + other.tokens, one.text_tokens + other.text_tokens, one.documents + other.documents,
        **{name: getattr(one, name) + getattr(other, name) for name in names}, groups=groups,
        examples=one.examples + other.examples, skipped=one.skipped + other.skipped,
    )  # fmt: skip


def test_measures_are_means_over_all_counted_tokens():
    found = tallies()
    tokens = sum(tally.tokens for tally in found)

    def mean(of):
        return sum(of(tally) for tally in found).ravel() / tokens

    def on(kind):
        return mean(lambda tally: sum(group.to[kind] for group in tally.groups.values()))

    heads = merged(found).heads
    expected = {
        "entropy": mean(lambda tally: tally.entropy),
        "distance": mean(lambda tally: tally.distance),
        "previous": mean(lambda tally: tally.offsets[..., PREVIOUS]),
        "next": mean(lambda tally: tally.offsets[..., NEXT]),
        "same": mean(lambda tally: tally.offsets[..., SAME]),
        "first": on("first"),
        "special": mean(lambda tally: tally.special),
        "separator": on("special"),
        "punctuation": on("punctuation"),
    }
    assert set(expected) == set(MEANS)
    for name, values in expected.items():
        np.testing.assert_allclose(column(heads, name), values, rtol=1e-12, err_msg=name)
    assert heads.select(["layer", "head"]).to_pylist() == [{"layer": n // H, "head": n % H} for n in range(L * H)]


def test_deviations_are_over_the_documents_that_have_a_number():
    found = tallies()
    heads = merged(found).heads
    documents = [one for tally in found for one in tally.documents]
    for name in MEASURES:
        chosen = [one for one in documents if name != "sink" or one.tokens >= 64]
        values = np.array([one.measures[name] for one in chosen], np.float64).reshape(len(chosen), -1)
        np.testing.assert_allclose(column(heads, f"{name}_sd"), np.nanstd(values, axis=0), rtol=1e-12, err_msg=name)


def test_the_deviation_over_tokens_is_that_of_the_entropy():
    found = tallies(1)
    tokens = found[0].tokens
    variance = found[0].entropy_squares / tokens - (found[0].entropy / tokens) ** 2
    np.testing.assert_allclose(column(merged(found).heads, "entropy_token_sd"), np.sqrt(variance).ravel(), rtol=1e-12)


def test_the_sink_is_a_mean_over_documents_of_at_least_64_tokens():
    found = tallies()
    long = [one for tally in found for one in tally.documents if one.tokens >= 64]
    assert 0 < len(long) < 20
    expected = np.mean([one.measures["sink"] for one in long], axis=0, dtype=np.float64).ravel()
    whole = merged(found)
    np.testing.assert_allclose(column(whole.heads, "sink"), expected, rtol=1e-6)
    assert next(kind.above for kind in whole.labels if kind.key == "sink") == 0.3


@pytest.mark.parametrize("why", ["short documents", "a short window"])
def test_without_documents_of_64_tokens_the_sink_is_of_all_and_takes_more(why):
    found = tallies()
    settings = INFO["settings"]
    if why == "short documents":
        found = [replace(one, documents=[replace(own, tokens=63) for own in one.documents]) for one in found]
    else:
        settings = settings | {"window": 63}
    every = [own for one in found for own in one.documents]
    expected = np.mean([one.measures["sink"] for one in every], axis=0, dtype=np.float64).ravel()
    whole = merged(found, settings=settings)
    np.testing.assert_allclose(column(whole.heads, "sink"), expected, rtol=1e-6)
    assert next(kind.above for kind in whole.labels if kind.key == "sink") == 0.6


def test_distributions_are_shares_and_means():
    found = tallies()
    whole = merged(found)
    for name in ("offsets", "entropies", "largest", "to"):
        np.testing.assert_allclose(column(whole.heads, name).sum(axis=1), 1, rtol=1e-9, err_msg=name)
    received = column(whole.heads, "received")
    for place, kind in enumerate(whole.types):
        groups = [tally.groups[key] for tally in found for key in tally.groups if key[0] == kind]
        expected = sum(group.received for group in groups).ravel() / sum(group.count for group in groups)
        np.testing.assert_allclose(received[:, place], expected, rtol=1e-12)


def test_tokens_are_means_over_each_group():
    found = tallies()
    rows = merged(found).tokens.to_pylist()
    keys = {key for tally in found for key in tally.groups}
    assert len(rows) == L * H * len(keys)
    places = [(row["layer"], row["head"], TYPES.index(row["type"]), row["position"]) for row in rows]
    assert places == sorted(places)
    for row in rows:
        start = int(np.flatnonzero(row["position"] == POSITION_EDGES)[0])
        groups = [tally.groups[key] for tally in found for key in tally.groups if key == (row["type"], start)]
        assert row["count"] == sum(group.count for group in groups)
        at = row["layer"], row["head"]
        assert row["entropy"] == pytest.approx(sum(group.entropy[at] for group in groups) / row["count"], rel=1e-12)
        to = [sum(group.to[kind][at] for group in groups) / row["count"] for kind in TYPES]
        assert row["to"] == pytest.approx(to, rel=1e-12)


def test_documents_split_otherwise_give_the_same_numbers_and_the_same_examples():
    found = tallies(4)
    apart = merged(found)
    for other in ([joined(*found[:2]), *found[2:]], [found[0], joined(joined(*found[1:3]), found[3])]):
        whole = merged(other)
        assert whole.examples.equals(apart.examples)
        assert whole.heads.column("kinds").equals(apart.heads.column("kinds"))
        for name in (*MEASURES, *(f"{name}_sd" for name in MEASURES), "offsets", "to", "received"):
            one, two = column(whole.heads, name), column(apart.heads, name)
            np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-12, err_msg=name)
        assert whole.counts | {"blocks_done": 4} == apart.counts
        assert whole.skipped.as_json() == apart.skipped.as_json()


def test_sums_are_added_in_the_order_of_the_blocks():
    found = tallies(3)
    for tally, value in zip(found, (1.0, 1e16, -1e16), strict=True):
        tally.entropy[:] = value
    tokens = sum(tally.tokens for tally in found)
    expected = (1.0 + 1e16 - 1e16) / tokens
    assert column(merged(found).heads, "entropy").tolist() == [expected] * (L * H)


def test_parts_out_of_order_are_refused():
    first, second = parts(tallies(2))
    with pytest.raises(SurveyError, match="parts must be in the order of their blocks, got 0 after 1"):
        merge(iter([second, first]), INFO)


def test_a_part_of_another_model_is_refused():
    with pytest.raises(SurveyError, match="part 0 must be of a model of 2 layers of 4 heads, got 2 × 3"):
        merged(tallies(1), model=INFO["model"] | {"heads": 4})


def test_kinds_are_those_of_the_merged_measures():
    found = tallies(2)
    for tally in found:
        tally.offsets[:] = 0
        tally.offsets[0, 1, PREVIOUS] = 0.7 * tally.tokens
        tally.entropy[:] = tally.tokens
        tally.entropy[0, 1] = 4 * tally.tokens
        for own in tally.documents:
            own.measures["sink"][:] = 0
        for group in tally.groups.values():
            group.to = {name: sums * 0 for name, sums in group.to.items()}
            group.to["punctuation"] = np.full((L, H), 0.0)
            group.to["punctuation"][1, 2] = 0.61 * group.count
    scores = np.zeros((L, H))
    scores[1, 0] = 0.9
    causal = INFO["model"] | {"causal": True}
    heads = merged(found, induction={"scores": scores.tolist()}, model=causal).heads
    assert heads.column("kinds").to_pylist() == [
        ["mixed"], ["previous token", "broad"], ["mixed"], ["induction"], ["mixed"], ["punctuation"],
    ]  # fmt: skip
    assert heads.column("kind").to_pylist()[1] == "previous token"
    assert column(heads, "induction").tolist() == scores.ravel().tolist()
    both = merged(found, induction={"scores": scores.tolist()}).heads
    assert both.column("kind").to_pylist()[3] == "mixed"  # only causal models have induction heads


def test_a_user_s_labels_count_as_their_types():
    plain = tallies(1)
    split = [replace(plain[0], groups={})]
    for (kind, at), group in plain[0].groups.items():
        to = {name: sums for name, sums in group.to.items() if name != "punctuation"}
        to |= {"punctuation": group.to["punctuation"] / 4, "punctuation/quote": group.to["punctuation"] * 0.75}
        split[0].groups[("punctuation/quote" if kind == "punctuation" else kind, at)] = replace(group, to=to)
    one, other = merged(plain), merged(split)
    assert one.types == TYPES
    assert other.types == (*TYPES, "punctuation/quote")
    np.testing.assert_allclose(column(other.heads, "punctuation"), column(one.heads, "punctuation"), rtol=1e-12)
    assert np.isnan(column(other.heads, "received")[:, TYPES.index("punctuation")]).all()
    of = column(other.heads, "to")
    np.testing.assert_allclose(of[:, -1], 3 * of[:, TYPES.index("punctuation")])


def test_a_measure_that_no_document_has_is_nan_and_one_that_some_have_is_not():
    found = tallies(2)
    for tally in found:
        for own in tally.documents:
            own.measures["special"][:] = np.nan
    for own in found[0].documents:
        own.measures["punctuation"][:] = np.nan
    heads = merged(found).heads
    assert np.isnan(column(heads, "special")).all()
    assert np.isnan(column(heads, "special_sd")).all()
    assert np.isfinite(column(heads, "punctuation")).all()
    assert np.isfinite(column(heads, "punctuation_sd")).all()


@pytest.mark.parametrize("found", [[], tallies(1, 0)], ids=["no parts", "a part of no documents"])
def test_a_survey_of_no_documents_has_no_numbers(found):
    whole = merged(found)
    assert whole.counts == {"blocks_done": len(found), "documents": 0, "tokens": 0, "text_tokens": 0, "windows": 0}
    assert whole.heads.column("kind").to_pylist() == ["mixed"] * (L * H)
    assert np.isnan(column(whole.heads, "entropy")).all()
    assert np.isnan(column(whole.heads, "entropy_token_sd")).all()
    assert (whole.tokens.num_rows, whole.examples.num_rows) == (0, 0)


def test_the_best_examples_are_kept_whatever_tables_they_come_in():
    found = tallies(3)
    every = [example for tally in found for example in tally.examples]
    kept = merged(found).examples.to_pylist()
    for layer, head in np.ndindex(L, H):
        for sort in ("largest", "sample"):
            own = [one for one in every if (one.layer, one.head, one.sort) == (layer, head, sort)]
            own.sort(key=lambda one: (-one.weight if one.sort == "largest" else 0, one.order))
            here = [row for row in kept if (row["layer"], row["head"], row["sort"]) == (layer, head, sort)]
            assert [row["rank"] for row in here] == [0, 1, 2, 3]
            assert [(row["order"], row["document"]) for row in here] == [(one.order, one.document) for one in own[:4]]


def test_equal_weights_are_ordered_by_their_hashes_and_equal_looks_by_their_blocks():
    made = made_examples(np.random.default_rng(0), 1, 1, [0], 3)
    largest = [replace(one, weight=0.5, order=order) for one, order in zip(made[:3], (7, 2**64 - 1, 7), strict=True)]
    largest[2] = replace(largest[2], document=9)
    tables = [read_part(write_part(replace(made_tally(np.random.default_rng(0), 1, 1, [0]), examples=[one]), "", 0))
              for one in largest]  # fmt: skip
    rows = ranked_examples(best([part.examples for part in tables], 3, 3)).to_pylist()
    assert [(row["order"], row["document"], row["rank"]) for row in rows] == [(7, 0, 0), (7, 9, 1), (2**64 - 1, 0, 2)]
    rows = ranked_examples(best([part.examples for part in tables], 0, 3)).to_pylist()
    assert rows == []


def test_one_part_is_held_at_a_time_and_the_totals_do_not_grow():
    held, most, seen = weakref.WeakSet(), 0, 0
    data = [write_part(tally, "", 0) for tally in tallies(2)]

    def counted():
        nonlocal most, seen
        for number in range(40):
            part = replace(read_part(data[number % 2]), number=number)
            held.add(part)
            gc.collect(0)
            most, seen = max(most, len(held)), seen + 1
            yield part
            del part

    whole = merge(counted(), INFO)
    assert (seen, most) == (40, 2)  # the part that was merged last is let go when the next is read
    assert whole.examples.num_rows == L * H * 8


def test_two_merges_write_the_same_bytes(tmp_path):
    hashes = []
    for name in ("one", "other"):
        made_survey(tmp_path / name, layers=2, heads=3, documents=9, examples=5)
        files = sorted(path for path in (tmp_path / name).rglob("*.parquet"))
        hashes.append({file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files})
    assert hashes[0] == hashes[1]
    assert set(hashes[0]) == {
        "000000.parquet", "000001.parquet", "000002.parquet", "examples.parquet", "heads.parquet", "tokens.parquet",
    }  # fmt: skip


def test_a_row_group_holds_rows_of_one_head(tmp_path):
    folder = SurveyFolder(tmp_path)
    found = made_tally(np.random.default_rng(0), L, H, range(4), 600)
    whole = merged([found], settings={"window": 512, "largest": 600, "sample": 600})
    write_tables(folder, whole)
    for name, groups in (("examples.parquet", L * H * 2), ("tokens.parquet", L * H)):
        file = parquet.ParquetFile(tmp_path / name)
        about = json.loads(file.schema_arrow.metadata[b"eyeline"])
        assert (about["format"], about["scales"]["types"]) == ("eyeline.survey/1", list(TYPES))
        assert file.metadata.num_row_groups == groups
        for number in range(groups):
            rows = file.read_row_group(number)
            assert 0 < rows.num_rows <= 1024
            assert len(set(zip(*(rows.column(of).to_pylist() for of in ("layer", "head")), strict=True))) == 1
