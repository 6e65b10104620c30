"""Which Pod of the run never became Ready, read from the reason why a check cannot be judged.

Used by ``advice`` and by the report's incidents. The words are those of ``probes.deploy``, and what follows them is
the kubelet's or the scheduler's own reason.
"""

import re
from dataclasses import dataclass

_NOT_STARTED = re.compile(
    # sample: pod server-windows-1-1 is not Ready: container hostname: ImagePullBackOff: Back-off pulling image "…"
    # sample: no Pod of this run started on win-1: pod hostport-windows-1-1 is not Ready: Unschedulable: 0/4 nodes …
    r"\bpod (?P<pod>\S+) is not Ready: (?:container \S+: )?(?P<reason>[^:]*)"
)
_PULLS = {"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"}


@dataclass(frozen=True, slots=True)
class NotStarted:
    """A Pod of the run, and in a word why it did not become Ready."""

    pod: str
    reason: str

    @property
    def next_step(self) -> str:
        """What to do about it."""
        step = f"see why the Pod does not start (`kubectl describe pod {self.pod}` while a run is under way)"
        if self.reason in _PULLS:
            return f"{step}; whether its node reaches the registry, and pulls the image (`crictl pull`)"
        return f"{step}, and run again once such Pods start there"


def not_started(why: str) -> NotStarted | None:
    """Return the Pod that never became Ready, where that is the reason why nothing can be trusted."""
    found = _NOT_STARTED.search(why)
    return NotStarted(found["pod"], found["reason"].strip()) if found else None
