"""Five things that people want to know, each found in at most three actions, from where the page opens."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import expect

from eyeline.traces import record
from eyeline.views.page import Page
from tests.browser import settled

MOST = 3


class Actions:
    """What a person does on a page, counted: a click, a choice from a list, a tick, a number typed."""

    def __init__(self, page):
        self.page = page
        self.count = 0

    def tab(self, name):
        """Open a view."""
        self._do(self.page.get_by_role("tab", name=name, exact=True).click)

    def click(self, place):
        """Click something."""
        self._do(place.click)

    def choose(self, lists, text):
        """Choose from a list."""
        self._do(lambda: lists.select_option(label=text))

    def _do(self, act):
        self.count += 1
        act()
        settled(self.page)


@pytest.fixture(scope="module")
def trace():
    """What minilm makes of the sentence."""
    return record("time flies like an arrow", keep=["input", "vectors"])


@pytest.fixture
def actions(page_of, trace):
    """The page as it opens with the word *flies*, and the actions on it."""
    page = page_of(Page([trace], {"token": 2}), words="")
    settled(page)
    found = Actions(page)
    yield found
    assert 0 < found.count <= MOST


def test_the_head_in_which_flies_looks_at_arrow(actions, trace):
    actions.tab("Overview")
    actions.choose(actions.page.get_by_label("The word that is looked at"), "arrow")
    weights = np.array([[trace.weights(layer, head, 2, 5) for head in range(12)] for layer in range(6)]).reshape(6, 12)
    layer, head = np.unravel_index(weights.argmax(), weights.shape)
    first = actions.page.locator(".overview [role=gridcell]").first
    expect(first).to_contain_text(f"L{layer}H{head}")
    expect(first).to_contain_text(f"{weights.max():.0%}")


def test_why_the_score_of_arrow_is_largest(actions, trace):
    layer, head = 5, 11
    products = trace.layers[layer].q[head, 2].astype(np.float64) * trace.layers[layer].k[head, 5]
    actions.tab("Steps")
    steps = actions.page.locator(".steps")
    expect(steps).to_contain_text(f"{products.sum():.3f}")
    # The coordinates that make it so are named, with their products.
    largest = int(products.argmax())
    expect(steps).to_contain_text(f"{largest} (+{products[largest]:.3f})")


def test_what_the_square_root_does(actions, trace):
    def weight(scale):
        scores = trace.layers[5].q[11, 2].astype(np.float64) @ trace.layers[5].k[11].T * scale
        exponentials = np.exp(scores - scores.max())
        return exponentials[5] / exponentials.sum()

    actions.tab("Steps")
    steps = actions.page.locator(".steps")
    expect(steps).to_contain_text(f"{weight(32**-0.5):.4f}")
    actions.click(actions.page.get_by_label("scores not divided by √32"))
    expect(steps).to_contain_text(f"{weight(1):.4f}")


def test_that_a_decoder_cannot_see_the_future(page_of):
    page = page_of(Page(record("3rd of March, 2021", model="dates")), words="")  # it opens at cross-attention
    settled(page)
    actions = Actions(page)
    actions.choose(page.get_by_role("combobox", name="Text"), "2021-03-03 (decoder)")
    actions.tab("Matrix")
    assert actions.count <= MOST
    expect(page.locator(".eyeline .masthead")).to_contain_text("2021-03-03")
    expect(page.locator(".eyeline .panel")).to_contain_text("the future, to which no token may look (causal mask)")


def test_what_an_encoder_sees_without_the_future(actions):
    actions.tab("Matrix")
    actions.click(actions.page.get_by_text("What if", exact=True))
    actions.click(actions.page.get_by_label("the future were hidden"))
    expect(actions.page.locator(".eyeline .masthead")).to_contain_text("future hidden")
    expect(actions.page.locator(".eyeline .panel")).to_contain_text("causal mask")


def test_how_much_dearer_twice_the_length_is(actions):
    actions.tab("Cost")
    actions.click(actions.page.get_by_role("button", name="Twice the length"))
    expect(actions.page.locator(".cost")).to_contain_text("4 ×")
    expect(actions.page.locator(".cost")).to_contain_text("2 ×")
