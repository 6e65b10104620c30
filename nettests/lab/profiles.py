"""Read lab profiles (``manifests/lab/*.yaml``) into ``topology.Profile``.

A profile file names nodes, builds and settings; addresses are given out here, so that every profile
has the same plan: node ``i`` has ``172.30.0.(10+i)`` and the pod CIDR ``10.244.i.0/24``. Errors name the
file, the line and the nearest valid key. Files come from the checkout or from an installed wheel.
"""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from importlib.resources import files
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError

from nettests.lab.errors import ProfileError
from nettests.lab.topology import OS, Cni, Driver, KubeProxy, NodeSpec, Options, Profile

DEFAULT = "win2019-l2bridge"

_NODE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name", "os"],
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$"},
        "os": {"enum": ["linux", "windows"]},
        "build": {"enum": [17763, 20348, 26100]},
        "patch": {"type": "integer", "minimum": 1},
        "runtime": {"type": "string", "pattern": r"^containerd://\d+\.\d+\.\d+"},
        "controlPlane": {"type": "boolean"},
        "taints": {
            "type": "array",
            "items": {
                "type": "string",
                "pattern": "^[^=:]+=[^=:]*:(NoSchedule|NoExecute|PreferNoSchedule)$",
            },
        },
    },
    "if": {"properties": {"os": {"const": "windows"}}},
    "then": {"required": ["build", "patch"]},
}

_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "additionalProperties": False,
    "required": ["apiVersion", "kind", "name", "summary", "kubernetesVersion", "cni", "nodes"],
    "properties": {
        "apiVersion": {"const": "nettests.dev/v1alpha1"},
        "kind": {"const": "LabProfile"},
        "name": {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"},
        "summary": {"type": "string"},
        "kubernetesVersion": {"type": "string", "pattern": r"^v1\.\d+\.\d+$"},
        "cni": {
            "type": "object",
            "additionalProperties": False,
            "required": ["plugin", "backend", "driver"],
            "properties": {
                "plugin": {"enum": ["flannel"]},
                "backend": {"enum": ["host-gw", "vxlan"]},
                "driver": {"enum": ["l2bridge", "overlay"]},
                "vni": {"type": "integer", "minimum": 4096, "maximum": 16777215},
                "vxlanPort": {"const": 4789},
                "loopbackDSR": {"type": "boolean"},
            },
        },
        "kubeProxy": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"dsr": {"type": "boolean"}},
        },
        "options": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"windowsImageHasPing": {"type": "boolean"}},
        },
        "nodes": {"type": "array", "minItems": 1, "maxItems": 100, "items": _NODE_SCHEMA},
    },
}


def read(text: str, file: str) -> Profile:
    """Return the profile written in ``text``; ``file`` is only for messages."""
    document = _parse(text, file)
    _validate(document, file)
    _check_meaning(document, file)
    return _build(document)


def load(name: str, *, folder: Path | None = None) -> Profile:
    """Return the profile called ``name``, or the one in the file of that path (``*.yaml``)."""
    if name.endswith((".yaml", ".yml")):
        return _read_file(Path(name))
    available = {path.stem: path for path in _paths(folder)}
    if name not in available:
        near = difflib.get_close_matches(name, available, n=1, cutoff=0.5)
        meant = f'Did you mean "{near[0]}"? ' if near else ""
        raise ProfileError(
            f'There is no lab profile "{name}".',
            hint=f"{meant}Profiles: {', '.join(sorted(available))}.",
        )
    return _read_file(available[name])


def available(folder: Path | None = None) -> tuple[Profile, ...]:
    """Return all profiles that come with the lab, sorted by name."""
    return tuple(_read_file(path) for path in sorted(_paths(folder)))


def _paths(folder: Path | None) -> Iterator[Path]:
    yield from (folder or _folder()).glob("*.yaml")


def _folder() -> Path:
    """Return ``manifests/lab`` of the checkout, else the copy inside the installed package."""
    package = Path(str(files("nettests")))
    for folder in (
        package.parent / "manifests" / "lab",
        package / "_bundled" / "manifests" / "lab",
    ):
        if folder.is_dir():
            return folder
    raise ProfileError(
        "The lab profiles are missing from this installation.", hint="Install nettests again."
    )


def _read_file(path: Path) -> Profile:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ProfileError(f"The lab profile {path} cannot be read: {error}.") from error
    return read(text, str(path))


def _parse(text: str, file: str) -> Mapping[str, Any]:
    try:
        document = YAML(typ="rt").load(text)
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ProfileError(f"{file}:{line}: this is not valid YAML: {error.problem}.") from error
    if not isinstance(document, Mapping):
        raise ProfileError(f"{file}:1: a lab profile is a mapping of keys to values.")
    return document


