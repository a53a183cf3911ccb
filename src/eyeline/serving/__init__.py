"""The local server behind `eyeline view`: the page, what it asks of heads, and new texts that a person types into it.

`serve` shows a `Session`, what is seen and what can be asked, at an address of this machine alone. This room imports
explanations and the rooms that it may import, starlette and uvicorn; the command loads it when it is asked for.

Who may ask: the page itself, in a browser on this machine. A page of elsewhere is kept out by what the browser says of
it (`guard`): its name in Host, where it is from in Origin. There is no key in the address: it would stand in the list
of processes for as long as the browser that was opened with it runs, and so keep out nobody who is logged in to the
same machine. They can see what is shown here, and make the models run; `eyeline explain --html` serves nothing.
"""

from __future__ import annotations

from eyeline.serving.running import listen, serve
from eyeline.serving.session import Session
from eyeline.serving.source import File, Source, source_of

__all__ = ["File", "Session", "Source", "listen", "serve", "source_of"]
