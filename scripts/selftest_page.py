"""Make ``docs/reference/selftest.md`` and its ``selftest.json`` again.

``python -m scripts.selftest_page reports/selftest-…`` takes over what a selftest wrote; without a folder the
published ``selftest.json`` is shown anew, which is enough when only the form of the page changed. It runs nothing
and judges nothing.
"""

import json
import sys
from pathlib import Path

from nettests.lab.selftest import matrix, reference

ROOT = Path(__file__).resolve().parent.parent
PUBLISHED = ROOT / "docs" / "reference"


def main() -> int:
    """Write both files; the exit code is 0."""
    if len(sys.argv) > 2:
        sys.exit("usage: selftest_page.py [FOLDER]")
    folder = Path(sys.argv[1]) if sys.argv[1:] else PUBLISHED
    for name, text in rendered((folder / "selftest.json").read_text("utf-8")).items():
        (PUBLISHED / name).write_text(text, "utf-8")
    return 0


def rendered(document: str) -> dict[str, str]:
    """Return both files' texts by name, from the document that a selftest wrote."""
    found = matrix.from_document(json.loads(document))
    data = json.dumps(matrix.document(found), indent=1, ensure_ascii=False)
    return {"selftest.json": f"{data}\n", "selftest.md": reference.render(found)}


if __name__ == "__main__":
    sys.exit(main())
