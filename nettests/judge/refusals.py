"""Who refused an object, by the API server's message, and what to do about it: that is seldom a matter of RBAC.

Admission refuses with 403 (quotas, LimitRanges, Pod Security, SCCs, most webhooks), 400, 422 or 500, so that the message
decides, and never the status. Used for what the API server answers (``cluster.failures``) and for Pods of a run that were not
created (``not_started``). Texts: Kubernetes, plugin/pkg/admission and staging/src/k8s.io/apiserver/pkg/admission/plugin;
Gatekeeper, pkg/webhook/policy.go; Kyverno, pkg/webhooks/utils/block.go; OpenShift, apiserver-library-go, SCC admission.
"""

import re
from dataclasses import dataclass

from nettests.model.visible import cut

LENGTH = 300
"""Characters of a refusal in the title of an incident."""
AFTER_REFUSAL = (
    "read what the API server says of it: quotas and LimitRanges of the namespace, Pod Security, and webhooks "
    "(`kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations`); `nettests preflight` looks at the first ones"
)
_EXEMPT = "or exempt the run's namespace from this admission webhook"


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


_KINDS = (
    # sample: Internal error occurred: failed calling webhook "a.b": failed to call webhook: Post "https://…": no endpoints available
    _Kind(
        re.compile(r'failed calling webhook "(?P<webhook>[^"]*)"'),
        "see why the API server does not reach webhook {webhook}: the Pods and endpoints of its Service (`kubectl get "
        "mutatingwebhookconfigurations,validatingwebhookconfigurations` names it), " + _EXEMPT,
    ),
    # sample: admission webhook "validation.gatekeeper.sh" denied the request: [azurepolicy-container-limits-353b10954438e990aba4] container …
    _Kind(
        re.compile(r"denied the request: \[(?:denied by )?(?P<constraint>azurepolicy-[^\]]+)\]\s*(?P<said>.*)", re.DOTALL),
        "exclude the run's namespace in the assignment of that Azure Policy (its parameter excludedNamespaces; `kubectl get "
        "constraints` shows {constraint}), " + _EXEMPT,
        by="Azure Policy, constraint {constraint}",
    ),
    # sample: … denied the request: GKE Warden rejected the request …\nViolations details: {"[denied by autogke-disallow-hostnamespaces]":["…"]}
    _Kind(
        re.compile(r'GKE Warden rejected .*?\[denied by (?P<constraint>[^\]]+)\]\\?":\s*\[?(?P<said>.*)', re.DOTALL),
        "Autopilot clusters of GKE do not take such Pods: run on a Standard cluster, or without what needs them",
        by="GKE Warden, constraint {constraint}",
    ),
    # samples: admission webhook "validation.gatekeeper.sh" denied the request: [require-limits] Container "probe" has no …
    #          admission webhook "validation.gatekeeper.sh" denied the request: [denied by require-limits] Container …
    _Kind(
        re.compile(r'admission webhook "[^"]*gatekeeper[^"]*" denied the request: \[(?:denied by )?(?P<constraint>[^\]]+)\]\s*(?P<said>.*)', re.DOTALL),
        "meet Gatekeeper's constraint {constraint} (`kubectl get constraints`; pods.labels and pods.resources of the cluster profile "
        "say what Pods have), add the run's namespace to its spec.match.excludedNamespaces, " + _EXEMPT,
        by="Gatekeeper constraint {constraint}",
    ),
    # sample: admission webhook "validate.kyverno.svc-fail" denied the request: \n\nresource Pod/ns/probe was blocked due to the
    #         following policies \n\nrequire-limits:\n  validate-resources: 'validation error: …'
    _Kind(
        re.compile(r'admission webhook "[^"]*kyverno[^"]*" denied the request:.*?following policies:?\s+(?P<policy>[^\s:]+):\s+(?P<rule>[^\s:]+):\s*(?P<said>.*)', re.DOTALL),
        "meet rule {rule} of Kyverno's policy {policy} (pods.labels and pods.resources of the cluster profile say what Pods have), add a "
        "PolicyException for the run's namespace, " + _EXEMPT,
        by="Kyverno policy {policy}, rule {rule}",
    ),
    # sample: admission webhook "vpol.validate.kyverno.svc-fail" denied the request: Policy no-latest failed: image must not use …
    _Kind(
        re.compile(r'admission webhook "[^"]*kyverno[^"]*" denied the request:\s*Policy (?P<policy>\S+) \w+:\s*(?P<said>.*)', re.DOTALL),
        "meet Kyverno's policy {policy}, add a PolicyException for the run's namespace, " + _EXEMPT,
        by="Kyverno policy {policy}",
    ),
    # sample: admission webhook "a.b" denied the request: such Pods are not allowed, … denied the request without explanation
    _Kind(
        re.compile(r'admission webhook "(?P<webhook>[^"]*)" denied the request'),
        "see with the owner of the admission webhook {webhook} what it demands of such objects (`kubectl get "
        "validatingwebhookconfigurations,mutatingwebhookconfigurations`), " + _EXEMPT,
    ),
    # samples: ValidatingAdmissionPolicy 'a' with binding 'b' denied request: images must …, MutatingAdmissionPolicy …
    _Kind(
        re.compile(r"AdmissionPolicy '(?P<policy>[^']*)'"),
        "meet the policy {policy}, or leave the run's namespace out of it (spec.matchResources of its binding; "
        "`kubectl describe validatingadmissionpolicy {policy}`)",
    ),
    # sample: unable to validate against any security context constraint: [provider "anyuid": Forbidden: not usable by user …]
    _Kind(
        re.compile(r"unable to validate against any security context constraint"),
        "let the run's service account use an SCC that allows such Pods (`oc adm policy add-scc-to-user privileged -z default -n "
        "<namespace>`), or go without the checks that need them",
    ),
    # sample: violates PodSecurity "baseline:latest": hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)
    _Kind(
        re.compile(r'violates PodSecurity "(?P<level>[^"]*)"'),
        "label the run's namespace pod-security.kubernetes.io/enforce=privileged (Pod Security holds it to {level}), or go without "
        "the checks that need such Pods",
    ),
    # samples: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2; failed quota: small: must specify limits.cpu
    _Kind(
        re.compile(r"(?:exceeded|failed) quota: (?P<quota>[^\s,:]+)"),
        "compare what ResourceQuota {quota} leaves with what the run takes (`nettests preflight`), and raise it, or lower "
        "pods.resources in the cluster profile; a quota of limits wants each container to have them",
    ),
    # samples: insufficient quota to match these scopes: […], status unknown for quota: small, resources: pods
    _Kind(
        re.compile(r"insufficient quota to match these scopes|status unknown for quota"),
        "see the ResourceQuotas of the run's namespace (`kubectl describe quota`): one has to admit such Pods",
    ),
    # samples: maximum cpu usage per Container is 2, but limit is 4; cpu max limit to request ratio per Pod is 2, but …
    _Kind(
        re.compile(r"(?:maximum|minimum) \S+ usage per |max limit to request ratio per "),
        "a LimitRange of the namespace forbids that (`kubectl describe limitrange`): state pods.resources in the cluster profile "
        "within it, or change it",
    ),
    # sample: error looking up service account ns/default: serviceaccount "default" not found
    _Kind(
        re.compile(r'error looking up service account|serviceaccount "[^"]*" not found'),
        "see why the namespace has no such ServiceAccount: kube-controller-manager makes \"default\" in each new one (its log), and "
        "in an existing one somebody has removed it",
    ),
    # sample: unable to create new content in namespace ns because it is being terminated
    _Kind(
        re.compile(r"because it is being terminated"),
        "somebody deletes the namespace: wait until it is gone, or run in another one",
    ),
)  # fmt: skip
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
