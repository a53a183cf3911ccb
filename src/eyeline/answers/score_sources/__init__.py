"""Why a head looked there: one score as a sum over what was written before at the query's token and at the key's.

`asking` has `why`, `answer` what it answers, `token_search` finds the two tokens. The split itself is `models`'.
"""

from __future__ import annotations

from eyeline.answers.score_sources.answer import Term, Why, WhyToken
from eyeline.answers.score_sources.asking import why

__all__ = ["Term", "Why", "WhyToken", "why"]
