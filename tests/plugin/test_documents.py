"""Documents of a run that has just ended, where they cannot be written, or not be made."""

from pathlib import Path

import pytest

from nettests.errors import ClusterError
from nettests.model.exit_code import ExitCode
from nettests.model.run_folder import HTML, JOURNAL, RESULTS
from nettests.plugin import documents
from nettests.plugin.documents import end_documents, write_documents
from nettests.report import Results, render_junit
from nettests.session.journal import Journal
from nettests.session.report_dir import record_failed_start
from nettests.session.run_options import RunOptions
from tests.full_disk import room


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """A short journal that has ended."""
    folder = record_failed_start(
        RunOptions(report_dir=tmp_path),
        ClusterError("nobody there"),
        exit_code=ExitCode.NOTHING_JUDGED,
    )
    ended = Journal(folder / JOURNAL)
    ended.close()
    return ended


def test_a_report_without_room_is_no_good_end(journal: Journal) -> None:
    """What it would say is told nevertheless, and where it is made from; a failed run stays one."""
    folder = journal.path.parent
    with room(8_000):  # enough for all documents but the page
        ended = end_documents(journal)
    assert ended.results is not None
    assert "nobody there" in (ended.results.run.error or "")
    assert f"no report could be written to {folder}: File too large" in ended.problem
    assert (folder / RESULTS).exists()
    assert not (folder / HTML).exists()
    codes = {code: ended.exit_code(code) for code in ExitCode}
    assert {code for code, told in codes.items() if code != told} == {
        ExitCode.OK,
        ExitCode.KNOWN_BUGS,
    }
    assert codes[ExitCode.OK] == ExitCode.USAGE_ERROR
    write_documents(folder)  # as soon as there is room


def test_a_folder_that_somebody_removed(journal: Journal) -> None:
    """There is nothing that documents could be made from."""
    journal.path.unlink()
    ended = end_documents(journal)
    assert ended.results is None
    assert "cannot be read as a journal" in ended.problem


def test_what_can_be_written_is_what_it_was(journal: Journal) -> None:
    """With room for all nothing is said, and no exit code changes."""
    ended = end_documents(journal)
    assert (ended.problem, ended.exit_code(ExitCode.OK)) == ("", ExitCode.OK)
    assert (journal.path.parent / HTML).exists()


def test_a_late_interrupt_costs_no_document(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGTERM while they are written: the run is over, and its result stands; a second one is heeded."""
    interrupts = [1]

    def interrupted(results: Results) -> str:
        if interrupts:
            interrupts.pop()
            raise KeyboardInterrupt
        return render_junit(results)

    monkeypatch.setattr(documents, "render_junit", interrupted)
    assert end_documents(journal).problem == ""
    assert (journal.path.parent / HTML).exists()
    interrupts += [1, 1]
    with pytest.raises(KeyboardInterrupt):
        end_documents(journal)
