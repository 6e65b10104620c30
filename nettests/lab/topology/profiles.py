"""Read lab profiles (``manifests/lab/*.yaml``) into ``topology.Profile``.

A profile file names nodes, builds and settings; addresses are assigned here, so that all profiles
have the same layout: node ``i`` has ``172.30.0.(10+i)`` and the pod CIDR ``10.244.i.0/24``, with IPv6
``fd00:172:30::(10+i)`` and the ``i``-th /64 of ``fd00:10:244::/56``. Errors name the file, the line
and the nearest valid key. Files come from the checkout or from an installed wheel.
"""

import io
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import fields, replace
from importlib.resources import files
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any, NoReturn

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError

from nettests.lab.errors import ProfileError, nearest
from nettests.lab.topology import settings, windows_settings
from nettests.lab.topology.cluster import (
    IPV6_NETWORKS,
    OS,
    Cni,
    Driver,
    Ipam,
    IPv6Networks,
    KubeProxy,
    NodeIPv6,
    NodeSpec,
    Options,
    Plugin,
    Profile,
    ProxyMode,
)
from nettests.lab.topology.profile_schema import DRIVERS, SCHEMA, SERVICE_ON
from nettests.lab.topology.windows_settings import key

DEFAULT = "win2019-l2bridge"

_ROUTED = frozenset({"host-gw", "routes"})
"""Backends that the lab supports in both families."""
_LAST_USERSPACE = 25
_MOST_BYTES = 4 << 20

_VIRTUAL_NETWORK = IPv4Network("172.30.0.0/16")
"""The network of nodes and pods, if pods have addresses of the nodes' network."""


def read(text: str, file: str, changes: Iterable[str] = ()) -> Profile:
    """Return the profile in ``text``, changed by ``KEY=VALUE`` settings; ``file`` is only for messages."""
    return _build(_document(text, file, changes))


def load(name: str, *, folder: Path | None = None, changes: Iterable[str] = ()) -> Profile:
    """Return the profile of that name, or in the file of that path (``*.yaml``), with settings changed.

    The name may include settings: ``win2022-l2bridge-dsr,windows.hcsshim=0.12``.
    """
    name, settings = _with_settings(name)
    path = _path(name, folder)
    return read(_text(path), str(path), (*settings, *changes))


def load_to_run(name: str, *, changes: Iterable[str] = ()) -> Profile:
    """Return a profile that a lab can run; ``ProfileError`` for one that only states facts (IPv6 alone)."""
    profile = load(name, changes=changes)
    if profile.node_network.version == 6:
        raise ProfileError(
            f"{name}: a cluster of IPv6 alone is not emulated; its profile is read for facts.",
            hint="Windows does not support it (Kubernetes documentation, IPv4/IPv6 dual-stack).",
        )
    return profile


def written(name: str, changes: Iterable[str] = ()) -> str:
    """Return the text of the profile that ``load`` returns; a changed one has no comments."""
    name, settings = _with_settings(name)
    path = _path(name, None)
    given, text = (*settings, *changes), _text(path)
    document = _document(text, str(path), given)
    if not given:
        return text
    lines = io.StringIO()
    writer = YAML(typ="rt")
    writer.width = 4096  # one value, one line
    writer.dump(_plain(document), lines)
    return lines.getvalue()


def _document(text: str, file: str, changes: Iterable[str]) -> MutableMapping[str, Any]:
    document = _parse(text, file)
    given = tuple(changes)
    if given:
        _validate(document, file)
        settings.change(document, given, {plugin.value: pairs for plugin, pairs in DRIVERS.items()})
        file = f"{file} with {', '.join(given)}"
    _validate(document, file)
    _check_meaning(document, file)
    return document


def _with_settings(name: str) -> tuple[str, list[str]]:
    """Split a name and the settings after it; a part without ``=`` belongs to the value before it."""
    # linux,cni.natExceptions=192.0.2.0/24,198.51.100.0/24,kubernetes=1.34.2
    profile, *parts = name.split(",")
    settings: list[str] = []
    for part in parts:
        if "=" in part or not settings:
            settings.append(part)
        else:
            settings[-1] += f",{part}"
    return profile, settings


def _path(name: str, folder: Path | None) -> Path:
    if name.endswith((".yaml", ".yml")):
        return Path(name)
    available = {path.stem: path for path in _paths(folder)}
    if name not in available:
        raise ProfileError(
            f'There is no lab profile "{name}".',
            hint=f"{nearest(name, available)}Profiles: {', '.join(sorted(available))}.",
        )
    return available[name]


def available(folder: Path | None = None) -> tuple[Profile, ...]:
    """Return all profiles that come with the lab, sorted by name."""
    return tuple(read(_text(path), str(path)) for path in sorted(_paths(folder)))


