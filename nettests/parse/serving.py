"""Which Pods a Service selects, from the Pods themselves: those that are ready and not being deleted.

Used by discovery for the cluster's DNS, and while its Pods are probed, to know whether they still serve.
"""

from typing import Any

Object = dict[str, Any]

DNS_PODS = "/api/v1/namespaces/kube-system/pods"
DNS_LABEL = {"labelSelector": "k8s-app=kube-dns"}


def serves(pod: Object) -> bool:
    """Whether a Pod is an endpoint that a Service leads to: running, ready, with an address, not being deleted."""
    status = pod.get("status") or {}
    ready = any(
        condition.get("type") == "Ready" and condition.get("status") == "True"
        for condition in status.get("conditions") or ()
    )
    running = status.get("phase") == "Running" and bool(status.get("podIP"))
    return running and ready and not pod["metadata"].get("deletionTimestamp")
