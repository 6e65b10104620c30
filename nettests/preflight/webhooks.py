"""Which admission webhooks see a run's Pods: they may inject sidecars or refuse Pods. Pure.

Matched like the API server (Kubernetes, "Dynamic Admission Control"): by rules, and by selectors of
namespaces and objects. CEL conditions are not evaluated.
"""

from collections.abc import Iterator, Mapping, Sequence

from nettests.model.json_text import Object
from nettests.model.visible import plural
from nettests.preflight.evidence import Evidence, Finding, Level, note, ok

Labels = Mapping[str, str]

NAME_LABEL = "kubernetes.io/metadata.name"
"""The label that the API server sets on each namespace."""
_FORMS = {"NotIn": "In", "DoesNotExist": "Exists"}


def webhooks(evidence: Evidence) -> Finding:
    """Name the webhooks that see Pods of a run; opting out of an injector does not prevent that."""
    topic = "webhooks"
    if evidence.webhooks_unread:
        return note(
            topic, f"it is not known which ones see a run's Pods: {evidence.webhooks_unread}"
        )
    everything = [*evidence.objects, *(item for some in evidence.passing for item in some.objects)]
    pods = [item["metadata"].get("labels") or {} for item in everything if item["kind"] == "Pod"]
    lines = tuple(
        line
        for configuration in evidence.webhooks
        for hook in configuration.get("webhooks") or ()
        for line in _sees(configuration, hook, evidence.namespace_labels, pods)
    )
    if not lines:
        return ok(topic, "none sees the Pods of a run")
    return Finding(
        topic=topic,
        level=Level.NOTE,
        summary=f"{plural(len(lines), 'admission webhook')} will see Pods of a run",
        details=lines,
        next_step="if one of them refuses or changes Pods: exempt namespaces named nettests-*, or state pods.labels and "
        "pods.annotations in the cluster profile",
    )


def _sees(
    configuration: Object, hook: Object, namespace: Labels, pods: Sequence[Labels]
) -> Iterator[str]:
    """Yield a line about a webhook that is called for some of the Pods."""
    of_pods = any(map(_is_about_pods, hook.get("rules") or ()))
    if not of_pods or not _selects(hook.get("namespaceSelector"), namespace):
        return
    seen = sum(_selects(hook.get("objectSelector"), labels) for labels in pods)
    if seen:
        kind = configuration["kind"].removesuffix("WebhookConfiguration").lower()
        policy = f"failurePolicy {hook.get('failurePolicy', 'Fail')}"
        unless = ", unless its matchConditions exclude them" if hook.get("matchConditions") else ""
        yield f"{hook['name']} ({kind}, {policy}): {seen} of {plural(len(pods), 'Pod')}{unless}"


def _is_about_pods(rule: Object) -> bool:
    resources = [text.partition("/") for text in rule.get("resources") or ()]
    return (
        not {"CREATE", "*"}.isdisjoint(rule.get("operations") or ())
        and not {"", "*"}.isdisjoint(rule.get("apiGroups") or ())
        and not {"v1", "*"}.isdisjoint(rule.get("apiVersions") or ())
        and any(name in {"pods", "*"} and sub in {"", "*"} for name, _, sub in resources)
        and rule.get("scope", "*") != "Cluster"
    )


def _selects(selector: Object | None, labels: Labels) -> bool:
    """Whether a label selector matches; a missing or empty one matches everything."""
    stated = selector or {}
    wanted = (stated.get("matchLabels") or {}).items()
    return all(labels.get(key) == value for key, value in wanted) and all(
        _meets(part, labels) for part in stated.get("matchExpressions") or ()
    )


def _meets(part: Object, labels: Labels) -> bool:
    form, key = part["operator"], part["key"]
    plain = _FORMS.get(form, form)
    holds = key in labels and (plain == "Exists" or labels[key] in (part.get("values") or ()))
    return holds is (plain == form)
