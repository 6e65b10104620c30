"""The objects of a new cluster: kubeadm's, sig-windows-tools', the plugin's. Pure.

(path, object) pairs, in the order in which they must be created; ``objects.yaml`` has those that differ only in
values. Names, labels and contents are those of the installers, because tools read settings there. The workloads
become real pods; ``node.system`` has their programs.
"""

from collections.abc import Iterator

from nettests.lab.client import Json
from nettests.lab.installers import plugin_objects
from nettests.lab.installers.hns_network import network_name
from nettests.lab.installers.plugin_objects import Daemon, node_name
from nettests.lab.topology import LINUX_MODE, OS, Driver, Plugin, Profile, ProxyMode

API_PORT = 6443

_HOSTNAME = "--hostname-override=$(NODE_NAME)"
_EVERYWHERE: list[Json] = [{"operator": "Exists"}]
_PLURALS = {"Endpoints": "endpoints", "RuntimeClass": "runtimeclasses"}


def _placed(item: Json) -> tuple[str, Json]:
    version, namespace = item["apiVersion"], item["metadata"].get("namespace")
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    where = f"{root}/namespaces/{namespace}" if namespace else root
    return f"{where}/{_PLURALS.get(item['kind'], item['kind'].lower() + 's')}", item


def _runtime_classes(profile: Profile) -> Iterator[Json]:
    """Yield one RuntimeClass for each Windows build, as the documents recommend to administrators."""
    for build in sorted({node.build for node in profile.nodes if node.build}):
        selector = {
            "kubernetes.io/os": "windows",
            "kubernetes.io/arch": "amd64",
            "node.kubernetes.io/windows-build": f"10.0.{build}",
        }
        taint = {"effect": "NoSchedule", "key": "os", "operator": "Equal", "value": "windows"}
        yield {
            "apiVersion": "node.k8s.io/v1",
            "kind": "RuntimeClass",
            "metadata": {"name": f"windows-{build}"},
            "handler": "runhcs-wcow-process",
            "scheduling": {"nodeSelector": selector, "tolerations": [taint]},
        }


def objects(profile: Profile) -> Iterator[tuple[str, Json]]:
    """Yield (collection path, object) of everything that the API server does not create itself."""
    for name in plugin_objects.namespaces(profile):
        yield _placed({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    of_installers = plugin_objects.filled_in(
        "objects.yaml",
        plane=control_plane_address(profile),
        version=profile.kubernetes_version,
        domain=profile.cluster_domain,
        pods=",".join(str(family.cluster_cidr) for family in profile.by_family),
        services=",".join(str(family.service_cidr) for family in profile.by_family),
        dns=profile.dns_address,
        mode=LINUX_MODE,
    )
    proxied = OS.LINUX not in profile.kube_proxy.service_on
    for part in ("beginning", *(("proxy",) if proxied else ()), "names"):
        yield from map(_placed, of_installers[part])
    later = (*_runtime_classes(profile), *of_installers["dns"])
    yield from map(_placed, (*plugin_objects.settings(profile), *later))
    for daemon in (*_kube_proxies(profile), *plugin_objects.daemons(profile)):
        yield _placed(_daemon_set(daemon))


def control_plane_address(profile: Profile) -> str:
    """Return the address of the control plane's node, at which pods reach the API."""
    return next(str(node.address) for node in profile.nodes if node.control_plane)


def _kube_proxies(profile: Profile) -> Iterator[Daemon]:
    version, proxy = profile.kubernetes_version, profile.kube_proxy
    command = ["/usr/local/bin/kube-proxy", "--config=/var/lib/kube-proxy/config.conf"]
    linux = {
        "name": "kube-proxy",
        "image": f"registry.k8s.io/kube-proxy:{version}",
        "command": [*command, _HOSTNAME],
        "env": [node_name()],
    }
    if OS.LINUX not in proxy.service_on:
        yield _kube_proxy("kube-proxy", linux, OS.LINUX)
    # the start script adds --source-vip on overlay networks; Calico's sets KUBE_NETWORK itself, and with Amazon's
    # plugin the network's name differs by node
    of_calico = profile.cni.plugin is Plugin.CALICO
    made_for = "calico" if of_calico else "flannel"
    named = not of_calico and profile.cni.plugin is not Plugin.VPC
    network = [{"name": "KUBE_NETWORK", "value": network_name(profile.cni)}] if named else []
    windows = {
        "name": "kube-proxy",
        "image": f"docker.io/sigwindowstools/kube-proxy:{version}-{made_for}-hostprocess",
        "args": [_HOSTNAME, *kube_proxy_flags(profile)],
        "env": [node_name(), *network],
    }
    wanted = proxy.mode is not ProxyMode.NONE and OS.WINDOWS not in proxy.service_on
    if wanted and any(node.os is OS.WINDOWS for node in profile.nodes):
        yield _kube_proxy("kube-proxy-windows", windows, OS.WINDOWS)


def _kube_proxy(name: str, container: Json, os: OS) -> Daemon:
    labels = {"k8s-app": name}
    return Daemon(namespace="kube-system", name=name, labels=labels, container=container, os=os)


def kube_proxy_flags(profile: Profile) -> list[str]:
    """Return kube-proxy's flags on Windows nodes; up to 1.25 the default mode is userspace."""
    dsr, mode = str(profile.kube_proxy.dsr).lower(), profile.kube_proxy.mode
    overlay = str(profile.cni.driver is Driver.OVERLAY).lower()
    return [
        "--v=6",
        *([] if mode is ProxyMode.USERSPACE else [f"--proxy-mode={mode}"]),
        f"--enable-dsr={dsr}",
        f"--feature-gates=WinOverlay={overlay},WinDSR={dsr}",
    ]


def _daemon_set(daemon: Daemon) -> Json:
    spec: Json = {
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": 1,
        "hostNetwork": True,
        "nodeSelector": {"kubernetes.io/os": daemon.os.value},
        "tolerations": _EVERYWHERE,
        "priorityClassName": "system-node-critical",
        "containers": [daemon.container],
    }
    if daemon.os is OS.WINDOWS:
        options = {"hostProcess": True, "runAsUserName": "NT AUTHORITY\\system"}
        spec |= {"os": {"name": "windows"}, "securityContext": {"windowsOptions": options}}
    labels = daemon.labels
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": daemon.name, "namespace": daemon.namespace, "labels": labels},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }
