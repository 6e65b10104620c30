"""The cells of a table row, per kind, in the words of ``kubectl get``.

After the ``print…`` functions of ``k8s.io/kubernetes/pkg/printers/internalversion``. Pure.
"""

from datetime import UTC, datetime
from typing import Any

Json = dict[str, Any]

_NONE = "<none>"
_UNKNOWN = "<unknown>"
_ROLE = "node-role.kubernetes.io/"
_MOST_ENDPOINTS = 3


def duration(seconds: float) -> str:
    """Return a time span as ``duration.HumanDuration`` does: ``5s``, ``2m10s``, ``3h``, ``4d``."""
    whole = int(seconds)
    minutes, hours, days = whole // 60, whole // 3600, whole // 86400
    if whole < 0:
        return "0s" if whole >= -1 else "<invalid>"
    if whole < 120:
        text = f"{whole}s"
    elif minutes < 10:
        text = f"{minutes}m{whole % 60}s" if whole % 60 else f"{minutes}m"
    elif hours < 3:
        text = f"{minutes}m"
    elif hours < 8:
        text = f"{hours}h{minutes % 60}m" if minutes % 60 else f"{hours}h"
    elif hours < 48:
        text = f"{hours}h"
    else:
        text = f"{days}d{hours % 24}h" if days < 8 and hours % 24 else f"{days}d"
    return text


def _since(text: str | None, now: datetime) -> str:
    if not text:
        return _UNKNOWN
    moment = datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(UTC)
    return duration((now - moment).total_seconds())


def age(item: Json, now: datetime) -> str:
    """Return the age of an object."""
    return _since(item["metadata"].get("creationTimestamp"), now)


def _pairs(labels: Json | None) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items())) or _NONE


def _waiting_reason(statuses: list[Json], reason: str) -> str:
    for status in reversed(statuses):
        state = status.get("state") or {}
        waiting, ended = state.get("waiting") or {}, state.get("terminated")
        if waiting.get("reason"):
            reason = waiting["reason"]
        elif ended is not None:
            signal = ended.get("signal")
            code = f"Signal:{signal}" if signal else f"ExitCode:{ended.get('exitCode')}"
            reason = ended.get("reason") or code
    return reason


def pod_status(pod: Json) -> str:
    """Return what the STATUS column says of a pod."""
    status = pod.get("status") or {}
    reason = status.get("reason") or status.get("phase") or ""
    for condition in status.get("conditions") or ():
        if condition["type"] == "PodScheduled" and condition.get("reason") == "SchedulingGated":
            reason = "SchedulingGated"
    reason = _waiting_reason(status.get("containerStatuses") or [], reason)
    if pod["metadata"].get("deletionTimestamp"):
        return "Unknown" if status.get("reason") == "NodeLost" else "Terminating"
    return str(reason)


def pod(item: Json, now: datetime) -> list[Any]:
    """Name, ready, status, restarts, age; address, node, nominated node, gates."""
    spec, status = item["spec"], item.get("status") or {}
    statuses = status.get("containerStatuses") or []
    ready = sum(1 for each in statuses if each.get("ready"))
    restarts = str(sum(each.get("restartCount", 0) for each in statuses))
    return [
        item["metadata"]["name"],
        f"{ready}/{len(spec.get('containers') or ())}",
        pod_status(item),
        restarts,
        age(item, now),
        status.get("podIP") or _NONE,
        spec.get("nodeName") or _NONE,
        status.get("nominatedNodeName") or _NONE,
        _NONE,
    ]


def node(item: Json, now: datetime) -> list[Any]:
    """Name, status, roles, age, version; addresses, image, kernel, runtime."""
    status = item.get("status") or {}
    info = status.get("nodeInfo") or {}
    labels = item["metadata"].get("labels") or {}
    roles = sorted(key.removeprefix(_ROLE) for key in labels if key.startswith(_ROLE))
    ready = next((each for each in status.get("conditions") or () if each["type"] == "Ready"), None)
    words = ["Unknown" if ready is None else "Ready" if ready["status"] == "True" else "NotReady"]
    if item["spec"].get("unschedulable"):
        words.append("SchedulingDisabled")
    addresses = {each["type"]: each["address"] for each in status.get("addresses") or ()}
    return [
        item["metadata"]["name"],
        ",".join(words),
        ",".join(roles) or _NONE,
        age(item, now),
        info.get("kubeletVersion", ""),
        addresses.get("InternalIP", _NONE),
        addresses.get("ExternalIP", _NONE),
        info.get("osImage") or _UNKNOWN,
        info.get("kernelVersion") or _UNKNOWN,
        info.get("containerRuntimeVersion") or _UNKNOWN,
    ]


def service(item: Json, now: datetime) -> list[Any]:
    """Name, type, cluster address, external address, ports, age; selector."""
    spec = item["spec"]
    ports = [
        f"{port['port']}:{port['nodePort']}/{port['protocol']}"
        if port.get("nodePort")
        else f"{port['port']}/{port['protocol']}"
        for port in spec.get("ports") or ()
    ]
    return [
        item["metadata"]["name"],
        spec["type"],
        spec.get("clusterIP") or _NONE,
        _external(item),
        ",".join(ports) or _NONE,
        age(item, now),
        _pairs(spec.get("selector")),
    ]


