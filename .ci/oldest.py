"""The oldest versions that pyproject.toml allows of the packages that `pip install .` brings, as pip's constraints."""

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def main() -> None:
    for requirement in tomllib.loads(PROJECT.read_text())["project"]["dependencies"]:
        oldest = re.fullmatch(r"(\w+)>=([\d.]+)(,<[\d.]+)?", requirement)
        if oldest is None:
            raise SystemExit(f"a dependency must be written NAME>=OLDEST or NAME>=OLDEST,<NEXT, got {requirement!r}")
        print(f"{oldest[1]}=={oldest[2]}")


if __name__ == "__main__":
    main()
