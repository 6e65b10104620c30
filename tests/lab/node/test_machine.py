"""What a container sees of its node, its user and its ports, and whom ``runAsNonRoot`` keeps out."""

from ipaddress import IPv4Address
from typing import Any

import pytest

from nettests.lab.errors import LabError
from nettests.lab.interfaces import PortMapping
from nettests.lab.node.machine import (
    WANTED_ADDRESSES,
    breaks_non_root,
    is_host_process,
    machine_of,
    port_mappings,
    user_of,
    wanted_address,
)
from nettests.lab.topology import Options
from tests.lab.node import nowhere
from tests.lab.node.nowhere import IMAGE

Json = dict[str, Any]

HOST_PROCESS = {"windowsOptions": {"hostProcess": True}}


def container(name: str = "c", **fields: Any) -> Json:
    """Return a container with these fields."""
    return {"name": name, "image": IMAGE, **fields}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, False),
        ({"securityContext": HOST_PROCESS}, True),
        ({"containers": [container(securityContext=HOST_PROCESS)]}, True),
        ({"containers": [container(securityContext=HOST_PROCESS), container("d")]}, False),
        ({"securityContext": {"windowsOptions": {"hostProcess": False}}}, False),
    ],
)
def test_a_pod_is_host_process_as_a_whole(spec: Json, *, expected: bool) -> None:
    """By its own context, or by that of each of its containers; never half of it."""
    assert is_host_process(nowhere.pod(**spec)) is expected


def test_host_ports_are_gathered_from_all_containers() -> None:
    """With protocol and address; ports without a host port request nothing."""
    ports = [
        {"containerPort": 80, "hostPort": 8080},
        {"containerPort": 53, "hostPort": 53, "protocol": "UDP", "hostIP": "172.30.0.12"},
        {"containerPort": 9},
    ]
    more = [{"containerPort": 1, "hostPort": 2, "hostIP": "0.0.0.0"}]
    pod = nowhere.pod(containers=[container(ports=ports), container("d", ports=more)])
    assert port_mappings(pod) == (
        PortMapping(protocol="tcp", host_port=8080, container_port=80),
        PortMapping(
            protocol="udp", host_port=53, container_port=53, host_ip=IPv4Address("172.30.0.12")
        ),
        PortMapping(protocol="tcp", host_port=2, container_port=1),
    )


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        ({}, None),
        ({"other": "x"}, None),
        ({WANTED_ADDRESSES: '["10.244.1.9"]'}, "10.244.1.9"),
        ({WANTED_ADDRESSES: '["10.244.1.9", "fd00::9"]'}, "10.244.1.9"),
    ],
)
def test_a_pod_requests_an_address_in_an_annotation(
    annotations: dict[str, str], expected: str | None
) -> None:
    """The first one counts; without the annotation it takes what comes."""
    pod = nowhere.pod()
    pod["metadata"]["annotations"] = annotations
    found = wanted_address(pod)
    assert (found and str(found)) == expected


@pytest.mark.parametrize("text", ["10.244.1.9", "[]", "{}", '["x"]', "[1.5]", "null"])
def test_what_is_no_list_of_addresses_is_an_error_of_the_pod(text: str) -> None:
    """Its sandbox is not made, and the event says which annotation it is."""
    pod = nowhere.pod()
    pod["metadata"]["annotations"] = {WANTED_ADDRESSES: text}
    with pytest.raises(LabError, match="ipAddrs is no list of addresses"):
        wanted_address(pod)


@pytest.mark.parametrize(
    ("node", "spec", "own", "host_process", "user"),
    [
        ("linux-1", {}, {}, False, "root"),
        ("linux-1", {"securityContext": {"runAsUser": 1000}}, {}, False, "1000"),
        ("linux-1", {"securityContext": {"runAsUser": 1000}}, {"runAsUser": 2000}, False, "2000"),
        ("linux-1", {"securityContext": {"runAsUser": 1000}}, {"runAsUser": 0}, False, "root"),
        ("win-1", {}, {}, False, "User Manager\\ContainerAdministrator"),
        ("win-1", {}, {}, True, "User Manager\\ContainerAdministrator"),
        (
            "win-1",
            {"securityContext": {"windowsOptions": {"runAsUserName": "ContainerUser"}}},
            {},
            False,
            "ContainerUser",
        ),
        (
            "win-1",
            {"securityContext": {"windowsOptions": {"runAsUserName": "ContainerUser"}}},
            {"windowsOptions": {"runAsUserName": "Local service"}},
            True,
            "Local service",
        ),
        (
            "win-1",
            {"securityContext": {"runAsUser": 1000}},
            {},
            True,
            "User Manager\\ContainerAdministrator",
        ),
    ],
)
def test_the_user_is_that_of_the_container_then_of_the_pod_then_of_the_image(
    node: str, spec: Json, own: Json, user: str, *, host_process: bool
) -> None:
    """``runAsUser`` on Linux, ``runAsUserName`` on Windows; each ignores the other's field."""
    item = container(securityContext=own)
    pod = nowhere.pod(containers=[item], **spec)
    assert user_of(nowhere.node(node), pod, item, host_process=host_process) == user


