"""Surveys: what the heads of a model do over a whole corpus.

A corpus is cut into blocks of documents, the same whoever measures them. Each block is measured by itself
(`BlockTally`) and kept in a file of its own; blocks merge in their order, so one process, several workers and a run
that was cut off give the same bytes. This room may import every room up to `answers`; pyarrow is loaded only where it
is needed.
"""

from __future__ import annotations

from eyeline.surveys.errors import SurveyError
from eyeline.surveys.loading import Survey, load_survey
from eyeline.surveys.running import survey

__all__ = ["Survey", "SurveyError", "load_survey", "survey"]
