"""Who refused an object, by the API server's message, and what to do: RBAC is seldom the reason.

Admission refuses with 403 (quotas, LimitRanges, Pod Security, SCCs, most webhooks), 400, 422 or
500, so only the message decides. Used for errors of the API server (``cluster.failures``) and for
Pods of a run that were not created (``distrust``). Texts in ``refusals.txt``: Kubernetes,
plugin/pkg/admission and staging/src/k8s.io/apiserver/pkg/admission/plugin; Gatekeeper,
pkg/webhook/policy.go; Kyverno, pkg/webhooks/utils/block.go; OpenShift, apiserver-library-go, SCC
admission.
"""

import re
from dataclasses import dataclass

from nettests.model.visible import cut
from nettests.resources import rows_of

LENGTH = 300
"""Characters of a refusal in the title of an incident."""
AFTER_REFUSAL = (
    "read what the API server says of it: quotas and LimitRanges of the namespace, Pod Security, and webhooks "
    "(`kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations`); `nettests preflight` looks at the first ones"
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Who refused an object and why, with policy or constraint, and the next step."""

    why: str
    next_step: str


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of refusal: message, next step, and who refuses if the message does not say."""

    text: re.Pattern[str]
    step: str
    by: str = ""


_KINDS = tuple(
    _Kind(re.compile(row["message"]), row["step"], row.get("by", ""))
    for row in rows_of("nettests.judge", "refusals.txt")
)
_OF_RBAC = re.compile(
    # sample: pods is forbidden: User "a" cannot create resource "pods" in API group "" in the namespace "b"
    r'User "[^"]*" cannot \w+ '
)


def refusal_of(message: str) -> Refusal | None:
    """Return who refused an object and why; ``None`` if no entry matches, as for RBAC."""
    for kind in _KINDS:
        if match := kind.text.search(message):
            groups = {name: text or "" for name, text in match.groupdict().items()}
            reason = groups.get("said", "").strip(" '\"\n")
            why = f"{kind.by.format(**groups)}: {reason}" if kind.by else bare(message)
            return Refusal(shown(why), kind.step.format(**groups))
    return None


def is_of_rbac(message: str) -> bool:
    """Whether the message reports a missing permission, not a refused object."""
    return _OF_RBAC.search(message) is not None


def bare(message: str) -> str:
    """Strip name and amounts of the object from a refusal, so that one quota is one cause."""
    return message.rpartition(" is forbidden: ")[2].partition(", requested: ")[0].strip()


def shown(why: str) -> str:
    """Return a refusal on one line, as an incident shows it."""
    return cut(" ".join(why.split()), LENGTH)
