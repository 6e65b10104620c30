"""Service tables of many nodes: each follows what it was told itself, and what is the same is there once."""

import gc
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nettests.lab.client import Client
from nettests.lab.client.informer import Informer, key_of
from nettests.lab.controllers.service_proxy import NodeTable, SharedPorts
from nettests.lab.controllers.service_table import as_slices
from nettests.lab.network.thresholds import switch_features
from nettests.lab.network.winkernel import Winkernel, host_of
from nettests.lab.topology import ServicePort, ServiceTable, profiles
from tests.lab.controllers.whole_table import service_table

Json = dict[str, Any]
PROFILE = profiles.load("win2022-l2bridge-dsr")
_VERSIONS = count(1)


def _versioned(item: Json, name: str) -> Json:
    metadata = {
        "name": name,
        "namespace": "default",
        "uid": name,
        "resourceVersion": str(next(_VERSIONS)),
    }
    return {**item, "metadata": {**metadata, **item.get("metadata", {})}}


def service(name: str, number: int, *, port: int = 80, **spec: Any) -> Json:
    """A Service with one port."""
    ports = [{"name": "http", "port": port, "targetPort": 8080, "protocol": "TCP"}]
    return _versioned({"spec": {"clusterIP": f"10.96.7.{number}", "ports": ports, **spec}}, name)


def listed(owner: str, *addresses: str, name: str = "", node: str = "win-1") -> Json:
    """An EndpointSlice of a Service."""
    endpoints = [{"addresses": [one], "conditions": {}, "nodeName": node} for one in addresses]
    made = {
        "metadata": {"labels": {"kubernetes.io/service-name": owner}},
        "addressType": "IPv4",
        "endpoints": endpoints,
        "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}],
    }
    return _versioned(made, name or f"{owner}-x")


class Node:
    """One node's informers, told by hand, and its table."""

    def __init__(self, shared: SharedPorts, *, by_slices: bool = True) -> None:
        client = Client("http://127.0.0.1:1", "", agent="test")
        self.services = Informer(client, "services")
        self.listed = Informer(client, "slices")
        self._by_slices = by_slices
        self._table = NodeTable(shared, self.services, self.listed)

    def told(self, *items: Json) -> None:
        """Be told of objects that came or changed."""
        for item in items:
            self._informer(item)._apply(key_of(item), item)

    def told_gone(self, *items: Json) -> None:
        """Be told of objects that went."""
        for item in items:
            self._informer(item)._apply(key_of(item), None)

    def _informer(self, item: Json) -> Informer:
        return self.services if "spec" in item else self.listed

    def table(self) -> ServiceTable:
        """The table as things stand."""
        return self._table.current()

    def anew(self) -> ServiceTable:
        """The table made of all objects at once."""
        items = list(self.listed.objects.values())
        slices = items if self._by_slices else [part for one in items for part in as_slices(one)]
        return service_table(self.services.objects.values(), slices, PROFILE)


@pytest.fixture
def shared() -> Iterator[SharedPorts]:
    """What nodes of a lab share; nothing of it may be left when their tables are gone."""
    made = SharedPorts(PROFILE)
    yield made
    gc.collect()
    assert len(made) == 0


def by_name(table: ServiceTable) -> dict[str, ServicePort]:
    """Service ports by the name of their Service."""
    return {one.service: one for one in table}


def test_a_change_of_one_service_leaves_the_others_as_they_are(shared: SharedPorts) -> None:
    """What did not change is the very same value as before, by which rules are made of the rest alone."""
    node = Node(shared)
    node.told(service("a", 1), service("b", 2), listed("a", "10.244.1.2"))
    before = by_name(node.table())
    node.told(service("a", 1, port=81))
    after = by_name(node.table())
    assert (after["a"].port, after["a"].endpoints) == (81, before["a"].endpoints)
    assert after["b"] is before["b"]


def test_nodes_that_were_told_the_same_have_the_same_values(shared: SharedPorts) -> None:
    """Two nodes of a lab hold one Service port, not two that are equal."""
    first, second = Node(shared), Node(shared)
    items = (service("a", 1), listed("a", "10.244.1.2"))
    first.told(*items)
    second.told(*items)
    assert first.table()[0] is second.table()[0]
    assert len(shared) == 1


def test_a_node_that_is_told_later_keeps_what_it_was_told(shared: SharedPorts) -> None:
    """A watch that lags shows in its node's table alone, until it catches up."""
    ahead, behind = Node(shared), Node(shared)
    for node in (ahead, behind):
        node.told(service("a", 1), listed("a", "10.244.1.2"))
    changed = listed("a", "10.244.1.3")
    ahead.told(changed)
    assert [str(one.address) for one in ahead.table()[0].endpoints] == ["10.244.1.3"]
    assert [str(one.address) for one in behind.table()[0].endpoints] == ["10.244.1.2"]
    behind.told(changed)
    assert behind.table() == ahead.table()


