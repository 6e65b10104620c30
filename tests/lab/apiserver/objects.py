"""Objects that tests create, and the paths they are created at."""

from typing import Any

Json = dict[str, Any]

PODS = "/api/v1/namespaces/default/pods"
SERVICES = "/api/v1/namespaces/default/services"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
IMAGE = "registry.k8s.io/e2e-test-images/agnhost:2.63.0"


def pod(name: str, *args: str, **spec: Any) -> Json:
    """Return a pod of one container ``c``."""
    container = {"name": "c", "image": IMAGE, "args": list(args or ("netexec",))}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {"terminationGracePeriodSeconds": 1, "containers": [container], **spec},
    }


def config_map(name: str, **data: str) -> Json:
    """Return a ConfigMap."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def deployment(name: str, replicas: int = 2) -> Json:
    """Return a Deployment."""
    labels = {"app": name}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "c", "image": "i:1"}]},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
    }
