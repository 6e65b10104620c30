"""Creating, replacing, patching and listing over HTTP."""

from collections.abc import Callable
from typing import Any

import pytest

from nettests.lab.client import ApiError
from tests.lab.apiserver.conftest import Running
from tests.lab.apiserver.objects import CONFIG_MAPS, DEPLOYMENTS, PODS, SERVICES, config_map
from tests.lab.apiserver.objects import deployment as made_deployment
from tests.lab.apiserver.objects import pod as made_pod

Api = Callable[..., Any]


async def _refused(answer: Any) -> ApiError:
    with pytest.raises(ApiError) as error:
        await answer
    return error.value


def test_what_was_created_can_be_read_and_listed(api: Api) -> None:
    """GET gives the object that POST returned; lists give it without kind and version."""

    async def run(running: Running) -> None:
        async with running.client() as client:
            created = await client.create(CONFIG_MAPS, config_map("a", k="v"))
            assert await client.get(f"{CONFIG_MAPS}/a") == created
            listed = await client.get(CONFIG_MAPS)
            (item,) = [each for each in listed["items"] if each["metadata"]["name"] == "a"]
            assert {**item, "kind": "ConfigMap", "apiVersion": "v1"} == created
            assert listed["kind"] == "ConfigMapList"

    api(run)


def test_every_namespace_has_an_account_and_the_certificate(api: Api) -> None:
    """A new namespace gets ServiceAccount ``default`` and ConfigMap ``kube-root-ca.crt`` at once."""

    async def run(running: Running) -> None:
        async with running.client() as client:
            item = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}}
            await client.create("/api/v1/namespaces", item)
            account = await client.get("/api/v1/namespaces/new/serviceaccounts/default")
            assert account["metadata"]["namespace"] == "new"
            await client.get("/api/v1/namespaces/new/configmaps/kube-root-ca.crt")

    api(run)


def test_the_kubernetes_service_has_the_first_address(api: Api) -> None:
    """Service ``kubernetes`` holds the first address of the service network."""

    async def run(running: Running) -> None:
        async with running.client() as client:
            service = await client.get(f"{SERVICES}/kubernetes")
            assert service["spec"]["clusterIP"] == "10.96.0.1"

    api(run)


def test_nothing_can_be_created_in_a_namespace_that_is_not_there(api: Api) -> None:
    """The namespace is what is not found."""

    async def run(running: Running) -> None:
        async with running.client() as client:
            path = CONFIG_MAPS.replace("default", "none")
            error = await _refused(client.create(path, config_map("a")))
            assert (error.status, error.message) == (404, 'namespaces "none" not found')

    api(run)


def test_generated_names_have_a_random_end(api: Api) -> None:
    """``generateName`` becomes a name of five more characters."""

    async def run(running: Running) -> None:
        async with running.client() as client:
            item = config_map("x")
            item["metadata"] = {"generateName": "some-"}
            names = {(await client.create(CONFIG_MAPS, item))["metadata"]["name"] for _ in range(9)}
            assert len(names) == 9
            assert all(len(name) == len("some-") + 5 for name in names)

    api(run)


def test_a_write_that_changes_nothing_makes_no_version(api: Api) -> None:
    """Controllers that write what is there already wake nobody."""

    async def run(running: Running) -> None:
        async with running.client() as client:
            created = await client.create(CONFIG_MAPS, config_map("a", k="v"))
            again = await client.replace(f"{CONFIG_MAPS}/a", created)
            patched = await client.patch(f"{CONFIG_MAPS}/a", {"data": {"k": "v"}})
            versions = {item["metadata"]["resourceVersion"] for item in (created, again, patched)}
            assert len(versions) == 1

    api(run)


def test_a_stale_replacement_is_a_conflict(api: Api) -> None:
    """The second of two writers that read the same version loses."""

    async def run(running: Running) -> None:
        async with running.client() as client:
            first = await client.create(CONFIG_MAPS, config_map("a", k="v"))
            await client.replace(f"{CONFIG_MAPS}/a", {**first, "data": {"k": "w"}})
            error = await _refused(
                client.replace(f"{CONFIG_MAPS}/a", {**first, "data": {"k": "x"}})
            )
            assert (error.status, error.reason) == (409, "Conflict")

    api(run)


def test_a_replacement_of_another_object_is_a_conflict(api: Api) -> None:
    """A uid that is not the stored one is refused."""

    async def run(running: Running) -> None:
        async with running.client() as client:
            await client.create(CONFIG_MAPS, config_map("a"))
            item = config_map("a")
            item["metadata"]["uid"] = "other"
            error = await _refused(client.replace(f"{CONFIG_MAPS}/a", item))
            assert (error.status, error.reason) == (409, "Conflict")

    api(run)


def test_status_is_written_by_its_subresource_only(api: Api) -> None:
    """A PUT of the object leaves the status; a PUT of the status leaves the spec."""

    async def run(running: Running) -> None:
        async with running.client() as client:
            item = await client.create(DEPLOYMENTS, made_deployment("d"))
            both = {**item, "status": {"replicas": 7}}
            both["spec"] = {**item["spec"], "replicas": 3}
            written = await client.replace(f"{DEPLOYMENTS}/d", both)
            assert written["status"] == {}
            both["spec"]["replicas"] = 9
            both["metadata"] = written["metadata"]
            written = await client.replace(f"{DEPLOYMENTS}/d/status", both)
            assert (written["spec"]["replicas"], written["status"]) == (3, {"replicas": 7})

    api(run)


