"""``nettests sonobuoy render | run``: the plugin definition for Sonobuoy, and the command in its container.

Arguments and output only: ``job.sonobuoy`` renders, ``cli.sonobuoy_commands`` runs.

Whatever happens, the file ``done`` is written, and last: without it Sonobuoy waits for its time-out. Files are
readable for all, because Sonobuoy's worker is another user in another container. Nothing is judged here.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import click
import requests
from requests.exceptions import RequestException

from nettests import terminal
from nettests.cli.help import Command
from nettests.cli.job_options import require_run_arguments
from nettests.errors import NettestsError, PathError, PlanError
from nettests.job import Wanted, checked, pack
from nettests.job.sonobuoy import (
    DEFAULT_PORT,
    DONE,
    PORT_VARIABLE,
    RESULTS_FOLDER,
    RESULTS_VARIABLE,
    Progress,
    definition,
)
from nettests.model.journal_lines import decode_only
from nettests.model.journal_records import Judged, Planned
from nettests.model.limits import BrokenJournalError
from nettests.model.run_folder import JOURNAL
from nettests.model.yaml_writing import write_yaml
from nettests.private import make_folder
from nettests.session.run_archive import read_folder
from nettests.session.signals import ending_signals


@click.group()
def sonobuoy() -> None:
    """Run as a plugin of Sonobuoy."""


@sonobuoy.command(
    cls=Command,
    example="nettests sonobuoy render --image registry.example/nettests:0.1.0 -- --enable=costly",
)
@click.option("--image", required=True, metavar="REFERENCE", help="The image that holds nettests.")
@click.argument("run_args", nargs=-1, type=click.UNPROCESSED)
def render(*, image: str, run_args: tuple[str, ...]) -> None:
    """Print the plugin's definition, for `sonobuoy run --plugin`.

    RUN_ARGS, after --, are those of `nettests run`.
    """
    require_run_arguments(run_args)
    checked(Wanted(image=image))
    terminal.block(write_yaml(definition(image, run_args), ascii_only=True))


@sonobuoy.command(name="run", cls=Command, example="nettests sonobuoy run -- --enable=costly")
@click.argument("run_args", nargs=-1, type=click.UNPROCESSED)
def run_plugin(*, run_args: tuple[str, ...]) -> None:
    """Run in the container of Sonobuoy's plugin, and deliver the report.

    RUN_ARGS, after --, are those of `nettests run`, whose exit code this has. Progress goes to Sonobuoy's worker; the
    report, and then the file done, into its results folder.
    """
    results = Path(os.environ.get(RESULTS_VARIABLE) or RESULTS_FOLDER)
    port = port_of(os.environ.get(PORT_VARIABLE, ""))
    reports = Path(tempfile.mkdtemp(prefix="nettests-"))
    code = deliver_run(
        run_args, results, reports, port, lambda sentence: terminal.paragraph(sentence, err=True)
    )
    terminal.line(f"results: {results}")
    sys.exit(code)


RESULTS_FILE = "nettests.tar.gz"
UPDATE_SECONDS = 5.0
"""Between two updates."""
POST_SECONDS = 3.0
"""For an update to be taken; one that is not taken is lost, and the next says all that it said."""
ENDING_SECONDS = 50.0
"""For a run to clean up after SIGTERM: Sonobuoy gives a plugin 60 s in all."""
_READABLE = 0o644


@dataclass(slots=True)
class Journal:
    """The journal of a run that another process writes, read as it grows."""

    reports: Path
    before: frozenset[str]
    progress: Progress = field(default_factory=Progress)
    _read: int = 0

    @property
    def folder(self) -> Path | None:
        """The folder of the run, once there is one."""
        new = [
            path.parent
            for path in self.reports.glob(f"*/{JOURNAL}")
            if path.parent.name not in self.before and not path.parent.is_symlink()
        ]
        return new[0] if new else None

    def read_on(self) -> None:
        """Take in the lines that have come since, whole ones alone."""
        folder = self.folder
        if folder is None:
            return
        with (folder / JOURNAL).open("rb") as file:
            file.seek(self._read)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                self._read += len(line)
                self._take(line)

    def _take(self, line: bytes) -> None:
        # Of a later version, or damaged: the report says so, and progress goes on.
        with suppress(BrokenJournalError, ValueError, LookupError, TypeError):
            judged = decode_only(line, Judged)
            if judged is not None:
                self.progress.add(judged.judgement)
            elif decode_only(line, Planned) is not None:
                self.progress.total += 1


def port_of(text: str) -> int:
    """Return the port that Sonobuoy's worker listens on for updates."""
    if not text:
        return DEFAULT_PORT
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 65536:
        raise PlanError(
            f"${PORT_VARIABLE} is {text!r}, which is no port", hint="Sonobuoy itself sets it"
        )
    return int(text)