def _paths(folder: Path | None) -> Iterator[Path]:
    yield from (folder or _folder()).glob("*.yaml")


def _folder() -> Path:
    """Return ``manifests/lab`` of the checkout, else the copy in the installed package."""
    package = Path(str(files("nettests")))
    for root in (package.parent, package / "_bundled"):
        if (folder := root / "manifests" / "lab").is_dir():
            return folder
    raise ProfileError(
        "The lab profiles are missing from this installation.", hint="Install nettests again."
    )


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _MOST_BYTES or not path.is_file():
            raise ProfileError(f"The lab profile {path} is no regular file of at most 4 MiB.")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ProfileError(f"The lab profile {path} cannot be read: {error}.") from error


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _parse(text: str, file: str) -> MutableMapping[str, Any]:
    try:
        document = YAML(typ="rt").load(text)
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ProfileError(f"{file}:{line}: this is not valid YAML: {error.problem}.") from error
    if not isinstance(document, MutableMapping):
        raise ProfileError(f"{file}:1: a lab profile is a mapping of keys to values.")
    return document


def _validate(document: Mapping[str, Any], file: str) -> None:
    import jsonschema  # noqa: PLC0415  # slow; most commands read no profile

    validator = jsonschema.Draft202012Validator(SCHEMA)
    error = jsonschema.exceptions.best_match(validator.iter_errors(document))
    if error is None:
        return
    path = tuple(error.absolute_path)
    if error.validator == "additionalProperties":
        valid_keys = sorted(error.schema["properties"])
        unknown = next(key for key in error.instance if key not in valid_keys)
        raise ProfileError(
            f'{file}:{_line(document, (*path, unknown))}: unknown key "{_dotted((*path, unknown))}".',
            hint=nearest(str(unknown), valid_keys).rstrip()
            or f"Keys here: {', '.join(valid_keys)}.",
        )
    where = f"{_dotted(path)}: " if path else ""
    raise ProfileError(f"{file}:{_line(document, path)}: {where}{error.message}.")


def _check_meaning(document: Mapping[str, Any], file: str) -> None:
    """Refuse errors that a schema cannot express: duplicate names, no control plane, a wrong driver."""
    nodes = document["nodes"]
    names = [node["name"] for node in nodes]
    twins = sorted({name for name in names if names.count(name) > 1})
    where = f"{file}:{_line(document, ('nodes',))}"
    if twins:
        raise ProfileError(f'{where}: two nodes are called "{twins[0]}".')
    planes = [n for n in nodes if n.get("controlPlane") and n["os"] == "linux"]
    if len(planes) != 1:
        raise ProfileError(f"{where}: exactly one Linux node must have controlPlane: true.")
    if len(document.get("ipFamilies", ())) > 1 and document["cni"]["backend"] not in _ROUTED:
        raise ProfileError(
            f"{file}:{_line(document, ('ipFamilies',))}: two families need a network of routes.",
            hint=f"Backends: {', '.join(sorted(_ROUTED))}.",
        )
    if any(node["os"] == "windows" for node in nodes):
        _check_windows(document, file)


def _check_windows(document: Mapping[str, Any], file: str) -> None:
    """Refuse drivers and kube-proxy modes that the plugin or the Kubernetes version does not have."""

    def refuse(section: str, key: str, what: str, hint: str = "") -> NoReturn:
        raise ProfileError(f"{file}:{_line(document, (section, key))}: {what}.", hint=hint)

    cni, proxy = document["cni"], document.get("kubeProxy", {})
    plugin, mode = Plugin(cni["plugin"]), ProxyMode(proxy.get("mode", "kernelspace"))
    if (cni["backend"], cni["driver"]) not in DRIVERS[plugin]:
        drivers = ", ".join(f"{backend} with {driver}" for backend, driver in DRIVERS[plugin])
        what = f"{plugin} does not make {cni['driver']} networks of {cni['backend']}"
        refuse("cni", "driver", what, f"On Windows it knows {drivers}.")
    if cni.get("ipam") == Ipam.HNS and plugin is not Plugin.SDNBRIDGE:
        what = f"{plugin} manages addresses itself"
        refuse("cni", "ipam", what, "Addresses come from HNS with sdnbridge.")
    if (mode is ProxyMode.NONE) != (plugin is Plugin.ANTREA):
        what = "kubeProxy.mode none goes with the antrea plugin, whose agent serves Services itself"
        refuse("kubeProxy", "mode", what)
    minor = int(document["kubernetesVersion"].split(".")[1])
    if mode is ProxyMode.USERSPACE and minor > _LAST_USERSPACE:
        what = f"kube-proxy has no userspace mode after 1.{_LAST_USERSPACE}"
        refuse("kubeProxy", "mode", what)


