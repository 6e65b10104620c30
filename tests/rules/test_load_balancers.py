"""The rules about load balancers in HNS: what they make of Services, EndpointSlices and what HNS lists."""

import json

import pytest

from nettests.model.json_text import Object
from nettests.model.labels import RUN_LABEL
from nettests.rules import NothingThereError, UnreadableError
from tests.rules.made import FACTS, found

DNS: Object = {
    "metadata": {"name": "kube-dns", "namespace": "kube-system"},
    "spec": {
        "clusterIP": "10.96.0.10",
        "ports": [{"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP"}],
    },
}


def policy(port: int, protocol: int, *vips: str) -> Object:
    """Return a policy list as Get-HnsPolicyList shows it."""
    elb = {
        "ExternalPort": port,
        "InternalPort": 53,
        "IsDSR": False,
        "Protocol": protocol,
        "SourceVIP": "10.244.178.2",
        "Type": "ELB",
        "VIPs": list(vips),
    }
    return {"Policies": [elb], "References": ["/endpoints/C55B2C86"], "State": 2}


BOTH = [policy(53, 17, "10.96.0.10"), policy(53, 6, "10.96.0.10")]


def balanced(
    policies: list[Object],
    services: list[Object],
    addresses: tuple[str, ...] = ("10.244.1.7",),
    after: list[Object] | None = None,
    node: str = "win-2",
) -> dict[str, str]:
    """Return the readings of a node with these policies, and Services that are backed on ``node``."""
    slices = [
        {
            "metadata": {
                "namespace": item["metadata"]["namespace"],
                "labels": {"kubernetes.io/service-name": item["metadata"]["name"]},
            },
            "endpoints": [{"addresses": list(addresses), "nodeName": node}] if addresses else [],
            "ports": [
                {"name": p.get("name", ""), "protocol": p.get("protocol", "TCP"), "port": 53}
                for p in item["spec"]["ports"]
            ],
        }
        for item in services
    ]
    return {
        "services": json.dumps({"items": services}),
        "services-after": json.dumps({"items": services if after is None else after}),
        "endpoint-slices": json.dumps({"items": slices}),
        "endpoint-slices-after": json.dumps({"items": slices}),
        "hns-endpoints-beside-policies": json.dumps(
            [
                {
                    "ID": "c55b2c86",
                    "IPAddress": address,
                    **({} if node == FACTS["node"] else {"IsRemoteEndpoint": True}),
                }
                for address in addresses
                if address != FACTS["node-addresses"]
            ]
        ),
        "hns-policies": json.dumps(policies),
    }


def test_every_service_port_has_its_load_balancer() -> None:
    """One for each port and protocol."""
    assert found("load-balancers", balanced(BOTH, [DNS])).conforms
    missing = found("load-balancers", balanced(BOTH[:1], [DNS]))
    assert not missing.conforms
    assert "no load balancer for kube-system/kube-dns at 10.96.0.10:53/TCP" in missing.detail


@pytest.mark.parametrize(("addresses", "node"), [((), "win-2"), (("172.30.0.13",), "win-1")])
def test_a_service_without_backends_for_this_node_needs_none(
    addresses: tuple[str, ...], node: str
) -> None:
    """kube-proxy writes no policy without endpoints; the node's own address is none (k/k #126795)."""
    with pytest.raises(NothingThereError):
        found("load-balancers", balanced([], [DNS], addresses, node=node))


@pytest.mark.parametrize(
    "stale", [policy(80, 6, "10.96.7.7"), policy(54, 6, "10.96.0.10"), policy(30080, 6)]
)
def test_a_load_balancer_of_no_service_is_stale(stale: Object) -> None:
    """By address, by port, or as a NodePort that nobody has."""
    readings = balanced([*BOTH, stale], [DNS])
    finding = found("stale-load-balancers", readings)
    assert not finding.conforms
    assert "stale" in finding.detail
    assert found("load-balancers", readings).conforms
    assert found("stale-load-balancers", balanced(BOTH, [DNS])).conforms


