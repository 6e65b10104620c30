"""The initial objects of a cluster, and of every namespace.

System namespaces, the ``kubernetes`` Service and, in releases that have them, the ServiceCIDR of the Service
networks; for each namespace the ServiceAccount ``default`` and the ConfigMap ``kube-root-ca.crt``, which controllers
make in a real cluster. Namespaces get theirs as soon as they are created.
"""

from typing import Any

from nettests.lab.apiserver import resources
from nettests.lab.apiserver.generic_registry import Objects, now
from nettests.lab.apiserver.resources import Resource
from nettests.lab.apiserver.settings import ApiSettings
from nettests.lab.apiserver.store import Store

Json = dict[str, Any]

_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
_API_PORT = 6443
_LONGEST_WAIT = 3600.0


def prepare(objects: Objects, settings: ApiSettings) -> None:
    """Create what a new cluster holds; what is there already is left alone."""
    for name in _NAMESPACES:
        _ensure(objects, resources.NAMESPACES, "", {"metadata": {"name": name}})
    first = str(settings.service_cidr[1])
    ports = [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": _API_PORT}]
    labels = {"component": "apiserver", "provider": "kubernetes"}
    service = {
        "metadata": {"name": "kubernetes", "labels": labels},
        "spec": {"clusterIP": first, "ports": ports},
    }
    _ensure(objects, resources.SERVICES, "default", service)
    if settings.version.minor >= resources.SERVICE_CIDRS.since:
        _name_service_networks(objects, settings)
    _fill_namespaces(objects, settings)


def _name_service_networks(objects: Objects, settings: ApiSettings) -> None:
    """Create the default ServiceCIDR, as ``pkg/controlplane/controller/defaultservicecidr`` does."""
    networks = (settings.service_cidr, settings.second_service_cidr)
    item = {
        "metadata": {"name": "kubernetes"},
        "spec": {"cidrs": [str(network) for network in networks if network is not None]},
    }
    ready = {
        "lastTransitionTime": now(),
        "message": "Kubernetes default Service CIDR is ready",
        "reason": "",
        "status": "True",
        "type": "Ready",
    }

    def settle(body: Json) -> None:
        body["status"] = {"conditions": [ready]}

    _ensure(objects, resources.SERVICE_CIDRS, "", item)
    objects.modify(resources.SERVICE_CIDRS, "", "kubernetes", settle)


def _ensure(objects: Objects, resource: Resource, namespace: str, item: Json) -> None:
    if objects.store.get(resource.key, namespace, item["metadata"]["name"]) is None:
        objects.create(resource, namespace, item)


def _fill_namespaces(objects: Objects, settings: ApiSettings) -> None:
    for record in objects.store.records(resources.NAMESPACES.key):
        if record.body["metadata"].get("deletionTimestamp"):
            continue
        name = record.name[1]
        _ensure(objects, resources.SERVICE_ACCOUNTS, name, {"metadata": {"name": "default"}})
        certificate = {
            "metadata": {"name": "kube-root-ca.crt"},
            "data": {"ca.crt": settings.ca_certificate},
        }
        _ensure(objects, resources.CONFIG_MAPS, name, certificate)


async def keep_namespaces(objects: Objects, settings: ApiSettings) -> None:
    """Give new namespaces their objects, until cancelled."""
    store: Store = objects.store
    with store.subscribe(resources.NAMESPACES.key) as subscription:
        while True:
            _fill_namespaces(objects, settings)
            await subscription.wait(_LONGEST_WAIT)
