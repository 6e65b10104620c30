"""Discovery documents, tables and content negotiation."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from nettests.lab.apiserver import Version, discovery, resources, tables
from tests.lab.apiserver.conftest import Running
from tests.lab.apiserver.objects import CONFIG_MAPS, DEPLOYMENTS, PODS, deployment, pod

NEWEST = Version().minor
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"


async def _get(running: Running, path: str, accept: str) -> tuple[int, str, Any]:
    headers = {"Accept": accept}
    async with running.client() as client, client._require().get(path, headers=headers) as response:
        kind = response.headers["Content-Type"]
        return response.status, kind, json.loads(await response.text())


@pytest.mark.parametrize(("path", "kind"), [("/api", "APIVersions"), ("/apis", "APIGroupList")])
async def test_who_requests_aggregated_discovery_gets_the_plain_form(
    running: Running, path: str, kind: str
) -> None:
    """The aggregated form is not served; kubectl then queries group by group, as of older servers."""
    status, media, document = await _get(running, path, AGGREGATED)
    assert (status, media, document["kind"]) == (200, "application/json", kind)


def test_every_resource_and_subresource_is_discovered() -> None:
    """The table of resources and the discovery documents cannot drift apart."""
    for group, version in [("", "v1"), *resources.groups(NEWEST)]:
        document = discovery.resource_list(group, version, NEWEST)
        assert document is not None
        names = {entry["name"] for entry in document["resources"]}
        for resource in resources.in_group(group, version, NEWEST):
            assert resource.plural in names
            assert {f"{resource.plural}/{sub}" for sub in resource.subresources} <= names


@pytest.mark.parametrize("path", ["/apis/none", "/apis/apps/v2", "/openapi/v2", "/openapi/v3/x"])
async def test_what_is_not_served_is_not_found(running: Running, path: str) -> None:
    """Unknown groups, versions and documents are plain 404 pages."""
    async with running.client() as client, client._require().get(path) as response:
        assert (response.status, await response.text()) == (404, "404 page not found\n")


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("application/json", "ConfigMapList"),
        ("*/*", "ConfigMapList"),
        ("application/vnd.kubernetes.protobuf,application/json", "ConfigMapList"),
        (TABLE, "Table"),
        (
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
            "PartialObjectMetadataList",
        ),
    ],
)
async def test_a_list_comes_in_the_form_that_is_accepted(
    running: Running, accept: str, kind: str
) -> None:
    """Whole, as a table, or metadata only."""
    status, _, document = await _get(running, CONFIG_MAPS, accept)
    assert (status, document["kind"]) == (200, kind)


async def test_what_cannot_be_accepted_is_refused(running: Running) -> None:
    """A client that takes protobuf only gets 406."""
    accept = "application/vnd.kubernetes.protobuf"
    status, _, document = await _get(running, CONFIG_MAPS, accept)
    assert (status, document["reason"]) == (406, "NotAcceptable")


@pytest.mark.parametrize(
    ("include", "kind"), [("None", None), ("Metadata", "PartialObjectMetadata"), ("Object", "Pod")]
)
async def test_rows_carry_what_is_requested(
    running: Running, include: str, kind: str | None
) -> None:
    """``includeObject`` decides."""
    async with running.client() as client:
        await client.create(PODS, pod("p"))
    _, _, table = await _get(running, f"{PODS}?includeObject={include}", TABLE)
    (row,) = table["rows"]
    assert row.get("object", {}).get("kind") == kind


async def test_every_row_has_a_cell_for_each_column(running: Running) -> None:
    """Columns and cells of every kind fit each other."""
    from tests.lab.apiserver.made import node_object

    async with running.client() as client:
        await client.create(PODS, pod("p"))
        await client.create(DEPLOYMENTS, deployment("d"))
        await client.create("/api/v1/nodes", node_object("n1", "127.20.0.11"))
        for plural in ("replicasets", "daemonsets"):
            item = deployment("w")
            item["kind"] = {"replicasets": "ReplicaSet", "daemonsets": "DaemonSet"}[plural]
            if plural == "daemonsets":
                del item["spec"]["replicas"]
            await client.create(f"/apis/apps/v1/namespaces/default/{plural}", item)
    for resource in resources.RESOURCES:
        if "list" not in resource.verbs:
            continue
        root = f"/apis/{resource.group}/v1" if resource.group else "/api/v1"
        _, _, table = await _get(running, f"{root}/{resource.plural}", TABLE)
        for row in table["rows"]:
            assert len(row["cells"]) == len(table["columnDefinitions"]), resource.kind


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-5, "<invalid>"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (130, "2m10s"),
        (600, "10m"),
        (7200, "120m"),
        (10800, "3h"),
        (11100, "3h5m"),
        (86400, "24h"),
        (3 * 86400, "3d"),
        (3 * 86400 + 3600, "3d1h"),
        (30 * 86400, "30d"),
    ],
)
def test_ages_are_shown_as_kubectl_shows_them(seconds: int, shown: str) -> None:
    """``duration.HumanDuration``."""
    assert tables.duration(seconds) == shown


@pytest.mark.parametrize(
    ("status", "deleted", "shown"),
    [
        ({"phase": "Running"}, False, "Running"),
        ({"phase": "Running"}, True, "Terminating"),
        (
            {
                "phase": "Pending",
                "containerStatuses": [{"state": {"waiting": {"reason": "ImagePullBackOff"}}}],
            },
            False,
            "ImagePullBackOff",
        ),
        (
            {
                "phase": "Failed",
                "containerStatuses": [{"state": {"terminated": {"exitCode": 3}}}],
            },
            False,
            "ExitCode:3",
        ),
        ({"phase": "Failed", "reason": "Evicted"}, False, "Evicted"),
    ],
)
def test_the_status_of_a_pod_is_its_most_telling_reason(
    status: dict[str, Any], deleted: bool, shown: str
) -> None:
    """A container's reason before the phase; deletion before all."""
    metadata = {"name": "p", **({"deletionTimestamp": "x"} if deleted else {})}
    assert tables.pod_status({"metadata": metadata, "spec": {}, "status": status}) == shown


def test_an_age_is_the_time_since_creation() -> None:
    """From ``creationTimestamp`` to now."""
    now = datetime.now(UTC)
    made = (now - timedelta(minutes=5)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert tables.since(made, now) == "5m"


@pytest.mark.parametrize(
    ("item", "shown"),
    [
        ({"status": {"n": 0}}, 0),
        ({"status": {"n": ""}}, "-"),
        ({"status": {"n": None}}, "-"),
        ({"status": None}, "-"),
        ({}, "-"),
    ],
)
def test_a_cell_by_path_shows_what_stands_there(item: dict[str, Any], shown: object) -> None:
    """A zero is a value; what is empty or absent is shown as the default."""
    assert tables.at("status.n", "-")(item) == shown