def deliver_run(
    arguments: Sequence[str], results: Path, reports: Path, port: int, say: Callable[[str], None]
) -> int:
    """Run ``nettests run`` with these arguments, tell how far it is, deliver its report; return its exit code."""
    try:
        make_folder(reports)
        results.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PathError(f"{error.filename} cannot be made: {error.strerror}") from error
    before = frozenset(path.name for path in reports.iterdir())
    journal = Journal(reports, before)
    command = [sys.executable, "-m", "nettests", "run", f"--report-dir={reports}", *arguments]
    code = 3  # as pytest's for an internal error, where not even the process could be started
    try:
        with ending_signals(), subprocess.Popen(command, stdin=subprocess.DEVNULL) as process:
            code = _follow(process, journal, port, say)
    finally:
        _deliver(journal.folder, code, results, say)
    return code


def _follow(
    process: "subprocess.Popen[bytes]", journal: Journal, port: int, say: Callable[[str], None]
) -> int:
    """Wait for the run; somebody who ends this process ends it first, and waits for its clean-up."""
    silent = False
    try:
        while True:
            with suppress(subprocess.TimeoutExpired):
                process.wait(UPDATE_SECONDS)
            journal.read_on()
            problem = _post(journal.progress, port)
            if problem and not silent:
                say(f"progress is not taken on port {port}: {problem}")
            silent = bool(problem)
            if process.poll() is not None:
                return process.returncode
    except KeyboardInterrupt:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            return process.wait(ENDING_SECONDS)
        process.kill()
        return process.wait()


def _post(progress: Progress, port: int) -> str:
    """Post an update to Sonobuoy's worker in the same Pod; return why it was not taken."""
    with requests.Session() as session:
        session.trust_env = False  # never through a proxy: it is this Pod's own address
        try:
            answer = session.post(
                f"http://127.0.0.1:{port}/progress",
                json=progress.update(),
                headers={"Connection": "close"},
                timeout=POST_SECONDS,
                allow_redirects=False,
                stream=True,
            )
        except RequestException as error:
            return type(error).__name__
    return "" if answer.status_code < 300 else f"it answered {answer.status_code}"


def _deliver(folder: Path | None, code: int, results: Path, say: Callable[[str], None]) -> None:
    """Write the archive of the run's folder, then ``done`` with its path."""
    try:
        if folder is None:
            raise PathError("the run has left no report")
        name, files = folder.name, dict(read_folder(folder))
    except NettestsError as error:
        say(f"no report is delivered: {error}")
        text = f"nettests run ended with exit code {code} and left no report: see the log of its container\n"
        name, files = "nettests", {PurePosixPath("error.txt"): text.encode()}
    file = results / RESULTS_FILE
    _write_readable(file, pack(name, files).data)
    _write_readable(results / DONE, str(file).encode())


def _write_readable(file: Path, data: bytes) -> None:
    """Put a whole file in place at once, for all to read."""
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    beside.write_bytes(data)
    beside.chmod(_READABLE)
    beside.replace(file)
