"""A ``resolv.conf`` that a pod mounts over its own: the resolver settings that its container then has.

Beside ``resolver``, which makes what the kubelet gives every pod. Pure. Of volumes only the downward API's are
read: annotations, labels and the like; other volumes do not show in a container.
"""

from collections.abc import Iterator
from dataclasses import replace

from nettests.lab.client import Json
from nettests.lab.interfaces import ResolverConfig
from nettests.lab.node.environment import field

RESOLV_CONF = "/etc/resolv.conf"


def mounted(default: ResolverConfig, pod: Json, container: Json) -> ResolverConfig:
    """Return ``default`` with what the container's mounted resolv.conf says instead, if it mounts one."""
    for text in _texts(pod, container):
        return _read(default, text)
    return default


def _texts(pod: Json, container: Json) -> Iterator[str]:
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or ()}
    for mount in container.get("volumeMounts") or ():
        items = (volumes[mount["name"]].get("downwardAPI") or {}).get("items") or ()
        for item in items:
            if _place(mount, item["path"]) == RESOLV_CONF and "fieldRef" in item:
                yield field(pod, item["fieldRef"]["fieldPath"], {})


def _place(mount: Json, path: str) -> str:
    """Return where a volume's file is seen: one file of it, or all in a folder."""
    if mount.get("subPath"):
        return str(mount["mountPath"]) if mount["subPath"] == path else ""
    return f"{str(mount['mountPath']).rstrip('/')}/{path}"


def _read(default: ResolverConfig, text: str) -> ResolverConfig:
    """Read resolv.conf(5): the last ``search`` counts, every ``nameserver``, ``ndots`` of the options."""
    servers: list[str] = []
    searches: tuple[str, ...] = ()
    ndots = 1
    for line in text.splitlines():
        # sample: search mounted.example
        keyword, *values = line.split() or [""]
        if keyword == "search":
            searches = tuple(values)
        elif keyword == "nameserver":
            servers += values[:1]
        elif keyword == "options":
            counts = [value.partition(":")[2] for value in values if value.startswith("ndots:")]
            ndots = int(counts[-1]) if counts else ndots
    return replace(default, servers=tuple(servers), searches=searches, ndots=ndots)