@pytest.mark.parametrize(
    ("node", "host_process", "image_has_it", "expected"),
    [
        ("linux-1", False, False, True),
        ("win-1", False, True, True),
        ("win-1", False, False, False),
        ("win-1", True, False, True),
    ],
)
def test_ping_is_missing_from_windows_images_alone(
    node: str, *, host_process: bool, image_has_it: bool, expected: bool
) -> None:
    """A HostProcess container has its host's; Linux images have theirs."""
    context = nowhere.node(node, options=Options(windows_image_has_ping=image_has_it))
    place = nowhere.sandbox(host_process=host_process)
    made = machine_of(context, nowhere.pod(), container(), place)
    assert ("ping" in made.capabilities) is expected


@pytest.mark.parametrize(
    ("node", "mac"), [("linux-1", "0a:58:0a:f4:01:02"), ("win-1", "00:15:5d:f4:01:02")]
)
def test_an_interface_s_address_is_made_of_its_ip(node: str, mac: str) -> None:
    """With the prefix of CNI's bridge, or that of Hyper-V."""
    made = machine_of(nowhere.node(node), nowhere.pod(), container(), nowhere.sandbox())
    assert made.mac == mac


def test_only_host_process_containers_see_the_node() -> None:
    """Its disk and HNS are behind it; a pod of its own network has none of that."""
    context = nowhere.node("win-1")
    for host_process in (False, True):
        place = nowhere.sandbox(host_process=host_process)
        made = machine_of(context, nowhere.pod(), container(), place)
        assert made.node is (context.network if host_process else None)
        assert (made.build, made.patch) == (17763, 1339)


@pytest.mark.parametrize(
    ("mechanisms", "servers"), [({}, ("10.96.0.10",)), ({"resolv-conf": 1}, ("192.0.2.53",))]
)
def test_windows_reads_no_resolv_conf_unless_it_is_told_to(
    mechanisms: dict[str, int], servers: tuple[str, ...]
) -> None:
    """A mounted file is Linux' business; the mechanism ``resolv-conf`` makes it Windows' too."""
    item = container(volumeMounts=[{"name": "v", "mountPath": "/etc"}])
    reference = {"path": "resolv.conf", "fieldRef": {"fieldPath": "metadata.annotations['t']"}}
    pod = nowhere.pod(
        containers=[item], volumes=[{"name": "v", "downwardAPI": {"items": [reference]}}]
    )
    pod["metadata"]["annotations"] = {"t": "nameserver 192.0.2.53\n"}
    made = machine_of(nowhere.node("win-1", mechanisms=mechanisms), pod, item, nowhere.sandbox())
    assert made.resolver.servers == servers
    linux = machine_of(nowhere.node(), pod, item, nowhere.sandbox())
    assert linux.resolver.servers == ("192.0.2.53",)


NON_ROOT = {"runAsNonRoot": True}


@pytest.mark.parametrize(
    ("node", "of_pod", "own", "words"),
    [
        ("linux-1", {}, {}, None),
        ("linux-1", NON_ROOT, {}, "container has runAsNonRoot and image will run as root"),
        ("linux-1", NON_ROOT, {"runAsUser": 0}, "container's runAsUser breaks non-root policy"),
        ("linux-1", NON_ROOT, {"runAsUser": 1}, None),
        ("linux-1", NON_ROOT, {"runAsNonRoot": False}, None),
        ("linux-1", {**NON_ROOT, "runAsUser": 5}, {}, None),
        ("win-1", NON_ROOT, {}, "(ContainerAdministrator) which will be regarded as root"),
        ("win-1", NON_ROOT, {"windowsOptions": {"runAsUserName": "ContainerUser"}}, None),
        (
            "win-1",
            NON_ROOT,
            {"windowsOptions": {"runAsUserName": "containeradministrator"}},
            "(containeradministrator) which will be regarded as root",
        ),
        ("win-1", NON_ROOT, {"runAsUser": 1}, "which will be regarded as root"),
    ],
)
def test_run_as_non_root(node: str, of_pod: Json, own: Json, words: str | None) -> None:
    """``verifyRunAsNonRoot``: a number on Linux, a name on Windows, where case does not matter."""
    item = container(securityContext=own)
    pod = nowhere.pod(containers=[item], securityContext=of_pod)
    found = breaks_non_root(nowhere.node(node), pod, item)
    assert (found is None) if words is None else (words in (found or ""))
    if found:
        assert found.endswith('(pod: "p_ns(u)", container: c)')


def test_windows_may_overlook_run_as_non_root() -> None:
    """The mechanism ``run-as-non-root`` off; Linux looks all the same."""
    item = container(securityContext=NON_ROOT)
    pod = nowhere.pod(containers=[item])
    switched = {"run-as-non-root": 0}
    assert breaks_non_root(nowhere.node("win-1", mechanisms=switched), pod, item) is None
    assert breaks_non_root(nowhere.node("linux-1", mechanisms=switched), pod, item)
