"""The page's matrix: what is pointed at, pinned, clipped, zoomed, and drawn as not allowed."""

from __future__ import annotations

import base64
import re
import struct
import zlib

import numpy as np
import pages
import pytest

from eyeline.masks import Causal, Window

TEXT = "time flies like an arrow"
LABELS = 8  # pixels into the labels' room


class Matrix:
    """The matrix of an open page."""

    def __init__(self, page, trace, layer=None):
        self.page, self.trace, self.layer = page, trace, len(trace.layers) - 1 if layer is None else layer
        self.canvas = page.get_by_role("application")
        self.wait()

    def wait(self):
        self.page.locator("canvas[data-state=done]").wait_for()

    @property
    def text(self):
        """What the readout says, by its names."""
        parts = self.page.locator(".readout div").all()
        return {part.locator("dt").inner_text(): part.locator("dd").inner_text() for part in parts}

    @property
    def top(self):
        """The largest number of the legend."""
        return self.page.locator(".marks .last").inner_text()

    def cells(self):
        """Where cells stand in the window: x and y of their corner, and a cell's side; all of them are seen."""
        box = self.canvas.bounding_box()
        rows, columns = map(int, re.findall(r"\d+", self.page.locator(".matrix-place").inner_text()))
        # Cells are 4 pixels from the right and lower edge, as large as fits; labels take the rest.
        gutter = self.page.evaluate(
            """() => {
              const canvas = document.querySelector("canvas.matrix-canvas");
              let before = null;
              const { left, top, width, height } = canvas.getBoundingClientRect();
              return [left, top, width, height];
            }"""
        )
        assert gutter[2] == box["width"]
        return rows, columns, box

    def at(self, row, column):
        """Point at a cell, by keyboard, from the first."""
        self.canvas.focus()
        self.page.keyboard.press("Escape")
        for key in ["ArrowDown", "Control+Home", *["ArrowDown"] * row, *["ArrowRight"] * column]:
            self.page.keyboard.press(key)
        return self.text

    def pixel(self, x, y):
        """The colour of a pixel of the canvas, in CSS pixels from its corner."""
        return tuple(
            self.page.evaluate(
                """([x, y]) => {
                  const canvas = document.querySelector("canvas.matrix-canvas");
                  const copy = document.createElement("canvas");
                  [copy.width, copy.height] = [canvas.width, canvas.height];
                  const context = copy.getContext("2d", { willReadFrequently: true });
                  context.drawImage(canvas, 0, 0);
                  return [...context.getImageData(x * devicePixelRatio, y * devicePixelRatio, 1, 1).data].slice(0, 3);
                }""",
                [x, y],
            )
        )
