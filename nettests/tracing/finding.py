"""The closed set of findings with their words and documented next steps, and the trace. Values.

The texts are in ``findings.txt``. Sources of the steps: Kubernetes, "Windows debugging tips" and
"Networking on Windows"; microsoft/SDN, ``Kubernetes/windows/debug`` (``collectlogs.ps1``,
``VFP.psm1``); Microsoft, "Use Packet Monitor to diagnose packet loss".
"""

from dataclasses import dataclass
from enum import Enum

from nettests.resources import lines_of
from nettests.tracing.hops import Hop
from nettests.tracing.mark import Marked
from nettests.tracing.packet import End, Scene


class Finding(Enum):
    """The first difference between the observed and the expected path."""

    NOTHING_WRONG = "nothing-wrong"
    NEVER_LEFT_POD = "never-left-pod"
    UNTRANSLATED = "untranslated"
    DEAD_BACKEND = "dead-backend"
    LOST_IN_SOURCE_NODE = "lost-in-source-node"
    NOT_ENCAPSULATED = "not-encapsulated"
    WRONG_VNI = "wrong-vni"
    SOURCE_REWRITTEN = "source-rewritten"
    LOST_BETWEEN_NODES = "lost-between-nodes"
    NOT_DELIVERED = "not-delivered"
    UNANSWERED = "unanswered"
    REFUSED = "refused"
    REPLY_OTHER_WAY = "reply-other-way"
    REPLY_LOST = "reply-lost"
    REPLY_NOT_TRANSLATED = "reply-not-translated"
    REPLY_NOT_DELIVERED = "reply-not-delivered"
    TOO_BIG_UNTOLD = "too-big-untold"
    TOO_BIG_TOLD = "too-big-told"
    DROPPED = "dropped"
    LOSES_SOME = "loses-some"
    FORGOTTEN = "forgotten"
    UNSURE = "unsure"

    @property
    def words(self) -> str:
        """The finding in words."""
        return _WORDS[self]

    @property
    def next_step(self) -> str:
        """The next step, in the terms of the documents."""
        return _NEXT[self]

    @property
    def harmless(self) -> bool:
        """Whether the packet went there and back as expected."""
        return self is Finding.NOTHING_WRONG


_ROWS = {
    Finding(name): texts
    for line in lines_of("nettests.tracing", "findings.txt")
    for name, *texts in [line.split(" | ")]
}
_WORDS = {finding: texts[0] for finding, texts in _ROWS.items()}
_NEXT = {finding: texts[1] for finding, texts in _ROWS.items()}
_FROM_HOST = {finding: texts[2] for finding, texts in _ROWS.items() if len(texts) > 2}
"""Next steps if the source is a node itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The path of one flow, where it stopped, and why.

    ``node`` has the first difference; ``detail`` is what was seen there, with addresses.
    ``answered`` is the client's result, ``None`` if unknown. ``remarks`` say what captures lack.
    """

    scene: Scene
    finding: Finding
    node: str
    detail: str
    hops: tuple[Hop, ...]
    frames: tuple[Marked, ...]
    backend: End | None = None
    stopped: Hop | None = None
    """The first hop at which the flow was not seen, or not as expected; ``None`` if nothing is wrong."""
    answered: bool | None = None
    remarks: tuple[str, ...] = ()
    confirmed: tuple[str, ...] = ()
    """What node objects say for or against the finding, if diagnostics were collected."""

    @property
    def next_step(self) -> str:
        """The next step after the finding; there are separate ones for flows from a node itself."""
        on_host = self.scene.source.on_host and self.finding in _FROM_HOST
        return _FROM_HOST[self.finding] if on_host else self.finding.next_step
