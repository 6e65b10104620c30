"""A container's view of OS, name, network, resolver and files (``interfaces.Machine``), made from its pod.

Supported volumes are emptyDir, downwardAPI and ConfigMaps, which the kubelet fetches as the pod starts; other volumes (service
account tokens, host paths) are empty folders.
"""

import json
from collections.abc import Mapping
from ipaddress import IPv4Address, ip_address
from typing import Any

from nettests.lab.client import ApiError, Json
from nettests.lab.errors import LabError
from nettests.lab.interfaces import Machine, PortMapping
from nettests.lab.mounted.files import Files, Mount, Volume
from nettests.lab.node.context import NodeContext, Sandbox
from nettests.lab.node.environment import ConfigError, field, mounted
from nettests.lab.topology import OS, Address


class MountError(LabError):
    """A volume cannot be set up yet; the text is the kubelet's."""


MESSAGE_PATH = "/dev/termination-log"
MESSAGE = ""
"""The path of a container's termination message file within its volume."""
_NOT_A_FOLDER = "The directory name is invalid."


async def volumes_of(node: NodeContext, pod: Json) -> dict[str, Volume]:
    """Return the pod's volumes by name; ``MountError``, in the kubelet's words, if one cannot be set up."""
    in_memory = node.spec.os is OS.LINUX and bool(node.profile.mechanism("memory-volumes", 1))
    volumes = {}
    for volume in pod["spec"].get("volumes") or ():
        if "configMap" in volume:
            volumes[str(volume["name"])] = await _config_map(node, pod, volume)
            continue
        source, medium = volume.get("downwardAPI") or {}, volume.get("emptyDir") or {}
        texts = {
            str(item["path"]): field(pod, item["fieldRef"]["fieldPath"], {})
            for item in source.get("items") or ()
            if "fieldRef" in item
        }
        volumes[str(volume["name"])] = Volume(
            texts=texts,
            mode=source.get("defaultMode", 0o644),
            in_memory=in_memory and medium.get("medium") == "Memory",
        )
    return volumes


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
    message: Volume | None,
    *,
    privileged: bool,
) -> Files:
    """Return the files that a container sees; ``ConfigError`` if it mounts a single file and its node cannot."""
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
        mounts.append(Mount(place=path, volume=message or Volume(), file=MESSAGE))
    modes = not windows or bool(node.profile.mechanism("file-modes", 0))
    return Files(os=node.spec.os, mounts=tuple(mounts), privileged=privileged, modes=modes)


def maps_single_files(node: NodeContext) -> bool:
    """Whether the node's runtime mounts single files: Docker for Windows mounts only folders."""
    if node.spec.os is OS.LINUX:
        return True
    return bool(node.profile.mechanism("single-files", not node.spec.has_docker))


WANTED_ADDRESSES = "cni.projectcalico.org/ipAddrs"
"""The annotation by which a pod requests an address; in the lab every plugin supports it."""
_HOST_USER = "NT AUTHORITY\\SYSTEM"
_CONTAINER_USER = "User Manager\\ContainerAdministrator"
_PRIVILEGED = frozenset({"root", "0", _HOST_USER, _CONTAINER_USER})
_ACCOUNTS = frozenset({"containeradministrator", "containeruser"})
"""Accounts of the probe image, in any domain."""
_ROOT_ON_WINDOWS = "ContainerAdministrator"
_ANY = "0.0.0.0"  # noqa: S104 - read from an object, never bound
_HYPER_V = b"\x00\x15\x5d"
_CNI = b"\x0a\x58"


def is_host_process(pod: Json) -> bool:
    """Whether the pod's containers are HostProcess containers (set on the pod, or on each)."""
    spec = pod["spec"]
    if _windows_options(spec).get("hostProcess"):
        return True
    return all(_windows_options(container).get("hostProcess") for container in spec["containers"])


def wanted_address(pod: Json) -> Address | None:
    """Return the address that a pod requests by Calico's annotation, with any plugin: the first in its list."""
    text = (pod["metadata"].get("annotations") or {}).get(WANTED_ADDRESSES)
    if not text:
        return None
    try:
        return ip_address(json.loads(text)[0])
    except (ValueError, LookupError, TypeError) as error:
        raise LabError(f"{WANTED_ADDRESSES} is no list of addresses: {text}") from error


