"""A run's folder read to be archived, and written where one was fetched."""

from pathlib import Path, PurePosixPath

import pytest

from nettests.errors import PathError
from nettests.session.report_dir import newest, read_folder, write_folder

FILES = {PurePosixPath("results.json"): b"{}", PurePosixPath("diagnostics/n/x.txt"): b"x"}


def test_a_folder_comes_back_for_its_owner_alone(tmp_path: Path) -> None:
    """As a run would have written it, with the link to the newest."""
    folder = write_folder(tmp_path / "reports", "20261128-101500-f36e", FILES)
    assert read_folder(folder) == FILES
    assert newest(tmp_path / "reports") == folder
    for path in folder.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0


def test_what_is_there_is_not_written_over(tmp_path: Path) -> None:
    """A report that was fetched before may have been worked on."""
    write_folder(tmp_path, "run-1", FILES)
    with pytest.raises(PathError, match="is there already"):
        write_folder(tmp_path, "run-1", {PurePosixPath("results.json"): b"other"})
    assert (tmp_path / "run-1" / "results.json").read_bytes() == b"{}"


def test_links_are_not_followed(tmp_path: Path) -> None:
    """What lies elsewhere is none of the run's."""
    (tmp_path / "results.json").write_text("{}")
    (tmp_path / "secret").symlink_to("/etc/hostname")
    assert read_folder(tmp_path).keys() == {PurePosixPath("results.json")}


def test_another_folder_is_no_run(tmp_path: Path) -> None:
    """It says which files a run's folder has; without runs there is no newest."""
    with pytest.raises(PathError, match=r"neither results\.json nor journal\.jsonl"):
        read_folder(tmp_path)
    assert newest(tmp_path) is None