def _external(item: Json) -> str:
    spec = item["spec"]
    if spec["type"] == "ExternalName":
        return str(spec.get("externalName", ""))
    external = list(spec.get("externalIPs") or ())
    if spec["type"] == "LoadBalancer":
        ingress = ((item.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
        external = [each.get("ip") or each.get("hostname", "") for each in ingress] + external
        return ",".join(external) or "<pending>"
    return ",".join(external) or _NONE


def _shorten(found: list[str], total: int) -> str:
    if not found:
        return _NONE
    more = total - len(found)
    return ",".join(found) + (f" + {more} more..." if more > 0 else "")


def endpoints(item: Json, now: datetime) -> list[Any]:
    """Name, addresses with ports, age."""
    found = [
        f"{address['ip']}:{port['port']}"
        for subset in item.get("subsets") or ()
        for port in subset.get("ports") or ()
        for address in subset.get("addresses") or ()
    ]
    return [item["metadata"]["name"], _shorten(found[:_MOST_ENDPOINTS], len(found)), age(item, now)]


def endpoint_slice(item: Json, now: datetime) -> list[Any]:
    """Name, address type, ports, addresses, age."""
    ports = [str(port.get("port", "*")) for port in item.get("ports") or ()]
    found = [address for each in item.get("endpoints") or () for address in each["addresses"]]
    shown = _shorten(found[:_MOST_ENDPOINTS], len(found))
    name, kind = item["metadata"]["name"], item.get("addressType", "")
    return [name, kind, ",".join(ports) or "<unset>", shown if found else "<unset>", age(item, now)]


def service_cidr(item: Json, now: datetime) -> list[Any]:
    """Name, networks, age."""
    networks = (item.get("spec") or {}).get("cidrs") or []
    return [item["metadata"]["name"], ",".join(networks), age(item, now)]


def namespace(item: Json, now: datetime) -> list[Any]:
    """Name, phase, age."""
    return [item["metadata"]["name"], (item.get("status") or {}).get("phase", ""), age(item, now)]


def config_map(item: Json, now: datetime) -> list[Any]:
    """Name, number of entries, age."""
    count = len(item.get("data") or {}) + len(item.get("binaryData") or {})
    return [item["metadata"]["name"], count, age(item, now)]


def secret(item: Json, now: datetime) -> list[Any]:
    """Name, type, number of entries, age."""
    return [
        item["metadata"]["name"],
        item.get("type", ""),
        len(item.get("data") or {}),
        age(item, now),
    ]


def service_account(item: Json, now: datetime) -> list[Any]:
    """Name, number of secrets, age."""
    return [item["metadata"]["name"], len(item.get("secrets") or ()), age(item, now)]


def _workload(item: Json) -> list[Any]:
    spec = item["spec"]
    containers = spec["template"]["spec"].get("containers") or ()
    return [
        ",".join(each["name"] for each in containers),
        ",".join(each["image"] for each in containers),
        _pairs((spec.get("selector") or {}).get("matchLabels")),
    ]


def deployment(item: Json, now: datetime) -> list[Any]:
    """Name, ready, up to date, available, age; containers, images, selector."""
    status = item.get("status") or {}
    return [
        item["metadata"]["name"],
        f"{status.get('readyReplicas', 0)}/{item['spec'].get('replicas', 0)}",
        status.get("updatedReplicas", 0),
        status.get("availableReplicas", 0),
        age(item, now),
        *_workload(item),
    ]


def replica_set(item: Json, now: datetime) -> list[Any]:
    """Name, desired, current, ready, age; containers, images, selector."""
    status = item.get("status") or {}
    return [
        item["metadata"]["name"],
        item["spec"].get("replicas", 0),
        status.get("replicas", 0),
        str(status.get("readyReplicas", 0)),
        age(item, now),
        *_workload(item),
    ]


def daemon_set(item: Json, now: datetime) -> list[Any]:
    """Name, desired, current, ready, up to date, available, node selector, age; containers …"""
    status = item.get("status") or {}
    return [
        item["metadata"]["name"],
        status.get("desiredNumberScheduled", 0),
        status.get("currentNumberScheduled", 0),
        str(status.get("numberReady", 0)),
        status.get("updatedNumberScheduled", 0),
        status.get("numberAvailable", 0),
        _pairs(item["spec"]["template"]["spec"].get("nodeSelector")),
        age(item, now),
        *_workload(item),
    ]


def stateful_set(item: Json, now: datetime) -> list[Any]:
    """Name, ready of wanted, age; containers, images."""
    ready, wanted = (
        (item.get("status") or {}).get("readyReplicas", 0),
        item["spec"].get("replicas", 1),
    )
    return [item["metadata"]["name"], f"{ready}/{wanted}", age(item, now), *_workload(item)[:2]]


def lease(item: Json, now: datetime) -> list[Any]:
    """Name, holder, age."""
    holder = (item.get("spec") or {}).get("holderIdentity", "")
    return [item["metadata"]["name"], holder, age(item, now)]


def event(item: Json, now: datetime) -> list[Any]:
    """Last seen, type, reason, object, subobject, source, message, first seen, count, name."""
    about, source = item.get("involvedObject") or {}, item.get("source") or {}
    first = item.get("firstTimestamp") or item.get("eventTime")
    last = item.get("lastTimestamp") or first
    component = source.get("component") or item.get("reportingComponent", "")
    host = source.get("host")
    return [
        _since(last, now),
        item.get("type", ""),
        item.get("reason", ""),
        f"{about.get('kind', '').lower()}/{about.get('name', '')}",
        about.get("fieldPath", ""),
        f"{component}, {host}" if host else component,
        item.get("message", "").strip(),
        _since(first, now),
        item.get("count", 1),
        item["metadata"]["name"],
    ]
