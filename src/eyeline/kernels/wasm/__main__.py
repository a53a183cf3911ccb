"""`python -m eyeline.kernels.wasm`: make `kernels.wasm`, `records.json` and `objects.json` anew, in the package."""

from __future__ import annotations

import json
import sys
import tempfile
import zlib
from pathlib import Path

from eyeline.kernels.wasm import MODULE, OBJECTS, RECORDS
from eyeline.kernels.wasm.building import LinkerError, fingerprint, linked, made_objects
from eyeline.kernels.wasm.describing import written


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        objects = made_objects(Path(folder))
        linked(objects, MODULE)
        MODULE.chmod(0o644)
        OBJECTS.write_text(json.dumps(fingerprint(objects), indent=2) + "\n", "utf-8")
    RECORDS.write_text(written(), "utf-8")
    module = MODULE.read_bytes()
    print(f"{MODULE.name}: {len(module):,} bytes, {len(zlib.compress(module, 9)):,} compressed")


if __name__ == "__main__":
    try:
        main()
    except LinkerError as error:
        sys.exit(f"eyeline: {error}")
