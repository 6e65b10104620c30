"""The parts of API objects that discovery reads, each with its documented type. Pure.

A proxy, an aggregated API or a third-party controller may violate the API's schema. ``shaped``
drops what has another type or is not read, so that readers find a part as documented or not at all;
discovery adds what was dropped to the reasons of unknown facts. ``config_maps_of`` finds ConfigMaps
by a Pod's volumes and variables, as their names vary with the installer.
"""

from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from posixpath import basename, normpath
from typing import Any

from nettests.model.json_text import Object
from nettests.model.yaml_text import plain_yaml

Shape = type | list[Any] | dict[Any, Any]
"""A JSON type, a list of one shape, or shapes by key; ``EVERY`` stands for all other keys."""
EVERY = object()
_WORDS = {str: "text", int: "a number", bool: "true or false", list: "a list", dict: "an object"}
_MOST_SHOWN = 3

_TYPES = {"text": str, "number": int, "flag": bool, "any": object}


def _read(stated: Any) -> Shape:
    if isinstance(stated, dict):
        return {EVERY if key == "*" else key: _read(below) for key, below in stated.items()}
    return [_read(stated[0])] if isinstance(stated, list) else _TYPES[stated]


_SHAPES = {
    name: _read(stated)
    for name, stated in plain_yaml(
        (files("nettests.cluster") / "shapes.yaml").read_text("utf-8")
    ).items()
}
METADATA, NODE, POD, SERVICE = (_SHAPES[name] for name in ("metadata", "node", "pod", "service"))
DAEMON_SET, SLICE, CONFIG_MAP = (_SHAPES[name] for name in ("daemon_set", "slice", "config_map"))
SERVICE_CIDR, RUNTIME_CLASS = _SHAPES["service_cidr"], _SHAPES["runtime_class"]
IP_POOL = _SHAPES["ip_pool"]


def shaped(value: object, shape: Shape, name: str) -> tuple[Object, str]:
    """Return the parts of an object that have their documented type, and what was dropped."""
    odd: list[str] = []
    part = _shaped(value, shape, "", odd)
    return (part if isinstance(part, dict) else {}), _told(name, odd)


def shaped_items(items: Iterable[object], shape: Shape, kind: str) -> tuple[list[Object], str]:
    """Return a list's objects in their documented shape, without those that have no name."""
    listed: list[Object] = []
    odd: list[str] = []
    for number, item in enumerate(items):
        part = _shaped(item, shape, f"[{number}]", odd)
        if isinstance(part, dict) and part.get("metadata", {}).get("name"):
            listed.append(part)
        elif isinstance(part, dict):
            odd.append(f"[{number}] has no metadata.name")
    return listed, _told(kind, odd)


def _told(name: str, odd: list[str]) -> str:
    if not odd:
        return ""
    more = len(odd) - _MOST_SHOWN
    shown = ", ".join(odd[:_MOST_SHOWN]) + (f" and {more} more" if more > 0 else "")
    return f"{name} does not have the form that the API documents: {shown}"


def _shaped(value: object, shape: Shape, where: str, odd: list[str]) -> Any:
    """Return the value without parts of another type; ``None`` if it has another type itself."""
    if value is None:
        return None
    wanted = shape if isinstance(shape, type) else type(shape)
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        is_now = _WORDS.get(type(value), "a number")
        odd.append(f"{where.lstrip('.') or 'it'} is {is_now}, not {_WORDS.get(wanted, 'that')}")
        return None
    if isinstance(shape, list) and isinstance(value, list):
        parts = (_shaped(item, shape[0], f"{where}[{n}]", odd) for n, item in enumerate(value))
        return [part for part in parts if part is not None]
    if isinstance(shape, dict) and isinstance(value, dict):
        inner = {key: shape.get(key, shape.get(EVERY)) for key in value}
        parts_by_key = {
            key: _shaped(value[key], below, f"{where}.{key}", odd)
            for key, below in inner.items()
            if below is not None
        }
        return {key: part for key, part in parts_by_key.items() if part is not None}
    return value


def containers_of(spec: Object) -> list[Object]:
    """Return the containers of a Pod's ``spec``."""
    return list(spec.get("containers") or ())


def pod_spec_of(daemon_set: Object) -> Object:
    """Return the ``spec`` of a DaemonSet's Pods."""
    return dict(((daemon_set.get("spec") or {}).get("template") or {}).get("spec") or {})


def config_maps_of(spec: Object, namespace: str) -> tuple[str, ...]:
    """Return the ConfigMaps of a Pod's ``spec`` as ``namespace/name``, each once."""
    return tuple(dict.fromkeys(f"{namespace}/{name}" for name in _names(spec) if name))


def _names(spec: Object) -> Iterator[str]:
    for volume in spec.get("volumes") or ():
        sources = (volume.get("projected") or {}).get("sources") or ()
        for source in (volume, *sources):
            yield (source.get("configMap") or {}).get("name", "")
    for container in containers_of(spec):
        for entry in container.get("envFrom") or ():
            yield (entry.get("configMapRef") or {}).get("name", "")
        for entry in container.get("env") or ():
            yield _key_reference(entry).get("name", "")


def _key_reference(variable: Object) -> Object:
    return dict((variable.get("valueFrom") or {}).get("configMapKeyRef") or {})


def variables_of(
    spec: Object, namespace: str, config_maps: Mapping[str, Object]
) -> Iterator[tuple[str, str]]:
    """Yield the variables of a Pod's containers, with values from ConfigMaps if these were read."""
    # samples: {"name": "CALICO_NETWORKING_BACKEND", "value": "vxlan"},
    #          {"name": "CALICO_NETWORKING_BACKEND", "valueFrom": {"configMapKeyRef": {"name": "calico-config", "key": "calico_backend"}}}
    for container in containers_of(spec):
        for source in container.get("envFrom") or ():
            name = (source.get("configMapRef") or {}).get("name")
            yield from data_of(config_maps.get(f"{namespace}/{name}")).items()
        for entry in container.get("env") or ():
            reference = _key_reference(entry)
            data = data_of(config_maps.get(f"{namespace}/{reference.get('name')}"))
            value = entry.get("value") or data.get(reference.get("key", ""), "")
            yield entry.get("name", ""), value


def data_of(config_map: Object | None) -> Mapping[str, str]:
    """Return the texts of a ConfigMap; empty without one."""
    return (config_map or {}).get("data") or {}


def file_name(path: str) -> str:
    """Return the last part of a path on any OS: the ConfigMap's key that is mounted there."""
    # samples: /var/lib/kube-proxy/config.conf, $env:CONTAINER_SANDBOX_MOUNT_POINT/var/lib/kube-proxy/config.conf
    return basename(normpath(path.replace("\\", "/"))) if path else ""
