"""Choose a node for a pod, or return the scheduler's message if none fits. Pure.

Filters run in kube-scheduler's order (unschedulable, taints, affinity and selector, host ports, huge pages,
required anti-affinity of the pod), and a node is counted under the first that refuses it. Nodes that fit are
scored by their number of pods. Other resources, topology spread, other inter-pod affinity and volumes are
ignored, and so is ``spec.os.name``, which the scheduler does not use (KEP-2802).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from nettests.lab.client import Json

UNSCHEDULABLE_TAINT = "node.kubernetes.io/unschedulable"

_SELECTOR = "node(s) didn't match Pod's node affinity/selector"
_PORTS = "node(s) didn't have free ports for the requested pod ports"
_APART = "node(s) didn't match pod anti-affinity rules"
_HUGE_PAGES = "hugepages-"
_CORDONED = "node(s) were unschedulable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """The chosen node, or why there is none."""

    node: str | None
    message: str = ""


def place(
    pod: Json, nodes: Sequence[Json], pods: Iterable[Json], minor: int, *, apart: bool = True
) -> Placement:
    """Choose a node for ``pod``; ``pods`` are those already placed, ``minor`` is Kubernetes 1.x.

    Anti-affinity is considered only with ``apart``.
    """
    ended = {"Succeeded", "Failed"}
    placed = [
        other
        for other in pods
        if other["spec"].get("nodeName") and other.get("status", {}).get("phase") not in ended
    ]
    load = Counter(str(other["spec"]["nodeName"]) for other in placed)
    refused: Counter[str] = Counter()
    fitting = []
    for node in nodes:
        reason = _refusal(pod, node, placed)
        if reason is None and apart and _breaks_anti_affinity(pod, node, placed, nodes):
            reason = _APART
        if reason is None:
            fitting.append(str(node["metadata"]["name"]))
        else:
            refused[reason] += 1
    if fitting:
        return Placement(node=min(fitting, key=lambda name: (load[name], name)))
    return Placement(node=None, message=_message(len(nodes), refused, minor))


def _message(total: int, refused: Mapping[str, int], minor: int) -> str:
    """Return FitError's text; from 1.34 on it also mentions claims (dynamic resources)."""
    if not total:
        return "no nodes available to schedule pods"
    reasons = ", ".join(sorted(f"{count} {reason}" for reason, count in refused.items()))
    claims = " no new claims to deallocate," if minor >= 34 else ""
    preemption = f"preemption: 0/{total} nodes are available: {total} Preemption is not helpful for scheduling."
    if minor < 24:
        return f"0/{total} nodes are available: {reasons}."
    return f"0/{total} nodes are available: {reasons}.{claims} {preemption}"


def _refusal(pod: Json, node: Json, placed: Sequence[Json]) -> str | None:
    if node["spec"].get("unschedulable") and not _tolerates(
        pod, {"key": UNSCHEDULABLE_TAINT, "effect": "NoSchedule"}
    ):
        return _CORDONED
    for taint in node["spec"].get("taints", ()):
        if taint["effect"] in {"NoSchedule", "NoExecute"} and not _tolerates(pod, taint):
            return f"node(s) had untolerated taint {{{taint['key']}: {taint.get('value', '')}}}"
    if not selects(pod, node):
        return _SELECTOR
    if _ports_taken(pod, str(node["metadata"]["name"]), placed):
        return _PORTS
    if lacking := _lacking_pages(pod, node):
        return f"Insufficient {lacking}"
    return None


def selects(pod: Json, node: Json) -> bool:
    """Whether the pod's nodeSelector and required node affinity match the node.

    The kubelet checks the same for pods bound to it by ``nodeName``.
    """
    labels = node["metadata"].get("labels", {})
    selector = pod["spec"].get("nodeSelector") or {}
    if any(labels.get(key) != value for key, value in selector.items()):
        return False
    affinity = pod["spec"].get("affinity", {}).get("nodeAffinity", {})
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return not required or any(_term_matches(term, node) for term in required["nodeSelectorTerms"])


def _term_matches(term: Json, node: Json) -> bool:
    labels = node["metadata"].get("labels", {})
    fields = {"metadata.name": node["metadata"]["name"]}
    wanted = [(labels, rule) for rule in term.get("matchExpressions", ())]
    wanted += [(fields, rule) for rule in term.get("matchFields", ())]
    return bool(wanted) and all(_rule_matches(values, rule) for values, rule in wanted)


def _rule_matches(values: Mapping[str, str], rule: Json) -> bool:
    value = values.get(rule["key"])
    listed = rule.get("values") or []
    checks: Mapping[str, Callable[[], bool]] = {
        "In": lambda: value in listed,
        "NotIn": lambda: value not in listed,
        "Exists": lambda: value is not None,
        "DoesNotExist": lambda: value is None,
        "Gt": lambda: value is not None and int(value) > int(listed[0]),
        "Lt": lambda: value is not None and int(value) < int(listed[0]),
    }
    return checks[rule["operator"]]()


def _tolerates(pod: Json, taint: Json) -> bool:
    return any(tolerates(toleration, taint) for toleration in pod["spec"].get("tolerations") or ())


def tolerates(toleration: Json, taint: Json) -> bool:
    """Whether a toleration tolerates a taint (``v1.Toleration.ToleratesTaint``)."""
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(toleration.get("key")) and toleration.get("value", "") == taint.get("value", "")


def _ports_taken(pod: Json, node: str, placed: Sequence[Json]) -> bool:
    wanted = _host_ports(pod)
    here = (other for other in placed if wanted and other["spec"]["nodeName"] == node)
    return any(wanted & _host_ports(other) for other in here)


def _host_ports(pod: Json) -> set[tuple[str, int]]:
    return {
        (str(port.get("protocol", "TCP")), int(port["hostPort"]))
        for container in pod["spec"]["containers"]
        for port in container.get("ports") or ()
        if port.get("hostPort")
    }


def _lacking_pages(pod: Json, node: Json) -> str:
    """Return a kind of huge pages that the pod requests and the node lacks, or ``""``."""
    offered = node.get("status", {}).get("allocatable") or {}
    for container in pod["spec"]["containers"]:
        requested = (container.get("resources") or {}).get("requests") or {}
        for name in requested:
            if name.startswith(_HUGE_PAGES) and offered.get(name, "0") == "0":
                return str(name)
    return ""


def _breaks_anti_affinity(
    pod: Json, node: Json, placed: Sequence[Json], nodes: Sequence[Json]
) -> bool:
    """Whether a required anti-affinity term selects a pod in the node's topology domain."""
    avoided = (pod["spec"].get("affinity") or {}).get("podAntiAffinity") or {}
    labels = {each["metadata"]["name"]: each["metadata"].get("labels", {}) for each in nodes}
    here = node["metadata"].get("labels", {})
    for term in avoided.get("requiredDuringSchedulingIgnoredDuringExecution") or ():
        key = term["topologyKey"]
        for other in placed:
            there = labels.get(other["spec"]["nodeName"], {})
            same_place = key in here and there.get(key) == here[key]
            same_namespace = other["metadata"]["namespace"] == pod["metadata"]["namespace"]
            if same_place and same_namespace and selected(term["labelSelector"], other):
                return True
    return False


def selected(selector: Json, pod: Json) -> bool:
    """Whether a selector of labels selects a pod; an empty one selects all."""
    labels = pod["metadata"].get("labels") or {}
    exact = (selector.get("matchLabels") or {}).items()
    rules = selector.get("matchExpressions") or ()
    return all(labels.get(key) == value for key, value in exact) and all(
        _rule_matches(labels, rule) for rule in rules
    )
