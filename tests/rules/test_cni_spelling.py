"""CNI configurations whose keys are in another case than usual: Go's JSON reader takes them, and so do rules."""

import json
from typing import Any

import pytest

from nettests.rules.cni_files import spelled
from tests.rules.made import found

POLICIES = [
    {"name": "EndpointPolicy", "value": {"type": "OutBoundNAT", "settings": {"exceptionList": []}}},
    {"Name": "EndpointPolicy", "Value": {"Type": "SDNRoute", "Settings": {"NEEDENCAP": True}}},
]
CAPITALS = {
    "CniVersion": "0.2.0",
    "Name": "OVNKubernetesHybridOverlayNetwork",
    "Type": "win-overlay",
    "apiVersion": 2,
    "Ipam": {"Type": "host-local", "Subnet": "10.132.1.0/24"},
    "Policies": POLICIES,
}
"""As OpenShift's Windows Machine Config Operator writes it."""


def test_keys_get_their_usual_spelling() -> None:
    """``type`` of a plugin and of its address management, ``Type`` of a policy; values stay as they are."""
    usual = spelled(CAPITALS)
    assert (usual["cniVersion"], usual["type"], usual["ipam"]["type"]) == (
        "0.2.0",
        "win-overlay",
        "host-local",
    )
    first, second = (one["Value"] for one in usual["policies"])
    assert first == {"Type": "OutBoundNAT", "Settings": {"ExceptionList": []}}
    assert second == {"Type": "SDNRoute", "Settings": {"NeedEncap": True}}


@pytest.mark.parametrize("value", [None, 1, "x", [], {}, [1, {"b": [None]}], {1: "one"}])
def test_what_is_no_configuration_stays_what_it_is(value: Any) -> None:
    """Readings hold whatever is in a file; keys that no rule reads keep their case."""
    assert spelled(value) == (value if value != {1: "one"} else {"1": "one"})


def test_usual_spelling_is_left_alone() -> None:
    """What is spelled once is not changed by doing it again."""
    assert spelled(spelled(CAPITALS)) == spelled(CAPITALS)


@pytest.mark.parametrize("rule", ["cni-version", "cni-ipam", "policy-form"])
def test_rules_read_it_in_any_case(rule: str) -> None:
    """Version, address management and policies are found where the keys begin with capitals."""
    pods = json.dumps({"items": []})
    texts = {"cni-configuration": json.dumps(CAPITALS), "node-pods": pods}
    assert found(rule, texts, runtime="containerd://2.0.5").conforms
