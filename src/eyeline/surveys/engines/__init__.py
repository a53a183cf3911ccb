"""Who measures the blocks of a survey: this process, or the workers of Ray. Both yield the same parts."""

from __future__ import annotations
