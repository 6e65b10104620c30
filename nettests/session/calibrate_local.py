"""Calibrate the tools of this machine, with the known questions and parsers of a cluster's nodes.

For ``nettests calibrate --local``, mainly on Windows: each tool as a process and by a shell, and a
capture of a ping. Everything that this module imports exists on Windows. ``via`` is put before each
command, for emulated machines. ``calibrate_now`` returns a ``CalibratedNow``, too: an anonymous
bundle is written if an answer is not understood.
"""

import platform
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import which
from socket import socket

from nettests import probes
from nettests.errors import NettestsError
from nettests.model.calibration import Calibration, Instrument
from nettests.model.channel import ChannelError, ExecAnswer
from nettests.model.cluster_profile import Timing
from nettests.model.exit_code import ExitCode
from nettests.model.journal_records import Calibrated
from nettests.model.run_folder import CALIBRATION, JOURNAL
from nettests.model.words import OS, Family, VantageKind
from nettests.parse.doubts import State
from nettests.private import require_writable, write_bytes
from nettests.report.instruments import InstrumentRow, instrument_rows
from nettests.session.exporting import exported
from nettests.session.journal import Journal
from nettests.session.report_dir import new_run_id, write_head
from nettests.session.run_options import RunOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibratedNow:
    """What the calibration understood, and remarks on the rest; ``folder`` has the journal."""

    folder: Path
    rows: tuple[InstrumentRow, ...]
    remarks: tuple[str, ...]
    bundle: Path | None = None
    """An anonymous copy to send, if some answer is not understood."""

    @property
    def exit_code(self) -> ExitCode:
        """Whether every instrument is understood, some are not, or nothing answered."""
        if not self.rows:
            return ExitCode.NOTHING_JUDGED
        understood = all(row.trusted for row in self.rows)
        return ExitCode.OK if understood else ExitCode.UNKNOWN

    def bundled(self) -> "CalibratedNow":
        """Write a bundle beside the journal if some answer is not understood."""
        if self.exit_code is not ExitCode.UNKNOWN:
            return self
        bundle = self.folder / f"{self.folder.name}.zip"
        write_bytes(bundle, exported(self.folder, today=datetime.now(UTC).date()).bundle())
        return replace(self, bundle=bundle)


def folder_of(report_dir: Path, run_id: str) -> Path:
    """Return the folder of one calibration."""
    return report_dir / f"{CALIBRATION}{run_id}"


MACHINE = "this-machine"
"""Stands for the machine's name, which stays private."""
_LACKING = {
    Instrument.HNS: "the Windows feature Containers is off",
    Instrument.RESOLVE_DNSNAME: "this PowerShell has no module DnsClient",
}
_NOT_FOUND = 127
"""A shell's exit code for a program that is missing."""


def calibrate_local(options: RunOptions, via: Sequence[str]) -> CalibratedNow:
    """Calibrate this machine's tools, and write the journal into a folder below ``report_dir``."""
    _require_windows(via)
    require_writable(options.report_dir)
    run_id = new_run_id()
    folder = folder_of(options.report_dir, run_id)
    calibrations: list[Calibration] = []
    with Journal(folder / JOURNAL) as journal:
        write_head(journal, options, run_id, context="", server="", digests=())
        for calibration in _calibrations(_Tools(tuple(via))):
            journal.write(Calibrated(calibration=calibration))
            calibrations.append(calibration)
        rows = instrument_rows(calibrations)
        calibrated = CalibratedNow(folder=folder, rows=rows, remarks=tuple(_lacking(rows)))
        journal.end(exit_code=calibrated.exit_code, counts={})
    return calibrated.bundled()


def _require_windows(via: Sequence[str]) -> None:
    if via and which(via[0]) is None:
        raise NettestsError(f"there is no program {via[0]} here", hint="name another with --via")
    if not via and sys.platform != "win32":
        # A known question goes to TEST-NET; elsewhere it is only sent in the namespace of `--via`.
        raise NettestsError(
            "calibrate --local is for Windows machines: on this one it would send packets from the machine itself",
            hint="run it on Windows, or with --via 'nettests lab windows-tool --' in `nettests lab closed`",
        )


def _lacking(rows: Sequence[InstrumentRow]) -> Iterator[str]:
    """Yield which instruments this machine lacks, and why if known."""
    absent = {row.instrument: row for row in rows if row.state is State.ABSENT}
    for instrument, row in absent.items():
        why = _LACKING.get(Instrument(instrument), "there is no such program")
        yield f"{instrument} is not on this machine: {why} ({row.text.strip()[:120]})"
    for row in rows:
        if row.instrument == Instrument.PKTMON and row.state is State.OPEN:
            yield f"pktmon was not used: {row.text}"


def _calibrations(tools: "_Tools") -> Iterator[Calibration]:
    with _ports() as (opened, closed):
        for how, alone in (("native", True), ("cmd /c", False)):
            here = probes.Here(opened=opened, closed=closed, how=how, alone=alone)
            place = probes.Place(
                node=MACHINE,
                vantage=VantageKind.NODE,
                os=OS.WINDOWS,
                probe=how,
                # agnhost exists in images only.
                instruments=probes.every_instrument(OS.WINDOWS, VantageKind.NODE)
                - {Instrument.CONNECT},
                build=platform.version().split(".")[-1] if sys.platform == "win32" else "",
                families=tuple(Family),
                here=here,
            )
            probe = probes.Probe(name=how, execute=tools)
            yield from probes.calibrate(place, probe, Timing(), threading.Event())
    yield probes.captured_ping(tools, MACHINE)


@contextmanager
def _ports() -> Iterator[tuple[int, int]]:
    """Yield a port on which a server answers, and one without a listener, both on loopback."""
    with socket() as unused, ThreadingHTTPServer(("127.0.0.1", 0), _Server) as server:
        unused.bind(("127.0.0.1", 0))
        serving = threading.Thread(target=server.serve_forever, daemon=True)
        serving.start()
        try:
            yield server.server_port, unused.getsockname()[1]
        finally:
            server.shutdown()
            serving.join()


class _Server(BaseHTTPRequestHandler):
    """Answers any path with ``MACHINE``."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(MACHINE.encode())

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@dataclass(frozen=True, slots=True)
class _Tools:
    """The programs of this machine as a control channel."""

    via: tuple[str, ...]

    @property
    def slots(self) -> AbstractContextManager[object]:
        """No limit: one process runs at a time anyway."""
        return nullcontext()

    def run(self, argv: Sequence[str], *, timeout: float) -> ExecAnswer:
        """Run a program; a missing one gives a shell's exit code for it."""
        try:
            done = subprocess.run(
                (*self.via, *argv),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=timeout,
                check=False,
            )
        except FileNotFoundError as error:
            return ExecAnswer(exit_code=_NOT_FOUND, stdout="", stderr=error.strerror or "")
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ChannelError(str(error)) from error
        stdout, stderr = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
        return ExecAnswer(exit_code=done.returncode, stdout=stdout, stderr=stderr)
