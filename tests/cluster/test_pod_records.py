"""Whether CoreDNS answers names made of pod addresses is read from its Corefile."""

from typing import Any

import pytest

from nettests.cluster.corefile import Corefile, corefile_of
from nettests.cluster.networks import pod_records


def corefile(pods: str) -> Corefile:
    """Return CoreDNS's ConfigMap with a line for pods, or without, as it is read."""
    block = f"kubernetes cluster.local in-addr.arpa {{\n       {pods}\n       ttl 30\n    }}"
    text = f".:53 {{\n    errors\n    {block}\n}}\n"
    return corefile_of({"kube-system/coredns": {"data": {"Corefile": text}}})


@pytest.mark.parametrize(
    ("line", "served"),
    [("pods insecure", True), ("pods verified", True), ("pods disabled", False), ("", False)],
)
def test_the_mode_decides(line: str, served: bool) -> None:
    """``insecure`` and ``verified`` answer; ``disabled`` does not, and is CoreDNS's default."""
    fact = pod_records(corefile(line))
    assert fact.value is served
    assert fact.origin == f"ConfigMap kube-system/coredns: {line or 'pods disabled'}"


@pytest.mark.parametrize(
    "found", [{}, {"x/y": {}}, {"x/y": {"data": {"Corefile": ".:53 {\n forward . 1.1.1.1\n}"}}}]
)
def test_without_a_kubernetes_plugin_it_is_unknown(found: dict[str, Any]) -> None:
    """No Corefile, or one of another DNS server's, says nothing: it is not guessed."""
    assert pod_records(corefile_of(found)).value is None
