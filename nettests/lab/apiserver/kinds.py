"""What each kind needs on its way into the store: defaults, allocation, admission, validation.

One ``Strategy`` per kind that has rules of its own; every other kind is plain storage with checked
metadata. Functions change the object they are given and return field errors; they may read the store
(for allocation and references) and never write to it.
"""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from nettests.lab.apiserver import (
    gated_fields,
    limit_range,
    pod_defaults,
    pod_security,
    pod_validation,
    resources,
    runtime_class,
    services,
    validation,
    windows,
    workload_defaults,
)
from nettests.lab.apiserver.resources import Resource
from nettests.lab.apiserver.settings import ApiSettings
from nettests.lab.apiserver.status import (
    ApiError,
    FieldError,
    forbidden,
    forbidden_value,
    required,
)
from nettests.lab.apiserver.store import Store

Json = dict[str, Any]

_SYSTEM_PRIORITIES = {"system-node-critical": 2000001000, "system-cluster-critical": 2000000000}


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What rules may look at besides the object."""

    store: Store
    settings: ApiSettings


Create = Callable[[Json, Context], list[FieldError]]
Update = Callable[[Json, Json, Context], list[FieldError]]


def _no_create(_item: Json, _context: Context) -> list[FieldError]:
    return []


def _no_update(_old: Json, _new: Json, _context: Context) -> list[FieldError]:
    return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """``create(item)`` and ``update(old, item)``; ``generation`` counts changes of ``spec``."""

    create: Create = _no_create
    update: Update = _no_update
    generation: bool = False
    status: bool = False
    """Has a status that only the status subresource writes."""
    empty_status: Mapping[str, Any] | None = None


def _create_pod(pod: Json, context: Context) -> list[FieldError]:
    gated_fields.drop(pod.setdefault("spec", {}), context.settings.version.minor)
    pod_defaults.fill_pod(pod)
    _admit_pod(pod, context)
    _mutate(pod, context)
    namespace = pod["metadata"]["namespace"]
    ranges = [record.body for record in context.store.records("limitranges", namespace)]
    limit_range.fill(pod, ranges)
    allowed = context.settings.faults.allow_privileged
    errors = [
        *pod_validation.pod_spec(pod["spec"], allow_privileged=allowed),
        *pod_validation.pod_create(pod["spec"]),
    ]
    wrong = [error for error in errors if _in_force(error, context.settings)]
    if not wrong:  # validating admission comes after validation: LimitRanger, PodSecurity, webhooks
        why = limit_range.refusal(pod, ranges)
        if why:
            raise forbidden(resources.PODS, pod["metadata"]["name"], why)
        _secure_pod(pod, context)
        _call_webhook(pod, context)
    return wrong


def _mutate(pod: Json, context: Context) -> None:
    """Let a webhook change the Pod, to which defaults are given again."""
    if (webhook := context.settings.faults.mutating) is not None:
        pod["spec"] = webhook(pod)["spec"]
        pod_defaults.fill_pod(pod)


def _call_webhook(pod: Json, context: Context) -> None:
    webhook = context.settings.faults.validating
    if webhook is not None and (why := webhook(pod)):
        raise ApiError(403, "Forbidden", why)


def _secure_pod(pod: Json, context: Context) -> None:
    namespace = context.store.get(resources.NAMESPACES.key, "", pod["metadata"]["namespace"])
    labels = (namespace.body["metadata"].get("labels") or {}) if namespace else {}
    settings = context.settings
    why = pod_security.refusal(
        pod, labels, settings.version.minor, windows_exempt=settings.windows_pod_security
    )
    if why:
        raise forbidden(resources.PODS, pod["metadata"]["name"], why)


def _in_force(error: FieldError, settings: ApiSettings) -> bool:
    """Whether the rule that ``error`` comes from is in force: those about Windows can be switched off."""
    if windows.is_about_host_process(error):
        return settings.host_process_rules
    if not windows.is_about_windows(error):
        return True
    of_container = "ontainers[" in error.field  # containers, initContainers, ephemeralContainers
    return settings.windows_container_rules if of_container else settings.windows_pod_rules


def _admit_pod(pod: Json, context: Context) -> None:
    spec, namespace = pod["spec"], pod["metadata"]["namespace"]
    name = spec.get("serviceAccountName") or spec.get("serviceAccount") or "default"
    account = context.store.get(resources.SERVICE_ACCOUNTS.key, namespace, name)
    if account is None:
        why = f'error looking up service account {namespace}/{name}: serviceaccount "{name}" not found'
        raise forbidden(resources.PODS, pod["metadata"]["name"], why)
    if spec.get("runtimeClassName") and context.settings.runtime_classes:
        stored = context.store.get(resources.RUNTIME_CLASSES.key, "", spec["runtimeClassName"])
        if why := runtime_class.refusal(pod, stored.body if stored else None):
            raise forbidden(resources.PODS, pod["metadata"]["name"], why)
    value, preemption = _priority(pod, context)
    pod_defaults.admit(pod, account.body, value, preemption)


def _priority(pod: Json, context: Context) -> tuple[int, str]:
    name = pod["spec"].get("priorityClassName")
    if not name:
        return 0, "PreemptLowerPriority"
    if name in _SYSTEM_PRIORITIES:
        return _SYSTEM_PRIORITIES[name], "PreemptLowerPriority"
    record = context.store.get(resources.PRIORITY_CLASSES.key, "", name)
    if record is None:
        why = f"no PriorityClass with name {name} was found"
        raise forbidden(resources.PODS, pod["metadata"]["name"], why)
    body = record.body
    return int(body.get("value", 0)), str(body.get("preemptionPolicy", "PreemptLowerPriority"))


def _update_pod(old: Json, new: Json, _context: Context) -> list[FieldError]:
    pod_defaults.fill_template(new["spec"])
    return pod_validation.pod_update(old, new)


def _other_services(item: Json, context: Context) -> list[Json]:
    full_name = (item["metadata"].get("namespace", ""), item["metadata"]["name"])
    stored = context.store.records(resources.SERVICES.key)
    return [record.body for record in stored if record.name != full_name]


def _create_service(service: Json, context: Context) -> list[FieldError]:
    services.fill(service)
    errors = services.validate(service)
    return errors or services.complete(service, _other_services(service, context), context.settings)


def _update_service(old: Json, new: Json, context: Context) -> list[FieldError]:
    services.fill(new)
    errors = services.keep(old, new) or services.validate(new)
    return errors or services.complete(
        new, _other_services(new, context), context.settings, before=old
    )


def _create_namespace(namespace: Json, _context: Context) -> list[FieldError]:
    _label_namespace(namespace)
    namespace.setdefault("spec", {})["finalizers"] = ["kubernetes"]
    return []


def _update_namespace(old: Json, new: Json, _context: Context) -> list[FieldError]:
    _label_namespace(new)
    new["spec"] = old["spec"]
    return []


def _label_namespace(namespace: Json) -> None:
    meta = namespace["metadata"]
    labels = meta.get("labels") or {}
    meta["labels"] = {**labels, "kubernetes.io/metadata.name": meta["name"]}


def _fill_node(node: Json) -> None:
    spec = node.setdefault("spec", {})
    if spec.get("podCIDR") and not spec.get("podCIDRs"):
        spec["podCIDRs"] = [spec["podCIDR"]]
    node.setdefault("status", {})


def _create_node(node: Json, _context: Context) -> list[FieldError]:
    _fill_node(node)
    return []


def _update_node(old: Json, new: Json, _context: Context) -> list[FieldError]:
    _fill_node(new)
    if old["spec"].get("podCIDR") and new["spec"].get("podCIDR") != old["spec"]["podCIDR"]:
        detail = 'node updates may not change podCIDR except from "" to valid'
        return [forbidden_value("spec.podCIDRs", detail)]
    return []


def _create_cron_job(item: Json, _context: Context) -> list[FieldError]:
    workload_defaults.fill_cron_job(item)
    return validation.cron_job(item)


def _update_cron_job(_old: Json, new: Json, context: Context) -> list[FieldError]:
    return _create_cron_job(new, context)


def _create_claim(item: Json, _context: Context) -> list[FieldError]:
    workload_defaults.fill_claim(item)
    return validation.claim(item)


def _workload(
    fill: Callable[[Json], None],
    empty_status: Mapping[str, Any],
    valid: Callable[[Json, Json | None], list[FieldError]] = validation.workload,
) -> Strategy:
    def template(item: Json, context: Context) -> list[FieldError]:
        spec, settings = item["spec"]["template"]["spec"], context.settings
        gated_fields.drop(spec, settings.version.minor)
        return pod_validation.pod_spec(
            spec, "spec.template.spec", allow_privileged=settings.faults.allow_privileged
        )

    def create(item: Json, context: Context) -> list[FieldError]:
        fill(item)
        return valid(item, None) + template(item, context)

    def update(old: Json, new: Json, context: Context) -> list[FieldError]:
        fill(new)
        return valid(new, old) + template(new, context)

    return Strategy(
        create=create, update=update, generation=True, status=True, empty_status=empty_status
    )


def _create_config_map(item: Json, _context: Context) -> list[FieldError]:
    return validation.data_keys(item)


def _update_config_map(old: Json, new: Json, _context: Context) -> list[FieldError]:
    return validation.immutable_data(old, new) or validation.data_keys(new)


def _fill_secret(item: Json) -> None:
    item.setdefault("type", "Opaque")
    texts = item.pop("stringData", None) or {}
    if texts:
        encoded = {key: base64.b64encode(text.encode()).decode() for key, text in texts.items()}
        item["data"] = {**(item.get("data") or {}), **encoded}


def _create_secret(item: Json, _context: Context) -> list[FieldError]:
    _fill_secret(item)
    return validation.data_keys(item)


def _update_secret(old: Json, new: Json, _context: Context) -> list[FieldError]:
    _fill_secret(new)
    return validation.immutable_data(old, new) or validation.data_keys(new)


def _fill_event(item: Json) -> None:
    item.setdefault("source", {})
    for name in ("firstTimestamp", "lastTimestamp", "eventTime"):
        item.setdefault(name, None)
    item.setdefault("reportingComponent", "")
    item.setdefault("reportingInstance", "")


def _create_event(item: Json, _context: Context) -> list[FieldError]:
    _fill_event(item)
    return []


def _update_event(_old: Json, new: Json, _context: Context) -> list[FieldError]:
    _fill_event(new)
    return []


def _fill_protocols(ports: list[Json]) -> None:
    for port in ports:
        port.setdefault("protocol", "TCP")


def _create_slice(item: Json, _context: Context) -> list[FieldError]:
    item.setdefault("endpoints", [])
    _fill_protocols(item.get("ports") or [])
    for port in item.get("ports") or ():
        port.setdefault("name", "")
    if item.get("addressType") not in {"IPv4", "IPv6", "FQDN"}:
        return [required("addressType")]
    return []


def _update_slice(_old: Json, new: Json, context: Context) -> list[FieldError]:
    return _create_slice(new, context)


def _create_endpoints(item: Json, _context: Context) -> list[FieldError]:
    for subset in item.get("subsets") or ():
        _fill_protocols(subset.get("ports") or [])
    return []


def _update_endpoints(_old: Json, new: Json, context: Context) -> list[FieldError]:
    return _create_endpoints(new, context)


_PLAIN = Strategy()
_STRATEGIES: Mapping[str, Strategy] = {
    "pods": Strategy(create=_create_pod, update=_update_pod, generation=True, status=True),
    "services": Strategy(create=_create_service, update=_update_service, status=True),
    "namespaces": Strategy(
        create=_create_namespace,
        update=_update_namespace,
        status=True,
        empty_status={"phase": "Active"},
    ),
    "nodes": Strategy(create=_create_node, update=_update_node, status=True),
    "configmaps": Strategy(create=_create_config_map, update=_update_config_map),
    "secrets": Strategy(create=_create_secret, update=_update_secret),
    "events": Strategy(create=_create_event, update=_update_event),
    "endpoints": Strategy(create=_create_endpoints, update=_update_endpoints),
    "endpointslices.discovery.k8s.io": Strategy(
        create=_create_slice, update=_update_slice, generation=True
    ),
    "deployments.apps": _workload(workload_defaults.fill_deployment, {}),
    "replicasets.apps": _workload(workload_defaults.fill_replica_set, {"replicas": 0}),
    "daemonsets.apps": _workload(
        workload_defaults.fill_daemon_set,
        {
            "currentNumberScheduled": 0,
            "numberMisscheduled": 0,
            "desiredNumberScheduled": 0,
            "numberReady": 0,
        },
    ),
    "statefulsets.apps": _workload(
        workload_defaults.fill_stateful_set, {"replicas": 0, "availableReplicas": 0}
    ),
    "jobs.batch": _workload(workload_defaults.fill_job, {}, validation.job),
    "cronjobs.batch": Strategy(
        create=_create_cron_job,
        update=_update_cron_job,
        generation=True,
        status=True,
        empty_status={},
    ),
    "persistentvolumeclaims": Strategy(
        create=_create_claim, status=True, empty_status={"phase": "Pending"}
    ),
    "resourcequotas": Strategy(status=True, empty_status={}),
    resources.SERVICE_CIDRS.key: Strategy(status=True, empty_status={}),
}


def strategy(resource: Resource) -> Strategy:
    """Return the rules of a kind."""
    return _STRATEGIES.get(resource.key, _PLAIN)
