"""What a cluster does not offer to Services is told apart from what went wrong."""

from dataclasses import replace
from ipaddress import ip_network
from typing import Any

import pytest

from nettests.model.check import Plan, ServiceObject
from nettests.model.cluster_profile import ClusterProfile
from nettests.model.service import ServiceSettings
from nettests.probes import objects
from nettests.probes.unsupported import forbidden_services, unbalanced, without_external_ips
from tests.probes.made import FACTS

NAMES = ("external-ip-a", "external-ip-b", "external-ip-c")
SERVICES = tuple(
    ServiceObject(name=name, backends=("a",), settings=ServiceSettings(label="e", external_ip=True))
    for name in NAMES
)
PLAN = Plan(checks=(), skips=(), pods=(), services=SERVICES)


def declined(network: str) -> dict[str, str]:
    """What is said of the Services when their addresses come from ``network``."""
    profile = ClusterProfile(external_ips=ip_network(network))
    blank = objects.Blank(namespace="r", labels={}, external_ips=profile.external_ips)
    return without_external_ips(
        PLAN, objects.services(PLAN, FACTS, blank), FACTS, blank.external_ips
    )


def balanced(**entries: dict[str, str] | None) -> dict[str, Any]:
    """Services with what their load balancers were assigned."""
    return {
        name: {"status": {"loadBalancer": {"ingress": [entry]} if entry else {}}}
        for name, entry in entries.items()
    }


def test_documentation_addresses_are_offered() -> None:
    """The default range is nobody's, so that every Service gets an address of it."""
    assert declined(str(ClusterProfile().external_ips)) == {}


@pytest.mark.parametrize(
    ("network", "whose"),
    [
        ("172.30.0.0/16", "the address of"),
        ("10.244.0.0/16", "the pods' network"),
        ("198.51.100.0/24", "the external target"),
    ],
)
def test_addresses_that_somebody_has_are_never_used(network: str, whose: str) -> None:
    """A range that overlaps one of the cluster's, or the target outside, is declined as a whole."""
    found = declined(network)
    assert set(found) == set(NAMES)
    assert all(whose in why and "cluster profile" in why for why in found.values())


def test_a_range_may_be_too_small() -> None:
    """Services beyond the last address are declined, in the order of their names."""
    assert declined("192.0.2.0/30") == {
        "external-ip-c": "the range of externalIPs, 192.0.2.0/30, holds too few addresses"
    }


def test_only_what_exposes_may_be_forbidden() -> None:
    """A refused ordinary Service stays a problem; one with externalIPs is not offered here."""
    plain = ServiceObject(name="svc-a", backends=("a",), settings=ServiceSettings(label="svc"))
    plan = replace(PLAN, services=(*SERVICES, plain))
    refused = {"external-ip-a": "denied", "svc-a": "denied"}
    assert forbidden_services(plan, refused) == {"external-ip-a": "denied"}


def test_a_cluster_without_load_balancers_offers_none() -> None:
    """Where no Service was assigned anything, nothing is wrong: there is nothing to probe."""
    found, missing = unbalanced(balanced(a=None, b=None), 7)
    assert found == dict.fromkeys("ab", "the cluster assigned no load balancer within 7 s")
    assert missing == {}


def test_one_that_got_no_address_while_others_did_is_a_problem() -> None:
    """Its checks cannot be trusted, and are not skipped."""
    found, missing = unbalanced(balanced(a={"ip": "203.0.113.1"}, b=None), 7)
    assert found == {}
    assert missing == {"b": "it was assigned no address within 7 s, while others were"}


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"hostname": "lb.example.com"}, "has a name, lb.example.com, and no address"),
        ({"ip": "203.0.113.1", "ipMode": "Proxy"}, "ipMode Proxy"),
    ],
)
def test_balancers_that_nodes_have_no_rules_for(entry: dict[str, str], why: str) -> None:
    """A name, or an address that the balancer serves itself, leads past kube-proxy."""
    found, missing = unbalanced(balanced(a=entry), 7)
    assert why in found["a"]
    assert missing == {}


def test_an_address_for_nodes_is_probed() -> None:
    """A balancer's address of mode VIP, or of clusters that name no mode, is served by nodes."""
    entries = balanced(a={"ip": "203.0.113.1", "ipMode": "VIP"}, b={"ip": "203.0.113.2"})
    assert unbalanced(entries, 7) == ({}, {})
