"""What a node agent decides without doing anything: images, status, environment, resolver."""

import asyncio
import json
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest

from nettests.lab.interfaces import ResolverConfig
from nettests.lab.node.container_state import ContainerLog
from nettests.lab.node.environment import ConfigError, resolver, variables
from nettests.lab.node.images import (
    AGNHOST,
    ImageBuildError,
    ImagePullError,
    find,
    split,
)
from nettests.lab.node.registration import node_object, node_status
from nettests.lab.node.status import (
    ContainerView,
    SandboxView,
    creating_view,
    pod_status,
)
from nettests.lab.topology import OS, NodeSpec, profiles

Json = dict[str, Any]

PROFILE = profiles.load("win2019-l2bridge")
LINUX, WINDOWS = PROFILE.node("linux-1"), PROFILE.node("win-1")
TRANSCRIPT = Path(__file__).parents[2] / "fixtures" / "transcripts" / "api.jsonl"
NOW = "2026-11-21T01:22:03Z"
RUNNING = ContainerView(
    name="c",
    image="i",
    image_id="",
    state={"running": {}},
    last_state={},
    ready=True,
    started=True,
    restarts=0,
    container_id="containerd://1",
)


def windows(build: int) -> NodeSpec:
    """A Windows node of that build."""
    return NodeSpec(
        name="w",
        os=OS.WINDOWS,
        address=WINDOWS.address,
        pod_cidr=WINDOWS.pod_cidr,
        build=build,
        patch=1,
    )


@pytest.mark.parametrize(
    ("reference", "node", "found"),
    [
        (f"{AGNHOST}:2.63.0", LINUX, True),
        (f"{AGNHOST}:2.63.0", windows(17763), True),
        (f"{AGNHOST}:2.61", windows(26100), False),
        (f"{AGNHOST}:2.62", windows(26100), True),
        (f"{AGNHOST}:2.32", windows(20348), False),
        (f"{AGNHOST}:2.33", windows(20348), True),
        ("registry.k8s.io/pause:3.5", windows(20348), False),
        ("registry.k8s.io/pause:3.10.2", windows(26100), True),
        ("registry.k8s.io/kube-proxy:v1.24.17", WINDOWS, False),
        ("docker.io/sigwindowstools/flannel:v0.21.5-hostprocess", LINUX, False),
    ],
)
def test_a_manifest_list_holds_certain_builds(
    reference: str, node: NodeSpec, *, found: bool
) -> None:
    """agnhost and pause gained Windows builds tag by tag; a missing one cannot be pulled."""
    if found:
        assert find(reference, node).reference == reference
        return
    with pytest.raises(ImagePullError, match="no match for platform in manifest: not found"):
        find(reference, node)


def test_an_unknown_registry_cannot_be_resolved() -> None:
    """The text is containerd's, as recorded: the lab has no way out."""
    with pytest.raises(ImagePullError) as error:
        find("registry.k8s.io/none:1", LINUX)
    assert str(error.value) == (
        'failed to pull and unpack image "registry.k8s.io/none:1": failed to resolve image: failed to '
        'do request: Head "https://registry.k8s.io/v2/none/manifests/1": dial tcp: lookup '
        "registry.k8s.io on 172.30.0.1:53: no such host"
    )


def test_an_unknown_tag_is_not_found() -> None:
    """agnhost has never had a tag 3."""
    with pytest.raises(ImagePullError, match=r"agnhost:3\.1: not found"):
        find(f"{AGNHOST}:3.1", LINUX)


@pytest.mark.parametrize(
    ("build", "tag", "host_process", "starts"),
    [
        (17763, "ltsc2019", False, True),
        (17763, "ltsc2022", False, False),
        (17763, "ltsc2022", True, True),
        (26100, "ltsc2022", False, True),
        (20348, "ltsc2025", False, False),
    ],
)
def test_process_isolation_needs_the_hosts_build(
    build: int, tag: str, *, host_process: bool, starts: bool
) -> None:
    """Builds must match, except 2022 images on 2025 and HostProcess containers."""
    image = f"mcr.microsoft.com/windows/nanoserver:{tag}"
    if starts:
        found = find(image, windows(build), host_process=host_process)
        assert found.reference == image
        return
    with pytest.raises(ImageBuildError, match="does not match the host operating system"):
        find(image, windows(build), host_process=host_process)


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("busybox", ("docker.io/library/busybox", "latest")),
        ("a/b:1", ("docker.io/a/b", "1")),
        ("localhost:5000/x", ("localhost:5000/x", "latest")),
        ("registry.k8s.io/pause:3.9", ("registry.k8s.io/pause", "3.9")),
        ("r.io/x@sha256:ab", ("r.io/x", "sha256:ab")),
    ],
)
def test_references_are_completed_as_docker_does(reference: str, expected: tuple[str, str]) -> None:
    """Registry, ``library`` and ``latest`` are implied."""
    assert split(reference) == expected


