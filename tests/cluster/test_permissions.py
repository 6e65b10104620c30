"""What an identity may not do is found by review, in the place where a run would do it."""

from pathlib import Path
from typing import Any

import pytest

from nettests.cluster import connect
from nettests.cluster.permissions import NOWHERE, covered, denied
from nettests.model.permission import (
    CONFIG_MAPS,
    CREATE_POD,
    LIST_ALL_PODS,
    READ_NAMESPACE,
    Permission,
    config_map,
    opening,
    reviewed,
)
from nettests.model.versions import KubernetesVersion
from tests.cluster.api import Reply, Request, serving, write_kubeconfig

V134, V135 = KubernetesVersion(1, 34), KubernetesVersion(1, 35)


def review(
    tmp_path: Path, wanted: tuple[Permission, ...], namespace: str, *, refused: str = "none"
) -> tuple[tuple[str, ...], list[dict[str, Any]]]:
    """Review ``wanted`` at a server that denies one resource and tells no rules; return denials and what was tested."""

    def answer(request: Request) -> Reply:
        if request.body is None:
            return Reply(body={"gitVersion": "v1.34.1"})
        if request.body["kind"] == "SelfSubjectRulesReview":
            return Reply(status=403, body={"kind": "Status", "message": "forbidden"})
        probed = request.body["spec"]["resourceAttributes"]
        whole = "/".join(filter(None, (probed["resource"], probed["subresource"])))
        return Reply(status=201, body={"status": {"allowed": whole != refused}})

    with serving(answer) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        found = denied(connection, wanted, namespace)
        specs = [request.body["spec"] for request in api.requests if request.body]
        probed = [one["resourceAttributes"] for one in specs if "resourceAttributes" in one]
    return tuple(map(str, found)), probed


def test_denials_come_back_by_their_names(tmp_path: Path) -> None:
    """Each permission is reviewed once, with its subresource; what is denied is told."""
    wanted = reviewed(V134, CONFIG_MAPS, own_namespace=True)
    found, probed = review(tmp_path, wanted, "", refused="pods/exec")
    assert found == ("get pods/exec",)
    assert len(probed) == len(wanted)


@pytest.mark.parametrize(("namespace", "place"), [("", ""), ("staging", "staging")])
def test_what_a_run_does_is_reviewed_where_it_would_do_it(
    tmp_path: Path, namespace: str, place: str
) -> None:
    """In the existing namespace; in all of them where the run makes one whose name nobody knows yet."""
    _, probed = review(tmp_path, (CREATE_POD,), namespace)
    assert [(one["verb"], one["resource"], one["namespace"]) for one in probed] == [
        ("create", "pods", place)
    ]


def test_what_is_read_elsewhere_is_reviewed_there(tmp_path: Path) -> None:
    """A ConfigMap is reviewed by its name in its namespace, a list of all pods in all namespaces."""
    wanted = (config_map("kube-system/coredns"), LIST_ALL_PODS, READ_NAMESPACE)
    _, probed = review(tmp_path, wanted, "staging")
    places = {(one["resource"], one["namespace"], one["name"]) for one in probed}
    assert places == {
        ("configmaps", "kube-system", "coredns"),
        ("pods", "", ""),
        ("namespaces", "staging", "staging"),
    }


def test_opening_a_channel_takes_create_from_135_on() -> None:
    """A WebSocket is a GET; newer API servers check ``create`` beside it."""
    assert [one.verb for one in opening("pods/exec", V134)] == ["get"]
    assert [one.verb for one in opening("pods/exec", V135)] == ["get", "create"]


def test_a_namespace_of_others_is_neither_made_nor_removed() -> None:
    """Creating and deleting namespaces is needed for the run's own only; elsewhere single objects go."""
    own = {str(one) for one in reviewed(V134, (), own_namespace=True)}
    others = {str(one) for one in reviewed(V134, (), own_namespace=False)}
    assert {"create namespaces", "delete namespaces"} <= own
    assert not {"create namespaces", "delete namespaces"} & others
    assert "delete pods" in others


