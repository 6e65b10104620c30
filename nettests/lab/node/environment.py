"""A container's environment, command line, resolver settings and hosts file, as the kubelet makes them from the pod's spec. Pure.

Service variables (``pkg/kubelet/envvars``), ``env`` with literals and downward API fields, ``$(VAR)`` expansion
(``third_party/forked/golang/expansion``). ``envFrom`` and values from ConfigMaps and Secrets are not supported: the container then
fails with ``CreateContainerConfigError``. The resolver follows ``GetPodDNS`` (pkg/kubelet/network/dns) and
``managedHostsFileContent``. Windows pods get the same settings through the CNI (``runtimeConfig.dns``); HostProcess containers use the
node's own resolver, whatever their DNS policy; a mounted ``resolv.conf`` (as from the downward API) replaces the generated one.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from nettests.lab.client import Json
from nettests.lab.interfaces import ResolverConfig
from nettests.lab.node.images import Image
from nettests.lab.topology import OS, Address, Profile

_LINUX_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# $(POD_IP), $$(NOT_EXPANDED), and a lone $
_REFERENCE = re.compile(r"\$(?:\$|\(([A-Za-z_][A-Za-z0-9_.-]*)\))?")

# metadata.labels['app'], metadata.annotations['a/b']
_SUBSCRIPT = re.compile(r"metadata\.(labels|annotations)\['([^']+)'\]")


class ConfigError(Exception):
    """The container's configuration is invalid; the text is the kubelet's."""


def variables(
    pod: Json,
    container: Json,
    facts: Mapping[str, str],
    services: Iterable[Json],
    image: Mapping[str, str],
) -> dict[str, str]:
    """Return the environment; ``facts`` has values by status field path (``status.podIP``).

    ``services`` are those of the pod's namespace and ``default/kubernetes``, ``image`` the image's own variables.
    """
    result = dict(image)
    linked = pod["spec"].get("enableServiceLinks", True)
    for service in services:
        place = service["metadata"]["namespace"], service["metadata"]["name"]
        in_namespace = place[0] == pod["metadata"]["namespace"]
        if place == ("default", "kubernetes") or (linked and in_namespace):
            result.update(_service_variables(service))
    if container.get("envFrom"):
        raise ConfigError("envFrom is not supported by this node")
    for entry in container.get("env") or ():
        result[entry["name"]] = _variable(entry, pod, facts, result)
    return result


def linux_variables(hostname: str) -> dict[str, str]:
    """Return the variables that the runtime sets in a Linux container before those of its pod."""
    return {"PATH": _LINUX_PATH, "HOSTNAME": hostname}


def command_line(container: Json, image: Image, environment: Mapping[str, str]) -> list[str]:
    """Return argv: ``command`` replaces the image's entrypoint and default command, ``args`` only the latter."""
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


def _variable(
    entry: Json, pod: Json, facts: Mapping[str, str], variables: Mapping[str, str]
) -> str:
    source = entry.get("valueFrom")
    if not source:
        return expand(str(entry.get("value", "")), variables)
    if "fieldRef" in source:
        return field(pod, source["fieldRef"]["fieldPath"], facts)
    kind = next(iter(source))
    raise ConfigError(f"env {entry['name']}: {kind} is not supported by this node")


def _service_variables(service: Json) -> dict[str, str]:
    """Return ``WEB_SERVICE_HOST`` and the Docker link variables; headless Services have none."""
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


RESOLV_CONF = "/etc/resolv.conf"


def mounted(default: ResolverConfig, pod: Json, container: Json) -> ResolverConfig:
    """Return ``default``, with the settings of the container's mounted resolv.conf if it has one."""
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or ()}
    for mount in container.get("volumeMounts") or ():
        folder, single = str(mount["mountPath"]).rstrip("/"), mount.get("subPath")
        for item in (volumes[mount["name"]].get("downwardAPI") or {}).get("items") or ():
            # where it is mounted: as one file of a volume, or in a folder
            place = (
                folder if single == item["path"] else "" if single else f"{folder}/{item['path']}"
            )
            if place == RESOLV_CONF and "fieldRef" in item:
                return _resolv_conf(default, field(pod, item["fieldRef"]["fieldPath"], {}))
    return default


