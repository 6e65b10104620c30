"""Which Pod of the run never became Ready, read from the reason of an unknown check.

Used by ``advice`` and by the report's incidents. The first words are those of ``probes.deploy``; the rest is the
kubelet's or the scheduler's own reason.
"""

import re
from dataclasses import dataclass

_NOT_STARTED = re.compile(
    # sample: pod server-windows-1-1 is not Ready: container hostname: ImagePullBackOff: Back-off pulling image "…"
    # sample: no Pod of this run started on win-1: pod hostport-windows-1-1 is not Ready: Unschedulable: 0/4 nodes …
    r"\bpod (?P<pod>\S+) is not Ready: (?:container \S+: )?(?P<reason>[^:]*)"
)
_NOT_CREATED = re.compile(
    # sample: pod s-1 does not stand: Pod s-1 was not created: POST /api/v1/namespaces/x/pods: 403 Forbidden: pods "s-1" is
    #         forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2
    # sample: Pod s-1 was not created: POST …: 500 InternalError: Internal error occurred: failed calling webhook "a.b": …
    # sample: attempt 1: a Pod of the DaemonSet was refused: Error creating: pods "x-1" is forbidden: exceeded quota: small, …
    r"\b(?:Pod \S+ was not created|a Pod of the \w+ was refused): "
    r"(?:\S+ \S+: \d{3} \w*: |Error creating: )?(?P<message>.+)"
)
_LONGEST = 100
"""Characters of the API server's words that an incident shows."""
AFTER_REFUSAL = (
    "read what the API server says of the Pod: quotas and LimitRanges of its namespace, Pod Security, and webhooks "
    "(`kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations`); `nettests preflight` looks at the first ones"
)
_PULLS = {"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"}


@dataclass(frozen=True, slots=True)
class NotStarted:
    """A Pod of the run, and in one word why it did not become Ready."""

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
    """Return the Pod that never became Ready, if that is why the check is unknown."""
    match = _NOT_STARTED.search(why)
    return NotStarted(match["pod"], match["reason"].strip()) if match else None


def not_created(why: str) -> str | None:
    """Return in the API server's words why a Pod of the run was not created, if that is why the check is unknown."""
    match = _NOT_CREATED.search(why)
    if match is None:
        return None
    message = match["message"].rpartition(" is forbidden: ")[2]
    reason = message.partition(", requested: ")[0].strip()
    return reason if len(reason) <= _LONGEST else f"{reason[: _LONGEST - 1]}…"
