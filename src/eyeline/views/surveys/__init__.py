"""Seeing a survey: the page of what a model's heads do over a corpus.

`requests/` answers the page's requests from the survey's files, by row group. The page's modules are
`views/page/survey/`. This room imports `eyeline.surveys`, `views/page` and, inside functions, pyarrow.
"""
