"""Capture a ping of this machine by its own pktmon, as traces do, to test how its log is read.

For ``nettests calibrate --local`` on Windows. A machine on which that is forbidden, or another
capture runs, reports why. Bytes of frames are not recorded: no pseudonym replaces addresses there.
"""

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import NoReturn

from nettests.errors import NettestsError
from nettests.model.calibration import Calibration, KnownQuestion
from nettests.model.channel import ChannelError, ExecChannel
from nettests.model.words import OS
from nettests.parse.known_answers import FRAMES
from nettests.probes.capturing import TOOL_SECONDS, Capturer, Flow
from nettests.probes.known_questions import TEST_NET, ping
from nettests.tracing.printed import read_pktmon

_BASE = 28000
"""The first of the ports that the filter passes besides ICMP."""
_LONGEST = 4000
"""The most characters of a log that are recorded."""
# sample: \t0x0010:  40ec 99b9 1725 f0b4 d2
_BYTES = re.compile(r"(?m)^\s*0x[0-9a-fA-F]{4,8}:.*\n?")


def captured_ping(tools: ExecChannel, machine: str) -> Calibration:
    """Return how the log of a capture was read while this machine pinged TEST-NET."""
    capturer = Capturer(
        cluster=_Here(tools),
        namespace=secrets.token_hex(4),
        node=_Machine(machine),
        flow=Flow(base=_BASE),
    )
    text = error = ""
    try:
        capturer.begin()
        capturer.run(ping(OS.WINDOWS, TEST_NET), TOOL_SECONDS)
    except NettestsError as failure:
        error = failure.message
    finally:
        text = capturer.end(until="")
    if not error and not text:
        error = "; ".join(capturer.remarks)
    sent = ip_address(TEST_NET).packed
    frames = sum(sent in frame.data for frame in read_pktmon(text).frames)
    return Calibration(
        node=machine,
        vantage="native",
        os=OS.WINDOWS,
        probe="pktmon",
        questions=(KnownQuestion(name="pktmon/ping"),),
        command=("pktmon", "start"),
        exit_code=0,
        stdout=_BYTES.sub("", text)[:_LONGEST],
        error=error or None,
        context={FRAMES: str(frames)},
    )


@dataclass(frozen=True, slots=True)
class _Machine:
    name: str
    os: OS = OS.WINDOWS
    pool: str = "this"
    member: int = 1


@dataclass(frozen=True, slots=True)
class _Here:
    """The cluster operations that captures need: every command runs on this machine."""

    tools: ExecChannel

    def open_exec(self, *_words: str, node: str, os: OS) -> ExecChannel:  # noqa: ARG002 - of one machine and system
        """Return this machine's channel."""
        return self.tools

    def converse(
        self, _namespace: str, pod: str, _container: str, _argv: Sequence[str]
    ) -> NoReturn:
        """Raise ``ChannelError``: only tcpdump is interactive, and Windows has none."""
        raise ChannelError(f"{pod} is no Pod: nothing is talked with here")
