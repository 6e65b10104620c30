"""The files a program can read in its container: a handful of texts made from the ``Machine``.

No file of the host is ever opened. ``cat`` and ``agnhost etc-hosts`` read here.
"""

from collections.abc import Mapping

from nettests.lab.interfaces import Machine, ResolverConfig
from nettests.lab.topology import OS

_WINDOWS_HOSTS = "C:/Windows/System32/drivers/etc/hosts"


def files(machine: Machine) -> Mapping[str, str]:
    """Return the container's readable files: absolute path and content."""
    hosts = hosts_file(machine.resolver)
    if machine.os is OS.WINDOWS:
        return {_WINDOWS_HOSTS: hosts}
    return {
        "/etc/hostname": f"{machine.hostname}\n",
        "/etc/hosts": hosts,
        "/etc/resolv.conf": resolv_conf(machine.resolver),
    }


def hosts_file(config: ResolverConfig) -> str:
    """Return the hosts file as the kubelet writes it for a pod."""
    lines = ["# Kubernetes-managed hosts file."]
    lines += [f"{address}\t{' '.join(names)}" for address, names in config.hosts]
    return "".join(f"{line}\n" for line in lines)


def resolv_conf(config: ResolverConfig) -> str:
    """Return resolv.conf as the kubelet writes it for a pod."""
    lines = [f"search {' '.join(config.searches)}"] if config.searches else []
    lines += [f"nameserver {server}" for server in config.servers]
    lines.append(f"options ndots:{config.ndots}")
    return "".join(f"{line}\n" for line in lines)
