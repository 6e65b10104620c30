"""Who refused an object, by the API server's message, and what to do about it: that is seldom a matter of RBAC.

Admission refuses with 403 (quotas, LimitRanges, Pod Security, SCCs, most webhooks), 400, 422 or 500, so that the message
decides, and never the status. Used for what the API server answers (``cluster.failures``) and for Pods of a run that were not
created (``not_started``). ``refusals.txt`` lists them; texts: Kubernetes, plugin/pkg/admission and staging/src/k8s.io/apiserver/pkg/admission/plugin;
Gatekeeper, pkg/webhook/policy.go; Kyverno, pkg/webhooks/utils/block.go; OpenShift, apiserver-library-go, SCC admission.
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
    """Who refused and why, with the names of policy and constraint, and the next step, which is theirs."""

    why: str
    next_step: str


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of refusal: its text, who refuses if the text names nobody plainly, and the next step; both with groups of the text."""

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
    """Return who refused an object and why, by the API server's message; ``None`` where RBAC or nobody known did."""
    for kind in _KINDS:
        if match := kind.text.search(message):
            groups = {name: text or "" for name, text in match.groupdict().items()}
            reason = groups.get("said", "").strip(" '\"\n")
            why = f"{kind.by.format(**groups)}: {reason}" if kind.by else bare(message)
            return Refusal(shown(why), kind.step.format(**groups))
    return None


def is_of_rbac(message: str) -> bool:
    """Whether the message says that somebody lacks a permission, and not that an object is refused."""
    return _OF_RBAC.search(message) is not None


def bare(message: str) -> str:
    """Return a refusal without the object's name and amounts, which differ from one to the next: one quota is one cause."""
    return message.rpartition(" is forbidden: ")[2].partition(", requested: ")[0].strip()


def shown(why: str) -> str:
    """Return a refusal on one line, as an incident shows it."""
    return cut(" ".join(why.split()), LENGTH)
