"""Files from outside: regular ones of bounded size, read by one opener; everything else is a plain error."""

import io
import os
import re
import tarfile
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from nettests import outside_files
from nettests.cli import main
from nettests.errors import PathError
from nettests.export.bundle import BrokenBundleError, pack, unpack
from nettests.job.archive import Archive
from nettests.job.archive import unpack as unpack_archive
from nettests.model import limits
from nettests.model.run_folder import JOURNAL
from nettests.outside_files import OutsideFileError

ROOT = Path(__file__).parents[1] / "nettests"


def test_a_regular_file_is_read(tmp_path: Path) -> None:
    """Through a link too, up to the limit to the byte."""
    (tmp_path / "a").write_bytes(b"1234")
    (tmp_path / "b").symlink_to("a")
    assert outside_files.read_bytes(tmp_path / "b", 4) == b"1234"
    with pytest.raises(OutsideFileError, match="larger than 3 bytes"):
        outside_files.read_bytes(tmp_path / "a", 3)


@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_nothing_else_is_read(tmp_path: Path, kind: str) -> None:
    """A pipe that nobody writes, ``/dev/zero`` behind a link, and a folder: at once, with the reason."""
    path = tmp_path / "given"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    with pytest.raises(
        OutsideFileError, match="folder" if kind == "folder" else "pipe or a device"
    ):
        outside_files.read_bytes(path)


COMMANDS = (
    ["diff", "?", "?"],
    ["rejudge", "?"],
    ["export", "?"],
    ["plan", "--cluster-profile", "?"],
    ["lint", "?"],
    ["baseline", "show", "?"],
    ["conformance", "verify", "?", "?"],
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize("name", ["results.json", "journal.jsonl", "given.zip"])
def test_no_command_waits_for_a_pipe_or_reads_a_device(
    tmp_path: Path, command: list[str], name: str
) -> None:
    """Each ends with a plain error."""
    os.mkfifo(tmp_path / name)
    (tmp_path / f"zero-{name}").symlink_to("/dev/zero")
    for given_name in (name, f"zero-{name}"):
        words = [word.replace("?", str(tmp_path / given_name)) for word in command]
        done = CliRunner().invoke(main, words)
        assert done.exit_code not in {0, 3}, done.output
        assert isinstance(done.exception, SystemExit)


def test_a_bundle_that_expands_without_end_is_refused() -> None:
    """One total for all that a bundle holds, by its packed size."""
    bomb = pack({JOURNAL: b"x" * (limits.BUNDLE_EXPANDED_BYTES + 1)}, {})
    assert len(bomb) < 100_000
    with pytest.raises(BrokenBundleError, match="expands to more than 32 MiB"):
        unpack(bomb, "bomb.zip")


WHOLE = pack({JOURNAL: b'{"record": "run"}\n' * 20, "verdicts.json": b"{}\n"}, {})


@settings(max_examples=300)
@given(st.data())
def test_a_damaged_bundle_is_a_plain_error(data: st.DataObject) -> None:
    """Whichever bytes are changed, cut or added."""
    changed = bytearray(WHOLE)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(changed) - 1))
        changed[at : at + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=4))
    with suppress(BrokenBundleError):
        unpack(bytes(changed), "x.zip")


@pytest.mark.parametrize("run", [".ssh", "tests", "..", "20261128-161641-f36e"])
def test_an_archive_names_a_run_and_nothing_else(run: str) -> None:
    """The folder's name is written below ``--to``: only a run's id passes."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as packed:
        member = tarfile.TarInfo(f"{run}/authorized_keys")
        member.size = 3
        packed.addfile(member, io.BytesIO(b"abc"))
    archive = Archive(data=written.getvalue(), left_out=())
    if re.match(r"\d", run):
        assert unpack_archive(archive)[0] == run
    else:
        with pytest.raises(PathError, match="report in the log is damaged"):
            unpack_archive(archive)