def test_generation_counts_changes_of_the_spec(api: Api) -> None:
    """Metadata and status do not move it."""

    async def run(running: Running) -> None:
        async with running.client() as client:
            path = f"{DEPLOYMENTS}/d"
            await client.create(DEPLOYMENTS, made_deployment("d"))
            labelled = await client.patch(path, {"metadata": {"labels": {"a": "b"}}})
            told = await client.patch(f"{path}/status", {"status": {"replicas": 1}})
            scaled = await client.patch(path, {"spec": {"replicas": 5}})
            generations = [item["metadata"]["generation"] for item in (labelled, told, scaled)]
            assert generations == [1, 1, 2]

    api(run)


def test_an_immutable_config_map_keeps_its_data(api: Api) -> None:
    """Once ``immutable`` is set, data cannot change."""

    async def run(running: Running) -> None:
        async with running.client() as client:
            await client.create(CONFIG_MAPS, {**config_map("a", k="v"), "immutable": True})
            error = await _refused(client.patch(f"{CONFIG_MAPS}/a", {"data": {"k": "w"}}))
            assert "field is immutable when `immutable` is set" in error.message

    api(run)


def test_secrets_store_their_texts_encoded(api: Api) -> None:
    """``stringData`` becomes base64 in ``data`` and is not shown."""

    async def run(running: Running) -> None:
        async with running.client() as client:
            item = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
            path = "/api/v1/namespaces/default/secrets"
            created = await client.create(path, {**item, "stringData": {"a": "b"}})
            assert (created["data"], created["type"]) == ({"a": "Yg=="}, "Opaque")
            assert "stringData" not in created

    api(run)


def test_lists_come_in_pages(api: Api) -> None:
    """``limit`` and ``continue`` walk through all objects once, in order."""

    async def run(running: Running) -> None:
        async with running.client() as client:
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

    api(run)


def test_events_are_seen_in_both_groups(api: Api) -> None:
    """An Event written to ``events.k8s.io`` is a core Event with its fields renamed, and back."""

    async def run(running: Running) -> None:
        async with running.client() as client:
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

    api(run)


def test_apply_creates_and_then_merges(api: Api) -> None:
    """A server-side apply makes the object, and later changes the fields it names."""

    async def run(running: Running) -> None:
        async with running.client() as client:
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

    api(run)


def test_a_lease_may_be_created_by_update(api: Api) -> None:
    """PUT of a Lease that is not there creates it; PUT of a ConfigMap does not."""

    async def run(running: Running) -> None:
        async with running.client() as client:
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

    api(run)


def test_a_pod_needs_its_service_account(api: Api) -> None:
    """Admission refuses a pod whose account is not there, and mounts no token when told not to."""

    async def run(running: Running) -> None:
        async with running.client() as client:
            error = await _refused(client.create(PODS, made_pod("p", serviceAccountName="nobody")))
            assert (error.status, error.reason) == (403, "Forbidden")
            assert "error looking up service account default/nobody" in error.message
            item = made_pod("q", automountServiceAccountToken=False)
            created = await client.create(PODS, item)
            assert "volumes" not in created["spec"]

    api(run)


def test_a_pod_takes_the_priority_of_its_class(api: Api) -> None:
    """Built-in classes are known; others must be stored."""

    async def run(running: Running) -> None:
        async with running.client() as client:
            critical = made_pod("p", priorityClassName="system-node-critical")
            assert (await client.create(PODS, critical))["spec"]["priority"] == 2000001000
            error = await _refused(client.create(PODS, made_pod("q", priorityClassName="none")))
            assert "no PriorityClass with name none was found" in error.message

    api(run)


def test_a_pod_is_bound_once(api: Api) -> None:
    """Binding gives the node and the PodScheduled condition; a second one is a conflict."""

    async def run(running: Running) -> None:
        async with running.client() as client:
            await client.create(PODS, made_pod("p"))
            target = {"kind": "Node", "name": "n1"}
            binding = {"apiVersion": "v1", "kind": "Binding", "target": target}
            await client.create(f"{PODS}/p/binding", binding)
            bound = await client.get(f"{PODS}/p")
            assert bound["spec"]["nodeName"] == "n1"
            assert bound["status"]["conditions"][0]["type"] == "PodScheduled"
            error = await _refused(client.create(f"{PODS}/p/binding", binding))
            assert 'pod p is already assigned to node "n1"' in error.message

    api(run)


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
def test_a_verb_that_a_path_does_not_have_is_refused(api: Api, method: str) -> None:
    """``bindings`` can only be created."""

    async def run(running: Running) -> None:
        async with running.client() as client:
            path = "/api/v1/namespaces/default/bindings/x"
            async with client._require().request(method, path) as response:
                assert response.status == 405

    api(run)
