"""Make ``docs/reference/selftest.md`` and its ``selftest.json`` again.

``python -m scripts.selftest_page reports/selftest-…`` puts what a selftest found into what is published: its runs take
the place of former ones of the same faults, all others stay, and what is not declared any more goes. Without a folder
the published ``selftest.json`` is shown anew, which is enough when only the form of the page changed. It runs nothing
and judges nothing.
"""

import json
import sys
from pathlib import Path

from nettests.lab.selftest import matrix, reference
from nettests.lab.selftest.merging import merged
from nettests.lab.selftest.named_faults import FAULTS

ROOT = Path(__file__).resolve().parent.parent
PUBLISHED = ROOT / "docs" / "reference"
NAME = "selftest.json"


def main() -> int:
    """Write both files; the exit code is 0."""
    if len(sys.argv) > 2:
        sys.exit("usage: selftest_page.py [FOLDER]")
    document = (PUBLISHED / NAME).read_text("utf-8")
    document = put_into(document, document)  # what is declared since then was not run
    for folder in map(Path, sys.argv[1:]):
        document = put_into(document, (folder / NAME).read_text("utf-8"))
    for name, text in rendered(document).items():
        (PUBLISHED / name).write_text(text, "utf-8")
    return 0


def put_into(published: str, later: str) -> str:
    """Return the published document with what a later selftest found."""
    selftest = merged(
        matrix.from_document(json.loads(published)),
        matrix.from_document(json.loads(later)),
        FAULTS,
    )
    return json.dumps(matrix.document(selftest))


def rendered(document: str) -> dict[str, str]:
    """Return both files' texts by name, from a document."""
    selftest = matrix.from_document(json.loads(document))
    data = json.dumps(matrix.document(selftest), indent=1, ensure_ascii=False)
    return {NAME: f"{data}\n", "selftest.md": reference.render(selftest)}


if __name__ == "__main__":
    sys.exit(main())