def _recorded(note: str) -> Json:
    for line in TRANSCRIPT.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row.get("note") == note:
            body = row["body"]
            found: Json = json.loads(body) if isinstance(body, str) else body
            return found
    raise LookupError(note)


@pytest.mark.parametrize(
    "note", ["a running pod", "pod state: noimg", "pod state: once", "pod state: hostnet"]
)
def test_a_status_has_the_recorded_phase_and_conditions(note: str) -> None:
    """Given the recorded container states, phase and conditions come out as recorded."""
    pod = _recorded(note)
    recorded = pod["status"]
    sandbox = SandboxView(
        host_addresses=(recorded["hostIP"],),
        addresses=(recorded["podIP"],),
        start_time=recorded["startTime"],
    )
    views = [_view(status) for status in recorded["containerStatuses"]]
    new_pod = {**pod, "status": {}}
    made = pod_status(new_pod, sandbox, views, [], minor=36, os=OS.LINUX, now=NOW)
    assert made["phase"] == recorded["phase"]
    assert _conditions(made) == _conditions(recorded)
    for field in ("hostIP", "hostIPs", "podIP", "podIPs", "startTime"):
        assert made[field] == recorded[field]
    assert made["containerStatuses"][0].keys() <= recorded["containerStatuses"][0].keys()


def _view(status: Json) -> ContainerView:
    return ContainerView(
        name=status["name"],
        image=status["image"],
        image_id=status["imageID"],
        state=status["state"],
        last_state=status["lastState"],
        ready=status["ready"],
        started=status["started"],
        restarts=status["restartCount"],
        container_id=status.get("containerID", ""),
    )


def _conditions(status: Json) -> dict[str, tuple[str, str, str]]:
    return {
        each["type"]: (each["status"], each.get("reason", ""), each.get("message", ""))
        for each in status["conditions"]
        if each["type"] != "PodScheduled"
    }


def test_a_condition_keeps_the_time_of_its_last_change() -> None:
    """``lastTransitionTime`` moves only when the status does."""
    before = [{"type": "Ready", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z"}]
    pod = {"metadata": {}, "spec": {}, "status": {"conditions": before}}
    made = {c["type"]: c for c in _status(pod, RUNNING)["conditions"]}
    assert made["Ready"]["lastTransitionTime"] == "2020-01-01T00:00:00Z"
    assert made["Initialized"]["lastTransitionTime"] == NOW


@pytest.mark.parametrize(
    ("minor", "fields"),
    [
        (24, set()),
        (31, {"volumeMounts"}),
        (33, {"volumeMounts", "resources", "user"}),
    ],
)
def test_fields_of_later_releases_are_left_out(minor: int, fields: set[str]) -> None:
    """A kubelet of 1.24 does not speak of volume mounts, resources or users."""
    mount = {"name": "v", "mountPath": "/v", "readOnly": True}
    pod: Json = {
        "metadata": {"generation": 1},
        "spec": {"containers": [{"name": "c", "volumeMounts": [mount]}]},
    }
    status = _status(pod, RUNNING, minor=minor)
    basic = _status(pod, RUNNING, minor=24)["containerStatuses"][0].keys()
    assert status["containerStatuses"][0].keys() - basic == fields
    assert ("observedGeneration" in status) is False


def test_an_address_is_told_with_the_first_container_that_was_dealt_with() -> None:
    """While everything is being created the pod has no address yet, as recorded."""
    pod: Json = {"metadata": {}, "spec": {}}
    creating = creating_view({"name": "c", "image": "i"}, "ContainerCreating")
    assert _status(pod, creating)["podIP"] is None
    assert _status(pod, RUNNING)["podIP"] == "10.244.1.2"


def _status(pod: Json, view: ContainerView, minor: int = 36) -> Json:
    sandbox = SandboxView(host_addresses=LINUX.addresses, addresses=("10.244.1.2",), start_time=NOW)
    return pod_status(pod, sandbox, [view], [], minor=minor, os=OS.LINUX, now=NOW)


def _pod(**spec: Any) -> Json:
    metadata = {"name": "p", "namespace": "ns", "uid": "u", "labels": {"app": "x"}}
    return {"metadata": metadata, "spec": {"nodeName": "win-1", **spec}}


def _service(namespace: str, name: str, address: str) -> Json:
    return {
        "metadata": {"namespace": namespace, "name": name},
        "spec": {
            "clusterIP": address,
            "ports": [{"port": 80, "protocol": "TCP", "name": "http"}],
        },
    }


SERVICES = [
    _service("default", "kubernetes", "10.96.0.1"),
    _service("ns", "my-web", "10.96.0.7"),
    _service("other", "far", "10.96.0.8"),
    _service("ns", "headless", "None"),
]


@pytest.mark.parametrize("linked", [True, False])
def test_services_of_the_namespace_become_variables(*, linked: bool) -> None:
    """``kubernetes`` always, the namespace's own unless ``enableServiceLinks`` is off."""
    made = variables(
        _pod(enableServiceLinks=linked),
        {},
        {},
        SERVICES,
        {},
    )
    assert made["KUBERNETES_SERVICE_HOST"] == "10.96.0.1"
    assert made.get("MY_WEB_SERVICE_HOST") == ("10.96.0.7" if linked else None)
    assert made.get("MY_WEB_PORT_80_TCP") == ("tcp://10.96.0.7:80" if linked else None)
    assert not any(name.startswith(("FAR", "HEADLESS")) for name in made)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.name", "p"),
        ("metadata.labels['app']", "x"),
        ("spec.nodeName", "win-1"),
        ("status.hostIP", "172.30.0.13"),
    ],
)
def test_downward_fields(path: str, value: str) -> None:
    """Fields of the pod are given by path."""
    container = {"env": [{"name": "V", "valueFrom": {"fieldRef": {"fieldPath": path}}}]}
    facts = {"status.hostIP": "172.30.0.13"}
    made = variables(_pod(), container, facts, [], {})
    assert made["V"] == value


