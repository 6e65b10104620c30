"""Creating, replacing, patching and listing over HTTP."""

from typing import Any

import pytest

from nettests.lab.apiserver import ApiError as Failure
from nettests.lab.apiserver import Request
from nettests.lab.client import ApiError, Client
from tests.lab.apiserver.conftest import READER_TOKEN, Running
from tests.lab.apiserver.objects import CONFIG_MAPS, DEPLOYMENTS, PODS, SERVICES, config_map
from tests.lab.apiserver.objects import deployment as made_deployment
from tests.lab.apiserver.objects import pod as made_pod


async def _refused(answer: Any) -> ApiError:
    with pytest.raises(ApiError) as error:
        await answer
    return error.value


async def test_what_was_created_can_be_read_and_listed(client: Client) -> None:
    """GET gives the object that POST returned; lists give it without kind and version."""
    created = await client.create(CONFIG_MAPS, config_map("a", k="v"))
    assert await client.get(f"{CONFIG_MAPS}/a") == created
    listed = await client.get(CONFIG_MAPS)
    (item,) = [each for each in listed["items"] if each["metadata"]["name"] == "a"]
    assert {**item, "kind": "ConfigMap", "apiVersion": "v1"} == created
    assert listed["kind"] == "ConfigMapList"


async def test_every_namespace_has_an_account_and_the_certificate(client: Client) -> None:
    """A new namespace gets ServiceAccount ``default`` and ConfigMap ``kube-root-ca.crt`` at once."""
    item = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}}
    await client.create("/api/v1/namespaces", item)
    account = await client.get("/api/v1/namespaces/new/serviceaccounts/default")
    assert account["metadata"]["namespace"] == "new"
    await client.get("/api/v1/namespaces/new/configmaps/kube-root-ca.crt")


async def test_the_kubernetes_service_has_the_first_address(client: Client) -> None:
    """Service ``kubernetes`` holds the first address of the service network."""
    service = await client.get(f"{SERVICES}/kubernetes")
    assert service["spec"]["clusterIP"] == "10.96.0.1"


async def test_nothing_can_be_created_in_a_namespace_that_is_not_there(client: Client) -> None:
    """The namespace is what is not found."""
    path = CONFIG_MAPS.replace("default", "none")
    error = await _refused(client.create(path, config_map("a")))
    assert (error.status, error.message) == (404, 'namespaces "none" not found')


async def test_generated_names_have_a_random_end(client: Client) -> None:
    """``generateName`` becomes a name of five more characters."""
    item = config_map("x")
    item["metadata"] = {"generateName": "some-"}
    names = {(await client.create(CONFIG_MAPS, item))["metadata"]["name"] for _ in range(9)}
    assert len(names) == 9
    assert all(len(name) == len("some-") + 5 for name in names)


async def test_a_write_that_changes_nothing_makes_no_version(client: Client) -> None:
    """Controllers that write what is there already wake nobody."""
    created = await client.create(CONFIG_MAPS, config_map("a", k="v"))
    again = await client.replace(f"{CONFIG_MAPS}/a", created)
    patched = await client.patch(f"{CONFIG_MAPS}/a", {"data": {"k": "v"}})
    versions = {item["metadata"]["resourceVersion"] for item in (created, again, patched)}
    assert len(versions) == 1


async def test_a_stale_replacement_is_a_conflict(client: Client) -> None:
    """The second of two writers that read the same version loses."""
    first = await client.create(CONFIG_MAPS, config_map("a", k="v"))
    await client.replace(f"{CONFIG_MAPS}/a", {**first, "data": {"k": "w"}})
    error = await _refused(client.replace(f"{CONFIG_MAPS}/a", {**first, "data": {"k": "x"}}))
    assert (error.status, error.reason) == (409, "Conflict")


async def test_a_replacement_of_another_object_is_a_conflict(client: Client) -> None:
    """A uid that is not the stored one is refused."""
    await client.create(CONFIG_MAPS, config_map("a"))
    item = config_map("a")
    item["metadata"]["uid"] = "other"
    error = await _refused(client.replace(f"{CONFIG_MAPS}/a", item))
    assert (error.status, error.reason) == (409, "Conflict")


