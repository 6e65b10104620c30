"""The rule about policies in CNI files: the schema of HNS that they are written in, and who takes which."""

import json
from typing import Any

import pytest

from nettests.rules.evidence import NothingThereError
from tests.rules.made import found

FIRST = {"Type": "OutBoundNAT", "ExceptionList": ["10.244.0.0/16"]}
SECOND = {"Type": "OutBoundNAT", "Settings": {"Exceptions": ["10.244.0.0/16"]}}
UNREAD = {"Type": "ACL", "Settings": {"Action": "Allow"}}
ROUTE = {"Type": "SDNROUTE", "Settings": {"DestinationPrefix": "", "NeedEncap": True}}


def flannel(plugin: str, *policies: dict[str, Any], **delegate: Any) -> str:
    """Return Flannel's configuration, which hands on to ``plugin`` with these policies."""
    key = "AdditionalArgs" if plugin.startswith("sdn") else "policies"
    listed = [{"Name": "EndpointPolicy", "Value": one} for one in policies]
    return json.dumps(
        {
            "cniVersion": "0.3.0",
            "name": "cbr0",
            "type": "flannel",
            "delegate": {"type": plugin, key: listed, **delegate},
        }
    )


@pytest.mark.parametrize(
    ("text", "runtime", "wrong"),
    [
        (flannel("sdnbridge", SECOND, ROUTE), "containerd", ""),
        (flannel("sdnoverlay", SECOND, UNREAD), "containerd", ""),
        (flannel("sdnoverlay.exe", FIRST), "containerd", "sdnoverlay with OutBoundNAT without"),
        (flannel("win-bridge", FIRST), "containerd", "win-bridge without apiVersion: 2"),
        (flannel("win-bridge", SECOND, apiVersion=2), "containerd", ""),
        (flannel("win-overlay", SECOND, ApiVersion=2), "containerd", ""),
        (flannel("win-bridge", FIRST, apiVersion=2), "containerd", "OutBoundNAT without Settings"),
        (flannel("win-bridge", FIRST), "docker", ""),
        (flannel("win-overlay", SECOND), "docker", "which HNS' first schema does not know"),
        (flannel("win-bridge", SECOND, apiVersion=2), "docker", "Docker does not attach"),
        (flannel("sdnbridge"), "containerd", ""),
    ],
)
def test_policies_are_in_the_schema_that_the_plugin_speaks(
    text: str, runtime: str, wrong: str
) -> None:
    """Docker's nodes have the first, containerd's the second; what does not fit is named with its plugin."""
    said = found("policy-form", {"cni-configuration": text}, runtime=f"{runtime}://1.7.20")
    assert said.conforms is (not wrong), said.detail
    assert wrong in said.detail


def test_lists_of_plugins_are_read_too() -> None:
    """A list may call one of them without Flannel."""
    plugin = {"type": "sdnbridge", "AdditionalArgs": [{"Name": "EndpointPolicy", "Value": FIRST}]}
    text = json.dumps({"cniVersion": "0.3.0", "name": "net", "plugins": [plugin]})
    said = found("policy-form", {"cni-configuration": text}, runtime="containerd://1.7.20")
    assert "sdnbridge with OutBoundNAT without Settings" in said.detail


def test_other_plugins_are_nobodys_matter() -> None:
    """Azure's and Calico's write for themselves, whatever spelling they like."""
    plugin = {"type": "azure-vnet", "AdditionalArgs": [{"Name": "EndpointPolicy", "Value": FIRST}]}
    text = json.dumps({"cniVersion": "0.3.0", "name": "azure", "plugins": [plugin]})
    with pytest.raises(NothingThereError):
        found("policy-form", {"cni-configuration": text}, runtime="containerd://1.7.20")
