"""What a run writes is its owner's alone, whatever the umask."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from nettests.errors import PathError
from nettests.private import make_folder, require_writable, write_text
from nettests.session.journal import Journal
from tests.full_disk import room


@pytest.fixture(params=[0o000, 0o022, 0o277])
def umask(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[None]:
    """Somebody's umask: open to all, the usual one, and one that takes the owner's rights."""
    assert tmp_path.is_dir(), "made before, or nobody but root could write into it"
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.mark.usefixtures("umask")
def test_folders_and_files_are_the_owners_alone(tmp_path: Path) -> None:
    """Folders that are made on the way, the journal, and documents: 0700 and 0600."""
    run = tmp_path / "reports" / "run"
    with Journal(run / "journal.jsonl") as journal:
        journal.event("begun")
    make_folder(run / "diagnostics" / "nodes")
    old = run / "report.html"
    old.write_text("left of another version")
    old.chmod(0o644)
    write_text(old, "new")
    found = {
        path.relative_to(tmp_path): path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")
    }
    assert len(found) == 6
    for path, mode in found.items():
        assert mode == (0o600 if path.suffix else 0o700), path


def test_a_file_that_does_not_fit_is_not_left_in_part(tmp_path: Path) -> None:
    """Half a document would be taken for one; a file that cannot be opened is not ours to remove."""
    half, kept = tmp_path / "report.html", tmp_path / "kept"
    with room(100), pytest.raises(OSError, match="File too large"):
        write_text(half, "x" * 200)
    kept.mkdir()
    with pytest.raises(IsADirectoryError):
        write_text(kept, "x")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_folder_of_another_user_takes_no_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its owner could replace what is written there."""
    if os.geteuid() == 0:
        os.chown(tmp_path, 65534, 65534)
    neighbour = tmp_path.stat().st_uid + 1
    monkeypatch.setattr(os, "geteuid", lambda: neighbour)
    with pytest.raises(PathError, match="belongs to another user"):
        require_writable(tmp_path)