async def test_status_is_written_by_its_subresource_only(client: Client) -> None:
    """A PUT of the object leaves the status; a PUT of the status leaves the spec."""
    item = await client.create(DEPLOYMENTS, made_deployment("d"))
    both = {**item, "status": {"replicas": 7}}
    both["spec"] = {**item["spec"], "replicas": 3}
    written = await client.replace(f"{DEPLOYMENTS}/d", both)
    assert written["status"] == {}
    both["spec"]["replicas"] = 9
    both["metadata"] = written["metadata"]
    written = await client.replace(f"{DEPLOYMENTS}/d/status", both)
    assert (written["spec"]["replicas"], written["status"]) == (3, {"replicas": 7})


async def test_generation_counts_changes_of_the_spec(client: Client) -> None:
    """Metadata and status do not move it."""
    path = f"{DEPLOYMENTS}/d"
    await client.create(DEPLOYMENTS, made_deployment("d"))
    labelled = await client.patch(path, {"metadata": {"labels": {"a": "b"}}})
    told = await client.patch(f"{path}/status", {"status": {"replicas": 1}})
    scaled = await client.patch(path, {"spec": {"replicas": 5}})
    generations = [item["metadata"]["generation"] for item in (labelled, told, scaled)]
    assert generations == [1, 1, 2]


async def test_an_immutable_config_map_keeps_its_data(client: Client) -> None:
    """Once ``immutable`` is set, data cannot change."""
    await client.create(CONFIG_MAPS, {**config_map("a", k="v"), "immutable": True})
    error = await _refused(client.patch(f"{CONFIG_MAPS}/a", {"data": {"k": "w"}}))
    assert "field is immutable when `immutable` is set" in error.message


async def test_secrets_store_their_texts_encoded(client: Client) -> None:
    """``stringData`` becomes base64 in ``data`` and is not shown."""
    item = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    path = "/api/v1/namespaces/default/secrets"
    created = await client.create(path, {**item, "stringData": {"a": "b"}})
    assert (created["data"], created["type"]) == ({"a": "Yg=="}, "Opaque")
    assert "stringData" not in created


async def test_lists_come_in_pages(client: Client) -> None:
    """``limit`` and ``continue`` walk through all objects once, in order."""
    for number in range(5):
        await client.create(CONFIG_MAPS, config_map(f"c{number}"))
    names: list[str] = []
    query = {"limit": "2"}
    for _ in range(9):
        page = await client.get(CONFIG_MAPS, **query)
        names += [item["metadata"]["name"] for item in page["items"]]
        if "continue" not in page["metadata"]:
            break
        query["continue"] = page["metadata"]["continue"]
    assert names == ["c0", "c1", "c2", "c3", "c4", "kube-root-ca.crt"]


async def test_events_are_seen_in_both_groups(client: Client) -> None:
    """An Event written to ``events.k8s.io`` is a core Event with its fields renamed, and back."""
    event = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": "e"},
        "note": "happened",
        "reason": "Why",
        "regarding": {"kind": "Pod", "name": "p"},
        "eventTime": "2026-11-21T00:00:00.000000Z",
        "reportingController": "test",
    }
    path = "/apis/events.k8s.io/v1/namespaces/default/events"
    shown = await client.create(path, event)
    assert (shown["note"], shown["regarding"]["name"]) == ("happened", "p")
    core = await client.get("/api/v1/namespaces/default/events/e")
    assert (core["message"], core["involvedObject"]["name"]) == ("happened", "p")
    assert core["reportingComponent"] == "test"


async def test_apply_creates_and_then_merges(client: Client) -> None:
    """A server-side apply makes the object, and later changes the fields it names."""
    session = client._require()
    headers = {"Content-Type": "application/apply-patch+yaml"}
    path = f"{CONFIG_MAPS}/a?fieldManager=me"
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {%s}\n"
    async with session.patch(path, data=text % "k: v", headers=headers) as response:
        assert response.status == 201
    async with session.patch(path, data=text % "l: w", headers=headers) as response:
        assert response.status == 200
    assert (await client.get(f"{CONFIG_MAPS}/a"))["data"] == {"k": "v", "l": "w"}
    bare = f"{CONFIG_MAPS}/a"
    async with session.patch(bare, data=text % "k: v", headers=headers) as response:
        assert response.status == 422
        assert "fieldManager" in (await response.json(content_type=None))["message"]


