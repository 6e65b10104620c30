"""The rules of each kind before it is stored: defaults, allocation, admission, validation.

One ``Strategy`` per kind with its own rules; for other kinds only metadata is checked. Rules change the
object that they are given and return field errors; they may read the store (for allocation and
references) but never write to it.
"""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from nettests.lab.apiserver import (
    defaults,
    pod_admission,
    pod_validation,
    resources,
    services,
    validation,
)
from nettests.lab.apiserver.pod_admission import Context
from nettests.lab.apiserver.status import FieldError, forbidden_value, required
from nettests.lab.data_files import read_yaml
from nettests.lab.interfaces import Json

Rules = Callable[[Json, Json | None, Context], list[FieldError]]
"""Takes the new object, the stored one on an update, and the context."""


def _none(_item: Json, _old: Json | None, _context: Context) -> list[FieldError]:
    return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """The rules of a kind; ``generation`` counts changes of ``spec``."""

    rules: Rules = _none
    generation: bool = False
    status: bool = False
    """Whether it has a status that only the status subresource writes."""
    empty_status: Mapping[str, Any] | None = None


def _pod(pod: Json, old: Json | None, context: Context) -> list[FieldError]:
    if old is None:
        return pod_admission.admit_new(pod, context)
    defaults.fill_template(pod["spec"])
    return pod_validation.pod_update(old, pod)


def _service(service: Json, old: Json | None, context: Context) -> list[FieldError]:
    services.fill(service)
    errors = (services.keep(old, service) if old else []) or services.validate(service)
    meta = service["metadata"]
    full_name = (meta.get("namespace", ""), meta["name"])
    stored = context.store.records(resources.SERVICES.key)
    others = [record.body for record in stored if record.name != full_name]
    return errors or services.complete(service, others, context.settings, before=old)


def _namespace(namespace: Json, old: Json | None, _context: Context) -> list[FieldError]:
    meta = namespace["metadata"]
    meta["labels"] = {**(meta.get("labels") or {}), "kubernetes.io/metadata.name": meta["name"]}
    if old is None:
        namespace.setdefault("spec", {})["finalizers"] = ["kubernetes"]
    else:
        namespace["spec"] = old["spec"]
    return []


def _node(node: Json, old: Json | None, _context: Context) -> list[FieldError]:
    spec, stored = node.setdefault("spec", {}), (old or {}).get("spec", {})
    if spec.get("podCIDR") and not spec.get("podCIDRs"):
        spec["podCIDRs"] = [spec["podCIDR"]]
    node.setdefault("status", {})
    if stored.get("podCIDR") and spec.get("podCIDR") != stored["podCIDR"]:
        detail = 'node updates may not change podCIDR except from "" to valid'
        return [forbidden_value("spec.podCIDRs", detail)]
    return []


def _cron_job(item: Json, _old: Json | None, _context: Context) -> list[FieldError]:
    defaults.fill_workload("cronjobs.batch", item)
    return validation.cron_job(item)


def _claim(item: Json, old: Json | None, _context: Context) -> list[FieldError]:
    if old is not None:
        return []
    defaults.fill_workload("persistentvolumeclaims", item)
    return validation.claim(item)


def _workload(key: str) -> Rules:
    valid = validation.job if key == "jobs.batch" else validation.workload

    def rules(item: Json, old: Json | None, context: Context) -> list[FieldError]:
        defaults.fill_workload(key, item)
        errors = valid(item, old)
        spec, settings = item["spec"]["template"]["spec"], context.settings
        pod_admission.drop_gated(spec, settings.version.minor)
        return errors + pod_validation.pod_spec(
            spec, "spec.template.spec", allow_privileged=settings.faults.allow_privileged
        )

    return rules


def _config_map(item: Json, old: Json | None, _context: Context) -> list[FieldError]:
    return (validation.immutable_data(old, item) if old else []) or validation.data_keys(item)


def _secret(item: Json, old: Json | None, context: Context) -> list[FieldError]:
    item.setdefault("type", "Opaque")
    if texts := item.pop("stringData", None) or {}:
        encoded = {key: base64.b64encode(text.encode()).decode() for key, text in texts.items()}
        item["data"] = {**(item.get("data") or {}), **encoded}
    return _config_map(item, old, context)


def _event(item: Json, _old: Json | None, _context: Context) -> list[FieldError]:
    times = dict.fromkeys(("firstTimestamp", "lastTimestamp", "eventTime"))
    reporting = {"reportingComponent": "", "reportingInstance": ""}
    defaults.fill(item, {"source": {}, **times, **reporting})
    return []


def _slice(item: Json, _old: Json | None, _context: Context) -> list[FieldError]:
    item.setdefault("endpoints", [])
    for port in item.get("ports") or ():
        defaults.fill(port, {"protocol": "TCP", "name": ""})
    if item.get("addressType") not in {"IPv4", "IPv6", "FQDN"}:
        return [required("addressType")]
    return []


def _endpoints(item: Json, _old: Json | None, _context: Context) -> list[FieldError]:
    for subset in item.get("subsets") or ():
        for port in subset.get("ports") or ():
            port.setdefault("protocol", "TCP")
    return []


_PLAIN = Strategy()
_WORKLOADS = ("deployments", "replicasets", "daemonsets", "statefulsets")
_RULES: Mapping[str, Rules] = {
    "pods": _pod,
    "services": _service,
    "namespaces": _namespace,
    "nodes": _node,
    "configmaps": _config_map,
    "secrets": _secret,
    "events": _event,
    "endpoints": _endpoints,
    "endpointslices.discovery.k8s.io": _slice,
    "cronjobs.batch": _cron_job,
    "persistentvolumeclaims": _claim,
    **{key: _workload(key) for key in (*(f"{name}.apps" for name in _WORKLOADS), "jobs.batch")},
}
_STRATEGIES = {
    key: Strategy(rules=_RULES.get(key, _none), **stated)
    for key, stated in read_yaml(__package__, "kinds.yaml")["strategies"].items()
}


def strategy(resource: resources.Resource) -> Strategy:
    """Return the rules of a kind."""
    return _STRATEGIES.get(resource.key, _PLAIN)
