"""Make ``docs/reference/selftest.md`` and its ``selftest.json`` again; ``--assumptions`` or ``--placements`` those of that name.

``python -m scripts.selftest_page reports/selftest-…`` puts what a selftest found into what is published: its runs take
the place of former ones of the same faults, all others stay, and what is not declared any more goes. Without a folder
the published document is shown anew, which is enough when only the form of the page changed. It runs nothing
and judges nothing.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import cattrs

from nettests.lab.selftest import matrix, reference
from nettests.lab.selftest.combining import restored
from nettests.lab.selftest.judging import Judged, not_run
from nettests.lab.selftest.matrix import Matrix, Profile, healthy_seconds
from nettests.lab.selftest.named_faults import ASSUMPTIONS, FAULTS, NamedFault

ROOT = Path(__file__).resolve().parent.parent
PUBLISHED = ROOT / "docs" / "reference"
OF_A_RUN = "selftest.json"
SELFTEST, OF_ASSUMPTIONS, OF_PLACEMENTS = "selftest", "assumptions", "placements"
DECLARED = {SELFTEST: FAULTS, OF_ASSUMPTIONS: ASSUMPTIONS}
"""By the names of pages; that of faults at any nodes has those that were run."""


def main() -> int:
    """Write both files of a page; the exit code is 0."""
    pages = [word[2:] for word in sys.argv[1:] if word.startswith("--")] or [SELFTEST]
    arguments = [word for word in sys.argv[1:] if not word.startswith("--")]
    if len(arguments) > 1 or pages[1:] or pages[0] not in {*DECLARED, OF_PLACEMENTS}:
        sys.exit("usage: selftest_page.py [--assumptions | --placements] [FOLDER]")
    (page,) = pages
    document = (PUBLISHED / f"{page}.json").read_text("utf-8")
    document = put_into(page, document, document)  # what is declared since then was not run
    for folder in map(Path, arguments):
        document = put_into(page, document, (folder / OF_A_RUN).read_text("utf-8"))
    for name, text in rendered(page, document).items():
        (PUBLISHED / name).write_text(text, "utf-8")
    return 0


def put_into(page: str, published: str, later: str) -> str:
    """Return the published document with what a later selftest found."""
    former, latest = (from_document(json.loads(text)) for text in (published, later))
    declared = DECLARED.get(page) or tuple(_placed(former, latest))
    return json.dumps(matrix.document(merged(former, latest, declared)))


def _placed(*selftests: Matrix) -> Iterator[NamedFault]:
    """Yield the faults that were run at nodes of a seed's choice, each once for each profile."""
    rows = [row for each in selftests for row in each.ran]
    for name, profile in dict.fromkeys((row.fault, row.profile) for row in rows):
        yield restored(name, profile)


def from_document(data: Mapping[str, Any]) -> Matrix:
    """Return the matrix that a document holds."""
    profiles = tuple(cattrs.structure(profile, Profile) for profile in data["profiles"])
    return Matrix(
        profiles=profiles,
        flows=tuple(data["flows"]),
        judged=tuple(
            _judged(row, healthy_seconds(profiles, row["profile"])) for row in data["faults"]
        ),
        summaries={row["fault"]: row["summary"] for row in data["faults"]},
        open={flow: tuple(names) for flow, names in data.get("open", {}).items()},
    )


def _judged(row: Mapping[str, Any], healthy: float) -> Judged:
    defaults = {"beside": healthy if row["ran"] else 0, "rejudged": None if row["ran"] else False}
    return cattrs.structure({**defaults, **row}, Judged)


def merged(published: Matrix, later: Matrix, declared: Sequence[NamedFault]) -> Matrix:
    """Merge a later selftest into the published matrix: the last run of each declared fault, in the order of declarations.

    Each stays beside the healthy run that it was compared with; faults that neither has run are missing.
    """
    rows = {(row.fault, row.profile): row for row in (*published.ran, *later.ran)}
    names = dict.fromkeys(name for fault in declared for name in fault.profiles)
    profiles = {profile.name: profile for profile in (*published.profiles, *later.profiles)}
    return Matrix(
        profiles=tuple(profiles.values()),
        flows=tuple(sorted({*published.flows, *later.flows})),
        judged=tuple(
            rows.get((fault.name, name)) or not_run(fault, name)
            for name in names
            for fault in declared
            if name in fault.profiles
        ),
        summaries={fault.name: fault.summary for fault in declared},
        open={
            flow: limitations
            for flow, limitations in sorted({**published.open, **later.open}.items())
            if _is_open(flow, published) and _is_open(flow, later)
        },
    )


def _is_open(flow: str, matrix: Matrix) -> bool:
    """Whether a flow is open; a document without any open flow counts as not knowing."""
    return not matrix.open or flow in matrix.open or flow not in matrix.flows


def rendered(page: str, document: str) -> dict[str, str]:
    """Return both files' texts by name, from a document."""
    selftest = from_document(json.loads(document))
    data = json.dumps(matrix.document(selftest), indent=1, ensure_ascii=False)
    text = reference.render(selftest, of=page)
    return {f"{page}.json": f"{data}\n", f"{page}.md": text}


if __name__ == "__main__":
    sys.exit(main())
