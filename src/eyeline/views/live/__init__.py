"""The live page: a file, or a folder for a host, that holds a model's weights and runs it in the browser.

`rounding` of `eyeline.models` makes the weights small, `stored_models` lays them out, `live_page` makes the page with
its opening traces, `live_file` and `live_folder` write it. The page itself is `eyeline.views.page`'s, with the host
`hosts/live.js`. docs/live.md describes both. This room imports `eyeline.models`, `eyeline.traces` and
`eyeline.views.page`.
"""

from __future__ import annotations

from eyeline.views.live.live_file import save_live
from eyeline.views.live.live_folder import save_live_folder

__all__ = ["save_live", "save_live_folder"]
