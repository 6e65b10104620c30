"""Objects of any shape give facts, known or not: no part of an answer of the API server ends discovery."""

import random
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nettests.cluster.connection import ApiError
from nettests.cluster.discover import discover
from nettests.cluster.snapshot import NODES
from nettests.errors import ClusterError
from nettests.model.cluster_profile import ClusterProfile
from nettests.model.facts import ClusterFacts
from nettests.model.json_text import Object
from scripts.sample_readings.served import Served
from tests.cluster.recorded import config_map, daemon_set, linux_node, windows_node
from tests.fuzz.budget import fuzz

ODD = (
    "10.96.0.300",
    "fe80::1%eth0",
    "1/2/3",
    "10.244.0.0/33",
    "v9999999999.1",
    "9" * 5000,
    "\0",
    "*a",
)
"""Addresses, versions and numbers that are none, and YAML that ends nowhere."""
JSON = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(ODD)
VALUES = st.recursive(
    JSON,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
)


def pod(name: str, **labels: str) -> Object:
    """Return a Pod that refers to a ConfigMap by its name."""
    words = ["kube-proxy", "--config=/var/lib/kube-proxy/config.conf"]
    container = {"name": "kube-proxy", "image": "x/kube-proxy:v1.33.5", "command": words}
    return {
        "metadata": {"name": name, "namespace": "kube-system", "labels": labels},
        "spec": {
            "nodeName": "n1",
            "containers": [container],
            "volumes": [{"name": "c", "configMap": {"name": name}}],
        },
        "status": {
            "phase": "Running",
            "podIP": "10.244.0.5",
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


DNS = {
    "metadata": {"name": "kube-dns", "namespace": "kube-system"},
    "spec": {"clusterIP": "10.96.0.10", "selector": {"k8s-app": "kube-dns"}},
}
CALICO = daemon_set("calico-node", "calico-system", CALICO_NETWORKING_BACKEND="bird")
CLUSTER: Object = {
    "version": "v1.33.5",
    "kubernetes": "10.96.0.1",
    "nodes": [
        linux_node(),
        windows_node(),
        {**windows_node("w2"), "spec": {"unschedulable": True}},
    ],
    "daemonSets": [CALICO, daemon_set("kube-proxy")],
    "pods": [pod("kube-proxy-n1"), pod("coredns", **{"k8s-app": "kube-dns"})],
    "services": [DNS],
    "runtimeClasses": [{"metadata": {"name": "w"}, "scheduling": {"nodeSelector": {"a": "b"}}}],
    "serviceCidrs": [{"metadata": {"name": "k"}, "spec": {"cidrs": ["10.96.0.0/16"]}}],
    "ipPools": [
        {"metadata": {"name": "p"}, "spec": {"cidr": "10.244.0.0/16", "vxlanMode": "Never"}}
    ],
    "configMaps": {
        "kube-system/kube-proxy-n1": config_map("x", **{"config.conf": "mode: nftables"}),
        "kube-system/coredns": config_map(
            "x", Corefile=".:53 {\n kubernetes a.test {\n pods insecure\n }\n}\n"
        ),
        "kube-system/kubeadm-config": config_map("x", ClusterConfiguration="networking: {}"),
        "kube-flannel/kube-flannel-cfg": config_map("x", **{"net-conf.json": "{}"}),
    },
}


@dataclass(slots=True)
class Mutated(Served):
    """The API server, of which the answer at one path has another value somewhere in it."""

    at: str = ""
    seed: int = 0
    value: Any = None
    paths: set[str] = field(default_factory=set)

    def get(self, path: str, **query: object) -> Object:
        """Return one object, as an answer that is at least an object."""
        mutated = self._mutated(path, Served.get(self, path, **query))
        return mutated if isinstance(mutated, dict) else {}

    def items(self, path: str, **query: object) -> list[Object]:
        """Return a list."""
        mutated = self._mutated(path, Served.items(self, path, **query))
        if not isinstance(mutated, list):
            raise ApiError("the answer is no list", status=200)
        return mutated

    def create(self, path: str, body: Object) -> Object:
        """Return a review."""
        mutated = self._mutated(path, Served.create(self, path, body))
        return mutated if isinstance(mutated, dict) else {}

    def text(self, path: str, **_query: object) -> str:
        """Return a log, which is no object."""
        return f"the log at {path}"

    def _mutated(self, path: str, answer: Any) -> Any:
        self.paths.add(path)
        if path != self.at:
            return answer
        chooser = random.Random(self.seed)
        root: Any = [deepcopy(answer)]
        place, key = root, 0
        while isinstance(place[key], dict | list) and place[key] and chooser.random() < 0.8:
            place = place[key]
            key = chooser.choice(list(place) if isinstance(place, dict) else range(len(place)))
        place[key] = self.value
        return root[0]


def paths() -> list[str]:
    """Return what discovery asks for in this cluster."""
    server = Mutated(CLUSTER)
    discover(server, ClusterProfile())  # type: ignore[arg-type]  # what it calls of a connection
    return sorted(server.paths)


PATHS = paths()


def test_every_kind_of_object_is_asked_for() -> None:
    """What the next test changes is what discovery reads."""
    ends = {path.rpartition("/")[2] for path in PATHS}
    kinds = {"nodes", "daemonsets", "pods", "services", "runtimeclasses", "servicecidrs", "ippools"}
    assert kinds <= ends, kinds - ends
    assert any("/configmaps/" in path for path in PATHS)
    assert any("selfsubject" in path for path in PATHS)


@fuzz
@given(st.sampled_from(PATHS), st.integers(0, 2**32), VALUES)
def test_no_shape_ends_discovery(path: str, seed: int, value: Any) -> None:
    """A part of another type is a fact that is unknown; only a cluster without a readable node is an error."""
    server = Mutated(CLUSTER, at=path, seed=seed, value=value)
    try:
        facts = discover(server, ClusterProfile())  # type: ignore[arg-type]  # as above
    except ClusterError:
        assert path == NODES
        return
    assert isinstance(facts, ClusterFacts)


def test_the_reason_says_what_was_there_instead() -> None:
    """People see that it is the answer that is odd, and not their node."""
    odd = deepcopy(CLUSTER)
    odd["nodes"][1]["status"]["nodeInfo"] = ["odd"]
    odd["nodes"][1]["metadata"]["labels"].pop("node.kubernetes.io/windows-build")
    facts = discover(Served(odd), ClusterProfile())  # type: ignore[arg-type]  # as above
    kubelet = facts.node("w1").kubelet
    assert kubelet.value is None
    assert "[1].status.nodeInfo is a list, not an object" in kubelet.origin
