"""Add a bundle that somebody sent to tests/field/bundles, with the verdicts that it has to have from now on.

    python scripts/field_bundle.py BUNDLE NAME --about "Azure CNI, 26100, pktmon in German"

Judged as it is now: look at what it prints before you commit it. With ``--again`` the verdicts of all bundles that are
there are written anew, after manifests or parsers were changed on purpose; ``git diff`` shows what that changed.
"""

import argparse
import json
import sys
from collections import Counter
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nettests.model.run_folder import JOURNAL
from nettests.report import build_results
from nettests.session.blueprint import read_manifests
from nettests.session.exporting import run_of
from nettests.session.journal import read_journal
from nettests.session.rejudge import judge_again

BUNDLES = Path(__file__).resolve().parent.parent / "tests" / "field" / "bundles"
TODAY = date(2026, 11, 25)
"""The shipped manifests have no review dates; a fixed day keeps bundles from changing by themselves."""


def judged_today(bundle: Path, work: Path) -> dict[str, Any]:
    """Return verdicts, incidents and unread texts of a bundle by today's code; ``work`` is an empty folder."""
    manifests, digests = read_manifests()
    with run_of(bundle) as folder:
        again = judge_again(folder, work, manifests, digests, today=TODAY)
    results = build_results(read_journal(work / JOURNAL))
    return {
        "exit_code": int(again.exit_code),
        "incidents": {incident.cause: list(incident.checks) for incident in results.incidents},
        "unread": [unread.text for unread in results.unread],
        "verdicts": {judgement.check: judgement.verdict.value for judgement in again.judgements},
    }


def write(bundle: Path, about: str) -> None:
    """Write what is expected of a bundle beside it."""
    with TemporaryDirectory() as work:
        judged = judged_today(bundle, Path(work))
    expected = bundle.with_suffix(".json")
    text = json.dumps({"about": about, **judged}, indent=1, ensure_ascii=False)
    expected.write_text(f"{text}\n", "utf-8")
    counts = ", ".join(f"{n} {v}" for v, n in Counter(judged["verdicts"].values()).most_common())
    sys.stdout.write(f"{bundle.name}: {counts}; {len(judged['incidents'])} incidents\n")


def main() -> None:
    """Add one bundle, or judge all again."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("bundle", type=Path, nargs="?")
    options.add_argument("name", nargs="?")
    options.add_argument("--about", default="")
    options.add_argument("--again", action="store_true")
    given = options.parse_args()
    if given.again:
        for bundle in sorted(BUNDLES.glob("*.zip")):
            write(bundle, json.loads(bundle.with_suffix(".json").read_text("utf-8"))["about"])
        return
    target = BUNDLES / f"{given.name}.zip"
    target.write_bytes(given.bundle.read_bytes())
    write(target, given.about)


if __name__ == "__main__":
    main()
