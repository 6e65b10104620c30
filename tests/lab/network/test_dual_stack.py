"""Both IP families on routed networks: who has which addresses, who answers, and whom servers see."""

from dataclasses import replace
from ipaddress import ip_address

import pytest

from nettests.lab.topology import Backend, Plugin, Profile, ServicePort, mechanisms, profiles
from tests.lab.network.conftest import StartLab
from tests.lab.network.requests_of_pods import Ask

PROFILE = profiles.load("win2022-l2bridge-dualstack")
LINUX, WINDOWS = "linux-1", "win-1"
PLACES = {"lin": LINUX, "lin-far": "linux-2", "win": WINDOWS, "win-far": "win-2"}
VIPS = {name: f"fd00:10:96::{number}" for number, name in enumerate(PLACES, 0x21)}


def switched(*switches: str, **fields: object) -> Profile:
    """Return the profile with mechanisms switched."""
    return replace(PROFILE, mechanisms=mechanisms.read(switches), **fields)  # type: ignore[arg-type]


def service(name: str, address: str) -> ServicePort:
    """Return the IPv6 port of a Service in front of one pod."""
    return ServicePort(
        namespace="default",
        service=name,
        port_name="tcp",
        protocol="TCP",
        cluster_ip=ip_address(VIPS[name]),
        port=80,
        endpoints=(Backend(address=ip_address(address), port=8080, node=PLACES[name]),),
    )


def test_pods_and_services_answer_over_ipv6(start_lab: StartLab) -> None:
    """Pods of both systems reach each other and Services by IPv6; Windows shows its node to a Service."""
    lab = start_lab(PROFILE)
    second = {name: lab.attach_dual(node, name)[1] or "" for name, node in PLACES.items()}
    lab.program(*(service(name, address) for name, address in second.items()))
    sources = ("lin", "win")
    direct = {(a, b): Ask(source=a, address=second[b]) for a in sources for b in PLACES if a != b}
    through = {
        (a, b): Ask(source=a, address=VIPS[b], port=80) for a in sources for b in PLACES if a != b
    }
    answers = dict(zip(direct, lab.send_all(*direct.values()), strict=True))
    assert answers == {(a, b): f"{b} sees {second[a]}" for a, b in direct}
    seen = {"lin": second["lin"], "win": str(PROFILE.by_family[1].node(WINDOWS).address)}
    answers = dict(zip(through, lab.send_all(*through.values()), strict=True))
    assert answers == {(a, b): f"{b} sees {seen[a]}" for a, b in through}


@pytest.mark.parametrize(
    ("profile", "reason"),
    [
        (switched("dual-stack=off"), "switched off"),
        (switched(kubernetes_version="v1.20.15"), "Kubernetes before 1.21"),
        (
            replace(
                PROFILE, nodes=tuple(replace(n, build=n.build and 18363) for n in PROFILE.nodes)
            ),
            "a build before 19041",
        ),
        (
            replace(PROFILE, cni=replace(PROFILE.cni, plugin=Plugin.FLANNEL)),
            "win-bridge, which Flannel calls",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_windows_pods_have_ipv4_alone(start_lab: StartLab, profile: Profile, reason: str) -> None:
    """Where build, version or plugin rule it out Windows pods have no IPv6 address; Linux pods have."""
    lab = start_lab(profile)
    assert lab.attach_dual(WINDOWS, "win")[1] is None, reason
    assert lab.attach_dual(LINUX, "lin")[1] is not None


@pytest.mark.parametrize(
    ("version", "answer"),
    [("v1.24.11", "timed out"), ("v1.26.2", "timed out"), ("v1.24.12", "win sees {node}")],
)
def test_pods_of_the_clients_node_are_endpoints_of_both_families(
    start_lab: StartLab, version: str, answer: str
) -> None:
    """kube-proxy finds local Pods by their second address since March 2023; those of other nodes always."""
    profile = switched(kubernetes_version=version)
    lab = start_lab(profile)
    lab.attach_dual(WINDOWS, "client")
    near = lab.attach_dual(WINDOWS, "win")[1] or ""
    far = lab.attach_dual("win-2", "win-far")[1] or ""
    lab.program(service("win", near), service("win-far", far))
    node = profile.by_family[1].node(WINDOWS).address
    assert lab.request("client", VIPS["win-far"], 80) == f"win-far sees {node}"
    assert lab.request("client", VIPS["win"], 80) == answer.format(node=node)


@pytest.mark.parametrize(
    ("profile", "answer"),
    [
        (switched(kubernetes_version="v1.35.0"), "timed out"),
        (switched(kubernetes_version="v1.35.1"), "win sees"),
        (switched("family-in-key=off"), "timed out"),
        (PROFILE, "win sees"),
    ],
    ids=["1.35.0", "1.35.1", "switched off", "1.36"],
)
def test_a_nodeport_of_both_families_has_one_load_balancer_until_picked(
    start_lab: StartLab, profile: Profile, answer: str
) -> None:
    """Before the releases of February 2026 kube-proxy finds the IPv4 NodePort's load balancer when it looks for IPv6."""
    lab = start_lab(profile)
    lab.attach_dual(LINUX, "lin")
    first, second = lab.attach_dual(WINDOWS, "win")
    exposed = {"node_port": 30080, "external_traffic_local": True}
    ports = [
        replace(service("win", address or ""), cluster_ip=ip_address(vip), **exposed)  # type: ignore[arg-type]
        for address, vip in ((first, "10.96.0.33"), (second, VIPS["win"]))
    ]
    lab.program(*ports)
    nodes = [str(family.node(WINDOWS).address) for family in profile.by_family]
    assert lab.request("lin", nodes[0], 30080).startswith("win sees")
    assert lab.request("lin", nodes[1], 30080).startswith(answer)


def test_an_address_that_nobody_requested_leads_nowhere(start_lab: StartLab) -> None:
    """A cluster of one family knows nothing of it: other nodes do not reach it, IPv4 is as it was."""
    usual = profiles.load("win2019-overlay")
    lab = start_lab(replace(usual, mechanisms=mechanisms.read(["unasked-ipv6=on"])))
    first, second = lab.attach_dual(WINDOWS, "win")
    other, far = lab.attach_dual("win-2", "win-far")
    assert second is not None
    assert far is not None
    assert second.startswith("fd00:dead:")
    assert ip_address(second) != ip_address(far)
    assert lab.attach_dual(LINUX, "lin")[1] is None
    requests_sent = [Ask(source="win", address=other), Ask(source="win", address=far)]
    answers = lab.send_all(*requests_sent)
    assert answers[0] == f"win-far sees {first}"
    assert not answers[1].startswith("win-far")
