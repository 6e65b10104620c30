"""The domains and the mode of Pods' records in a Corefile, however it is written."""

import pytest

from nettests.cluster.corefile import corefile_of

BLOCK = (
    "{zones} {{\n    errors\n    {plugin} {{\n        {inside}\n    }}\n    forward . 1.1.1.1\n}}\n"
)


def written(zones: str, plugin: str, inside: str = "pods insecure") -> str:
    """Return a Corefile with one server block."""
    return BLOCK.format(zones=zones, plugin=plugin, inside=inside)


@pytest.mark.parametrize(
    ("text", "domains", "pods"),
    [
        (written(".:53", "kubernetes a.test in-addr.arpa ip6.arpa"), ("a.test",), "insecure"),
        (written(".:53", "kubernetes in-addr.arpa 10.0.0.0/24 a.test."), ("a.test",), "insecure"),
        (written(".:5353", "kubernetes   A.test  a.test"), ("a.test",), "insecure"),
        (written("dns://a.test:53, b.test", "kubernetes"), ("a.test", "b.test"), "insecure"),
        (written(".", "kubernetes a.test", "# pods verified"), ("a.test",), "disabled"),
        (written(".", "kubernetes a.test", "ttl 5 # pods"), ("a.test",), "disabled"),
        (written(".", "kubernetes a.test\n    health", "pods verified"), ("a.test",), "disabled"),
        (".:53 {\n # kubernetes old.test\n kubernetes a.test\n}\n", ("a.test",), "disabled"),
        (written(".", "kubernetes a.test").replace("\n", "\r\n"), ("a.test",), "insecure"),
        (written(".", "kubernetes {$DOMAIN}"), (), "insecure"),
    ],
)
def test_the_zones_of_the_kubernetes_plugin_are_read(
    text: str, domains: tuple[str, ...], pods: str
) -> None:
    """Reverse zones, networks and comments are no domain; a plugin without zones has its server block's."""
    read = corefile_of({"x/y": {"data": {"Corefile": text}}})
    assert (read.domains, read.plugins[0].pods) == (domains, pods)


def test_a_stub_and_a_cache_configure_no_domain() -> None:
    """A server block that only forwards says nothing of the cluster, whatever its zone."""
    text = "cluster.local:53 {\n    cache 30\n    forward . 10.0.0.10\n}\n"
    assert corefile_of({"x/y": {"data": {"Corefile": text}}}).plugins == ()
