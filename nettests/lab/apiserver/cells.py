"""The cells of a table row in the words of ``kubectl get``: by path, or worked out. Pure.

After the ``print…`` functions of ``k8s.io/kubernetes/pkg/printers/internalversion``; which kind has which
cells is in ``tables``.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

Json = dict[str, Any]
Cell = Callable[[Json], Any]
"""Works out one cell of an object."""

NONE = "<none>"
UNKNOWN = "<unknown>"
_UNSET = "<unset>"
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


def since(text: str | None, now: datetime) -> str:
    """Return how long ago a time of the API was."""
    if not text:
        return UNKNOWN
    moment = datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(UTC)
    return duration((now - moment).total_seconds())


def age(item: Json) -> str:
    """Return the age of an object."""
    return since(item["metadata"].get("creationTimestamp"), datetime.now(UTC))


def at(path: str, default: Any = "", *, text: bool = False) -> Cell:
    """Return the cell with the value at ``path``, or ``default`` without one."""

    def cell(item: Json) -> Any:
        value: Any = item
        for step in path.split("."):
            value = value.get(step) if isinstance(value, dict) else None
        shown = default if value in (None, "") else value
        return str(shown) if text else shown

    return cell


def ratio(part: Cell, whole: Cell) -> Cell:
    """Return the cell of mixed target ports: ``1/2``."""
    return lambda item: f"{part(item)}/{whole(item)}"


def count(*paths: str) -> Cell:
    """Return the cell that counts the entries at these paths."""
    return lambda item: sum(len(at(path, ())(item)) for path in paths)


def joined(path: str) -> Cell:
    """Return the cell of a list's texts, in one."""
    return lambda item: ",".join(at(path, ())(item))


def pairs(path: str) -> Cell:
    """Return the cell of labels: ``app=web,tier=x``."""
    return lambda item: (
        ",".join(f"{key}={value}" for key, value in sorted(at(path, {})(item).items())) or NONE
    )


def of_template(field: str) -> Cell:
    """Return the cell of one field of all containers of a workload."""
    containers = at("spec.template.spec.containers", ())
    return lambda item: ",".join(each[field] for each in containers(item))


def pod_status(pod: Json) -> str:
    """Return what the STATUS column says of a pod."""
    status = pod.get("status") or {}
    reason = status.get("reason") or status.get("phase") or ""
    for condition in status.get("conditions") or ():
        if condition["type"] == "PodScheduled" and condition.get("reason") == "SchedulingGated":
            reason = "SchedulingGated"
    reason = _waiting_reason(_statuses(pod), reason)
    if pod["metadata"].get("deletionTimestamp"):
        return "Unknown" if status.get("reason") == "NodeLost" else "Terminating"
    return str(reason)


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


def _statuses(pod: Json) -> list[Json]:
    return (pod.get("status") or {}).get("containerStatuses") or []


def pod_ready(pod: Json) -> str:
    """Return how many containers are ready, of how many."""
    ready = sum(1 for each in _statuses(pod) if each.get("ready"))
    return f"{ready}/{len(pod['spec'].get('containers') or ())}"


def pod_restarts(pod: Json) -> str:
    """Return how often containers were started again."""
    return str(sum(each.get("restartCount", 0) for each in _statuses(pod)))


def node_status(node: Json) -> str:
    """Return whether a node is ready, and whether it takes pods."""
    conditions = (node.get("status") or {}).get("conditions") or ()
    ready = next((each for each in conditions if each["type"] == "Ready"), None)
    words = ["Unknown" if ready is None else "Ready" if ready["status"] == "True" else "NotReady"]
    if node["spec"].get("unschedulable"):
        words.append("SchedulingDisabled")
    return ",".join(words)


def node_roles(node: Json) -> str:
    """Return the roles that labels give a node."""
    labels = node["metadata"].get("labels") or {}
    roles = sorted(key.removeprefix(_ROLE) for key in labels if key.startswith(_ROLE))
    return ",".join(roles) or NONE


def node_address(kind: str) -> Cell:
    """Return the cell of a node's address of one type."""

    def cell(node: Json) -> str:
        addresses = (node.get("status") or {}).get("addresses") or ()
        return str({each["type"]: each["address"] for each in addresses}.get(kind, NONE))

    return cell


def service_ports(service: Json) -> str:
    """Return ports with their node ports and protocols."""
    ports = [
        f"{port['port']}:{port['nodePort']}/{port['protocol']}"
        if port.get("nodePort")
        else f"{port['port']}/{port['protocol']}"
        for port in service["spec"].get("ports") or ()
    ]
    return ",".join(ports) or NONE


def service_external(service: Json) -> str:
    """Return the name or the addresses under which a Service is reached from outside."""
    spec = service["spec"]
    if spec["type"] == "ExternalName":
        return str(spec.get("externalName", ""))
    external = list(spec.get("externalIPs") or ())
    if spec["type"] == "LoadBalancer":
        ingress = ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
        external = [each.get("ip") or each.get("hostname", "") for each in ingress] + external
        return ",".join(external) or "<pending>"
    return ",".join(external) or NONE


def _first(addresses: list[str], none: str) -> str:
    more = len(addresses) - _MOST_ENDPOINTS
    shown = ",".join(addresses[:_MOST_ENDPOINTS]) or none
    return f"{shown} + {more} more..." if more > 0 else shown


def endpoints(item: Json) -> str:
    """Return the first addresses with ports."""
    addresses = [
        f"{address['ip']}:{port['port']}"
        for subset in item.get("subsets") or ()
        for port in subset.get("ports") or ()
        for address in subset.get("addresses") or ()
    ]
    return _first(addresses, NONE)


def slice_ports(item: Json) -> str:
    """Return the ports of an EndpointSlice."""
    return ",".join(str(port.get("port", "*")) for port in item.get("ports") or ()) or _UNSET


def slice_endpoints(item: Json) -> str:
    """Return the first addresses of an EndpointSlice."""
    addresses = [address for each in item.get("endpoints") or () for address in each["addresses"]]
    return _first(addresses, _UNSET)


def event_seen(*fields: str) -> Cell:
    """Return the cell of how long ago an event was, by the first of these fields that it has."""
    return lambda item: since(next(filter(None, map(item.get, fields)), None), datetime.now(UTC))


def event_object(item: Json) -> str:
    """Return what an event is about."""
    about = item.get("involvedObject") or {}
    return f"{about.get('kind', '').lower()}/{about.get('name', '')}"


def event_source(item: Json) -> str:
    """Return the component that reported an event, and its host."""
    source = item.get("source") or {}
    component = source.get("component") or item.get("reportingComponent", "")
    host = source.get("host")
    return f"{component}, {host}" if host else str(component)


def event_message(item: Json) -> str:
    """Return an event's text."""
    return str(item.get("message", "")).strip()
