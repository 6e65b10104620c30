"""The identity of a Job: the published roles as they are, bound to its ServiceAccount and to nobody else."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from nettests.job.validation import Role
from nettests.resources import manifests_path
from tests.job.made import objects

ALL = list(Role)


def of_kind(items: list[dict[str, Any]], *kinds: str) -> list[dict[str, Any]]:
    """The objects of some kinds."""
    return [item for item in items if item["kind"] in kinds]


def published(role: Role) -> list[dict[str, Any]]:
    """The objects of a role's file."""
    path: Path = manifests_path() / "rbac" / f"{role.value}.yaml"
    return list(yaml.safe_load_all(path.read_text("utf-8")))


@pytest.mark.parametrize("role", ALL)
def test_the_rules_are_those_of_the_published_roles(role: Role) -> None:
    """Nothing is added to them and nothing taken away; the two that write have discovery beside them."""
    found = of_kind(objects(role=role), "ClusterRole", "Role")
    expected = [
        *published(Role.DISCOVERY),
        *(published(role) if role is not Role.DISCOVERY else []),
    ]
    assert [(one["kind"], one["metadata"]["name"], one["rules"]) for one in found] == [
        (one["kind"], one["metadata"]["name"], one["rules"]) for one in expected
    ]


@pytest.mark.parametrize("role", ALL)
def test_each_role_is_bound_to_the_service_account_alone(role: Role) -> None:
    """One binding a role, in the role's own place, with one subject."""
    items = objects(role=role, name="night", namespace="place")
    roles, bindings = of_kind(items, "ClusterRole", "Role"), of_kind(items, "ClusterRoleBinding", "RoleBinding")  # fmt: skip
    account = {"kind": "ServiceAccount", "name": "night", "namespace": "place"}
    assert len(roles) == len(bindings)
    for granted, binding in zip(roles, bindings, strict=True):
        assert binding["subjects"] == [account]
        assert binding["kind"] == f"{granted['kind']}Binding"
        assert (binding["roleRef"]["kind"], binding["roleRef"]["name"]) == (granted["kind"], granted["metadata"]["name"])  # fmt: skip
        assert binding["metadata"].get("namespace") == granted["metadata"].get("namespace")


def test_jobs_do_not_take_each_others_bindings_over() -> None:
    """Two names and two namespaces give bindings of different names; the roles are shared."""
    every = [
        {(one["metadata"]["name"], one["metadata"].get("namespace")) for one in of_kind(objects(name=name, namespace=place), "ClusterRoleBinding", "RoleBinding")}
        for name in ("a", "b")
        for place in ("x", "y")
    ]  # fmt: skip
    assert sum(map(len, every)) == len(set.union(*every))


def test_the_namespaced_role_grants_nothing_elsewhere_but_reading() -> None:
    """Its own rules are a Role of the namespace that was named, and that namespace is not made."""
    items = objects(role=Role.NAMESPACED, namespace="staging")
    assert of_kind(items, "Namespace") == []
    (own,) = [one for one in of_kind(items, "Role") if one["metadata"]["name"] == "nettests"]
    assert own["metadata"]["namespace"] == "staging"
    verbs = {verb for one in of_kind(items, "ClusterRole") for rule in one["rules"] for verb in rule["verbs"]}  # fmt: skip
    assert verbs == {"get", "list"}


def test_nothing_of_it_looks_like_an_object_of_a_run() -> None:
    """``nettests gc`` finds runs by marks that no object of a Job has."""
    for item in objects(schedule="17 2 * * *", claim="r", claim_size="1Gi"):
        keys = {**item["metadata"]["labels"], **item["metadata"].get("annotations", {})}
        assert keys
        assert not [key for key in keys if "nettests.dev" in key]


def test_the_token_is_mounted_by_its_own_pod_alone() -> None:
    """The account gives its token to no Pod by itself; the Job's requests it."""
    (account,) = of_kind(objects(), "ServiceAccount")
    assert account["automountServiceAccountToken"] is False
    spec = objects()[-1]["spec"]["template"]["spec"]
    assert (spec["automountServiceAccountToken"], spec["serviceAccountName"]) == (True, "nettests")
