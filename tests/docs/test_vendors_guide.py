"""The guide for vendors, followed from its first line up to its second run: the recorded sample stands for the first one.

``test_examples`` follows all of it at night, with runs of the lab.
"""

import shutil
from itertools import takewhile
from pathlib import Path

from tests.docs.documents import ROOT, blocks
from tests.docs.test_examples import Followed

GUIDE = "docs/guides/vendors.md"
RUN = "nettests run --lab --vendor-profile"


def test_a_profile_becomes_a_verified_report_as_the_guide_says(tmp_path: Path) -> None:
    """Every command works as written, and prints what is shown: claims, report, verification, and a lie that is found."""
    actions = [block for block in blocks(GUIDE) if block.action]
    runs = [block for block in actions if RUN in block.text]
    assert len(runs) == 2
    reader = Followed(tmp_path)
    done = []
    for block in takewhile(lambda one: one is not runs[1], actions):
        if block is runs[0]:
            shutil.copytree(ROOT / "reports" / "sample", reader.folder / "reports" / "sample")
        else:
            reader.carry_out(block)
            done.append(block)
    assert sum(block.action == "run" for block in done) >= 5
    assert {path.name for path in (reader.folder / "acme").iterdir()} >= {"report", "own.yaml"}
