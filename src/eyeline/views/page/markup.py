"""The markup of a page in one file: a still picture, inert blocks, and the script that starts the page from them."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Sequence
from typing import Any

# Where scripts run, the still picture is out of sight before it is drawn. Where they don't, nothing hides it.
_HIDE = 'document.getElementById("eyeline-still").hidden = true;'
# In old JavaScript, since it has to run in an old browser to report that the browser is too old.
_BOOTSTRAP = """
(function () {
  var still = document.getElementById("eyeline-still");
  function failed() {
    if (still) still.hidden = false;
  }
  if (!window.DecompressionStream || !window.Promise) {
    document.getElementById("eyeline-old").hidden = false;
    failed();
    return;
  }
  function text(name) {
    var decoded = atob(document.getElementById("eyeline-" + name).textContent);
    var bytes = new Uint8Array(decoded.length);
    for (var at = 0; at < bytes.length; at++) bytes[at] = decoded.charCodeAt(at);
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();
  }
  function put(tag, name) {
    return text(name).then(function (content) {
      var part = document.createElement(tag);
      if (tag === "script") part.type = "module";
      part.textContent = content;
      document.head.appendChild(part);
    });
  }
  put("style", "style").then(function () { return put("script", "module"); }).catch(failed);
})();
"""

_MARKUP = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="eyeline {version}">
<title>{title}</title>
</head>
<body class="eyeline-alone">
<p id="eyeline-old" hidden>This browser is too old for this page: it needs Chrome or Edge 103, Firefox 113, Safari 16.4,
or a later one.</p>
<div id="eyeline-still">{still}</div>
<script>{hide}</script>
<div id="eyeline"></div>
{first}
<script>{bootstrap}</script>
{data}
</body>
</html>
"""


def document(
    title: str,
    version: str,
    still: str,
    module: str,
    first: Sequence[str],
    blocks: Sequence[str],
    *,
    fetches: bool = False,
) -> bytes:
    """The bytes of the file, as docs/page-format.md describes it.

    Args:
        title: the title, as plain text.
        version: Eyeline's version.
        still: the markup of the still picture.
        module: the page's modules as the block "module" holds them: the policy lets them run.
        first: the blocks that are read first: header, style, module.
        blocks: the others.
        fetches: whether it may fetch from its own host.
    """
    text = _MARKUP.format(
        policy=html.escape(_policy(_HIDE, _BOOTSTRAP, module, fetches=fetches)),
        version=html.escape(version),
        title=html.escape(title),
        still=still,
        hide=_HIDE,
        first="\n".join(first),
        bootstrap=_BOOTSTRAP,
        data="\n".join(blocks),
    )
    return text.encode()


def block(name: str, data: bytes) -> str:
    """A block of the file."""
    return f'<script type="application/octet-stream" id="eyeline-{name}">{_base64(data)}</script>'


def as_json(value: Any) -> bytes:
    """JSON for a block."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _policy(*scripts: str, fetches: bool) -> str:
    """The content security policy: run these scripts alone, with WebAssembly and a worker of their own making, and
    fetch nothing, or from the page's own host alone."""
    hashes = " ".join(f"'sha256-{_base64(hashlib.sha256(script.encode()).digest())}'" for script in scripts)
    own = "; connect-src 'self'" if fetches else ""
    return (
        f"default-src 'none'; script-src {hashes} 'wasm-unsafe-eval'; worker-src blob:; style-src 'unsafe-inline'; "
        f"img-src data: blob:; base-uri 'none'; form-action 'none'{own}"
    )
