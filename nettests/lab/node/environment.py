"""A container's environment and command line, as the kubelet makes them from the pod's spec.

Pure: service variables (``pkg/kubelet/envvars``), ``env`` with literals and downward API fields,
``$(VAR)`` expansion (``third_party/forked/golang/expansion``). ``envFrom`` and values from ConfigMaps
and Secrets are not supported: the container then fails with ``CreateContainerConfigError``.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from nettests.lab.client import Json
from nettests.lab.node.images import Image

_LINUX_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# $(POD_IP), $$(NOT_EXPANDED), and a lone $
_REFERENCE = re.compile(r"\$(?:\$|\(([A-Za-z_][A-Za-z0-9_.-]*)\))?")

# metadata.labels['app'], metadata.annotations['a/b']
_SUBSCRIPT = re.compile(r"metadata\.(labels|annotations)\['([^']+)'\]")


class ConfigError(Exception):
    """The container's configuration cannot be made; the text is the kubelet's."""


def variables(
    pod: Json,
    container: Json,
    facts: Mapping[str, str],
    services: Iterable[Json],
    image: Mapping[str, str],
) -> dict[str, str]:
    """Return the environment; ``facts`` maps status field paths (``status.podIP``) to values.

    ``services`` are those of the pod's namespace and ``default/kubernetes``, ``image`` the image's own variables.
    """
    result = dict(image)
    linked = pod["spec"].get("enableServiceLinks", True)
    for service in services:
        master = _is_master(service)
        if master or (linked and _same_namespace(service, pod)):
            result.update(_service_variables(service))
    if container.get("envFrom"):
        raise ConfigError("envFrom is not supported by this node")
    for entry in container.get("env") or ():
        result[entry["name"]] = _value(entry, pod, facts, result)
    return result


def linux_variables(hostname: str) -> dict[str, str]:
    """Return the variables of a container of Linux before those of its pod."""
    return {"PATH": _LINUX_PATH, "HOSTNAME": hostname}


def command_line(container: Json, image: Image, environment: Mapping[str, str]) -> list[str]:
    """Return argv: ``command`` replaces entrypoint and default command, ``args`` only the latter."""
    if container.get("command"):
        argv = [*container["command"], *(container.get("args") or ())]
    else:
        argv = [*image.entrypoint, *(container.get("args") or image.command)]
    return [expand(word, environment) for word in argv]


def expand(text: str, environment: Mapping[str, str]) -> str:
    """Replace ``$(NAME)`` of known names; ``$$`` stands for one ``$``, unknown names stay."""

    def replace(match: re.Match[str]) -> str:
        if match.group(0) == "$$":
            return "$"
        return environment.get(match.group(1) or "", match.group(0))

    return _REFERENCE.sub(replace, text)


def field(pod: Json, path: str, facts: Mapping[str, str]) -> str:
    """Return a downward API field's value; unknown paths raise ``ConfigError``."""
    metadata = pod["metadata"]
    subscript = _SUBSCRIPT.fullmatch(path)
    if subscript:
        return str((metadata.get(subscript[1]) or {}).get(subscript[2], ""))
    simple = {
        "metadata.name": metadata["name"],
        "metadata.namespace": metadata["namespace"],
        "metadata.uid": metadata["uid"],
        "spec.nodeName": pod["spec"].get("nodeName", ""),
        "spec.serviceAccountName": pod["spec"].get("serviceAccountName", "default"),
        **facts,
    }
    if path not in simple:
        raise ConfigError(f"unsupported fieldPath: {path}")
    return str(simple[path])


def _value(entry: Json, pod: Json, facts: Mapping[str, str], variables: Mapping[str, str]) -> str:
    source = entry.get("valueFrom")
    if not source:
        return expand(str(entry.get("value", "")), variables)
    if "fieldRef" in source:
        return field(pod, source["fieldRef"]["fieldPath"], facts)
    kind = next(iter(source))
    raise ConfigError(f"env {entry['name']}: {kind} is not supported by this node")


def _service_variables(service: Json) -> dict[str, str]:
    """Return ``WEB_SERVICE_HOST`` and its Docker link cousins; headless Services have none."""
    address = service["spec"].get("clusterIP")
    if not address or address == "None":
        return {}
    prefix = service["metadata"]["name"].upper().replace("-", "_")
    ports: Sequence[Json] = service["spec"].get("ports") or ()
    if not ports:
        return {}
    result = {f"{prefix}_SERVICE_HOST": address, f"{prefix}_SERVICE_PORT": str(ports[0]["port"])}
    first = ports[0]
    result[f"{prefix}_PORT"] = f"{first['protocol'].lower()}://{address}:{first['port']}"
    for port in ports:
        if port.get("name"):
            name = port["name"].upper().replace("-", "_")
            result[f"{prefix}_SERVICE_PORT_{name}"] = str(port["port"])
        protocol = port["protocol"].lower()
        stem = f"{prefix}_PORT_{port['port']}_{protocol.upper()}"
        result[stem] = f"{protocol}://{address}:{port['port']}"
        result[f"{stem}_PROTO"] = protocol
        result[f"{stem}_PORT"] = str(port["port"])
        result[f"{stem}_ADDR"] = address
    return result


def _is_master(service: Json) -> bool:
    metadata = service["metadata"]
    return (metadata["namespace"], metadata["name"]) == ("default", "kubernetes")


def _same_namespace(service: Json, pod: Json) -> bool:
    return bool(service["metadata"]["namespace"] == pod["metadata"]["namespace"])
