"""What preflight reads from answers of the API server: why a Pod is refused, and which ports others hold."""

from dataclasses import replace
from typing import Any

import pytest

from nettests.model.cluster_profile import ClusterProfile, Images
from nettests.model.words import OS
from nettests.session.preflight_evidence import (
    _exposed,
    _ports,
    _refusal_reason,
    _sample_pods,
    _unserved,
)
from nettests.session.report_dir import new_run_id
from tests.plan.clusters import cluster, mixed, node


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (
            '{"message":"pods \\"x\\" is forbidden: violates PodSecurity \\"baseline:latest\\": host namespaces","reason":"Forbidden"}',
            'violates PodSecurity "baseline:latest": host namespaces',
        ),
        ('{"message":"denied by webhook"}', '{"message":"denied by webhook"}'),
        ("", ""),
    ],
)
def test_why_a_pod_is_refused_is_told_without_the_pod_that_sent_it(body: str, why: str) -> None:
    """Its name means nothing to anybody; what is no such refusal is told as it came."""
    assert _refusal_reason(body) == why


@pytest.mark.parametrize(
    ("spec", "ports"),
    [
        ({"containers": [{"ports": [{"containerPort": 80, "hostPort": 8080}]}]}, [8080]),
        ({"hostNetwork": True, "containers": [{"ports": [{"containerPort": 80}]}]}, [80]),
        ({"containers": [{"ports": [{"containerPort": 80}]}, {}]}, [0]),
        ({"containers": [{"ports": None}]}, []),
        ({}, []),
    ],
)
def test_a_port_of_a_pod_is_held_on_its_node_where_it_says_so(
    spec: dict[str, Any], ports: list[int]
) -> None:
    """By hostPort, or because the whole Pod is on the node's network."""
    assert list(_ports(spec)) == ports


def test_one_pod_of_each_kind_and_system_is_tried() -> None:
    """On a node of that system; a system that the cluster lacks is not tried."""
    kinds = dict(_sample_pods(mixed()))
    assert set(kinds) == {"pod-linux", "node-linux", "pod-windows", "node-windows"}
    for kind, pod in kinds.items():
        assert pod.os is OS(kind.partition("-")[2])
        assert pod.name == f"preflight-{kind}"
        assert f"-{pod.os}-" in pod.node
    linux = cluster(node("linux-1", 1))
    assert set(dict(_sample_pods(linux))) == {"pod-linux", "node-linux"}


def test_nodes_that_no_image_serves_are_named_with_the_reason() -> None:
    """A build that agnhost has no image of; an image of another name is believed."""
    windows = node("windows-1", 1, build="19042.1")
    facts = replace(mixed(), nodes=(node("linux-1", 1), windows))
    unserved = _unserved(facts, ClusterProfile())
    assert list(unserved) == [windows.name]
    assert "has no build for Windows 19042" in unserved[windows.name]
    own = ClusterProfile(images=Images(by_system={"windows": "own:1"}))
    assert _unserved(facts, own) == {}


def test_a_run_id_is_a_label_of_dns_that_sorts_by_time() -> None:
    """Two runs of one second differ; namespaces are called after it."""
    one, other = new_run_id(), new_run_id()
    assert one != other
    for run in (one, other):
        day, time, end = run.split("-")
        assert (len(day), len(time), len(end)) == (8, 6, 4)
        assert (day + time).isdigit()
        assert len(f"nettests-{run}") <= 63
        assert f"nettests-{run}".replace("-", "").isalnum()


@pytest.mark.parametrize(
    ("many", "named"),
    [
        (1, "Service s-0"),
        (3, "Service s-0, Service s-1, Service s-2"),
        (200, "200 objects, such as Service s-0, Service s-1, Service s-2"),
    ],
)
def test_a_kind_of_exposed_port_names_few_objects(many: int, named: str) -> None:
    """A large cluster has a NodePort for each node: they are counted, and three are named."""
    server = {
        "kind": "Pod",
        "metadata": {"name": "server", "labels": {"app": "x"}},
        "spec": {"containers": [{"args": ["no-snat-test", "--port=8080"]}]},
    }
    services = [
        {
            "kind": "Service",
            "metadata": {"name": f"s-{number}"},
            "spec": {"type": "NodePort", "selector": {"app": "x"}, "ports": [{"port": 8080}]},
        }
        for number in range(many)
    ]
    (line,) = _exposed([server, *services])
    assert line.endswith(f": {named}")
