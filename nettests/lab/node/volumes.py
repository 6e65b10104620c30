"""The volumes of a pod, and what each of its containers sees of them.

Known are emptyDir, the downward API's and ConfigMaps, which the kubelet fetches as the pod starts; other volumes
(service account tokens, host paths) are empty folders.
"""

from collections.abc import Mapping

from nettests.lab.client import ApiError, Json
from nettests.lab.errors import LabError
from nettests.lab.mounted import Files, Mount, Volume
from nettests.lab.node.context import NodeContext
from nettests.lab.node.environment import ConfigError, field
from nettests.lab.topology import OS


class MountError(LabError):
    """A volume cannot be set up yet; the text is the kubelet's."""


MESSAGE_PATH = "/dev/termination-log"
MESSAGE = ""
"""The path within its volume of the file that a container's termination message is written to."""
_NOT_A_FOLDER = "The directory name is invalid."


async def volumes_of(node: NodeContext, pod: Json) -> dict[str, Volume]:
    """Return the pod's volumes by name; ``MountError`` names one that cannot be set up, in the kubelet's words."""
    volumes = {}
    for volume in pod["spec"].get("volumes") or ():
        name = str(volume["name"])
        volumes[name] = await _volume(node, pod, volume)
    return volumes


async def _volume(node: NodeContext, pod: Json, volume: Json) -> Volume:
    if "downwardAPI" in volume:
        return _downward(pod, volume["downwardAPI"])
    if "configMap" in volume:
        return await _config_map(node, pod, volume)
    wanted = (volume.get("emptyDir") or {}).get("medium") == "Memory"
    linux = node.spec.os is OS.LINUX
    return Volume(in_memory=wanted and linux and bool(node.profile.mechanism("memory-volumes", 1)))


def _downward(pod: Json, source: Json) -> Volume:
    texts = {
        str(item["path"]): field(pod, item["fieldRef"]["fieldPath"], {})
        for item in source.get("items") or ()
        if "fieldRef" in item
    }
    return Volume(texts=texts, mode=source.get("defaultMode", 0o644))


async def _config_map(node: NodeContext, pod: Json, volume: Json) -> Volume:
    source, namespace = volume["configMap"], pod["metadata"]["namespace"]
    name = str(source["name"])
    try:
        config_map = await node.client.get(f"/api/v1/namespaces/{namespace}/configmaps/{name}")
    except ApiError as error:
        if error.status != 404:
            raise
        text = (
            f'MountVolume.SetUp failed for volume "{volume["name"]}" : configmap "{name}" not found'
        )
        raise MountError(text) from error
    data: Mapping[str, str] = config_map.get("data") or {}
    items = source.get("items")
    texts = (
        {str(item["path"]): data[item["key"]] for item in items if item["key"] in data}
        if items
        else dict(data)
    )
    return Volume(texts=texts, mode=source.get("defaultMode", 0o644))


def files_of(
    node: NodeContext,
    container: Json,
    volumes: Mapping[str, Volume],
    message: Volume,
    *,
    privileged: bool,
) -> Files:
    """Return what a container sees; ``ConfigError`` where its node maps no single file and it mounts one."""
    single, windows = maps_single_files(node), node.spec.os is OS.WINDOWS
    shown = not windows or bool(node.profile.mechanism("volumes", 1))
    mounts = []
    for mount in container.get("volumeMounts") or ():
        file = mount.get("subPath")
        if file and not single:
            raise ConfigError(
                f"failed to create containerd task: hcs::CreateComputeSystem: {_NOT_A_FOLDER}"
            )
        mounts.append(
            Mount(
                place=str(mount["mountPath"]),
                volume=volumes.get(mount["name"], Volume()) if shown else Volume(),
                file=file,
                read_only=shown and bool(mount.get("readOnly")),
            )
        )
    path = str(container.get("terminationMessagePath") or MESSAGE_PATH)
    if single:
        mounts.append(Mount(place=path, volume=message, file=MESSAGE))
    modes = not windows or bool(node.profile.mechanism("file-modes", 0))
    return Files(os=node.spec.os, mounts=tuple(mounts), privileged=privileged, modes=modes)


def maps_single_files(node: NodeContext) -> bool:
    """Whether the node's runtime mounts one file: Docker for Windows mounts folders alone."""
    if node.spec.os is OS.LINUX:
        return True
    return bool(node.profile.mechanism("single-files", not node.spec.has_docker))
