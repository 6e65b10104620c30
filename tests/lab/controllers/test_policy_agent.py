"""Which pods of the lab NetworkPolicies bind, where those may send, and which rules that makes."""

from ipaddress import ip_address
from typing import Any

import pytest

from nettests.lab.controllers.policy_agent import bindings
from nettests.lab.network.fabric import policies_table as table

Json = dict[str, Any]
NODE = "n1"


def pod(name: str, address: str, *, namespace: str = "own", **labels: str) -> Json:
    """Return a pod that stands."""
    return {
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"nodeName": NODE, "containers": []},
        "status": {"podIPs": [{"ip": address}]},
    }


def policy(*egress: Json, types: tuple[str, ...] = ("Egress",), **labels: str) -> Json:
    """Return a policy of the namespace ``own`` that binds the pods with these labels."""
    spec = {"podSelector": {"matchLabels": labels}, "policyTypes": list(types)}
    return {"metadata": {"name": "p", "namespace": "own"}, "spec": {**spec, "egress": list(egress)}}


CLIENT = pod("client", "10.244.1.2", app="client")
SERVER = pod("server", "10.244.2.3", app="server")
OTHER = pod("other", "10.244.2.4", app="other")
ELSEWHERE = pod("elsewhere", "10.244.2.5", namespace="other", app="server")
PODS = (CLIENT, SERVER, OTHER, ELSEWHERE)
TO_SERVERS = {"to": [{"podSelector": {"matchLabels": {"app": "server"}}}]}


@pytest.mark.parametrize(
    ("policies", "places"),
    [
        ((), None),
        ((policy(app="client"),), ()),
        ((policy(TO_SERVERS, app="client"),), ("10.244.2.3",)),
        ((policy(app="client"), policy(TO_SERVERS, app="client")), ("10.244.2.3",)),
        ((policy(types=("Ingress",), app="client"),), None),
        ((policy(app="nobody"),), None),
        (
            (policy({}, app="client"),),
            ("10.244.1.2", "10.244.2.3", "10.244.2.4", "10.244.2.5"),
        ),
    ],
    ids=["none", "nothing", "servers", "either says so", "ingress", "others", "everything"],
)
def test_a_bound_pod_may_send_where_any_policy_lets_it(
    policies: tuple[Json, ...], places: tuple[str, ...] | None
) -> None:
    """Peers are pods of the policy's namespace; a rule without peers names all; other types bind nothing here."""
    bound = bindings(policies, PODS).get(NODE, {})
    if places is None:
        assert bound == {}
    else:
        assert bound == {ip_address("10.244.1.2"): [ip_address(one) for one in places]}


def test_pods_on_their_node_s_network_are_not_bound() -> None:
    """Nor is one without an address."""
    host = {**CLIENT, "spec": {**CLIENT["spec"], "hostNetwork": True}}
    waiting = {**CLIENT, "status": {}}
    assert bindings([policy(app="client")], [host, waiting]) == {}


def test_a_table_drops_what_a_bound_pod_begins_elsewhere() -> None:
    """Of IPv4; what was begun by others is answered."""
    allowed = {
        ip_address("10.244.1.2"): [ip_address("10.244.2.3"), ip_address("fd00::3")],
        ip_address("10.244.1.9"): [],
        ip_address("fd00::2"): [],
    }
    assert table(allowed).chains["leaving"].rules == (
        "ct state new ip saddr 10.244.1.2 ip daddr != { 10.244.2.3 } drop",
        "ct state new ip saddr 10.244.1.9 drop",
    )
