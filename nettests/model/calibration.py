"""Calibrations: the answers of a node's tools to known questions, before any parsing.

An instrument is anything whose output decides verdicts: the exec channel, ``ping``, PowerShell …
``probes.calibrating`` runs the known questions before a run judges, the journal records the
answers, and ``parse.known_answers`` holds the expected ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from nettests.model.words import OS

NOT_UNDERSTOOD = "is not understood"
UNEXPECTED = "fails a known question"
"""The answer was understood: what the command tests does not work there."""
UNCALIBRATED = "was not calibrated"
"""One of these three marks the reason of a check that is unknown because of an instrument."""


class Instrument(StrEnum):
    """What is calibrated; the values appear in reports and journals."""

    EXEC = "exec"
    """Running a process: exit code, arguments, output, a missing program."""
    DIAL = "dial"
    """Requests sent by agnhost's own server."""
    CURL = "curl"
    CONNECT = "connect"
    """``agnhost connect``."""
    PING = "ping"
    NSLOOKUP = "nslookup"
    RESOLVE_DNSNAME = "resolve-dnsname"
    CMD = "cmd"
    REG = "reg"
    IPCONFIG = "ipconfig"
    NETSH = "netsh"
    TASKLIST = "tasklist"
    POWERSHELL = "powershell"
    HNS = "hns"
    """The HNS cmdlets and the schema of their output."""
    PKTMON = "pktmon"
    """On no node: a run's captures contain packets with known content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownQuestion:
    """A known question by name (``ping/itself``), with its command, if it has one."""

    name: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """One process that runs known questions, each in a marked section, and its output.

    ``vantage`` is ``pod`` or ``node``, where one Pod stands for all on its node, or how programs
    are started on a machine that is no node. ``error`` is set when the control channel failed.
    """

    node: str
    vantage: str
    os: OS
    probe: str
    questions: tuple[KnownQuestion, ...]
    command: tuple[str, ...]
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    error: str | None = None
    seconds: float = 0.0
    context: Mapping[str, str] = field(default_factory=dict)
    """Other known values of the place: ``build``, ``address`` …"""


def begins(number: int) -> str:
    """Return the line that marks the start of a question's output, in both streams."""
    return f"~{number}~"


def ended(number: int, code: str) -> str:
    """Return the line after a question's output: its exit code, or the shell's substitute."""
    return f"~{number}.{code}~"
