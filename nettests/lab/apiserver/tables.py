"""Tables for ``kubectl get``: columns and cells per kind, as ``pkg/printers/internalversion`` makes them.

Kinds without columns of their own show name and age. Pure, but for the ages, which need the time.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from nettests.lab.apiserver import cells, views
from nettests.lab.apiserver.resources import Resource
from nettests.lab.apiserver.store import Record

Json = dict[str, Any]
Cells = Callable[[Json, datetime], list[Any]]

_NAME_TEXT = (
    "Name must be unique within a namespace. Is required when creating resources, although some "
    "resources may allow a client to request the generation of an appropriate name automatically."
)
_AGE_TEXT = (
    "CreationTimestamp is a timestamp representing the server time when this object was created."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Columns after ``Name`` as ``Title:type``; those from ``wide`` on are shown by ``-o wide``."""

    columns: tuple[str, ...]
    wide: tuple[str, ...] = ()
    cells: Cells


def _plain(item: Json, now: datetime) -> list[Any]:
    return [item["metadata"]["name"], cells.age(item, now)]


_PLAIN = Layout(columns=("Age",), cells=_plain)
_LAYOUTS: Mapping[str, Layout] = {
    "pods": Layout(
        columns=("Ready", "Status", "Restarts", "Age"),
        wide=("IP", "Node", "Nominated Node", "Readiness Gates"),
        cells=cells.pod,
    ),
    "nodes": Layout(
        columns=("Status", "Roles", "Age", "Version"),
        wide=("Internal-IP", "External-IP", "OS-Image", "Kernel-Version", "Container-Runtime"),
        cells=cells.node,
    ),
    "services": Layout(
        columns=("Type", "Cluster-IP", "External-IP", "Port(s)", "Age"),
        wide=("Selector",),
        cells=cells.service,
    ),
    "endpoints": Layout(columns=("Endpoints", "Age"), cells=cells.endpoints),
    "endpointslices.discovery.k8s.io": Layout(
        columns=("AddressType", "Ports", "Endpoints", "Age"), cells=cells.endpoint_slice
    ),
    "servicecidrs.networking.k8s.io": Layout(columns=("CIDRs", "Age"), cells=cells.service_cidr),
    "namespaces": Layout(columns=("Status", "Age"), cells=cells.namespace),
    "configmaps": Layout(columns=("Data", "Age"), cells=cells.config_map),
    "secrets": Layout(columns=("Type", "Data", "Age"), cells=cells.secret),
    "serviceaccounts": Layout(columns=("Secrets", "Age"), cells=cells.service_account),
    "deployments.apps": Layout(
        columns=("Ready", "Up-to-date", "Available", "Age"),
        wide=("Containers", "Images", "Selector"),
        cells=cells.deployment,
    ),
    "replicasets.apps": Layout(
        columns=("Desired", "Current", "Ready", "Age"),
        wide=("Containers", "Images", "Selector"),
        cells=cells.replica_set,
    ),
    "daemonsets.apps": Layout(
        columns=(
            "Desired",
            "Current",
            "Ready",
            "Up-to-date",
            "Available",
            "Node Selector",
            "Age",
        ),
        wide=("Containers", "Images", "Selector"),
        cells=cells.daemon_set,
    ),
    "statefulsets.apps": Layout(
        columns=("Ready", "Age"), wide=("Containers", "Images"), cells=cells.stateful_set
    ),
    "leases.coordination.k8s.io": Layout(columns=("Holder", "Age"), cells=cells.lease),
}
_EVENT_COLUMNS = ("Last Seen", "Type", "Reason", "Object")
_EVENT_WIDE = ("Subobject", "Source", "Message", "First Seen", "Count", "Name")
_EVENT_HIDDEN = frozenset({"Subobject", "Source", "First Seen", "Count", "Name"})
_NUMBERS = frozenset({"Data", "Desired", "Current", "Available", "Up-to-date", "Secrets", "Count"})


def _column(name: str, priority: int) -> Json:
    text = {"Name": _NAME_TEXT, "Age": _AGE_TEXT}.get(name, f"{name} of the object.")
    return {
        "name": name,
        "type": "integer" if name in _NUMBERS else "string",
        "format": "name" if name == "Name" else "",
        "description": text,
        "priority": priority,
    }


def _columns(resource: Resource, layout: Layout) -> list[Json]:
    if resource.key == "events":
        names = (*_EVENT_COLUMNS, *_EVENT_WIDE)
        return [_column(name, int(name in _EVENT_HIDDEN)) for name in names]
    shown = [_column(name, 0) for name in ("Name", *layout.columns)]
    return shown + [_column(name, 1) for name in layout.wide]


def table(
    resource: Resource, records: Sequence[Record], metadata: Json, included: str = "Metadata"
) -> Json:
    """Return a ``meta.k8s.io/v1`` Table; ``included`` says what each row carries of its object."""
    layout = _LAYOUTS.get(resource.key, _PLAIN)
    if resource.key == "events":
        layout = Layout(columns=(), cells=cells.event)
    now = datetime.now(UTC)
    rows = []
    for record in records:
        row: Json = {"cells": layout.cells(record.body, now)}
        if included == "Object":
            row["object"] = views.whole(resource, record.body)
        elif included != "None":
            row["object"] = views.bare(record.body)
        rows.append(row)
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": _columns(resource, layout),
        "rows": rows,
    }
