"""The types of the JSON documents that views draw and commands print. docs/json.md explains each key."""

from __future__ import annotations

from typing import TypedDict


class ModelEntry(TypedDict):
    name: str
    layers: int
    heads: int
    key_heads: int
    head_dim: int
    positions: int


class Token(TypedDict):
    index: int
    id: int
    piece: str
    text: str
    start: int | None
    end: int | None
    special: bool
    word: int | None


class Unit(TypedDict):
    """A word, a piece of one, or a special token: one bar of a chart, one row of a matrix."""

    index: int
    text: str
    start: int | None
    end: int | None
    tokens: list[int]
    set_aside: bool
    joins_before: bool
    joins_after: bool


class Look(TypedDict):
    unit: int
    text: str
    weight: float
    share: float | None
    hidden: bool


class HardHead(TypedDict):
    layer: int
    head: int
    unit: int
    text: str
    weight: float


class LayerCosine(TypedDict):
    layer: int | None
    cosine: float


class Received(TypedDict):
    unit: int
    text: str
    share: float


class Matrix(TypedDict):
    weights: list[list[float]]
    shares: list[list[float]]
    hidden: list[list[bool]] | None
    received: list[Received]


class StepKey(TypedDict):
    token: int
    text: str
    score: float
    scaled: float
    hidden: bool
    weight: float
    value_length: float
    contribution_length: float


class Steps(TypedDict):
    layer: int
    head: int
    key_head: int
    chosen: str
    token: int
    text: str
    query_length: float
    head_dim: int
    scale: float
    keys: list[StepKey]
    weight_sum: float
    output: list[float]
    output_length: float


class Run(TypedDict):
    name: str
    mask: str | None
    scale: float
    looks_at: list[Look] | None
    set_aside: float | None
    hardest_heads: list[HardHead] | None
    moved: list[LayerCosine] | None
    steps: Steps | None
    matrix: Matrix


class Question(TypedDict):
    token: str | None
    nth: int | None
    units: list[int]
    layer: int
    head: int | None
    unit: str
    special: bool
    mask: str | None


class Piece(TypedDict):
    token: int
    text: str
    joins_before: bool
    joins_after: bool


class NewToken(TypedDict):
    new: Piece
    probability: float
    by: Piece
    looks_at: list[Look]
    set_aside: float


class Generated(TypedDict):
    count: int
    temperature: float
    top_p: float | None
    seed: int | None
    prompt_tokens: int
    prompt_end: int
    ended: bool
    steps: list[NewToken]


class Explanation(TypedDict):
    schema: str
    version: str
    model: ModelEntry
    causal: bool
    text: str
    question: Question
    tokens: list[Token]
    units: list[Unit]
    shown: list[int]
    runs: list[Run]
    generated: Generated | None


class Side(TypedDict):
    name: str
    text: str
    token: str
    nth: int
    token_units: list[int]
    tokens: list[Token]
    units: list[Unit]
    shown: list[int]
    looks_at: list[Look]
    set_aside: float


class CompareQuestion(TypedDict):
    token: str
    layer: int
    head: int | None
    special: bool


class Comparison(TypedDict):
    schema: str
    version: str
    model: ModelEntry
    causal: bool
    question: CompareQuestion
    cosines: list[LayerCosine]
    sides: list[Side]


class RolloutQuestion(TypedDict):
    token: str | None
    nth: int | None
    units: list[int]
    layer: int
    unit: str
    special: bool


class Rollout(TypedDict):
    schema: str
    version: str
    model: ModelEntry
    text: str
    question: RolloutQuestion
    tokens: list[Token]
    units: list[Unit]
    shown: list[int]
    made_of: list[Look] | None
    set_aside: float | None
    matrix: Matrix | None


class MeasureEntry(TypedDict):
    name: str
    unit: str
    meaning: str
    source: str


class LabelEntry(TypedDict):
    label: str
    key: str
    measure: str
    above: float
    source: str


class HeadEntry(TypedDict):
    layer: int
    head: int
    label: str
    labels: list[str]
    entropy: float | None
    distance: float | None
    previous: float | None
    next: float | None
    same: float | None
    first: float | None
    special: float | None
    separator: float | None
    punctuation: float | None
    sink: float | None
    induction: float | None


class Heads(TypedDict):
    schema: str
    version: str
    model: ModelEntry
    causal: bool
    text: str
    token_count: int
    whole_count: int
    special_tokens: list[str]
    punctuation_tokens: list[str]
    sink_tokens: int
    repeated_tokens: int
    repeated_draws: int
    measures: list[MeasureEntry]
    labels: list[LabelEntry]
    heads: list[HeadEntry]