def port_mappings(pod: Json) -> tuple[PortMapping, ...]:
    """Return the host ports that the pod requests; ``0.0.0.0`` as ``hostIP`` requests all addresses."""
    return tuple(
        PortMapping(
            protocol=str(port.get("protocol", "TCP")).lower(),
            host_port=int(port["hostPort"]),
            container_port=int(port["containerPort"]),
            host_ip=IPv4Address(port["hostIP"]) if port.get("hostIP", _ANY) != _ANY else None,
        )
        for container in pod["spec"]["containers"]
        for port in container.get("ports") or ()
        if port.get("hostPort")
    )


def machine_of(
    node: NodeContext,
    pod: Json,
    container: Json,
    sandbox: Sandbox,
    message: Volume | None = None,
    *,
    user: str = "",
) -> Machine:
    """Return the machine that ``container`` sees as ``user``; ``message`` is the volume of its termination message."""
    capabilities = {"ping"}
    reads_file = node.spec.os is OS.LINUX or bool(node.profile.mechanism("resolv-conf", 0))
    settings, packed = sandbox.resolver, sandbox.address.packed
    # the MAC that the data plane derives from the interface's IP (``addressing.mac``)
    mac = _HYPER_V + packed[1:] if node.spec.os is OS.WINDOWS else _CNI + packed
    in_image = node.spec.os is OS.WINDOWS and not sandbox.host_process
    if in_image and not node.profile.options.windows_image_has_ping:
        capabilities.discard("ping")
    return Machine(
        os=node.spec.os,
        hostname=sandbox.hostname,
        namespace=sandbox.namespace,
        addresses=sandbox.addresses,
        gateway=str(sandbox.gateway),
        resolver=mounted(settings, pod, container) if reads_file else settings,
        build=node.spec.build,
        patch=node.spec.patch,
        host_process=sandbox.host_process,
        capabilities=frozenset(capabilities),
        user=user,
        mac=mac.hex(":"),
        node=node.network if sandbox.host_process else None,
        image=str(container["image"]),
        windows=node.profile.windows,
        troubles=node.network.disk.troubles,
        files=files_of(node, container, sandbox.volumes, message, privileged=user in _PRIVILEGED),
    )


def user_of(node: NodeContext, pod: Json, container: Json, *, host_process: bool) -> str:
    """Return the account that a container is to run as: its pod's request, else the image's default."""
    if node.spec.os is OS.LINUX:
        user = _effective(pod, container, "runAsUser")
        return str(user) if user else "root"
    if host_process and node.profile.windows.account:
        return node.profile.windows.account
    for holder in (container, pod["spec"]):
        name = _windows_options(holder).get("runAsUserName")
        if name:
            return str(name)
    return _CONTAINER_USER


def unknown_account(node: NodeContext, user: str, *, host_process: bool) -> bool:
    """Whether a Windows container runs as an account that does not exist in its image."""
    if node.spec.os is OS.LINUX or host_process or not node.profile.mechanism("accounts", 1):
        return False
    return user.rpartition("\\")[2].lower() not in _ACCOUNTS


def breaks_non_root(node: NodeContext, pod: Json, container: Json) -> str | None:
    """Return the kubelet's error if ``runAsNonRoot`` forbids the container, or ``None``.

    After ``verifyRunAsNonRoot`` of ``pkg/kubelet/kuberuntime``; every image here runs as root, or as
    ContainerAdministrator, unless the pod requests another user.
    """
    if not _effective(pod, container, "runAsNonRoot"):
        return None
    metadata = pod["metadata"]
    where = (
        f'(pod: "{metadata["name"]}_{metadata["namespace"]}({metadata["uid"]})", '
        f"container: {container['name']})"
    )
    if node.spec.os is OS.WINDOWS:
        if not node.profile.mechanism("run-as-non-root", 1):
            return None
        options = {**_windows_options(pod["spec"]), **_windows_options(container)}
        name = str(options.get("runAsUserName") or _ROOT_ON_WINDOWS)
        if name.lower() != _ROOT_ON_WINDOWS.lower():
            return None
        return (
            f"container's runAsUser ({name}) which will be regarded as root identity and will "
            f"break non-root policy {where}"
        )
    user = _effective(pod, container, "runAsUser")
    if user is None:
        return f"container has runAsNonRoot and image will run as root {where}"
    return None if user else f"container's runAsUser breaks non-root policy {where}"


def _effective(pod: Json, container: Json, field: str) -> Any:
    """Return a field of the security context; the container's overrides the pod's."""
    contexts = ((container.get("securityContext") or {}), pod["spec"].get("securityContext") or {})
    return next((context[field] for context in contexts if context.get(field) is not None), None)


def _windows_options(holder: Json) -> Json:
    context = holder.get("securityContext") or {}
    options: Json = context.get("windowsOptions") or {}
    return options
