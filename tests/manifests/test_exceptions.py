"""Hosts outside that OutBoundNAT's exceptions hold: what is expected by address, by name and by ping."""

from dataclasses import replace
from ipaddress import ip_network

import pytest

from nettests.model.facts import known
from tests.facts import cluster_facts
from tests.manifests.shipped import expectations

OUTSIDE = "198.51.100.0/24"
"""Where the test facts have their external target."""
ENDS = ("external/outside/tcp", "external/outside/udp", "external/outside/icmp")
FLOWS = {
    "pod-to-external-ip",
    "pod-to-external-source-address",
    "pod-to-external-dns",
    "service-external-name",
    "icmp-egress",
}


def outcomes(profile: str, network: str = OUTSIDE) -> dict[str, set[str]]:
    """What the flows of Windows pods to the host outside expect, where an exception holds a network."""
    facts = cluster_facts(profile)
    exceptions = (*(facts.cni.nat_exceptions.value or ()), ip_network(network))
    assert facts.external_target is not None
    facts = replace(
        facts,
        cni=replace(facts.cni, nat_exceptions=known(exceptions, "test")),
        external_target=replace(facts.external_target, reports_client_address=True),
    )
    found: dict[str, set[str]] = {}
    for check, one in expectations(facts).items():
        flow, source, *_ = check.split("/")
        if flow in FLOWS and source == "windows-1" and check.endswith(ENDS):
            found.setdefault(flow, set()).add(str(one.expected or "unspecified"))
    return found


@pytest.mark.parametrize("profile", ["win2019-l2bridge", "win2022-overlay-dsr"])
def test_no_way_to_an_excepted_host_works(profile: str) -> None:
    """By address, by its name, by an ExternalName Service and by ping its answers are lost."""
    assert outcomes(profile) == {flow: {"timed_out or unreachable"} for flow in FLOWS}


def test_with_azure_cni_its_routes_decide() -> None:
    """Pods with addresses of the virtual network may have a way back, so nothing is stated there."""
    assert outcomes("azure-l2tunnel") == {flow: {"unspecified"} for flow in FLOWS}


def test_other_exceptions_change_nothing() -> None:
    """A host that no exception holds is reached by TCP and UDP, and not by ping."""
    found = outcomes("win2019-l2bridge", network="203.0.113.0/24")
    assert found.pop("icmp-egress") == {"timed_out or unreachable"}
    assert found.keys() == FLOWS - {"icmp-egress"}
    assert not any("timed_out" in one for expected in found.values() for one in expected)


def test_its_name_is_still_resolved() -> None:
    """Only the host is out of reach; questions for its name go to the cluster's DNS."""
    facts = cluster_facts("win2019-l2bridge")
    cni = replace(facts.cni, nat_exceptions=known((ip_network("0.0.0.0/0"),), "test"))
    resolved = {
        check: str(one.expected)
        for check, one in expectations(replace(facts, cni=cni)).items()
        if check.startswith(("pod-to-external-dns/windows-1", "service-external-name/windows-1"))
        and check.endswith(("/nslookup", "/resolve-dnsname"))
    }
    assert len(resolved) >= 3
    assert set(resolved.values()) == {"resolved"}