def _build(document: Mapping[str, Any]) -> Profile:
    cni = document["cni"]
    options, proxy = document.get("options", {}), document.get("kubeProxy", {})
    plugin = _cni(cni)
    node_network, cluster_cidr = _networks(plugin)
    families = document.get("ipFamilies", ["IPv4"])
    ipv6 = IPV6_NETWORKS if families == ["IPv4", "IPv6"] else None
    profile = Profile(
        name=str(document["name"]),
        summary=str(document["summary"]),
        kubernetes_version=str(document["kubernetesVersion"]),
        nodes=_nodes(document["nodes"], node_network, cluster_cidr, ipv6),
        ipv6=ipv6,
        node_network=node_network,
        cluster_cidr=cluster_cidr,
        cni=plugin,
        kube_proxy=KubeProxy(
            mode=ProxyMode(proxy.get("mode", "kernelspace")),
            dsr=bool(proxy.get("dsr", False)),
            service_on=SERVICE_ON[proxy.get("runsAs", "pod")],
        ),
        options=Options(
            **{each.name: bool(options.get(key(each.name), True)) for each in fields(Options)}
        ),
        windows=windows_settings.read(document.get("windows", {})),
    )
    return _of_ipv6_alone(profile) if families == ["IPv6"] else profile


def _of_ipv6_alone(profile: Profile) -> Profile:
    nodes = tuple(
        replace(node, ipv6=_second(index, IPV6_NETWORKS))
        for index, node in enumerate(profile.nodes, start=1)
    )
    _, second = replace(profile, nodes=nodes, ipv6=IPV6_NETWORKS).by_family
    alone = tuple(replace(node, ipv6=None) for node in second.nodes)
    dns = IPV6_NETWORKS.service_cidr[10]
    return replace(second, nodes=alone, ipv6=None, dns_address=dns)


def _cni(cni: Mapping[str, Any]) -> Cni:
    return Cni(
        plugin=Plugin(cni["plugin"]),
        backend=str(cni["backend"]),
        driver=Driver(cni["driver"]),
        vni=int(cni.get("vni", 4096)),
        vxlan_port=int(cni.get("vxlanPort", 4789)),
        loopback_dsr=bool(cni.get("loopbackDSR", False)),
        ipam=Ipam(cni.get("ipam", "host-local")),
        nat_exceptions=tuple(IPv4Network(text) for text in cni.get("natExceptions", ())),
    )


def _networks(cni: Cni) -> tuple[IPv4Network, IPv4Network]:
    """Return the nodes' and the pods' network; they are the same with a native backend."""
    if cni.native:
        return _VIRTUAL_NETWORK, _VIRTUAL_NETWORK
    defaults = {field.name: field.default for field in fields(Profile)}
    underlay, cluster = defaults["node_network"], defaults["cluster_cidr"]
    if not isinstance(underlay, IPv4Network) or not isinstance(cluster, IPv4Network):
        raise TypeError("Profile's networks have no defaults")
    return underlay, cluster


def _nodes(
    entries: Sequence[Mapping[str, Any]],
    underlay: IPv4Network,
    cluster: IPv4Network,
    ipv6: IPv6Networks | None,
) -> tuple[NodeSpec, ...]:
    subnets = list(cluster.subnets(new_prefix=24))
    return tuple(
        NodeSpec(
            name=str(entry["name"]),
            os=OS(entry["os"]),
            address=underlay.network_address + 10 + index,
            pod_cidr=subnets[index],
            ipv6=_second(index, ipv6),
            build=entry.get("build"),
            patch=entry.get("patch"),
            runtime=str(entry.get("runtime", "containerd://1.7.20")),
            control_plane=bool(entry.get("controlPlane", False)),
            taints=tuple(str(taint) for taint in entry.get("taints", ())),
            cordoned=bool(entry.get("cordoned", False)),
            zone=str(entry.get("zone", "")),
        )
        for index, entry in enumerate(entries, start=1)
    )


def _second(index: int, networks: IPv6Networks | None) -> NodeIPv6 | None:
    if networks is None:
        return None
    subnets = list(networks.cluster_cidr.subnets(new_prefix=64))
    return NodeIPv6(address=networks.node_network[10 + index], pod_cidr=subnets[index])


def _dotted(path: Sequence[object]) -> str:
    return ".".join(str(part) for part in path)


def _line(document: Any, path: Sequence[Any]) -> int:
    """Return the line of ``path``, or of its deepest part that has one, in the round-trip document."""
    node, line = document, 1
    for part in path:
        try:
            mark = node.lc.item(part) if isinstance(part, int) else node.lc.key(part)
            line = mark[0] + 1
            node = node[part]
        except (AttributeError, KeyError, IndexError, TypeError):
            break
    return int(line)
