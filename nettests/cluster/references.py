"""Which ConfigMaps a Pod, or a DaemonSet's template of it, refers to: by its volumes, and by its containers' variables.

Pure. Installers name ConfigMaps as they like, and with hashes; the Pod that reads one has its name.
"""

from collections.abc import Iterator, Mapping
from posixpath import basename, normpath
from typing import Any

Object = dict[str, Any]


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
    """Yield the variables of a Pod's containers; of a key of a ConfigMap its value, if that was read."""
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
    """Return the last part of a path on either system, by which a ConfigMap's key is mounted."""
    # samples: /var/lib/kube-proxy/config.conf, $env:CONTAINER_SANDBOX_MOUNT_POINT/var/lib/kube-proxy/config.conf
    return basename(normpath(path.replace("\\", "/"))) if path else ""
