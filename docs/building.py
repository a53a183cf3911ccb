"""Builds the site: Sphinx for each language, and the live pages beside them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

DOCS = Path(__file__).parent
#: A folder is taken for a site, and may be replaced, if it holds this file.
MARK = "eyeline-guide.txt"


class BuildError(Exception):
    """What keeps the site from being built, in a line."""


def languages() -> list[str]:
    """The languages of the guide, English first: a folder in docs/locale/ for each other one."""
    return ["en", *sorted(path.parent.name for path in (DOCS / "locale").glob("*/LC_MESSAGES"))]


def _name(language: str) -> str:
    from eyeline.words import own_names

    return own_names().get(language, language)


def _installed() -> None:
    lacking = [name for name in ("sphinx", "myst_parser", "furo", "polib") if find_spec(name) is None]
    if lacking:
        raise BuildError(f"the guide is built with {' and '.join(lacking)}, not here yet: pip install -e '.[docs]'")


def sphinx(builder: str, target: Path, language: str, *options: str) -> None:
    """Run Sphinx, with warnings as errors.

    Raises:
        BuildError: if it isn't installed, or ends with an error.
    """
    _installed()
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", builder, "-j", "1"]
    command += ["-D", f"language={language}", *options]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, (str(DOCS.parent), os.environ.get("PYTHONPATH"))))
    }
    environment["EYELINE_LANG"] = "en"  # examples in docstrings are not run here, but modules are imported
    done = subprocess.run([*command, str(DOCS), str(target)], env=environment, check=False)
    if done.returncode:
        raise BuildError(
            f"Sphinx ended with {done.returncode} on the guide in {_name(language)}; its messages are above"
        )


def build(out: str | os.PathLike[str], chosen: Sequence[str]) -> None:
    """Build the site in `out`. It is made beside it and then renamed, so that nothing half-written is left.

    Raises:
        BuildError: if `out` is a folder of something else, or a part can't be built.
    """
    from docs.live_pages import LIVE_PAGES

    _installed()
    target = Path(out).absolute()
    if target.exists() and not (target.is_dir() and ((target / MARK).exists() or not any(target.iterdir()))):
        raise BuildError(f"--out must be a new folder or one with a site in it, got {str(out)!r}; name another")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as beside:
        made = Path(beside) / "site"
        (made / "live").mkdir(parents=True)
        with ThreadPoolExecutor() as pool:  # Sphinx in processes of its own, while this one makes the live pages
            guides = [pool.submit(_guide, made, Path(beside), language) for language in chosen]
            for place, (name, page) in enumerate(LIVE_PAGES.items(), 1):
                _say(f"live page {place} of {len(LIVE_PAGES)}, {name}")
                page.make(made / "live" / f"{name}.html")
            for guide in guides:
                guide.result()
        (made / MARK).write_text("Made by `python -m docs`.\n", "utf-8")
        (made / "index.html").write_text(_choosing(chosen), "utf-8")
        if target.exists():
            target.rename(Path(beside) / "before")
        made.rename(target)
    _say(str(target / "index.html"))


def _say(text: str) -> None:
    sys.stderr.write(f"docs: {text}\n")  # in one piece: several threads do


def _guide(made: Path, beside: Path, language: str) -> None:
    """One language's guide."""
    _say(f"the guide in {_name(language)}")
    sphinx("html", made / language, language, "-d", str(beside / f"doctrees-{language}"))
    (made / language / ".buildinfo").unlink(missing_ok=True)
    (made / language / "objects.inv").unlink(missing_ok=True)


def _choosing(chosen: Sequence[str]) -> str:
    """The first page: goes to the browser's language, and has a link to each."""
    links = "".join(
        f'<p><a href="{code}/index.html" lang="{code}" hreflang="{code}">{_name(code)}</a></p>' for code in chosen
    )
    script = (
        f"const there = {list(chosen)!r}; const own = navigator.languages.map((one) => one.slice(0, 2).toLowerCase());"
        "location.replace(`${own.find((one) => there.includes(one)) ?? there[0]}/index.html`);"
    )
    head = (
        '<meta charset="utf-8"><title>Eyeline</title><meta name="color-scheme" content="light dark">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<style>body { font: 1.2rem system-ui; margin: 3rem; }</style>"
    )
    return f'<!doctype html><html lang="en">{head}<h1>Eyeline</h1>{links}<script>{script}</script></html>\n'
