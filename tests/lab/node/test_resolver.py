"""Resolver settings and the hosts file of a container, beside what its DNS policy says."""

from dataclasses import replace
from ipaddress import IPv4Address
from typing import Any

import pytest

from nettests.lab.interfaces import ResolverConfig
from nettests.lab.node.environment import resolver
from nettests.lab.topology import OS
from tests.lab.node import nowhere
from tests.lab.node.nowhere import PROFILE

Json = dict[str, Any]

SUFFIXES = ("ns.svc.cluster.local", "svc.cluster.local", "cluster.local")


def settings(
    os: OS = OS.LINUX,
    *,
    on_host: bool = False,
    mechanisms: dict[str, int] | None = None,
    **spec: Any,
) -> ResolverConfig:
    """Return the settings of the pod ``ns/p`` at 10.244.1.2."""
    profile = replace(PROFILE, mechanisms=tuple((mechanisms or {}).items()))
    address = IPv4Address("10.244.1.2")
    return resolver(nowhere.pod(**spec), profile, os, address, on_host=on_host)


def test_a_pod_s_own_settings_come_after_those_of_its_policy() -> None:
    """Servers and suffixes are added, none is there twice; ``ndots`` is replaced."""
    config = {
        "nameservers": ["192.0.2.53", "10.96.0.10"],
        "searches": ["mine.example", "cluster.local"],
        "options": [{"name": "ndots", "value": "2"}, {"name": "edns0"}],
    }
    made = settings(dnsConfig=config)
    assert made.servers == ("10.96.0.10", "192.0.2.53")
    assert made.searches == (*SUFFIXES, "mine.example")
    assert made.ndots == 2


@pytest.mark.parametrize(
    ("policy", "on_host", "ndots"),
    [("ClusterFirst", False, 5), ("ClusterFirst", True, 1), ("Default", False, 1)],
)
def test_ndots_are_five_in_a_cluster_and_one_outside(
    policy: str, ndots: int, *, on_host: bool
) -> None:
    """As the kubelet writes it, and as resolv.conf(5) has it by default."""
    assert settings(dnsPolicy=policy, on_host=on_host).ndots == ndots


def test_windows_may_be_given_fewer_suffixes() -> None:
    """The mechanism ``dns-suffixes`` counts them; what the pod requests itself comes on top."""
    config = {"searches": ["mine.example"]}
    made = settings(OS.WINDOWS, mechanisms={"dns-suffixes": 1}, dnsConfig=config)
    assert made.searches == (SUFFIXES[0], "mine.example")
    assert settings(OS.LINUX, mechanisms={"dns-suffixes": 1}).searches == SUFFIXES
    assert settings(OS.WINDOWS).searches == SUFFIXES


def test_whether_dotted_names_get_suffixes_is_the_mechanism_s_business() -> None:
    """Off, as documented, unless it is switched."""
    assert not settings(OS.WINDOWS).dotted_suffixes
    assert settings(OS.WINDOWS, mechanisms={"dotted-suffixes": 1}).dotted_suffixes


def test_a_pod_s_hosts_file_names_it_and_its_aliases() -> None:
    """Loopback first, then the pod by its whole name and its short one, then what the spec adds."""
    alias = {"ip": "192.0.2.7", "hostnames": ["other", "other.example"]}
    made = dict(settings(subdomain="sub", hostAliases=[alias]).hosts)
    assert made["127.0.0.1"] == ("localhost",)
    assert made["10.244.1.2"] == ("p.sub.ns.svc.cluster.local", "p")
    assert made["192.0.2.7"] == ("other", "other.example")
    assert dict(settings().hosts)["10.244.1.2"] == ("p",)


@pytest.mark.parametrize(("os", "loopback"), [(OS.LINUX, True), (OS.WINDOWS, False)])
def test_on_its_host_a_pod_has_its_host_s_file(os: OS, *, loopback: bool) -> None:
    """Which does not know the pod; aliases are added all the same."""
    alias = {"ip": "192.0.2.7", "hostnames": ["other"]}
    made = dict(settings(os, on_host=True, hostAliases=[alias]).hosts)
    assert ("127.0.0.1" in made) is loopback
    assert made["192.0.2.7"] == ("other",)
    assert "10.244.1.2" not in made