@pytest.mark.parametrize("backed_on", ["win-1", "win-2"])
def test_local_policy_without_a_local_backend_is_a_rule_of_its_own(backed_on: str) -> None:
    """The ClusterIP needs its load balancer anyway; where no backend is local the one rule says so, else the other."""
    local = {**DNS, "spec": {**DNS["spec"], "externalTrafficPolicy": "Local"}}
    readings = balanced([], [local], node=backed_on)
    ordinary, policed = "load-balancers", "local-policy-load-balancers"
    wrong, other = (ordinary, policed) if backed_on == "win-1" else (policed, ordinary)
    assert (
        "no load balancer for kube-system/kube-dns at 10.96.0.10:53/TCP"
        in found(wrong, readings).detail
    )
    assert not found(wrong, readings).conforms
    with pytest.raises(NothingThereError):
        found(other, readings)
    assert found(wrong, balanced(BOTH, [local], node=backed_on)).conforms


def test_what_changes_meanwhile_is_neither_missing_nor_stale() -> None:
    """Services that come or go between the readings are given the benefit of it."""
    web = {
        "metadata": {"name": "web", "namespace": "demo"},
        "spec": {"clusterIP": "10.96.7.7", "ports": [{"port": 80, "nodePort": 30080}]},
    }
    coming = balanced(
        [*BOTH, policy(80, 6, "10.96.7.7"), policy(30080, 6)], [DNS], after=[DNS, web]
    )
    assert found("stale-load-balancers", coming).conforms
    assert found("load-balancers", coming).conforms
    assert found("stale-load-balancers", balanced(BOTH, [DNS, web], after=[DNS])).conforms
    assert found("load-balancers", balanced(BOTH, [DNS, web], after=[DNS])).conforms


@pytest.mark.parametrize(
    "changed",
    [
        {"metadata": {**DNS["metadata"], "labels": {"nettests.dev/run": "x"}}},
        {"spec": {**DNS["spec"], "clusterIP": "None"}},
        {"spec": {**DNS["spec"], "internalTrafficPolicy": "Local"}},
        {
            "metadata": {
                **DNS["metadata"],
                "labels": {"service.kubernetes.io/service-proxy-name": "other"},
            }
        },
    ],
)
def test_some_services_are_not_requested(changed: Object) -> None:
    """A run's own, headless ones, those of another proxy, and where no backend is local as the policy tests."""
    with pytest.raises(NothingThereError):
        found("load-balancers", balanced([], [{**DNS, **changed}]))


def test_health_checks_of_balancers_and_sctp_are_not_stale() -> None:
    """forwardHealthCheckVip has load balancers at the balancer's address, SCTP one of protocol 132."""
    web: Object = {
        "metadata": {"name": "web", "namespace": "demo"},
        "spec": {"clusterIP": "10.96.7.7", "ports": [{"port": 80, "protocol": "UDP"}]},
        "status": {"loadBalancer": {"ingress": [{"ip": "203.0.113.5"}]}},
    }
    policed = {**web, "spec": {**web["spec"], "healthCheckNodePort": 31000}}
    signals = {
        "metadata": {"name": "signals", "namespace": "demo"},
        "spec": {"clusterIP": "10.96.7.8", "ports": [{"port": 80, "protocol": "SCTP"}]},
    }
    for service, there in (
        (web, policy(10256, 17, "203.0.113.5")),
        (policed, policy(31000, 17, "203.0.113.5")),
        (signals, policy(80, 132, "10.96.7.8")),
    ):
        assert found("stale-load-balancers", balanced([there], [service])).conforms
    assert not found(
        "stale-load-balancers", balanced([policy(10256, 6, "10.96.7.8")], [web])
    ).conforms


SIGNALS: Object = {
    "metadata": {"name": "signals", "namespace": "demo"},
    "spec": {
        "clusterIP": "10.96.7.8",
        "ports": [{"port": 80, "protocol": "TCP"}, {"port": 53, "protocol": "SCTP"}],
    },
}