def test_nodes_make_their_own_of_a_shared_port(shared: SharedPorts) -> None:
    """With internalTrafficPolicy Local each node's proxy balances to the Pod of its own."""
    nodes = [one for one in PROFILE.nodes if one.name in {"win-1", "win-2"}]
    pods = {one.name: str(one.pod_cidr[9]) for one in nodes}
    proxies = {one.name: Winkernel(switch_features(one, PROFILE)) for one in nodes}
    made = service("a", 1, internalTrafficPolicy="Local")
    slices = [listed("a", pods[one], name=f"a-{one}", node=one) for one in pods]
    tables = []
    for one in nodes:
        node = Node(shared)
        node.told(made, *slices)
        tables.append(node.table())
        (balancer,) = proxies[one.name].sync(node.table(), host_of(one, PROFILE))
        assert [str(address) for address in balancer.backends] == [pods[one.name]]
    assert tables[0][0] is tables[1][0]


def test_slices_that_come_before_their_service_count_once_it_comes(shared: SharedPorts) -> None:
    """The API tells of Services and of slices by two watches, in whatever order."""
    node = Node(shared)
    node.told(listed("a", "10.244.1.2"))
    assert node.table() == ()
    node.told(service("a", 1))
    assert [str(one.address) for one in node.table()[0].endpoints] == ["10.244.1.2"]


def test_a_deleted_service_goes_and_leaves_nothing(shared: SharedPorts) -> None:
    """Its slices may go before or after it; what nodes shared of it goes with the last that had it."""
    first, second = Node(shared), Node(shared)
    items = (service("a", 1), listed("a", "10.244.1.2"))
    other = service("b", 2)
    for node in (first, second):
        node.told(*items, other)
        node.table()
    first.told_gone(*items)
    second.told_gone(*reversed(items))
    assert [len(shared), len(first.table()), len(shared)] == [2, 1, 2]
    assert list(by_name(second.table())) == ["b"]
    assert len(shared) == 1
    assert first._table._listed == {}


def test_a_service_that_comes_again_under_its_name_is_another(shared: SharedPorts) -> None:
    """Deleted and created again between two looks, it has what its new object says."""
    node = Node(shared)
    old = service("a", 1)
    node.told(old, listed("a", "10.244.1.2"))
    node.table()
    node.told_gone(old)
    node.told(service("a", 9, port=90))
    (port,) = node.table()
    assert (str(port.cluster_ip), port.port, len(port.endpoints)) == ("10.96.7.9", 90, 1)


def test_endpoints_are_read_as_slices_are(shared: SharedPorts) -> None:
    """A node that reads Endpoints has the same ports, and follows their changes."""
    node = Node(shared, by_slices=False)
    subset = {"addresses": [{"ip": "10.244.1.2"}], "ports": [{"name": "http", "port": 8080}]}
    node.told(service("a", 1), _versioned({"subsets": [subset]}, "a"))
    assert node.table() == node.anew() != ()
    node.told(_versioned({"subsets": []}, "a"))
    assert node.table() == node.anew()
    assert node.table()[0].endpoints == ()


_NAMES = st.sampled_from("abc")
_ADDRESSES = st.lists(st.sampled_from(["10.244.1.2", "10.244.1.3"]), max_size=2)
_STEPS = st.lists(
    st.one_of(
        st.builds(lambda n, port: ("told", service(n, ord(n), port=port)), _NAMES, st.just(80)),
        st.builds(lambda n: ("told", service(n, ord(n), type="ExternalName")), _NAMES),
        st.builds(
            lambda owner, name, addresses: ("told", listed(owner, *addresses, name=f"s{name}")),
            _NAMES,
            _NAMES,
            _ADDRESSES,
        ),
        st.builds(lambda n: ("gone", service(n, 1)), _NAMES),
        st.builds(lambda n: ("gone", listed("a", name=f"s{n}")), _NAMES),
        st.just(("look", {})),
    ),
    max_size=30,
)


@settings(database=None)
@given(_STEPS)
def test_what_is_kept_current_equals_what_is_made_anew(steps: list[tuple[str, Json]]) -> None:
    """Whatever came, changed, moved to another Service and went, in whatever order, and whenever it was looked at."""
    node = Node(SharedPorts(PROFILE))
    for what, item in steps:
        if what == "told":
            node.told(item)
        elif what == "gone":
            node.told_gone(item)
        else:
            node.table()
    assert node.table() == node.anew()
