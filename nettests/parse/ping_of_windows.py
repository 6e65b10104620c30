"""Read the output of Windows' ``ping.exe`` in any language, by the shape of its lines.

Sentences are translated; addresses, ``TTL=``, ``PING:``, error codes and brackets are not. A line
with an address and text after a colon is a machine's answer: an echo reply if it has ``TTL=`` (or
over IPv6 a time), otherwise an ICMP error. A line without an address is the node's own message. A
time-out is recognised by its words, or by the total time of all echoes. Sources: ping.exe's message
table and source (NT 4, ``ping.mc``, ``ping.c``); posted outputs.
"""

import ipaddress
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from nettests.model.observation import Raw
from nettests.model.words import Outcome
from nettests.resources import lines_of

# samples: 10.244.2.5, fd00:10:244:4::3, fe80::1%12; of "Reply from fd00::3: time<1ms" with the colon behind it
_ADDRESS = re.compile(r"[0-9A-Fa-f]*[.:][0-9A-Fa-f.:]+(?:%\w+)?:?")
# sample: " からの応答: バイト数 =32 時間 <1ms TTL=128"
_ECHO_BY_TTL = re.compile(r"\bTTL=\d+")
# samples: " time<1ms", " Zeit=2ms", " 時間 <1ms"
_ECHO_BY_TIME = re.compile(r"[<=]\s?\d+")
# samples: "PING: transmit failed. General failure.", "PING: transmit failed, error code 1231.", "PING: 传输失败，错误代码 1231。"
_NOT_SENT = re.compile(r"PING\s?[:：]")
_NO_WAY = frozenset({"1231", "1232"})
"""ERROR_NETWORK_UNREACHABLE, ERROR_HOST_UNREACHABLE (winerror.h)."""
_UNREACHABLE = re.compile(
    # samples: "Destination host unreachable.", "General failure.", "Packet needs to be fragmented but DF set."
    r"Destination (?:\w+ )?unreachable|General failure|needs to be fragmented",
    re.IGNORECASE,
)
# sample: "Ping request could not find host nosuch.demo. Please check the name and try again."
_UNKNOWN_NAME = re.compile(r"could not find host", re.IGNORECASE)
_WAITED_IN_VAIN = re.compile("|".join(lines_of("nettests.parse", "ping_timed_out.txt")))
# samples: "(100% loss)", "(perte 100%)", "(100% Verlust)", "(100% 丢失)"
_ALL_LOST = re.compile(r"\([^()\d]*100\s?%")


@dataclass(frozen=True, slots=True)
class Answer:
    """A line that reports a machine's answer: its address, and whether it is an echo reply."""

    sender: str
    echoed: bool
    line: str


def answers(text: str) -> Iterator[Answer]:
    """Yield the answers in an output, including those of routers on the path."""
    for line in text.splitlines():
        for match in _ADDRESS.finditer(line):
            sender = _address(match[0])
            if sender is None:
                continue
            _, colon, text_of_it = (
                line[match.start() + len(sender) :].replace("：", ":").partition(":")
            )
            if (
                colon and text_of_it.strip()
            ):  # lines about the whole name the target, and end with a colon
                by_time = ":" in sender and _ECHO_BY_TIME.search(text_of_it)
                yield Answer(sender, bool(_ECHO_BY_TTL.search(text_of_it) or by_time), line.strip())
            break


def _address(word: str) -> str | None:
    for candidate in (word, word.removesuffix(":")):
        try:
            ipaddress.ip_address(candidate)
        except ValueError:
            continue
        return candidate
    return None


def without_echo(raw: Raw) -> tuple[Outcome, str] | None:
    """Return why no echo reply came, with the line that says so; ``None`` if unknown."""
    text = f"{raw.stdout}\n{raw.stderr}"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [answer.line for answer in answers(text) if not answer.echoed]
    unreachable = errors or [line for line in lines if _UNREACHABLE.search(line)]
    not_sent = [line for line in lines if _NOT_SENT.match(line)]
    unreachable += [line for line in not_sent if _NO_WAY & set(re.findall(r"\d+", line))]
    if unreachable:
        return Outcome.UNREACHABLE, unreachable[0]
    if not_sent:
        return None
    for pattern, outcome in (
        (_UNKNOWN_NAME, Outcome.NXDOMAIN),
        (_WAITED_IN_VAIN, Outcome.TIMED_OUT),
    ):
        for line in lines:
            if pattern.search(line):
                return outcome, line
    if _ALL_LOST.search(text) and _waited(raw.command, raw.elapsed):
        return Outcome.TIMED_OUT, f"all echoes were waited for, and lost: {lines[-1]}"
    return None


def _waited(command: Sequence[str], elapsed: float) -> bool:
    """Whether ping waited for every echo; a failure of the node itself returns at once."""
    given = dict(pairwise(command))
    echoes, milliseconds = given.get("-n", ""), given.get("-w", "")
    if not (echoes.isdecimal() and milliseconds.isdecimal()):
        return False
    return elapsed >= int(echoes) * int(milliseconds) / 1000
