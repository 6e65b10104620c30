"""Make ``docs/reference/selftest.md`` and its ``selftest.json`` again; with ``--assumptions`` those of that name.

``python -m scripts.selftest_page reports/selftest-…`` puts what a selftest found into what is published: its runs take
the place of former ones of the same faults, all others stay, and what is not declared any more goes. Without a folder
the published document is shown anew, which is enough when only the form of the page changed. It runs nothing
and judges nothing.
"""

import json
import sys
from pathlib import Path

from nettests.lab.selftest import matrix, reference
from nettests.lab.selftest.matrix import merged
from nettests.lab.selftest.named_faults import ASSUMPTIONS, FAULTS

ROOT = Path(__file__).resolve().parent.parent
PUBLISHED = ROOT / "docs" / "reference"
OF_A_RUN = "selftest.json"
SELFTEST, OF_ASSUMPTIONS = "selftest", "assumptions"
DECLARED = {SELFTEST: FAULTS, OF_ASSUMPTIONS: ASSUMPTIONS}
"""By the names of pages."""


def main() -> int:
    """Write both files of a page; the exit code is 0."""
    arguments = [word for word in sys.argv[1:] if word != "--assumptions"]
    if len(arguments) > 1:
        sys.exit("usage: selftest_page.py [--assumptions] [FOLDER]")
    page = SELFTEST if arguments == sys.argv[1:] else OF_ASSUMPTIONS
    document = (PUBLISHED / f"{page}.json").read_text("utf-8")
    document = put_into(page, document, document)  # what is declared since then was not run
    for folder in map(Path, arguments):
        document = put_into(page, document, (folder / OF_A_RUN).read_text("utf-8"))
    for name, text in rendered(page, document).items():
        (PUBLISHED / name).write_text(text, "utf-8")
    return 0


def put_into(page: str, published: str, later: str) -> str:
    """Return the published document with what a later selftest found."""
    selftest = merged(
        matrix.from_document(json.loads(published)),
        matrix.from_document(json.loads(later)),
        DECLARED[page],
    )
    return json.dumps(matrix.document(selftest))


def rendered(page: str, document: str) -> dict[str, str]:
    """Return both files' texts by name, from a document."""
    selftest = matrix.from_document(json.loads(document))
    data = json.dumps(matrix.document(selftest), indent=1, ensure_ascii=False)
    text = reference.render(selftest, assumptions=page == OF_ASSUMPTIONS)
    return {f"{page}.json": f"{data}\n", f"{page}.md": text}


if __name__ == "__main__":
    sys.exit(main())
