"""Tables for ``kubectl get``: which columns each kind has, as ``pkg/printers/internalversion`` makes them.

Kinds without columns of their own show name and age. Pure, but for the ages, which need the time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nettests.lab.apiserver import cells, views
from nettests.lab.apiserver.cells import NONE, UNKNOWN, Cell, at
from nettests.lab.apiserver.resources import Resource
from nettests.lab.apiserver.store import Record

Json = dict[str, Any]

_TEXTS = {
    "Name": "Name must be unique within a namespace. Is required when creating resources, although "
    "some resources may allow a client to request the generation of an appropriate name automatically.",
    "Age": "CreationTimestamp is a timestamp representing the server time when this object was created.",
}
_NUMBERS = frozenset({"Data", "Desired", "Current", "Available", "Up-to-date", "Secrets", "Count"})


@dataclass(frozen=True, slots=True)
class Column:
    """One column; a wide one is shown by ``-o wide`` alone."""

    title: str
    cell: Cell
    wide: bool = False

    def definition(self) -> Json:
        """Return what a table says of the column."""
        return {
            "name": self.title,
            "type": "integer" if self.title in _NUMBERS else "string",
            "format": "name" if self.title == "Name" else "",
            "description": _TEXTS.get(self.title, f"{self.title} of the object."),
            "priority": int(self.wide),
        }


def _wide(title: str, cell: Cell) -> Column:
    return Column(title, cell, wide=True)


_NAME = Column("Name", at("metadata.name"))
_AGE = Column("Age", cells.age)
_TEMPLATE = (
    _wide("Containers", cells.of_template("name")),
    _wide("Images", cells.of_template("image")),
)
_SELECTOR = _wide("Selector", cells.pairs("spec.selector.matchLabels"))
_READY = at("status.readyReplicas", 0)
_PLAIN = (_NAME, _AGE)
_COLUMNS: Mapping[str, Sequence[Column]] = {
    "pods": (
        _NAME,
        Column("Ready", cells.pod_ready),
        Column("Status", cells.pod_status),
        Column("Restarts", cells.pod_restarts),
        _AGE,
        _wide("IP", at("status.podIP", NONE)),
        _wide("Node", at("spec.nodeName", NONE)),
        _wide("Nominated Node", at("status.nominatedNodeName", NONE)),
        _wide("Readiness Gates", lambda _: NONE),
    ),
    "nodes": (
        _NAME,
        Column("Status", cells.node_status),
        Column("Roles", cells.node_roles),
        _AGE,
        Column("Version", at("status.nodeInfo.kubeletVersion")),
        _wide("Internal-IP", cells.node_address("InternalIP")),
        _wide("External-IP", cells.node_address("ExternalIP")),
        _wide("OS-Image", at("status.nodeInfo.osImage", UNKNOWN)),
        _wide("Kernel-Version", at("status.nodeInfo.kernelVersion", UNKNOWN)),
        _wide("Container-Runtime", at("status.nodeInfo.containerRuntimeVersion", UNKNOWN)),
    ),
    "services": (
        _NAME,
        Column("Type", at("spec.type")),
        Column("Cluster-IP", at("spec.clusterIP", NONE)),
        Column("External-IP", cells.service_external),
        Column("Port(s)", cells.service_ports),
        _AGE,
        _wide("Selector", cells.pairs("spec.selector")),
    ),
    "endpoints": (_NAME, Column("Endpoints", cells.endpoints), _AGE),
    "endpointslices.discovery.k8s.io": (
        _NAME,
        Column("AddressType", at("addressType")),
        Column("Ports", cells.slice_ports),
        Column("Endpoints", cells.slice_endpoints),
        _AGE,
    ),
    "servicecidrs.networking.k8s.io": (_NAME, Column("CIDRs", cells.joined("spec.cidrs")), _AGE),
    "namespaces": (_NAME, Column("Status", at("status.phase")), _AGE),
    "configmaps": (_NAME, Column("Data", cells.count("data", "binaryData")), _AGE),
    "secrets": (_NAME, Column("Type", at("type")), Column("Data", cells.count("data")), _AGE),
    "serviceaccounts": (_NAME, Column("Secrets", cells.count("secrets")), _AGE),
    "deployments.apps": (
        _NAME,
        Column("Ready", cells.ratio(_READY, at("spec.replicas", 0))),
        Column("Up-to-date", at("status.updatedReplicas", 0)),
        Column("Available", at("status.availableReplicas", 0)),
        _AGE,
        *_TEMPLATE,
        _SELECTOR,
    ),
    "replicasets.apps": (
        _NAME,
        Column("Desired", at("spec.replicas", 0)),
        Column("Current", at("status.replicas", 0)),
        Column("Ready", at("status.readyReplicas", 0, text=True)),
        _AGE,
        *_TEMPLATE,
        _SELECTOR,
    ),
    "daemonsets.apps": (
        _NAME,
        Column("Desired", at("status.desiredNumberScheduled", 0)),
        Column("Current", at("status.currentNumberScheduled", 0)),
        Column("Ready", at("status.numberReady", 0, text=True)),
        Column("Up-to-date", at("status.updatedNumberScheduled", 0)),
        Column("Available", at("status.numberAvailable", 0)),
        Column("Node Selector", cells.pairs("spec.template.spec.nodeSelector")),
        _AGE,
        *_TEMPLATE,
        _SELECTOR,
    ),
    "statefulsets.apps": (
        _NAME,
        Column("Ready", cells.ratio(_READY, at("spec.replicas", 1))),
        _AGE,
        *_TEMPLATE,
    ),
    "jobs.batch": (
        _NAME,
        Column("Completions", cells.ratio(at("status.succeeded", 0), at("spec.completions", 1))),
        _AGE,
        *_TEMPLATE,
        _SELECTOR,
    ),
    "cronjobs.batch": (
        _NAME,
        Column("Schedule", at("spec.schedule")),
        Column("Suspend", at("spec.suspend", default=False, text=True)),
        _AGE,
    ),
    "leases.coordination.k8s.io": (_NAME, Column("Holder", at("spec.holderIdentity")), _AGE),
    "events": (
        Column("Last Seen", cells.event_seen("lastTimestamp", "firstTimestamp", "eventTime")),
        Column("Type", at("type")),
        Column("Reason", at("reason")),
        Column("Object", cells.event_object),
        _wide("Subobject", at("involvedObject.fieldPath")),
        _wide("Source", cells.event_source),
        Column("Message", cells.event_message),
        _wide("First Seen", cells.event_seen("firstTimestamp", "eventTime")),
        _wide("Count", at("count", 1)),
        _wide("Name", at("metadata.name")),
    ),
}


def table(
    resource: Resource, records: Sequence[Record], metadata: Json, included: str = "Metadata"
) -> Json:
    """Return a ``meta.k8s.io/v1`` Table; ``included`` says what each row carries of its object."""
    columns = _COLUMNS.get(resource.key, _PLAIN)
    rows = []
    for record in records:
        row: Json = {"cells": [column.cell(record.body) for column in columns]}
        if included == "Object":
            row["object"] = views.whole(resource, record.body)
        elif included != "None":
            row["object"] = views.bare(record.body)
        rows.append(row)
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": [column.definition() for column in columns],
        "rows": rows,
    }