def test_a_port_of_sctp_is_a_rules_own_matter() -> None:
    """Its load balancer is there or missing for that rule alone; the others look at the other ports."""
    tcp, sctp = policy(80, 6, "10.96.7.8"), policy(53, 132, "10.96.7.8")
    missing = found("sctp-load-balancers", balanced([tcp], [SIGNALS]))
    assert not missing.conforms
    assert "no load balancer for demo/signals at 10.96.7.8:53/SCTP" in missing.detail
    there = found("sctp-load-balancers", balanced([tcp, sctp], [SIGNALS]))
    assert there.conforms
    own = {**SIGNALS, "metadata": {**SIGNALS["metadata"], "labels": {RUN_LABEL: "r"}}}
    assert not found("sctp-load-balancers", balanced([tcp], [own])).conforms
    for policies in ([tcp], [tcp, sctp]):
        assert found("load-balancers", balanced(policies, [SIGNALS])).conforms
        assert found("load-balancer-backends", balanced(policies, [SIGNALS])).conforms


def test_without_a_port_of_sctp_nothing_is_looked_at() -> None:
    """So it is where HNS does not have the Service's other ports yet: its turn has not come."""
    for policies, service in ((BOTH, DNS), ([], SIGNALS)):
        with pytest.raises(NothingThereError, match="no Service with a port of SCTP"):
            found("sctp-load-balancers", balanced(policies, [service]))


def test_leaked_load_balancers_deviate() -> None:
    """kubernetes/kubernetes#112836: at one address a second load balancer, whose endpoints are gone."""
    leaked = {**policy(53, 6, "10.96.0.10"), "References": ["/endpoints/DEAD"]}
    assert found("load-balancer-backends", balanced(BOTH, [DNS])).conforms
    finding = found("load-balancer-backends", balanced([*BOTH, leaked], [DNS]))
    assert not finding.conforms
    assert "2 load balancers for kube-system/kube-dns at 10.96.0.10:53/TCP" in finding.detail
    assert "refers to 1 endpoints that HNS does not have" in finding.detail
    alone = found("load-balancer-backends", balanced([BOTH[0], leaked], [DNS]))
    assert not alone.conforms


def test_a_remote_endpoint_at_a_local_address_deviates() -> None:
    """Traffic to it goes onto the wire, where nobody has the address."""
    readings = balanced(BOTH, [DNS])
    listed = json.loads(readings["hns-endpoints-beside-policies"])
    listed.append({"ID": "f00", "IPAddress": listed[0]["IPAddress"]})
    readings["hns-endpoints-beside-policies"] = json.dumps(listed)
    assert "which is a local one's" in found("load-balancer-backends", readings).detail


@pytest.mark.parametrize(
    ("beside", "said"),
    [
        ({"VirtualNetworkName": "cbr0"}, "2 remote endpoints at 10.244.1.7"),
        ({"VirtualNetworkName": "nat"}, ""),
    ],
)
def test_two_endpoints_with_one_address_deviate(beside: Object, said: str) -> None:
    """On one network; another network's addresses are its own."""
    readings = balanced(BOTH, [DNS])
    (known,) = json.loads(readings["hns-endpoints-beside-policies"])
    both = [{**known, "VirtualNetworkName": "cbr0"}, {**known, "ID": "f00", **beside}]
    readings["hns-endpoints-beside-policies"] = json.dumps(both)
    finding = found("load-balancer-backends", readings)
    assert finding.conforms is (not said), finding.detail
    assert said in finding.detail


def test_rules_left_by_a_deleted_backend_deviate() -> None:
    """kubernetes/kubernetes#112836 acted out: the balancer's address has one more for each Pod that went."""
    web: Object = {
        "metadata": {"name": "web", "namespace": "demo"},
        "spec": {"clusterIP": "10.96.7.7", "ports": [{"port": 80, "protocol": "TCP"}]},
        "status": {"loadBalancer": {"ingress": [{"ip": "203.0.113.5"}]}},
    }
    healthy = [policy(80, 6, "10.96.7.7"), policy(80, 6, "203.0.113.5")]
    assert found("load-balancer-backends", balanced(healthy, [web])).conforms
    for gone in ("C55B2C86", "DEAD"):
        left = {**healthy[1], "References": [f"/endpoints/{gone}"]}
        readings = balanced([*healthy, left], [web])
        assert found("stale-load-balancers", readings).conforms
        finding = found("load-balancer-backends", readings)
        assert "2 load balancers for demo/web at 203.0.113.5:80/TCP" in finding.detail
        assert not finding.conforms


