"""The three published roles grant what they are for, and no more than a run uses."""

from collections.abc import Iterator
from typing import Any

import pytest
from ruamel.yaml import YAML

from nettests.cluster.plugin_settings import CONFIG_MAPS as OF_PLUGINS
from nettests.model.permission import (
    CONFIG_MAPS,
    EVERYWHERE,
    FLANNEL_CONFIG_MAPS,
    RUN,
    Permission,
    reviewed,
)
from nettests.model.versions import KubernetesVersion
from nettests.resources import manifests_path

V135 = KubernetesVersion(1, 35)
MAPS = (
    *CONFIG_MAPS,
    *FLANNEL_CONFIG_MAPS,
    *(name for maps in OF_PLUGINS.values() for name in maps),
)
ROLES = ("discovery", "namespaced", "full")


def documents(role: str) -> list[dict[str, Any]]:
    """Return the objects of one role's file."""
    text = (manifests_path() / "rbac" / f"{role}.yaml").read_text("utf-8")
    return list(YAML(typ="safe").load_all(text))


def grants(*roles: str, namespace: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the rules of these roles, each with the namespace it counts in (all for ClusterRoles)."""
    for role in roles:
        for item in documents(role):
            own = item["metadata"].get("namespace", namespace)
            place = EVERYWHERE if item["kind"] == "ClusterRole" else own
            for rule in item["rules"]:
                yield rule, place


def allowed(wanted: Permission, *roles: str, namespace: str = "staging") -> bool:
    """Tell whether these roles together allow ``wanted``, as RBAC would; a Role counts in ``namespace``."""
    here = wanted.within(namespace)
    for rule, place in grants(*roles, namespace=namespace):
        if place not in {EVERYWHERE, here.namespace or "-"}:
            continue
        names = rule.get("resourceNames", [])
        if (
            here.verb in rule["verbs"]
            and here.resource in rule["resources"]
            and here.group in rule["apiGroups"]
            and (not names or here.name in names)
        ):
            return True
    return False


def denials(*roles: str, own_namespace: bool) -> set[str]:
    """Return what these roles lack of all that a run reviews."""
    wanted = reviewed(V135, MAPS, own_namespace=own_namespace)
    # In a namespace of the run's own, only what counts everywhere counts.
    namespace = "" if own_namespace else "staging"
    return {str(one) for one in wanted if not allowed(one, *roles, namespace=namespace)}


def test_the_full_role_lacks_nothing() -> None:
    """Whoever binds it beside discovery passes the whole review, in a namespace of the run's own."""
    assert denials("discovery", "full", own_namespace=True) == set()


def test_the_namespaced_role_lacks_nothing_in_its_namespace() -> None:
    """With discovery it passes the whole review of a run in an existing namespace."""
    assert denials("discovery", "namespaced", own_namespace=False) == set()


def test_the_namespaced_role_does_not_reach_beyond_its_namespace() -> None:
    """It holds no ClusterRole, so that nothing can be created elsewhere."""
    assert {item["kind"] for item in documents("namespaced")} == {"Role"}
    assert "create pods" in denials("discovery", "namespaced", own_namespace=True)


def test_discovery_only_reads() -> None:
    """Its verbs are get and list, and it lacks all that makes a pod stand."""
    verbs = {verb for rule, _ in grants("discovery", namespace="") for verb in rule["verbs"]}
    assert verbs == {"get", "list"}
    assert {"create pods", "create services", "get pods/exec"} <= denials(
        "discovery", own_namespace=True
    )


def test_discovery_reads_all_facts() -> None:
    """Everything that is read outside the run's namespace is among its rules."""
    outside = [
        one for one in reviewed(V135, MAPS, own_namespace=True) if one.namespace not in {RUN, ""}
    ]
    assert [str(one) for one in outside if not allowed(one, "discovery", namespace="")] == []


@pytest.mark.parametrize("role", ROLES)
def test_no_role_names_a_wildcard_or_a_secret(role: str) -> None:
    """A network test has no business with secrets, and a wildcard would hide what it needs."""
    text = str([item["rules"] for item in documents(role)])
    assert "*" not in text
    assert "secrets" not in text


@pytest.mark.parametrize("role", ROLES)
def test_only_named_config_maps_are_read(role: str) -> None:
    """ConfigMaps hold all sorts of things: only those that facts are read from are granted."""
    for rule, _ in grants(role, namespace=""):
        if "configmaps" in rule["resources"]:
            assert set(rule["resourceNames"]) == {name.partition("/")[2] for name in MAPS}
