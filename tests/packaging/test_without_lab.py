"""The copy of the checkout in which unit tests run without the lab."""

from pathlib import Path

from scripts import without_lab


def test_the_copy_holds_tracked_files_and_what_was_fetched(tmp_path: Path) -> None:
    """Tests that miss what was fetched are skipped: without it they would never run in ``make test``."""
    without_lab.copy_into(tmp_path)
    assert (tmp_path / "scripts" / "without_lab.py").is_file()
    assert not (tmp_path / ".git").exists()
    fetched = {path.relative_to(without_lab.ROOT) for path in without_lab.FETCHED.rglob("*.js")}
    assert {path.relative_to(tmp_path) for path in (tmp_path / ".cache").rglob("*.js")} == fetched