def _resolv_conf(default: ResolverConfig, text: str) -> ResolverConfig:
    """Read resolv.conf(5): the last ``search``, every ``nameserver``, and the option ``ndots``."""
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


_LOCALHOST = (
    ("127.0.0.1", ("localhost",)),
    ("::1", ("localhost", "ip6-localhost", "ip6-loopback")),
    ("fe00::0", ("ip6-localnet",)),
    ("fe00::0", ("ip6-mcastprefix",)),
    ("fe00::1", ("ip6-allnodes",)),
    ("fe00::2", ("ip6-allrouters",)),
)


def resolver(
    pod: Json, profile: Profile, os: OS, address: Address, *, on_host: bool
) -> ResolverConfig:
    """Return the settings of a pod; ``on_host`` means that it uses its node's network."""
    if os is OS.WINDOWS and not on_host and not profile.mechanism("dns-policy", 1):
        pod = {**pod, "spec": {**pod["spec"], "dnsPolicy": "ClusterFirst", "dnsConfig": {}}}
    config = pod["spec"].get("dnsConfig") or {}
    servers, searches, ndots = _policy(pod, profile, os, on_host=on_host)
    if os is OS.WINDOWS:
        searches = searches[: profile.mechanism("dns-suffixes", len(searches))]
    servers = tuple(dict.fromkeys((*servers, *(config.get("nameservers") or ()))))
    searches = tuple(dict.fromkeys((*searches, *(config.get("searches") or ()))))
    for option in config.get("options") or ():
        if option["name"] == "ndots":
            ndots = int(option["value"])
    return ResolverConfig(
        servers=servers,
        searches=searches,
        ndots=ndots,
        hosts=_hosts(pod, profile, os, address, on_host=on_host),
        dotted_suffixes=bool(profile.mechanism("dotted-suffixes", 0)),
        nslookup_walks=bool(profile.mechanism("nslookup-suffixes", 1)),
    )


def _policy(
    pod: Json, profile: Profile, os: OS, *, on_host: bool
) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    policy = pod["spec"].get("dnsPolicy", "ClusterFirst")
    if policy == "ClusterFirst" and os is OS.WINDOWS and not profile.mechanism("cluster-dns", 1):
        policy = "Default"  # the fallback of a kubelet without clusterDNS
    domain = profile.cluster_domain
    namespace = pod["metadata"]["namespace"]
    cluster = (
        (str(profile.dns_address),),
        (f"{namespace}.svc.{domain}", f"svc.{domain}", domain),
        5,
    )
    node = ((str(profile.outside_server),), (), 1)
    if on_host:
        with_host_net = policy == "ClusterFirstWithHostNet" and os is OS.LINUX
        return cluster if with_host_net else ((), (), 1) if policy == "None" else node
    if policy == "None":
        return ((), (), 1)
    return node if policy == "Default" else cluster


def _hosts(
    pod: Json, profile: Profile, os: OS, address: Address, *, on_host: bool
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    aliases = tuple(
        (str(alias["ip"]), tuple(alias.get("hostnames") or ()))
        for alias in pod["spec"].get("hostAliases") or ()
    )
    if on_host:
        return (*_LOCALHOST[:2], *aliases) if os is OS.LINUX else aliases
    names = tuple(dict.fromkeys((_fqdn(pod, profile), hostname(pod))))
    return (*_LOCALHOST, (str(address), names), *aliases)


def kernel_hostname(pod: Json, profile: Profile) -> str:
    """Return the kernel's host name: the FQDN with ``setHostnameAsFQDN``, else the host name."""
    return _fqdn(pod, profile) if pod["spec"].get("setHostnameAsFQDN") else hostname(pod)


def _fqdn(pod: Json, profile: Profile) -> str:
    """Return the host name with the pod's subdomain and the cluster domain; without a subdomain the host name."""
    subdomain = pod["spec"].get("subdomain")
    if not subdomain:
        return hostname(pod)
    namespace = pod["metadata"]["namespace"]
    return f"{hostname(pod)}.{subdomain}.{namespace}.svc.{profile.cluster_domain}"


def hostname(pod: Json) -> str:
    """Return the pod's host name: ``spec.hostname``, else its name cut to 63 characters."""
    return str(pod["spec"].get("hostname") or pod["metadata"]["name"][:63].rstrip("-."))
