"""`python -m docs`: builds the guide, in every language, with the live pages in it.

python -m docs                   into site/: open site/index.html
python -m docs --out FOLDER      into another folder
python -m docs --language vi     one language alone
python -m docs --update          take changed texts into docs/locale/: what is to be translated anew
python -m docs --check           count what isn't translated; fails if there is anything
"""

from __future__ import annotations

import argparse
import sys

from docs.building import BuildError, build, languages


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m docs", description="Build Eyeline's guide.")
    parser.add_argument("--out", default="site", help="the folder to write; default: site")
    parser.add_argument("--language", choices=languages(), help="one language alone; default: all")
    parser.add_argument("--update", action="store_true", help="take changed texts into docs/locale/")
    parser.add_argument("--check", action="store_true", help="count what isn't translated, and fail if there is any")
    given = parser.parse_args()
    try:
        if given.update or given.check:
            from docs.messages import check, update

            return (update if given.update else check)()
        build(given.out, [given.language] if given.language else languages())
    except BuildError as error:
        print(f"docs: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
