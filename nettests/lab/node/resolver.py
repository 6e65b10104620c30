"""How names resolve in a container: resolver settings and hosts file from the pod's spec.

Pure; follows kubelet's ``GetPodDNS`` (pkg/kubelet/network/dns) and ``managedHostsFileContent``. Windows
pods get the same settings through the CNI (``runtimeConfig.dns``), HostProcess containers use the
node's own resolver whatever their policy says.
"""

from ipaddress import IPv4Address

from nettests.lab.client import Json
from nettests.lab.interfaces import ResolverConfig
from nettests.lab.topology import OS, Address, Profile

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
    """Return the settings of a pod; ``on_host`` says that it shares its node's network."""
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
        policy = "Default"  # what a kubelet without clusterDNS falls back to
    domain = profile.cluster_domain
    namespace = pod["metadata"]["namespace"]
    cluster = (
        (str(profile.dns_address),),
        (f"{namespace}.svc.{domain}", f"svc.{domain}", domain),
        5,
    )
    node = ((str(outside_resolver(profile)),), (), 1)
    if on_host:
        with_host_net = policy == "ClusterFirstWithHostNet" and os is OS.LINUX
        return cluster if with_host_net else ((), (), 1) if policy == "None" else node
    if policy == "None":
        return ((), (), 1)
    return node if policy == "Default" else cluster


def outside_resolver(profile: Profile) -> IPv4Address:
    """Return the name server that nodes use: the emulated outside host."""
    return profile.outside_server


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
    """Return what ``hostname`` prints: the whole name where ``setHostnameAsFQDN`` requests it."""
    return _fqdn(pod, profile) if pod["spec"].get("setHostnameAsFQDN") else hostname(pod)


def _fqdn(pod: Json, profile: Profile) -> str:
    """Return the name that a subdomain makes of the host name; without one, the host name."""
    subdomain = pod["spec"].get("subdomain")
    if not subdomain:
        return hostname(pod)
    namespace = pod["metadata"]["namespace"]
    return f"{hostname(pod)}.{subdomain}.{namespace}.svc.{profile.cluster_domain}"


def hostname(pod: Json) -> str:
    """Return the pod's host name: ``spec.hostname``, else its name cut to 63 characters."""
    return str(pod["spec"].get("hostname") or pod["metadata"]["name"][:63].rstrip("-."))