def _validate(document: Mapping[str, Any], file: str) -> None:
    import jsonschema  # noqa: PLC0415  # slow; most commands read no profile

    validator = jsonschema.Draft202012Validator(_SCHEMA)
    error = jsonschema.exceptions.best_match(validator.iter_errors(document))
    if error is None:
        return
    path = tuple(error.absolute_path)
    if error.validator == "additionalProperties":
        known = sorted(error.schema["properties"])
        unknown = next(key for key in error.instance if key not in known)
        near = difflib.get_close_matches(str(unknown), known, n=1, cutoff=0.5)
        raise ProfileError(
            f'{file}:{_line(document, (*path, unknown))}: unknown key "{_dotted((*path, unknown))}".',
            hint=f'Did you mean "{near[0]}"?' if near else f"Keys here: {', '.join(known)}.",
        )
    where = f"{_dotted(path)}: " if path else ""
    raise ProfileError(f"{file}:{_line(document, path)}: {where}{error.message}.")


def _check_meaning(document: Mapping[str, Any], file: str) -> None:
    """Refuse what a schema cannot say: twins, no control plane, a driver without its backend."""
    nodes = document["nodes"]
    names = [node["name"] for node in nodes]
    twins = sorted({name for name in names if names.count(name) > 1})
    if twins:
        raise ProfileError(
            f'{file}:{_line(document, ("nodes",))}: two nodes are called "{twins[0]}".'
        )
    planes = [n for n in nodes if n.get("controlPlane") and n["os"] == "linux"]
    if len(planes) != 1:
        raise ProfileError(
            f"{file}:{_line(document, ('nodes',))}: exactly one Linux node must have controlPlane: true."
        )
    backend = document["cni"]["backend"]
    windows = any(node["os"] == "windows" for node in nodes)
    if windows and (backend == "vxlan") != (document["cni"]["driver"] == "overlay"):
        raise ProfileError(
            f"{file}:{_line(document, ('cni', 'driver'))}: Flannel's vxlan backend goes with the overlay "
            "driver, host-gw with l2bridge."
        )


def _build(document: Mapping[str, Any]) -> Profile:
    cni = document["cni"]
    options = document.get("options", {})
    return Profile(
        name=str(document["name"]),
        summary=str(document["summary"]),
        kubernetes_version=str(document["kubernetesVersion"]),
        nodes=_nodes(document["nodes"]),
        cni=Cni(
            plugin=str(cni["plugin"]),
            backend=str(cni["backend"]),
            driver=Driver(cni["driver"]),
            vni=int(cni.get("vni", 4096)),
            vxlan_port=int(cni.get("vxlanPort", 4789)),
            loopback_dsr=bool(cni.get("loopbackDSR", False)),
        ),
        kube_proxy=KubeProxy(dsr=bool(document.get("kubeProxy", {}).get("dsr", False))),
        options=Options(windows_image_has_ping=bool(options.get("windowsImageHasPing", True))),
    )


def _nodes(entries: Sequence[Mapping[str, Any]]) -> tuple[NodeSpec, ...]:
    defaults = {field.name: field.default for field in fields(Profile)}
    underlay, cluster = defaults["node_network"], defaults["cluster_cidr"]
    if not isinstance(underlay, IPv4Network) or not isinstance(cluster, IPv4Network):
        raise TypeError("Profile's networks have no defaults")
    subnets = list(cluster.subnets(new_prefix=24))
    return tuple(
        NodeSpec(
            name=str(entry["name"]),
            os=OS(entry["os"]),
            address=underlay.network_address + 10 + index,
            pod_cidr=subnets[index],
            build=entry.get("build"),
            patch=entry.get("patch"),
            runtime=str(entry.get("runtime", "containerd://1.7.20")),
            control_plane=bool(entry.get("controlPlane", False)),
            taints=tuple(str(taint) for taint in entry.get("taints", ())),
        )
        for index, entry in enumerate(entries, start=1)
    )


def _dotted(path: Sequence[object]) -> str:
    return ".".join(str(part) for part in path)


def _line(document: Any, path: Sequence[Any]) -> int:
    """Return the line of ``path`` in the round-trip document: of its deepest part that has one."""
    node, line = document, 1
    for part in path:
        try:
            mark = node.lc.item(part) if isinstance(part, int) else node.lc.key(part)
            line = mark[0] + 1
            node = node[part]
        except (AttributeError, KeyError, IndexError, TypeError):
            break
    return int(line)
