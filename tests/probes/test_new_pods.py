"""New Pods that log their first packets: what is created, and what is written down of it."""

import json
from dataclasses import replace
from ipaddress import ip_address

import pytest

from nettests.model.cluster_profile import Timing
from nettests.plan import pods
from nettests.probes.deployment import StandingPod, StandingService
from nettests.probes.examine import Examination
from nettests.probes.starting import Starting
from tests.probes.made import FACTS
from tests.probes.test_starting import BLANK, READY, Cluster, question


def first_packets(cluster: Cluster) -> Examination:
    """Let a Pod log its first packets to a server and its Service."""
    other = StandingPod(
        name="server",
        node="w2",
        purpose="server",
        addresses=(ip_address("10.244.4.9"),),
        host_addresses=(),
    )
    service = StandingService(
        name="server-svc", addresses=(ip_address("10.96.7.7"),), node_ports={}
    )
    probing = Starting(
        pods=cluster,
        blank=BLANK,
        facts=FACTS,
        timing=Timing(),
        standing={"server": other},
        services={"server-svc": service},
    )
    action = question(pods.reaching("each-path"))
    target = replace(action.target, pod="server", service="server-svc")
    return probing.examine(replace(action, target=target))


def test_a_new_pod_is_told_address_and_name_of_what_it_requests() -> None:
    """Each container requests one kind of path: the server's Pod, its Service's ClusterIP and its name."""
    cluster = Cluster(status={"phase": "Succeeded"}, answer="first-packets 200 0.01\n")
    first_packets(cluster)
    ((made,), name) = cluster.created, FACTS.cluster_domain.value
    urls = [one["args"][-1].partition("/hostname")[0] for one in made["spec"]["containers"]]
    assert urls == [
        "http://10.244.4.9:18080",
        "http://10.96.7.7",
        f"http://server-svc.nettests-1.svc.{name}.",
    ]


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_new_pods_logs_are_written_down_once_it_has_ended(phase: str) -> None:
    """However its containers ended: a path that never worked lets curl fail."""
    cluster = Cluster(status={"phase": phase}, answer="first-packets 000 1.0\n")
    logs = json.loads(first_packets(cluster).stdout)["then"]["logs"]
    assert logs == dict.fromkeys(("pod", "service", "name"), cluster.answer)
    running = Cluster(status=READY, answer="first-packets 000 1.0\n")
    assert "then" not in json.loads(first_packets(running).stdout)
