"""The three published roles grant what they are for, and no more than a run uses."""

from collections.abc import Iterator
from typing import Any

import pytest
from ruamel.yaml import YAML

from nettests.cluster.apply import COLLECTIONS
from nettests.cluster.inside import FURNITURE, MADE
from nettests.cluster.plugin_settings import CONFIG_MAPS as OF_PLUGINS
from nettests.cluster.plugin_settings import FLANNEL_ON_WINDOWS
from nettests.model.permission import (
    CONFIG_MAPS,
    EVERYWHERE,
    FLANNEL_CONFIG_MAPS,
    LIST_WEBHOOKS,
    OF_CALICO,
    PULL_SECRET,
    RUN,
    Permission,
    copying,
    reviewed,
)
from nettests.model.versions import KubernetesVersion
from nettests.model.workload import Workload
from nettests.resources import manifests_path

V135 = KubernetesVersion(1, 35)
DISTRIBUTIONS_CONFIG_MAPS = (
    "kube-system/kube-proxy-config",
    "kube-system/rke2-coredns-rke2-coredns",
    "kube-system/rke2-canal-config",
    "kube-system/calico-config",
    "openshift-dns/dns-default",
)
"""ConfigMaps as EKS, RKE2, Calico's manifests and OpenShift name them. Discovery finds any name by the Pod that refers to it;
the role for discovery grants these, and a ConfigMap of another name is read by who may."""
MAPS = (
    *CONFIG_MAPS,
    *FLANNEL_CONFIG_MAPS,
    *FLANNEL_ON_WINDOWS,
    *DISTRIBUTIONS_CONFIG_MAPS,
    *(name for maps in OF_PLUGINS.values() for name in maps),
)
LEFTOVERS = (
    ("", "pods"),
    ("", "services"),
    *((kind.group, kind.plural) for kind in Workload),
    ("networking.k8s.io", "networkpolicies"),
    ("coordination.k8s.io", "leases"),
)
"""What `nettests gc` looks for and removes."""
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


def test_discovery_lists_webhooks_for_preflight() -> None:
    """They are of the cluster, so that only a ClusterRole lets one see them."""
    assert [one for one in LIST_WEBHOOKS if not allowed(one, "discovery", namespace="")] == []


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


def test_the_role_for_a_pull_secret_reads_that_one_and_copies_it() -> None:
    """It grants what copying takes, and no other Secret can be read by it."""
    wanted = copying("default/regcred")
    assert [str(one) for one in wanted if not allowed(one, "pull-secret", namespace="")] == []
    (other, _) = copying("default/other")
    assert not allowed(other, "pull-secret", namespace="")
    assert granted("pull-secret") == {("", "secrets", "create"), ("", "secrets", "get")}


@pytest.mark.parametrize("role", ROLES)
def test_only_named_config_maps_are_read(role: str) -> None:
    """ConfigMaps hold all sorts of things: only those that facts are read from are granted."""
    for rule, _ in grants(role, namespace=""):
        if "configmaps" in rule["resources"]:
            assert set(rule["resourceNames"]) == {name.partition("/")[2] for name in MAPS}


def test_the_role_of_gc_lists_no_secret_and_deletes_what_runs_create() -> None:
    """Secrets and ConfigMaps are read by the names of what is known; what may not be listed is counted."""
    rules = [rule for rule, _ in grants("gc", namespace="")]
    assert "*" not in str(rules)
    named = {
        (rule["resources"][0], name, *rule["verbs"])
        for rule in rules
        for name in rule.get("resourceNames", ())
    }
    names = {name for kind, name in FURNITURE if kind == "configmaps"}
    assert named == {
        *(("configmaps", name, "get") for name in names),
        ("secrets", PULL_SECRET, "get"),
    }
    unnamed = [rule for rule in rules if "resourceNames" not in rule]
    listed = {name for rule in unnamed if "list" in rule["verbs"] for name in rule["resources"]}
    assert not listed & {"secrets", "configmaps", "events"}
    assert listed >= {kind.partition(".")[0] for kind in MADE - {"secrets"}}
    deleted = {name for rule in rules if "delete" in rule["verbs"] for name in rule["resources"]}
    assert deleted == {
        "namespaces",
        "resourcequotas",
        *(plural for _, plural in COLLECTIONS.values()),
    }
    created = {name for rule in rules if "create" in rule["verbs"] for name in rule["resources"]}
    assert created == {"leases", "resourcequotas"}


def granted(role: str) -> set[tuple[str, str, str]]:
    """Return what a role's rules say: group, resource and verb."""
    return {
        (group, resource, verb)
        for rule, _ in grants(role, namespace="staging")
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


BEYOND_REVIEW = {
    "discovery": {("", "namespaces", "get"), ("", "pods", "get")},
    "namespaced": {("", "namespaces", "list"), ("", "pods", "get")},
    "full": {("", "pods", "get")},
}
"""Used without a review: diagnostics read single Pods and the namespaces around them."""
FOR_PREFLIGHT_AND_GC = {
    *((group, kind, verb) for group, kind in LEFTOVERS for verb in ("list", "delete")),
    *(("", kind, verb) for kind in ("resourcequotas", "limitranges") for verb in ("get", "list")),
    ("", "namespaces", "get"),
    ("", "namespaces", "list"),
    ("", "services", "get"),
    *((one.group, one.resource, one.verb) for one in LIST_WEBHOOKS),
}


@pytest.mark.parametrize("role", ROLES)
def test_each_rule_is_used(role: str) -> None:
    """What no review, no clean-up and no reading of the product requests is granted by no role."""
    wanted = {
        (one.group, one.resource, one.verb)
        for own in (True, False)
        for one in reviewed(V135, MAPS, own_namespace=own, of_plugin=OF_CALICO)
    }
    assert granted(role) - wanted - FOR_PREFLIGHT_AND_GC - BEYOND_REVIEW[role] == set()


def test_the_admission_policy_bounds_what_the_full_role_may_create_and_delete() -> None:
    """Its rules name what RBAC cannot narrow, it is bound, and it fails closed."""
    policy, binding = documents("admission")
    assert binding["spec"]["policyName"] == policy["metadata"]["name"]
    assert binding["spec"]["validationActions"] == ["Deny"]
    assert policy["spec"]["failurePolicy"] == "Fail"
    matched = {
        (resource, operation)
        for rule in policy["spec"]["matchConstraints"]["resourceRules"]
        for resource in rule["resources"]
        for operation in rule["operations"]
    }
    assert {
        ("namespaces", "DELETE"),
        ("namespaces", "CREATE"),
        ("services", "CREATE"),
        ("pods/exec", "CONNECT"),
    } <= matched
    for one in policy["spec"]["validations"]:
        text = one["expression"]
        assert text.count("(") == text.count(")")
        assert text.count("'") % 2 == 0
