"""The finding of a trace, and its evidence. Values."""

from dataclasses import dataclass

from nettests.tracing.finding import Finding
from nettests.tracing.hops import Hop
from nettests.tracing.mark import Marked
from nettests.tracing.scene import End, Scene


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The path of one flow, where it stopped, and why.

    ``node`` is where the first difference is; ``detail`` is what was seen there, in addresses and numbers.
    ``answered`` is what the client said, ``None`` where that is not known. ``remarks`` are what captures lack, for people.
    """

    scene: Scene
    finding: Finding
    node: str
    detail: str
    hops: tuple[Hop, ...]
    frames: tuple[Marked, ...]
    backend: End | None = None
    stopped: Hop | None = None
    """The first hop at which the flow was not seen, or not as it should be; none where nothing is wrong."""
    answered: bool | None = None
    remarks: tuple[str, ...] = ()
    confirmed: tuple[str, ...] = ()
    """What objects of the nodes say of the finding, for or against it, where diagnostics were collected."""
