"""Every bundle that was given to the project is judged again, with the verdicts that are written beside it."""

import json
from pathlib import Path
from typing import Any

import pytest

from nettests.cli import main
from nettests.export.bundle import UNREAD, VERDICTS, unpack
from nettests.session.exporting import exported, run_of
from scripts.field_bundle import BUNDLES, TODAY, judged_today

GIVEN = sorted(BUNDLES.glob("*.zip"), key=lambda one: one.stat().st_size)
MOST = 500 * 1024
"""Bytes of one bundle: all of them are cloned by everybody."""
NAMES = [one.stem for one in GIVEN]


def expected_of(bundle: Path) -> dict[str, Any]:
    """Return what is written beside a bundle."""
    expected: dict[str, Any] = json.loads(bundle.with_suffix(".json").read_text("utf-8"))
    return expected


def test_each_bundle_has_its_verdicts_and_the_other_way_round() -> None:
    """No bundle is forgotten, none is empty, and none is larger than it may be."""
    assert {one.stem for one in BUNDLES.glob("*.json")} == set(NAMES)
    assert NAMES
    assert all(expected_of(one)["verdicts"] and expected_of(one)["about"] for one in GIVEN)
    assert all(one.stat().st_size < MOST for one in GIVEN)


@pytest.mark.parametrize("bundle", GIVEN, ids=NAMES)
def test_a_bundle_is_judged_as_before(bundle: Path, tmp_path: Path) -> None:
    """Verdicts, incidents and what no parser knows, by today's parsers and manifests."""
    expected = expected_of(bundle)
    del expected["about"]
    assert judged_today(bundle, tmp_path) == expected


@pytest.mark.parametrize("bundle", GIVEN[:2], ids=NAMES[:2])
def test_an_export_of_a_bundle_is_judged_as_it(bundle: Path) -> None:
    """Names that were replaced are replaced once more, and no verdict changes."""
    with run_of(bundle) as folder:
        again = exported(folder, today=TODAY)
    assert again.differing == ()
    assert {one.check: one.verdict.value for one in again.judgements} == expected_of(bundle)[
        "verdicts"
    ]


def test_the_command_judges_a_bundle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``nettests rejudge BUNDLE`` writes the documents beside the bundle, and says what changed."""
    copy = tmp_path / "sent.zip"
    copy.write_bytes(GIVEN[0].read_bytes())
    with pytest.raises(SystemExit) as ended:
        main(["rejudge", str(copy)])
    assert ended.value.code == expected_of(GIVEN[0])["exit_code"]
    assert (tmp_path / "sent-rejudged" / "report.html").is_file()
    assert "verdicts changed" in capsys.readouterr().out


def test_a_bundle_says_what_it_was_judged_as() -> None:
    """The verdicts within are those of the export; texts that no parser knew are listed."""
    members = unpack(GIVEN[0].read_bytes(), "x")
    assert set(json.loads(members[VERDICTS])) == set(expected_of(GIVEN[0])["verdicts"])
    assert UNREAD in members
