"""IP families of Services: defaults, allocation and refusals, as kube-apiserver has them."""

from ipaddress import IPv6Network
from typing import Any

import pytest

from nettests.lab.apiserver import services
from nettests.lab.apiserver.settings import ApiSettings

Json = dict[str, Any]
SINGLE = ApiSettings(tokens={})
DUAL = ApiSettings(tokens={}, second_service_cidr=IPv6Network("fd00:10:96::/112"))


def made(settings: ApiSettings, **spec: Any) -> tuple[Json, list[str]]:
    """Return a Service's spec as it is stored, and what is wrong with it."""
    ports = [{"port": 80, "protocol": "TCP"}]
    service = {"metadata": {"name": "a"}, "spec": {"ports": ports, "selector": {"a": "b"}, **spec}}
    services.fill(service)
    errors = services.complete(service, [], settings)
    return service["spec"], [f"{error.field}: {error.text}" for error in errors]


def updated(before: Json, **spec: Any) -> tuple[Json, list[str]]:
    """Return the spec after an update of a dual-stack cluster's Service, and what is wrong."""
    fields = {"ports": [{"port": 80, "protocol": "TCP"}], "selector": {"a": "b"}, **spec}
    new = {"metadata": {"name": "a"}, "spec": fields}
    old = {"metadata": {"name": "a"}, "spec": before}
    services.fill(new)
    errors = services.keep(old, new) or services.complete(new, [], DUAL, before=old)
    return new["spec"], [f"{error.field}: {error.text}" for error in errors]


@pytest.mark.parametrize(
    ("spec", "policy", "families"),
    [
        ({}, "SingleStack", ["IPv4"]),
        ({"ipFamilies": ["IPv6"]}, "SingleStack", ["IPv6"]),
        ({"ipFamilyPolicy": "PreferDualStack"}, "PreferDualStack", ["IPv4", "IPv6"]),
        (
            {"ipFamilyPolicy": "RequireDualStack", "ipFamilies": ["IPv6"]},
            "RequireDualStack",
            ["IPv6", "IPv4"],
        ),
        ({"clusterIP": "fd00:10:96::5"}, "SingleStack", ["IPv6"]),
    ],
)
def test_two_families_are_given_as_queried(spec: Json, policy: str, families: list[str]) -> None:
    """Policy and families are completed, and there is an address of each family, in their order."""
    stored, errors = made(DUAL, **spec)
    assert errors == []
    assert stored["ipFamilyPolicy"] == policy
    assert stored["ipFamilies"] == families
    assert ["IPv6" if ":" in one else "IPv4" for one in stored["clusterIPs"]] == families
    assert stored["clusterIP"] == stored["clusterIPs"][0]


def test_a_cluster_of_one_family_prefers_what_it_has() -> None:
    """PreferDualStack is accepted where there is one family, and gives that one."""
    stored, errors = made(SINGLE, ipFamilyPolicy="PreferDualStack")
    assert (errors, stored["ipFamilies"], len(stored["clusterIPs"])) == ([], ["IPv4"], 1)


def test_headless_without_a_selector_has_both_families() -> None:
    """What nobody selects may have endpoints of either family, also in a cluster of one."""
    stored, errors = made(SINGLE, clusterIP="None", selector={})
    assert errors == []
    assert stored["ipFamilyPolicy"] == "RequireDualStack"
    assert stored["ipFamilies"] == ["IPv4", "IPv6"]
    assert stored["clusterIPs"] == ["None"]


@pytest.mark.parametrize(
    ("settings", "spec", "complaint"),
    [
        (
            SINGLE,
            {"ipFamilyPolicy": "RequireDualStack"},
            (
                'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured '
                "for dual-stack services"
            ),
        ),
        (
            SINGLE,
            {"ipFamilies": ["IPv6"]},
            'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
        ),
        (
            DUAL,
            {"ipFamilyPolicy": "SingleStack", "ipFamilies": ["IPv4", "IPv6"]},
            (
                'spec.ipFamilyPolicy: Invalid value: "SingleStack": must be RequireDualStack or '
                "PreferDualStack when multiple 'ipFamilies' are specified"
            ),
        ),
        (
            DUAL,
            {"ipFamilyPolicy": "PreferDualStack", "ipFamilies": ["IPv6", "IPv6"]},
            'spec.ipFamilies[1]: Duplicate value: "IPv6"',
        ),
    ],
)
def test_contradictions_and_families_that_the_cluster_lacks_are_refused(
    settings: ApiSettings, spec: Json, complaint: str
) -> None:
    """The field and the reason are told in kube-apiserver's words."""
    _, errors = made(settings, **spec)
    assert errors == [complaint]


def test_an_update_gains_and_releases_the_second_family() -> None:
    """The policy alone decides: PreferDualStack adds an address, SingleStack gives it back."""
    single, _ = made(DUAL)
    both, errors = updated(single, ipFamilyPolicy="PreferDualStack")
    assert (errors, both["ipFamilies"], len(both["clusterIPs"])) == ([], ["IPv4", "IPv6"], 2)
    assert both["clusterIPs"][0] == single["clusterIP"]
    again, errors = updated(both, ipFamilyPolicy="SingleStack")
    assert (errors, again["ipFamilies"]) == ([], ["IPv4"])
    assert again["clusterIPs"] == [single["clusterIP"]]
