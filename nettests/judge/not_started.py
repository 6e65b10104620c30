"""Which Pod was refused or never became Ready, by the reason of an unknown check, and what to do.

Used by ``advice`` and by the report's incidents. ``probes.deploy`` writes the first words of the
reason; the rest is what ``model.pod_problem`` took from the kubelet, the runtime or the scheduler,
or the API server's refusal.
"""

import re
from dataclasses import dataclass

from nettests.judge.refusals import AFTER_REFUSAL, Refusal, bare, refusal_of, shown
from nettests.resources import rows_of

_NOT_STARTED = re.compile(
    # sample: pod server-windows-1-1 is not Ready: container hostname: ImagePullBackOff: failed to pull and unpack image "…": no match …
    # sample: no Pod of this run started on win-1: pod hostport-windows-1-1 is not Ready: not scheduled: 0/4 nodes …
    r"(?P<none>no Pod of this run .*?started on \S+: )?\bpod (?P<pod>\S+) is not Ready: (?P<reason>.*)",
    re.DOTALL,
)
_NOT_CREATED = re.compile(
    # sample: pod s-1 does not stand: Pod s-1 was not created: POST /api/v1/namespaces/x/pods: 403 Forbidden: pods "s-1" is
    #         forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2
    # sample: Pod s-1 was not created: POST …: 500 InternalError: Internal error occurred: failed calling webhook "a.b": …
    # sample: attempt 1: a Pod of the DaemonSet was refused: Error creating: pods "x-1" is forbidden: exceeded quota: small, …
    r"\b(?:Pod \S+ was not created|a Pod of the \w+ was refused): "
    r"(?:\S+ \S+: \d{3} \w*: |Error creating: )?(?P<message>.+)",
    re.DOTALL,
)
_STEPS = tuple((row["reason"], row["step"]) for row in rows_of("nettests.judge", "not_started.txt"))
# sample: init container istio-init: ImagePullBackOff: …
_INIT = re.compile(r"init container (?P<name>\S+): ")


@dataclass(frozen=True, slots=True)
class NotStarted:
    """A Pod of the run that did not become Ready, and why.

    ``of_node``: no other Pod of the run started on its node either.
    """

    pod: str
    reason: str
    of_node: bool = False

    @property
    def next_step(self) -> str:
        """What to do about it."""
        step = f"see why the Pod does not start (`kubectl describe pod {self.pod}` while a run is under way)"
        if init := _INIT.match(self.reason):
            step = (
                f"{step}; nettests has no init container: {init['name']} comes from an injector, from which pods.labels or "
                'pods.annotations of the cluster profile exempt Pods (sidecar.istio.io/inject: "false")'
            )
        cause = next((then for text, then in _STEPS if re.search(text, self.reason)), "")
        return f"{step}; {cause}" if cause else f"{step}, and run again once such Pods start there"


def not_started(why: str) -> NotStarted | None:
    """Return the Pod that never became Ready, if that is why the check is unknown."""
    match = _NOT_STARTED.search(why)
    if match is None:
        return None
    return NotStarted(match["pod"], match["reason"].strip(), of_node=match["none"] is not None)


def not_created(why: str) -> Refusal | None:
    """Return the refusal of a Pod of the run, if that is why the check is unknown."""
    match = _NOT_CREATED.search(why)
    if match is None:
        return None
    return refusal_of(match["message"]) or Refusal(shown(bare(match["message"])), AFTER_REFUSAL)
