"""Calibrations: the answers of a node's tools to known questions, before any parsing.

An instrument is anything whose output decides verdicts: the exec channel, ``ping``, PowerShell … ``probes.calibrating``
puts them before a run judges, the journal records it, ``parse.known_answers`` says what had to be read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from nettests.model.words import OS

NOT_UNDERSTOOD = "is not understood"
UNCALIBRATED = "was not calibrated"
"""What the reason says of a check that is unknown because of an instrument."""


class Instrument(StrEnum):
    """What is calibrated; the values are shown to people and are part of journals."""

    EXEC = "exec"
    """Starting a process: its exit code, its arguments, its output, a program that is missing."""
    DIAL = "dial"
    """Requests of agnhost's own server."""
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
    """The cmdlets of HNS, and the schema in which they answer."""
    PKTMON = "pktmon"
    """Of no node: the captures of a run hold packets that it knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownQuestion:
    """A known question by its name (``ping/itself``), and the command that puts it; none for the process as a whole."""

    name: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """One process with known questions, each in a marked section of its output, and its answer.

    ``vantage`` is ``pod`` or ``node``, one Pod of each stands for all on its node; or how programs were started on a machine
    that is no node. ``error`` is set when the control channel failed.
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
    """What is known of the place besides: ``build``, ``address`` …"""


def begins(number: int) -> str:
    """Return the line before the output of a process's question, in both of its streams."""
    return f"~{number}~"


def ended(number: int, code: str) -> str:
    """Return the line after the output of a question: with its exit code, or what a shell replaces by it."""
    return f"~{number}.{code}~"
