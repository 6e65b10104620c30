"""Which Pods are endpoints of a Service, from the Pods themselves: ready and not being deleted.

Discovery uses it for cluster DNS, and probes use it to see whether the DNS Pods still serve.
"""

from nettests.model.json_text import Object

DNS_PODS = "/api/v1/namespaces/kube-system/pods"
DNS_LABEL = {"labelSelector": "k8s-app=kube-dns"}


def serves(pod: Object) -> bool:
    """Whether a Pod counts as an endpoint: running, ready, with an address, not being deleted."""
    status = pod.get("status") or {}
    ready = any(
        condition.get("type") == "Ready" and condition.get("status") == "True"
        for condition in status.get("conditions") or ()
    )
    running = status.get("phase") == "Running" and bool(status.get("podIP"))
    return running and ready and not pod["metadata"].get("deletionTimestamp")
