"""Which Services of a cluster are dialled from every node: its own, and a few of others that all nodes must reach alike."""

from ipaddress import ip_address
from typing import Any

import pytest

from nettests.cluster import networks

WINDOWS = ip_address("172.30.0.13")


def service(name: str, address: str = "10.96.7.7", protocol: str = "TCP", **spec: Any) -> Any:
    """Return a Service with one port."""
    ports = [{"port": 53, "protocol": "UDP"}, {"port": 80, "protocol": protocol}]
    return {
        "metadata": {"namespace": "shop", "name": name},
        "spec": {"clusterIP": address, "ports": ports, **spec},
    }


def listed(name: str, address: str = "10.244.3.4", **conditions: bool) -> Any:
    """Return the EndpointSlice of a Service with one endpoint."""
    labels = {"kubernetes.io/service-name": name}
    endpoint = {"addresses": [address], "conditions": conditions}
    return {"metadata": {"namespace": "shop", "labels": labels}, "endpoints": [endpoint]}


def dialled(others: list[Any], slices: list[Any], own: tuple[Any, ...] = ()) -> dict[str, bool]:
    """Return the names of the chosen Services, and whether they are the cluster's own."""
    fact = networks.existing_services(
        of_cluster=own, others=others, slices=slices, of_windows=[WINDOWS], family=4
    )
    return {each.name: each.own for each in fact.value or ()}


def test_own_services_come_first_and_few_others_in_their_order() -> None:
    """Of many with endpoints, the first ones by name are chosen, whatever the order of the lists."""
    names = [f"s{number}" for number in range(9, 0, -1)]
    chosen = dialled(list(map(service, names)), list(map(listed, names)), (service("kubernetes"),))
    assert list(chosen) == ["shop/kubernetes", *(f"shop/s{n}" for n in range(1, 5))]
    assert [name for name, own in chosen.items() if own] == ["shop/kubernetes"]


@pytest.mark.parametrize(
    ("changed", "slices"),
    [
        (service("web", clusterIP="None"), [listed("web")]),
        (service("web", protocol="SCTP"), [listed("web")]),
        (service("web", type="ExternalName"), [listed("web")]),
        (service("web", internalTrafficPolicy="Local"), [listed("web")]),
        (service("web", "fd00::7"), [listed("web")]),
        (service("web"), []),
        (service("web"), [listed("web", ready=False)]),
        (service("web"), [listed("web"), listed("web", str(WINDOWS))]),
    ],
)
def test_a_service_that_nodes_need_not_reach_alike_is_left_out(
    changed: Any, slices: list[Any]
) -> None:
    """By its address, ports, policy or endpoints; an ordinary one with ready endpoints is chosen."""
    assert dialled([service("web")], [listed("web")]) == {"shop/web": False}
    assert dialled([changed], slices) == {}