def test_a_permission_is_told_with_its_place() -> None:
    """Where one verb is needed in two places, the words tell them apart."""
    words = [str(one) for one in reviewed(V135, CONFIG_MAPS, own_namespace=True)]
    assert len(set(words)) == len(words)
    assert "get configmaps coredns in namespace kube-system" in words
    assert "list pods in all namespaces" in words
    assert "list pods" in words


ALL: dict[str, Any] = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}


def told(
    tmp_path: Path, rules: dict[str, list[dict[str, Any]]], namespace: str = ""
) -> tuple[tuple[str, ...], int, set[str]]:
    """Review all permissions at a server with these rules, and no others; return denials, reviews, and places."""
    places: set[str] = set()

    def answer(request: Request) -> Reply:
        if request.body is None:
            return Reply(body={"gitVersion": "v1.34.1"})
        if request.body["kind"] == "SelfSubjectRulesReview":
            places.add(place := request.body["spec"]["namespace"])
            status = {"resourceRules": rules.get(place, []), "incomplete": True}
            return Reply(status=201, body={"status": status})
        return Reply(status=201, body={"status": {"allowed": False}})

    wanted = reviewed(V134, CONFIG_MAPS, own_namespace=not namespace)
    with serving(answer) as api:
        found = denied(connect(write_kubeconfig(tmp_path / "k", api.url), None), wanted, namespace)
        probed = [r for r in api.requests if r.body and r.body["kind"] == "SelfSubjectAccessReview"]
    return tuple(map(str, found)), len(probed), places


def test_what_rules_allow_takes_no_review_of_its_own(tmp_path: Path) -> None:
    """An administrator's rules answer for all permissions in all places, in one request."""
    assert told(tmp_path, {NOWHERE: [ALL]}) == ((), 0, {NOWHERE})


def test_what_no_rule_allows_is_reviewed(tmp_path: Path) -> None:
    """Rules may be incomplete: what they do not allow is denied by a review, and by nothing else."""
    rule = {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods", "pods/log"]}
    found, probed, _ = told(tmp_path, {NOWHERE: [rule]})
    assert probed == len(found) > 0
    assert "create pods" in found
    assert "list pods" not in found
    assert "get pods/exec" in found


def test_rules_of_one_namespace_hold_nowhere_else(tmp_path: Path) -> None:
    """What a RoleBinding allows in the namespace of a run is denied in all namespaces."""
    found, _, places = told(tmp_path, {"staging": [ALL]}, namespace="staging")
    assert places == {NOWHERE, "kube-system", "default", "staging"}
    assert "create pods" not in found
    assert "list pods in all namespaces" in found


RULE: dict[str, Any] = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}
WANTED = Permission(verb="get", resource="pods", namespace="staging", name="one")


@pytest.mark.parametrize(
    ("rule", "allows"),
    [
        ({}, True),
        ({"verbs": ["*"]}, True),
        ({"verbs": ["list"]}, False),
        ({"apiGroups": ["apps"]}, False),
        ({"apiGroups": ["*"]}, True),
        ({"resources": ["pods/exec"]}, False),
        ({"resources": ["*/exec"]}, False),
        ({"resourceNames": ["one"]}, True),
        ({"resourceNames": ["two"]}, False),
        ({"verbs": None}, False),
    ],
)
def test_a_rule_allows_what_it_names(rule: dict[str, Any], allows: bool) -> None:
    """Verb, group, resource and name have to be stated, or a star in their place."""
    assert covered(WANTED, {"staging": [{**RULE, **rule}]}) is allows


def test_a_star_before_a_subresource_stands_for_every_resource() -> None:
    """As in ``rbac.authorization.k8s.io``: ``*/exec`` is the exec of anything, and no Pod itself."""
    exec_ = Permission(verb="get", resource="pods/exec", namespace="staging")
    assert covered(exec_, {"staging": [{**RULE, "resources": ["*/exec"]}]})
    assert not covered(exec_, {"staging": [RULE]})


def test_a_rule_for_one_name_allows_no_list() -> None:
    """What is not narrowed to an object needs a rule that is not either."""
    listing = Permission(verb="get", resource="pods", namespace="staging")
    assert not covered(listing, {"staging": [{**RULE, "resourceNames": ["one"]}]})