def test_values_from_secrets_are_refused_with_a_reason() -> None:
    """What the node does not support is a configuration error, not an empty variable."""
    source = {"secretKeyRef": {"name": "s", "key": "k"}}
    container = {"env": [{"name": "V", "valueFrom": source}]}
    with pytest.raises(ConfigError, match="secretKeyRef is not supported"):
        variables(_pod(), container, {}, [], {})


@pytest.mark.parametrize(
    ("spec", "os", "on_host", "servers", "searches"),
    [
        (
            {},
            OS.LINUX,
            False,
            ("10.96.0.10",),
            ("ns.svc.cluster.local", "svc.cluster.local", "cluster.local"),
        ),
        ({"dnsPolicy": "Default"}, OS.LINUX, False, ("198.51.100.10",), ()),
        ({}, OS.LINUX, True, ("198.51.100.10",), ()),
        (
            {"dnsPolicy": "ClusterFirstWithHostNet"},
            OS.LINUX,
            True,
            ("10.96.0.10",),
            ("ns.svc.cluster.local", "svc.cluster.local", "cluster.local"),
        ),
        (
            {"dnsPolicy": "ClusterFirstWithHostNet"},
            OS.WINDOWS,
            True,
            ("198.51.100.10",),
            (),
        ),
        (
            {"dnsPolicy": "None", "dnsConfig": {"nameservers": ["1.1.1.1"], "searches": ["x"]}},
            OS.WINDOWS,
            False,
            ("1.1.1.1",),
            ("x",),
        ),
    ],
    ids=["cluster", "default", "host", "host-net", "windows-host", "none"],
)
def test_resolver_settings(
    spec: Json,
    os: OS,
    *,
    on_host: bool,
    servers: tuple[str, ...],
    searches: tuple[str, ...],
) -> None:
    """``ClusterFirstWithHostNet`` is a matter of Linux; HostProcess uses the node's resolver."""
    made: ResolverConfig = resolver(
        _pod(**spec), PROFILE, os, IPv4Address("10.244.1.2"), on_host=on_host
    )
    assert (made.servers, made.searches) == (servers, searches)


def test_windows_nodes_say_what_they_are() -> None:
    """Product name, ``10.0.<build>.<patch>`` and the build label, as real ones."""
    info = node_status(WINDOWS, PROFILE)["nodeInfo"]
    assert info["osImage"] == "Windows Server 2019 Datacenter"
    assert info["kernelVersion"] == "10.0.17763.1339"
    labels = node_object(WINDOWS, PROFILE)["metadata"]["labels"]
    assert labels["node.kubernetes.io/windows-build"] == "10.0.17763"
    assert (
        "node.kubernetes.io/windows-build" not in node_object(LINUX, PROFILE)["metadata"]["labels"]
    )


async def _filled() -> ContainerLog:
    log = ContainerLog()
    await log.stdout(b"one\ntw")
    await log.stderr(b"error\n")
    await log.stdout(b"o\nlast")
    return log


def test_a_log_keeps_lines_whole_and_in_order() -> None:
    """Lines are stamped when they end; an unfinished one is kept when the container ends."""
    log = asyncio.run(_filled())
    assert [text for _, text in log.lines()] == [b"one\n", b"error\n", b"two\n"]
    log.close()
    assert log.lines()[-1][1] == b"last"
    assert all(time.endswith("000Z") for time, _ in log.lines())
