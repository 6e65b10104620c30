"""Of other people's settings diagnostics keep what explains a network; the rest is named by its key alone."""

from typing import Any

import pytest

from nettests.diagnose.allowed import LEFT_OUT, allowed
from nettests.model.windows_programs import START_AGNHOST

SECRET = "plain words without a key"


@pytest.mark.parametrize(
    ("field", "kept", "left"),
    [
        ("annotations", "flannel.alpha.coreos.com/backend-type", "example.test/note"),
        ("annotations", "k8s.ovn.org/node-subnets", "kubectl.kubernetes.io/last-applied-configuration"),
        ("annotations", "sidecar.istio.io/inject", "istio.io.example.test/inject"),
        ("annotations", "nettests.dev/run", "note"),
        ("labels", "kubernetes.io/os", "example.test/tenant"),
        ("labels", "k8s-app", "customer"),
        ("labels", "node-role.kubernetes.io/control-plane", "kubernetes.io.example.test/os"),
        ("matchLabels", "app", "customer"),
        ("selector", "app.kubernetes.io/name", "customer"),
        ("nodeSelector", "kubernetes.io/os", "customer"),
        ("data", "Corefile", "settings.ini"),
        ("data", "NodeHosts", "Corefile.bak"),
        ("binaryData", "Corefile", "settings.ini"),
    ],
)  # fmt: skip
def test_what_is_listed_by_its_key_stays(field: str, kept: str, left: str) -> None:
    """Of annotations, labels, selectors and ConfigMaps; a domain that only ends or begins alike is another."""
    found = allowed({"items": [{"metadata": {field: {kept: "x", left: SECRET}}}]})
    assert found == {"items": [{"metadata": {field: {kept: "x", left: LEFT_OUT}}}]}


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"env": [{"name": "KUBE_NETWORK", "value": "cbr0"}]}, "cbr0"),
        ({"env": [{"name": "HTTPS_PROXY", "value": "http://p.test"}]}, "http://p.test"),
        ({"env": [{"name": "MODE", "value": SECRET}]}, LEFT_OUT),
        ({"taints": [{"key": "node.kubernetes.io/out-of-service", "value": "x"}]}, "x"),
        ({"taints": [{"key": "os", "value": "windows"}]}, "windows"),
        ({"taints": [{"key": "tenant.test/lease", "value": SECRET}]}, LEFT_OUT),
    ],
)
def test_a_variable_and_a_taint_keep_their_names(item: dict[str, Any], expected: str) -> None:
    """The value is kept where the name is listed."""
    ((kept,),) = allowed(item).values()
    assert kept["value"] == expected
    assert kept.keys() == next(iter(item.values()))[0].keys()


def test_what_a_variable_refers_to_stays() -> None:
    """A reference holds no value."""
    entry = {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "vault", "key": "token"}}}
    assert allowed({"env": [entry, "no entry"]}) == {"env": [entry, "no entry"]}


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (["netexec", "--http-port=8083", "--udp-port", "8081"], None),
        (["connect", "--timeout=5s", "127.0.0.1:80"], None),
        (["--proxy-mode=kernelspace", "--source-vip", "10.244.2.2", "--v=4"], None),
        (["--vault=x y", "--license", "x", "-p", "y", "z"],
         [f"--vault={LEFT_OUT}", "--license", LEFT_OUT, "-p", LEFT_OUT, LEFT_OUT]),
        (["-c", "export MODE=x; kube-proxy --proxy-mode=kernelspace --license=y"],
         ["-c", f"--proxy-mode=kernelspace {LEFT_OUT}"]),
        (["plain words"], [LEFT_OUT]),
    ],
)  # fmt: skip
def test_arguments_keep_listed_flags(words: list[str], kept: list[str] | None) -> None:
    """Of other flags the name, of a script the flags that rules read; words that are neither are left out."""
    assert allowed({"args": words}) == {"args": kept or words}
    assert allowed({"command": ["/bin/x", *words]}) == {"command": ["/bin/x", *(kept or words)]}


def test_how_our_own_pods_start_stays() -> None:
    """The command of agnhost on a Windows node is listed whole."""
    assert allowed({"command": [*START_AGNHOST]}) == {"command": [*START_AGNHOST]}


@pytest.mark.parametrize("item", [None, 1, "x", [], {"env": None, "args": "x", "labels": []}])
def test_another_shape_stays(item: object) -> None:
    """What is no object of the API is returned as it is."""
    assert allowed(item) == item


def test_conditions_addresses_and_states_stay() -> None:
    """What people read first is no setting of anybody's."""
    status = {"conditions": [{"type": "Ready", "message": "x"}], "podIPs": [{"ip": "10.244.1.7"}]}
    assert allowed({"status": status, "spec": {"nodeName": "w1"}}) == {
        "status": status,
        "spec": {"nodeName": "w1"},
    }
