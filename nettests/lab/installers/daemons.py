"""What a plugin's manifests hold, as values: DaemonSets and ConfigMaps. Used by the modules of each plugin. Pure."""

from dataclasses import dataclass

from nettests.lab.client import Json
from nettests.lab.topology import OS


@dataclass(frozen=True, slots=True, kw_only=True)
class Daemon:
    """One DaemonSet: a hostNetwork (on Windows HostProcess) container on every node of an OS."""

    namespace: str
    name: str
    labels: dict[str, str]
    container: Json
    os: OS


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One ConfigMap."""

    namespace: str
    name: str
    data: dict[str, str]


def in_kube_system(name: str, container: Json, os: OS) -> Daemon:
    """Return a DaemonSet of kube-system with the labels that most plugins give theirs."""
    labels = {"app": name, "k8s-app": name}
    return Daemon(namespace="kube-system", name=name, labels=labels, container=container, os=os)


def node_name() -> Json:
    """Return the variable by which a daemon knows its node."""
    return {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
