"""The page of a survey: a map of all heads of a model over a corpus, each head's own page, and two surveys compared.

`page` is the public class, `header` what its map is drawn of, `requests` what is asked of one head, from the survey's
files by row group, and `report` the page in one file. The front end is `views/page/survey/`, an entry of its own beside
the page of texts. This room imports `eyeline.surveys`, the rooms below it, `views/page` and, inside functions, pyarrow.
"""

from __future__ import annotations

from eyeline.views.surveys.page import SurveyPage

__all__ = ["SurveyPage"]
