"""Files from outside: regular ones of bounded size, read by one opener; everything else is a plain error."""

import io
import json
import os
import re
import resource
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import pytest
from click.testing import CliRunner
from ruamel.yaml import YAML

from nettests import outside_files
from nettests.cli import main
from nettests.errors import PathError
from nettests.export.bundle import BrokenBundleError, pack, unpack
from nettests.job.archive import Archive
from nettests.job.archive import unpack as unpack_archive
from nettests.model import limits
from nettests.model.codec import data_of
from nettests.model.run_folder import JOURNAL, RESULTS
from nettests.outside_files import OutsideFileError
from nettests.plugin.documents import write_documents
from nettests.session.report_dir import write_folder
from tests.cluster.api import write_kubeconfig
from tests.report.scenario import QUIET, records

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


RUN = "20261128-161641-f36e"
ON_RUNS = (
    *(["diff", "?", "?"], ["rejudge", "?"], ["history", "?/.."], ["export", "?", "--show"]),
    *(["archive", "?", "--to=a.tar.gz"], ["forecast", "?", "--to=kubernetes=1.36"], ["open", "?"]),
    ["baseline", "accept", "?", "--reason=x", "--expires=2999-01-01", "--to=accepted.yaml"],
)
"""Every command that reads the folder of a run."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run."""
    folder = tmp_path_factory.mktemp("runs") / RUN
    folder.mkdir()
    lines = [json.dumps(data_of(record)) for record in records(QUIET)]
    (folder / JOURNAL).write_text("\n".join(lines) + "\n")
    write_documents(folder)
    return folder


@contextmanager
def at_most_more(size: int) -> Iterator[None]:
    """Let this process have so many bytes more of memory than it has, or ``MemoryError``."""
    had = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (had + size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@pytest.mark.parametrize("kind", ["pipe", "device", "3 GiB"])
@pytest.mark.parametrize("name", [RESULTS, JOURNAL])
def test_a_run_of_a_stranger_holds_no_command(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    """Each ends, with what it has or a plain error, and needs no more memory than for an honest run."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "theirs" / RUN
    shutil.copytree(run, folder)
    (folder / name).unlink()
    if kind == "pipe":
        os.mkfifo(folder / name)
    elif kind == "device":
        (folder / name).symlink_to("/dev/zero")
    else:
        (folder / name).touch()
        os.truncate(folder / name, 3 << 30)
    for command in ON_RUNS:
        words = [word.replace("?", str(folder)) for word in command]
        with at_most_more(1 << 30):
            done = CliRunner().invoke(main, words)
        assert done.exit_code != 3, done.output
        assert done.exception is None or isinstance(done.exception, SystemExit), command


@pytest.mark.parametrize("kind", ["pipe", "device", "3 GiB"])
@pytest.mark.parametrize(
    "user", [{"tokenFile": "?"}, None], ids=["token file", "second kubeconfig"]
)
def test_a_kubeconfig_s_files_are_regular_ones(
    tmp_path: Path, user: dict[str, str] | None, kind: str
) -> None:
    """The token's file, and each kubeconfig of a list."""
    given = tmp_path / "given"
    if kind == "pipe":
        os.mkfifo(given)
    elif kind == "device":
        given.symlink_to("/dev/zero")
    else:
        given.touch()
        os.truncate(given, 3 << 30)
    file = write_kubeconfig(tmp_path / "config", "http://127.0.0.1:1")
    if user:
        config = YAML(typ="safe").load(file)
        config["users"][0]["user"] = {"tokenFile": str(given)}
        YAML().dump(config, file)
    chosen = str(file) if user else f"{file}:{given}"
    with at_most_more(1 << 30):
        done = CliRunner().invoke(main, ["discover"], env={"KUBECONFIG": chosen})
    assert re.search(f"{given}.*(pipe or a device|larger than)", " ".join(done.output.split()))
    assert done.exit_code not in {0, 3}


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "x" * 300, "results.json/x"])
def test_a_report_whose_names_no_folder_takes_is_a_plain_error(tmp_path: Path, name: str) -> None:
    """Whoever wrote the log chose them."""
    files = {PurePosixPath(RESULTS): b"{}", PurePosixPath(name): b""}
    with pytest.raises(PathError, match="cannot be written"):
        write_folder(tmp_path, RUN, files)


def test_a_bundle_that_expands_without_end_is_refused() -> None:
    """One total for all that a bundle holds, by its packed size."""
    bomb = pack({JOURNAL: b"x" * (limits.BUNDLE_EXPANDED_BYTES + 1)}, {})
    assert len(bomb) < 100_000
    with pytest.raises(BrokenBundleError, match="expands to more than 32 MiB"):
        unpack(bomb, "bomb.zip")


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
