"""Who may do what: tokens, impersonation, users' rules, RBAC objects, reviews."""

from typing import Any

import pytest

from nettests.lab.client import ApiError, Client
from tests.lab.apiserver.conftest import READER_TOKEN, Running
from tests.lab.apiserver.objects import CONFIG_MAPS, PODS, config_map, pod

RBAC = "/apis/rbac.authorization.k8s.io/v1"
AUTHZ = "/apis/authorization.k8s.io/v1"


async def _status(client: Client, method: str, path: str, **headers: str) -> tuple[int, str]:
    async with client._require().request(method, path, headers=headers) as response:
        if response.status < 400:
            return response.status, ""
        return response.status, (await response.json(content_type=None))["message"]


async def test_an_unknown_token_is_not_authorised_for_anything(running: Running) -> None:
    """401 even where anonymous users may read."""
    async with running.client(token="wrong") as client:
        assert await _status(client, "GET", "/version") == (401, "Unauthorized")


async def test_a_restricted_user_may_do_what_its_rules_say(running: Running) -> None:
    """The reader reads pods in ``default`` and nothing else, and is told so by name."""
    async with running.client(token=READER_TOKEN) as client:
        assert (await client.get(PODS))["kind"] == "PodList"
        code, message = await _status(client, "GET", "/api/v1/namespaces/kube-system/pods")
        assert code == 403
        assert message == (
            'pods is forbidden: User "reader" cannot list resource "pods" in API group "" '
            'in the namespace "kube-system"'
        )
        code, message = await _status(client, "DELETE", f"{PODS}/p")
        assert message.startswith('pods "p" is forbidden: User "reader" cannot delete')
        code, message = await _status(client, "GET", "/metrics")
        assert (code, message) == (403, 'forbidden: User "reader" cannot get path "/metrics"')


@pytest.mark.parametrize("path", ["/api", "/apis", "/apis/apps/v1", "/version", "/healthz"])
async def test_every_known_user_may_discover(running: Running, path: str) -> None:
    """Discovery and health are open to ``system:authenticated``."""
    async with running.client(token=READER_TOKEN) as client:
        assert (await _status(client, "GET", path))[0] == 200


def _role(kind: str, resources: list[str], verbs: list[str]) -> dict[str, Any]:
    rule = {"apiGroups": [""], "resources": resources, "verbs": verbs}
    item = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "rules": [rule]}
    return {**item, "metadata": {"name": "r"}}


def _binding(kind: str, role: str, subject: dict[str, str]) -> dict[str, Any]:
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": role, "name": "r"}
    item = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "roleRef": reference}
    return {**item, "metadata": {"name": "b"}, "subjects": [subject]}


async def test_a_role_grants_within_its_namespace(running: Running) -> None:
    """A RoleBinding to a service account lets its token read there and nowhere else."""
    async with running.client() as client:
        base = f"{RBAC}/namespaces/default"
        await client.create(f"{base}/roles", _role("Role", ["configmaps"], ["get", "list"]))
        subject = {"kind": "ServiceAccount", "name": "default", "namespace": "default"}
        await client.create(f"{base}/rolebindings", _binding("RoleBinding", "Role", subject))
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        path = "/api/v1/namespaces/default/serviceaccounts/default/token"
        token = (await client.create(path, request))["status"]["token"]
    async with running.client(token=token) as account:
        await account.get(CONFIG_MAPS)
        assert (await _status(account, "GET", "/api/v1/configmaps"))[0] == 403
        assert (await _status(account, "GET", PODS))[0] == 403


async def test_a_cluster_role_grants_everywhere(client: Client) -> None:
    """A ClusterRoleBinding to a group counts for every member and namespace."""
    role = _role("ClusterRole", ["*"], ["*"])
    await client.create(f"{RBAC}/clusterroles", role)
    subject = {"kind": "Group", "name": "operators"}
    binding = _binding("ClusterRoleBinding", "ClusterRole", subject)
    await client.create(f"{RBAC}/clusterrolebindings", binding)
    headers = {"Impersonate-User": "joe", "Impersonate-Group": "operators"}
    assert (await _status(client, "GET", "/api/v1/nodes", **headers))[0] == 200
    alone = {"Impersonate-User": "joe"}
    assert (await _status(client, "GET", "/api/v1/nodes", **alone))[0] == 403