async def test_a_lease_may_be_created_by_update(client: Client) -> None:
    """PUT of a Lease that is not there creates it; PUT of a ConfigMap does not."""
    path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1"
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "n1"},
        "spec": {"holderIdentity": "n1"},
    }
    assert (await client.replace(path, lease))["spec"]["holderIdentity"] == "n1"
    error = await _refused(client.replace(f"{CONFIG_MAPS}/none", config_map("none")))
    assert error.status == 404


async def test_a_pod_needs_its_service_account(client: Client) -> None:
    """Admission refuses a pod whose account is not there, and mounts no token when told not to."""
    error = await _refused(client.create(PODS, made_pod("p", serviceAccountName="nobody")))
    assert (error.status, error.reason) == (403, "Forbidden")
    assert "error looking up service account default/nobody" in error.message
    item = made_pod("q", automountServiceAccountToken=False)
    created = await client.create(PODS, item)
    assert "volumes" not in created["spec"]


async def test_a_pod_takes_the_priority_of_its_class(client: Client) -> None:
    """Built-in classes are known; others must be stored."""
    critical = made_pod("p", priorityClassName="system-node-critical")
    assert (await client.create(PODS, critical))["spec"]["priority"] == 2000001000
    error = await _refused(client.create(PODS, made_pod("q", priorityClassName="none")))
    assert "no PriorityClass with name none was found" in error.message


async def test_a_pod_is_bound_once(client: Client) -> None:
    """Binding gives the node and the PodScheduled condition; a second one is a conflict."""
    await client.create(PODS, made_pod("p"))
    target = {"kind": "Node", "name": "n1"}
    binding = {"apiVersion": "v1", "kind": "Binding", "target": target}
    await client.create(f"{PODS}/p/binding", binding)
    bound = await client.get(f"{PODS}/p")
    assert bound["spec"]["nodeName"] == "n1"
    assert bound["status"]["conditions"][0]["type"] == "PodScheduled"
    error = await _refused(client.create(f"{PODS}/p/binding", binding))
    assert 'pod p is already assigned to node "n1"' in error.message


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
async def test_a_verb_that_a_path_does_not_have_is_refused(client: Client, method: str) -> None:
    """``bindings`` can only be created."""
    path = "/api/v1/namespaces/default/bindings/x"
    async with client._require().request(method, path) as response:
        assert response.status == 405


async def test_requests_can_be_failed_before_they_are_served(running: Running) -> None:
    """``before_request`` sees who requests what and may answer with an error."""
    seen: list[Request] = []

    async def fail(request: Request) -> None:
        seen.append(request)
        if request.user == "reader":
            raise Failure(500, "InternalError", "etcdserver: request timed out")

    running.settings.faults.before_request = fail
    async with running.client(token=READER_TOKEN) as reader, running.client() as admin:
        with pytest.raises(ApiError) as error:
            await reader.get(PODS)
        assert error.value.status == 500
        await admin.get(PODS)
    assert [(r.user, r.verb, r.plural) for r in seen] == [
        ("reader", "list", "pods"),
        ("kubernetes-admin", "list", "pods"),
    ]


async def test_a_bug_behind_a_request_is_a_status(
    running: Running, caplog: pytest.LogCaptureFixture
) -> None:
    """An unexpected exception is answered as 500 InternalError and logged."""

    async def burst(_request: Request) -> None:
        raise LookupError("broken")

    running.settings.faults.before_request = burst
    async with running.client() as client:
        with pytest.raises(ApiError) as error:
            await client.get(PODS)
        assert (error.value.status, error.value.reason) == (500, "InternalError")
    assert "LookupError: broken" in caplog.text
