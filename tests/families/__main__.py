"""`python -m tests.families` writes the table of docs/hugging-face.md; `--check` only looks whether it is stale."""

import sys

from .table import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