async def test_only_those_who_may_impersonate_can(running: Running) -> None:
    """The reader cannot become an administrator."""
    async with running.client(token=READER_TOKEN) as client:
        headers = {"Impersonate-User": "kubernetes-admin"}
        code, message = await _status(client, "GET", PODS, **headers)
        assert code == 403
        assert 'cannot impersonate resource "users"' in message


async def test_exec_by_websocket_needs_create(client: Client) -> None:
    """A user that may only ``get`` ``pods/exec`` is refused from 1.35 on."""
    role = _role("ClusterRole", ["pods/exec", "pods"], ["get"])
    await client.create(f"{RBAC}/clusterroles", role)
    subject = {"kind": "User", "name": "joe"}
    binding = _binding("ClusterRoleBinding", "ClusterRole", subject)
    await client.create(f"{RBAC}/clusterrolebindings", binding)
    await client.create(PODS, pod("p"))
    path = f"{PODS}/p/exec?command=ls&stdout=1"
    code, message = await _status(client, "GET", path, **{"Impersonate-User": "joe"})
    assert code == 403
    assert 'cannot create resource "pods/exec"' in message


async def _may(client: Client, **attributes: str) -> bool:
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    answer = await client.create(f"{AUTHZ}/selfsubjectaccessreviews", review)
    return bool(answer["status"]["allowed"])


async def test_a_user_can_query_what_it_may(running: Running) -> None:
    """A SelfSubjectAccessReview answers as the request itself would be."""
    async with running.client(token=READER_TOKEN) as client:
        assert await _may(client, verb="list", resource="pods", namespace="default")
        assert not await _may(client, verb="create", resource="pods", namespace="default")
        assert not await _may(client, verb="list", resource="pods")
    async with running.client() as client:
        assert await _may(client, verb="delete", resource="nodes")


async def test_a_review_must_query_one_thing(running: Running) -> None:
    """Neither or both kinds of attributes is a 400."""
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {},
    }
    async with running.client() as client:
        with pytest.raises(ApiError) as error:
            await client.create(f"{AUTHZ}/selfsubjectaccessreviews", review)
        assert error.value.status == 400


async def test_a_user_can_list_its_rules(running: Running) -> None:
    """A SelfSubjectRulesReview shows the rules of that namespace."""
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectRulesReview",
        "spec": {"namespace": "default"},
    }
    async with running.client(token=READER_TOKEN) as client:
        answer = await client.create(f"{AUTHZ}/selfsubjectrulesreviews", review)
        rules = [(rule["resources"], rule["verbs"]) for rule in answer["status"]["resourceRules"]]
        assert (["pods"], ["get", "list"]) in rules


async def test_another_user_can_be_tested_about(client: Client) -> None:
    """A SubjectAccessReview judges the named user and groups."""
    spec = {"resourceAttributes": {"verb": "get", "resource": "nodes"}}
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview"}
    allowed = []
    for groups in (["system:masters"], []):
        requested = {**review, "spec": {**spec, "user": "x", "groups": groups}}
        answer = await client.create(f"{AUTHZ}/subjectaccessreviews", requested)
        allowed.append(answer["status"]["allowed"])
    assert allowed == [True, False]


async def test_the_anonymous_may_read_the_version_only(running: Running) -> None:
    """Without a token there is health and version; objects are forbidden."""
    import aiohttp

    async with aiohttp.ClientSession(running.url) as session:
        for path, code in (("/version", 200), ("/readyz", 200), ("/apis", 403), (PODS, 403)):
            async with session.get(path, ssl=running.client_tls) as response:
                assert (path, response.status) == (path, code)


async def test_a_forbidden_write_changes_nothing(running: Running) -> None:
    """The reader's ConfigMap is not there afterwards."""
    async with running.client(token=READER_TOKEN) as client:
        with pytest.raises(ApiError):
            await client.create(CONFIG_MAPS, config_map("a"))
    assert running.store.get("configmaps", "default", "a") is None
