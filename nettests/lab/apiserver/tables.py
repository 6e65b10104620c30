"""Tables for ``kubectl get``: the columns of each kind, and their cells. Pure, except for the current time.

``kinds.yaml`` lists the columns, after the ``print…`` functions of ``k8s.io/kubernetes/pkg/printers/internalversion``;
kinds without columns show name and age.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

from nettests.lab.data_files import read_yaml
from nettests.lab.interfaces import Json

Cell = Callable[[Json], Any]
"""Works out one cell of an object."""

NONE = "<none>"
_UNKNOWN = "<unknown>"
_ROLE = "node-role.kubernetes.io/"
_TEXTS = read_yaml(__package__, "kinds.yaml")["descriptions"]
_NUMBERS = frozenset({"Desired", "Current", "Available", "Up-to-date"})


def duration(seconds: float) -> str:
    """Format a duration like ``duration.HumanDuration``: ``5s``, ``2m10s``, ``3h``, ``4d``."""
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
    """Return the time since an API timestamp."""
    if not text:
        return _UNKNOWN
    moment = datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(UTC)
    return duration((now - moment).total_seconds())


def at(path: str, default: Any = "", *, text: bool = False) -> Cell:
    """Return the cell with the value at ``path``, or ``default`` without one."""

    def cell(item: Json) -> Any:
        value: Any = item
        for step in path.split("."):
            value = value.get(step) if isinstance(value, dict) else None
        shown = default if value in (None, "") else value
        return str(shown) if text else shown

    return cell


_statuses = at("status.containerStatuses", ())


def pod_status(pod: Json) -> str:
    """Return the text of the STATUS column for a pod."""
    status = pod.get("status") or {}
    reason = status.get("reason") or status.get("phase") or ""
    for condition in status.get("conditions") or ():
        if condition["type"] == "PodScheduled" and condition.get("reason") == "SchedulingGated":
            reason = "SchedulingGated"
    for each in reversed(_statuses(pod)):
        state = each.get("state") or {}
        waiting, ended = state.get("waiting") or {}, state.get("terminated")
        if waiting.get("reason"):
            reason = waiting["reason"]
        elif ended is not None:
            signal = ended.get("signal")
            code = f"Signal:{signal}" if signal else f"ExitCode:{ended.get('exitCode')}"
            reason = ended.get("reason") or code
    if pod["metadata"].get("deletionTimestamp"):
        return "Unknown" if status.get("reason") == "NodeLost" else "Terminating"
    return str(reason)


def _pod_ready(pod: Json) -> str:
    ready = sum(1 for each in _statuses(pod) if each.get("ready"))
    return f"{ready}/{len(pod['spec'].get('containers') or ())}"


def _node_status(node: Json) -> str:
    conditions = at("status.conditions", ())(node)
    ready = next((each for each in conditions if each["type"] == "Ready"), None)
    words = ["Unknown" if ready is None else "Ready" if ready["status"] == "True" else "NotReady"]
    if node["spec"].get("unschedulable"):
        words.append("SchedulingDisabled")
    return ",".join(words)


def _node_roles(node: Json) -> str:
    labels = node["metadata"].get("labels") or {}
    roles = sorted(key.removeprefix(_ROLE) for key in labels if key.startswith(_ROLE))
    return ",".join(roles) or NONE


def _node_address(kind: str) -> Cell:
    listed = at("status.addresses", ())

    def cell(node: Json) -> str:
        return str({each["type"]: each["address"] for each in listed(node)}.get(kind, NONE))

    return cell


def _service_ports(service: Json) -> str:
    ports = service["spec"].get("ports") or ()
    outer = (f":{port['nodePort']}" if port.get("nodePort") else "" for port in ports)
    pairs = zip(ports, outer, strict=True)
    return ",".join(f"{port['port']}{more}/{port['protocol']}" for port, more in pairs) or NONE


def _service_external(service: Json) -> str:
    spec = service["spec"]
    if spec["type"] == "ExternalName":
        return str(spec.get("externalName", ""))
    external = list(spec.get("externalIPs") or ())
    if spec["type"] == "LoadBalancer":
        ingress = at("status.loadBalancer.ingress", ())(service)
        external = [each.get("ip") or each.get("hostname", "") for each in ingress] + external
        return ",".join(external) or "<pending>"
    return ",".join(external) or NONE


@dataclass(frozen=True, slots=True)
class _Column:
    """One column; wide ones are shown only with ``-o wide``."""

    title: str
    cell: Cell
    wide: bool

    def definition(self) -> Json:
        return {
            "name": self.title,
            "type": "integer" if self.title in _NUMBERS else "string",
            "format": "name" if self.title == "Name" else "",
            "description": _TEXTS.get(self.title, f"{self.title} of the object."),
            "priority": int(self.wide),
        }


_CELLS: Mapping[str, Cell] = {
    "age": lambda item: since(item["metadata"].get("creationTimestamp"), datetime.now(UTC)),
    "no gates": lambda _: NONE,
    "node roles": _node_roles,
    "node status": _node_status,
    "pod ready": _pod_ready,
    "pod restarts": lambda pod: str(sum(each.get("restartCount", 0) for each in _statuses(pod))),
    "pod status": pod_status,
    "service external": _service_external,
    "service ports": _service_ports,
}


def _cell(stated: Any) -> Cell:
    """Return the cell that ``kinds.yaml`` states: by its name, by a path and a default, or by a rule."""
    match stated:
        case str():
            return _CELLS.get(stated) or at(stated)
        case [str() as path, default]:
            return at(path, default, text=isinstance(default, str))
        case {"ratio": [stated_part, stated_whole]}:
            part, whole = _cell(stated_part), _cell(stated_whole)
            return lambda item: f"{part(item)}/{whole(item)}"
    return _node_address(stated["node address"])


@cache
def _columns(key: str) -> list[_Column]:
    """Return a kind's columns; the default is name and age."""
    tables = read_yaml(__package__, "kinds.yaml")["columns"]
    return [
        _Column(title.removeprefix("wide "), _cell(cell), wide=title.startswith("wide "))
        for title, cell in tables.get(key, {"Name": "metadata.name", "Age": "age"}).items()
    ]


def table(
    key: str, bodies: Sequence[Json], metadata: Json, shown: Callable[[Json], Json] | None
) -> Json:
    """Return a ``meta.k8s.io/v1`` Table of a collection; ``shown`` selects the part of its object in a row."""
    columns = _columns(key)
    rows: list[Json] = []
    for body in bodies:
        held = {} if shown is None else {"object": shown(body)}
        rows.append({"cells": [column.cell(body) for column in columns], **held})
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": [column.definition() for column in columns],
        "rows": rows,
    }
