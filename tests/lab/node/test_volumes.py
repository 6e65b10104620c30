"""Volumes of a pod in the lab: what they hold, and what mechanisms make of mounts on Windows."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from nettests.lab.client import ApiError
from nettests.lab.mounted.files import FileError, Files, Volume
from nettests.lab.node.context import NodeContext
from nettests.lab.node.environment import ConfigError
from nettests.lab.node.machine import MountError, files_of, volumes_of
from tests.lab.node import nowhere

Json = dict[str, Any]

MAP: Json = {"data": {"ca.crt": "certificate", "other": "text"}}
NOTE = {"path": "note", "fieldRef": {"fieldPath": "metadata.annotations['said']"}}


class Maps(nowhere.Sent):
    """An API with one ConfigMap."""

    async def _send(self, method: str, path: str, **_: Any) -> Json:
        if method == "GET" and path == "/api/v1/namespaces/ns/configmaps/published":
            return MAP
        raise ApiError(404, "NotFound", f"{path} not found")


def volumes(*listed: Json, node: str = "linux-1", **mechanisms: int) -> dict[str, Volume]:
    """Return what the kubelet makes of a pod's volumes."""
    pod = nowhere.pod(volumes=list(listed))
    pod["metadata"]["annotations"] = {"said": "hello"}
    context = replace(nowhere.node(node, mechanisms=mechanisms), client=Maps())
    return asyncio.run(volumes_of(context, pod))


def test_volumes_hold_what_their_sources_say() -> None:
    """A ConfigMap's keys, chosen ones under other names, fields of the pod, or nothing at first."""
    made = volumes(
        {"name": "all", "configMap": {"name": "published", "defaultMode": 0o400}},
        {
            "name": "one",
            "configMap": {"name": "published", "items": [{"key": "other", "path": "renamed"}]},
        },
        {"name": "fields", "downwardAPI": {"items": [NOTE]}},
        {"name": "empty", "emptyDir": {}},
    )
    assert (made["all"].texts, made["all"].mode) == (MAP["data"], 0o400)
    assert made["one"].texts == {"renamed": "text"}
    assert made["fields"].texts == {"note": "hello"}
    assert made["empty"].texts == {}


def test_a_config_map_that_is_not_there_keeps_the_pod_waiting() -> None:
    """The event is the kubelet's."""
    with pytest.raises(MountError, match='for volume "v" : configmap "none" not found'):
        volumes({"name": "v", "configMap": {"name": "none"}})


@pytest.mark.parametrize(
    ("node", "mechanisms", "in_memory"),
    [("linux-1", {}, True), ("win-1", {}, False), ("linux-1", {"memory-volumes": 0}, False)],
)
def test_linux_has_volumes_in_memory(
    node: str, mechanisms: Mapping[str, int], *, in_memory: bool
) -> None:
    """Windows has none, and takes a folder."""
    volume = {"name": "v", "emptyDir": {"medium": "Memory"}}
    pod = nowhere.pod(volumes=[volume])
    made = asyncio.run(volumes_of(nowhere.node(node, mechanisms=mechanisms), pod))
    assert made["v"].in_memory is in_memory


def seen(context: NodeContext, mount: Json, *, privileged: bool = True) -> Files:
    """Return what a container sees that mounts the volume ``v``, which holds one file."""
    held = {"v": Volume(texts={"note": "text"}, mode=0o400)}
    container = {"volumeMounts": [{"name": "v", **mount}]}
    return files_of(context, container, held, Volume(), privileged=privileged)


def test_kubelets_on_windows_may_show_empty_folders() -> None:
    """The mechanism ``volumes`` off; nothing of it reaches Linux."""
    mount = {"mountPath": "/data", "readOnly": True}
    assert seen(nowhere.node("linux-1", mechanisms={"volumes": 0}), mount).read("/data/note")
    shown = seen(nowhere.node("win-1", mechanisms={"volumes": 0}), mount)
    with pytest.raises(FileError, match="cannot find the file"):
        shown.read("/data/note")
    shown.write("/data/note", "written all the same")


@pytest.mark.parametrize("mechanisms", [{}, {"file-modes": 1}])
def test_windows_heeds_modes_only_if_it_is_told_to(mechanisms: Mapping[str, int]) -> None:
    """A file of its owner's is read by everybody there."""
    shown = seen(
        nowhere.node("win-1", mechanisms=mechanisms), {"mountPath": "/data"}, privileged=False
    )
    if mechanisms:
        with pytest.raises(FileError, match="Access is denied"):
            shown.read("/data/note")
    else:
        assert shown.read("/data/note") == "text"


@pytest.mark.parametrize("runtime", ["containerd", "docker"])
def test_docker_for_windows_mounts_no_single_file(runtime: str) -> None:
    """A container that mounts one is not made; one that does not has no file for its message."""
    context = nowhere.node("win-1")
    spec = replace(context.network.spec, runtime=f"{runtime}://20.10.21")
    context = replace(context, network=nowhere.Network(spec))
    mount = {"mountPath": "/one", "subPath": "note"}
    message = Volume()
    files = files_of(context, {}, {}, message, privileged=True)
    if runtime == "docker":
        with pytest.raises(ConfigError, match="The directory name is invalid"):
            seen(context, mount)
        with pytest.raises(FileError):
            files.write("/dev/termination-log", "said")
    else:
        assert seen(context, mount).read("C:\\one") == "text"
        files.write("/dev/termination-log", "said")
        assert message.texts == {"": "said"}