@pytest.mark.parametrize(
    ("build", "kept"),
    [("17763.1339", False), ("17763.1400", None), ("17763.1432", True), ("20348.1", True)],
)
def test_policy_local_is_demanded_where_hns_has_dsr(build: str, kept: bool | None) -> None:
    """Builds before DSR treat Local as Cluster; between the updates that sources name nothing is said of it."""
    local: Object = {
        "metadata": {"name": "web", "namespace": "demo"},
        "spec": {
            "clusterIP": "10.96.7.7",
            "externalTrafficPolicy": "Local",
            "ports": [{"port": 80, "nodePort": 30080, "protocol": "TCP"}],
        },
    }
    readings = balanced([policy(80, 6, "10.96.7.7"), policy(30080, 6)], [local])
    if kept is None:
        with pytest.raises(NothingThereError):
            found("load-balancer-backends", readings, build=build)
        return
    finding = found("load-balancer-backends", readings, build=build)
    assert finding.conforms is (not kept), finding.detail


def test_an_endpoint_of_this_node_that_hns_has_from_elsewhere_may_be_left_out() -> None:
    """Whether kube-proxy finds it depends on which Service it served first."""
    readings = balanced(BOTH, [DNS], node="win-1")
    slices = json.loads(readings["endpoint-slices"])
    own = {"addresses": ["172.30.0.13"], "nodeName": "win-1"}
    slices["items"][0]["endpoints"].append(own)
    for reading in ("endpoint-slices", "endpoint-slices-after"):
        readings[reading] = json.dumps(slices)
    known = [
        {"ID": "c55b2c86", "IPAddress": "10.244.1.7"},
        {"ID": "d0", "IPAddress": "172.30.0.13", "IsRemoteEndpoint": True},
    ]
    readings["hns-endpoints-beside-policies"] = json.dumps(known[:1])
    assert found("load-balancer-backends", readings).conforms
    readings["hns-endpoints-beside-policies"] = json.dumps(known)
    with pytest.raises(NothingThereError):
        found("load-balancer-backends", readings)


def test_an_inspection_of_nothing_is_no_pass() -> None:
    """A node whose HNS lists no load balancer shows nothing stale, and nothing good either."""
    for rule in ("stale-load-balancers", "local-policy-load-balancers"):
        with pytest.raises(NothingThereError):
            found(rule, balanced([], []))


@pytest.mark.parametrize(
    ("vips", "conforms"), [(["", ""], True), ([None], True), (["", "10.244.3.1"], False)]
)
def test_load_balancers_on_l2bridge_have_no_source_vip(
    vips: list[str | None], conforms: bool
) -> None:
    """One that has it is enough, and its address is named."""
    lists = [policy(80 + place, 6, "10.96.0.7") for place in range(len(vips))]
    for one, vip in zip(lists, vips, strict=True):
        one["Policies"][0]["SourceVIP"] = vip
    finding = found("empty-source-vip", {"hns-policies": json.dumps(lists)}, driver="l2bridge")
    assert finding.conforms is conforms
    assert conforms or "source VIP 10.244.3.1" in finding.detail


def test_a_node_without_load_balancers_shows_no_source_vip() -> None:
    """Nothing to look at is no success."""
    with pytest.raises(UnreadableError, match="no load balancer"):
        found("empty-source-vip", {"hns-policies": "[]"})


def test_a_target_port_that_no_endpoint_has_is_dialled_in_vain() -> None:
    """kubernetes/kubernetes#132646: without a selector the slice's port counts, and kube-proxy before 1.34 dials the Service's."""
    by_hand = {
        "metadata": {"name": "by-hand", "namespace": "demo"},
        "spec": {"clusterIP": "10.96.7.9", "ports": [{"port": 80, "targetPort": 80}]},
    }
    balancer = policy(80, 6, "10.96.7.9")
    assert found("load-balancer-backends", balanced([balancer], [by_hand])).conforms
    balancer["Policies"][0]["InternalPort"] = 80
    finding = found("load-balancer-backends", balanced([balancer], [by_hand]))
    assert not finding.conforms
    assert "10.96.7.9:80/TCP dials port 80" in finding.detail
