"""The Node object and Lease of one node, and the configuration and services of its kubelet and kube-proxy. Pure.

``nodeInfo`` as kubelets report it: Windows product names and ``10.0.<build>.<patch>``, the label ``node.kubernetes.io/windows-build``
(since 1.17); ``kubeProxyVersion`` is empty from 1.33 on (KEP-4004). The plugin's annotations are included, which its daemon writes on
a real node. On Windows the kubelet is a service with a recovery action, as ``sc.exe`` creates it; kube-proxy, if it is a service of
its host, is installed by nssm with parameters and a variable, as documented for Kubernetes 1.19.
"""

import json
import platform
import uuid

from nettests.lab.client import Json
from nettests.lab.client.events import micro_timestamp, timestamp
from nettests.lab.data_files import read_yaml
from nettests.lab.installers import plugin_objects
from nettests.lab.installers.hns_network import network_name
from nettests.lab.installers.system_objects import kube_proxy_flags
from nettests.lab.network import addressing
from nettests.lab.node.images import AGNHOST
from nettests.lab.topology import OS, PRODUCTS, Address, NodeSpec, Plugin, Profile

Values = tuple[tuple[str, str, str], ...]
"""Name, kind and data of each value below a key of the registry."""
SERVICES = r"HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services"
_RESTART = "80510100000000000000000001000000140000000100000010270000"
"""``SERVICE_FAILURE_ACTIONS``: restart after 10 s, as ``sc.exe failure kubelet reset= 86400 actions= restart/10000``."""
_OF_LINUX = "resolvConf: /run/systemd/resolve/resolv.conf"
_SYSTEM = r"%SystemRoot%\System32\svchost.exe"
_NOTHING = "80510100000000000000000000000000"


KUBELET_FILE = r"C:\var\lib\kubelet\config.yaml"
CONTAINERD_FILE = r"C:\Program Files\containerd\config.toml"
SOURCE_VIP_FILE = r"C:\k\SourceVip.json"
KUBELET_LINE = (
    rf"C:\k\kubelet.exe --config={KUBELET_FILE} --kubeconfig=C:\etc\kubernetes\kubelet.conf"
)
_MACHINE = r"HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Control\Session Manager\Environment"
_PAUSE_MINOR = 10
_FOREIGN = 100
"""Added to a subnet's third octet to get the node's previous subnet."""


def files(spec: NodeSpec, profile: Profile, source_vip: Address | None = None) -> dict[str, str]:
    """Return the configuration files of kubelet and containerd on a Windows node, and kube-proxy's on overlay."""
    if spec.os is not OS.WINDOWS:
        return {}
    pause = f"registry.k8s.io/pause:3.{profile.mechanism('pause-image', _PAUSE_MINOR)}"
    by_path = {
        KUBELET_FILE: kubelet_configuration(profile),
        CONTAINERD_FILE: f'[plugins."io.containerd.grpc.v1.cri"]\n  sandbox_image = "{pause}"\n',
    }
    if source_vip is not None:
        address = source_vip + (_FOREIGN << 8 if profile.mechanism("rejoined-subnet", 0) else 0)
        lease = {"cniVersion": "0.2.0", "ip4": {"ip": f"{address}/{spec.pod_cidr.prefixlen}"}}
        by_path[SOURCE_VIP_FILE] = json.dumps(lease) + "\n"
    return by_path


def kubelet_configuration(profile: Profile) -> str:
    """Return the parts of the kubelet's configuration, as kubeadm writes it, that the lab follows."""
    with_dns = profile.mechanism("cluster-dns", 1)
    dns = f"clusterDNS:\n- {profile.dns_address}\n" if with_dns else ""
    resolver = 'resolvConf: ""' if profile.mechanism("own-resolver", 1) else _OF_LINUX
    head = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
    return f"{head}{dns}clusterDomain: {profile.cluster_domain}\n{resolver}\n"


def kube_proxy_line(spec: NodeSpec, profile: Profile, source_vip: Address | None) -> str:
    """Return the command line of a kube-proxy that runs as a service of a Windows node."""
    vip = [] if source_vip is None else [f"--source-vip={source_vip}"]
    arguments = [r"--kubeconfig=C:\k\config", f"--hostname-override={spec.name}"]
    return " ".join([r"C:\k\kube-proxy.exe", *arguments, *kube_proxy_flags(profile), *vip])


def registry(
    spec: NodeSpec, profile: Profile, source_vip: Address | None = None
) -> dict[str, Values]:
    """Return a Windows node's registry: its services, kubelet and kube-proxy among them, and variables."""
    if spec.os is not OS.WINDOWS:
        return {}
    restarts = bool(profile.mechanism("service-recovery", 1))
    recovery = ("FailureActions", "REG_BINARY", _RESTART if restarts else _NOTHING)
    keys = _service("hns", rf"{_SYSTEM} -k NetSvcs -p") | _service("vmcompute", _SYSTEM)
    keys |= _service("kubelet", KUBELET_LINE, recovery)
    keys[_MACHINE] = (("OS", "REG_SZ", "Windows_NT"),)
    if profile.mechanism("half-proxied", 0):
        keys[_MACHINE] += (("HTTP_PROXY", "REG_SZ", "http://proxy.lab.test:3128"),)
    proxy = profile.kube_proxy
    as_service = OS.WINDOWS in proxy.service_on and not proxy.is_replaced(spec.os)
    if as_service or profile.mechanism("proxy-left-behind", 0):
        line = kube_proxy_line(spec, profile, source_vip)
        network = network_name(profile.cni, addressing.mac(spec.os, spec.address))
        keys |= _by_nssm("kube-proxy", line, f"KUBE_NETWORK={network}", restarts)
    return keys


def _service(name: str, program: str, *more: tuple[str, str, str]) -> dict[str, Values]:
    usual = (
        (value, kind, data.format(name=name, program=program))
        for value, kind, data in _DATA["service"]
    )
    return {rf"{SERVICES}\{name}": (*usual, *more)}


def _by_nssm(name: str, line: str, variable: str, restarts: bool) -> dict[str, Values]:  # noqa: FBT001
    program, _, parameters = line.partition(" ")
    key = rf"{SERVICES}\{name}"
    return {
        **_service(name, r"C:\k\nssm.exe", ("DependOnService", "REG_MULTI_SZ", "kubelet")),
        rf"{key}\Parameters": (
            ("AppDirectory", "REG_EXPAND_SZ", r"C:\k"),
            ("Application", "REG_EXPAND_SZ", program),
            ("AppParameters", "REG_EXPAND_SZ", parameters),
            ("AppEnvironmentExtra", "REG_MULTI_SZ", variable),
        ),
        rf"{key}\Parameters\AppExit": (("", "REG_SZ", "Restart" if restarts else "Exit"),),
    }


def configuration(os: OS, mode: str, line: str) -> Json:
    """Return the ``/configz`` answer of a kube-proxy with this command line: the internal object, with Go's names.

    Only fields that flags of the lab set (``pkg/proxy/apis/config/types.go``).
    """
    flags = dict(word[2:].partition("=")[::2] for word in line.split() if word.startswith("--"))
    gates = dict(pair.split("=") for pair in flags.get("feature-gates", "").split(",") if pair)
    common_fields: Json = {
        "FeatureGates": {name: value == "true" for name, value in gates.items()},
        "HostnameOverride": flags.get("hostname-override", ""),
        "Mode": mode,
    }
    if os is OS.LINUX:
        return {
            "kubeproxy.config.k8s.io": {**common_fields, "IPTables": {"LocalhostNodePorts": True}}
        }
    windows = {
        "NetworkName": "",
        "SourceVip": flags.get("source-vip", ""),
        "EnableDSR": flags.get("enable-dsr") == "true",
        "RootHnsEndpointName": "",
        "ForwardHealthCheckVip": False,
    }
    return {"kubeproxy.config.k8s.io": {**common_fields, "Winkernel": windows}}


LEASE_SECONDS = 40
KUBELET_PORT = 10250
_DATA = read_yaml(__package__, "registration.yaml")

_NO_PROXY_VERSION_SINCE = 33
_BUILD_LABEL_SINCE = 17
_FEATURES_SINCE = 33
_DECLARED_SINCE = 36


def node_object(spec: NodeSpec, profile: Profile) -> Json:
    """Return the Node as its kubelet registers it, Ready."""
    google = profile.mechanism("google-labels", 0)  # makes nodes look like Google's managed ones
    node: Json = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": spec.name,
            "labels": {
                **_labels(spec, profile.minor),
                **({"cloud.google.com/gke-nodepool": spec.os.value} if google else {}),
                **plugin_objects.labels(spec, profile),
            },
            "annotations": {**_DATA["annotations"], **plugin_objects.annotations(spec, profile)},
        },
        "spec": _ranges(spec, profile),
    }
    if spec.taints:
        node["spec"]["taints"] = [_taint(text) for text in spec.taints]
    if spec.cordoned:
        node["spec"]["unschedulable"] = True
    return node


def _ranges(spec: NodeSpec, profile: Profile) -> Json:
    """Return the node's ``podCIDR`` fields; none if a cloud or OVN-Kubernetes assigns pod addresses."""
    if profile.cni.plugin in {Plugin.AZURE, Plugin.VPC, Plugin.OVN_KUBERNETES}:
        return {}
    second = [] if spec.ipv6 is None else [str(spec.ipv6.pod_cidr)]
    return {"podCIDR": str(spec.pod_cidr), "podCIDRs": [str(spec.pod_cidr), *second]}


def node_status(spec: NodeSpec, profile: Profile) -> Json:
    """Return the status that the kubelet reports."""
    resources = dict(_DATA["resources"])
    if spec.os is OS.WINDOWS and profile.mechanism("huge-pages", 0):
        resources["hugepages-2Mi"] = "64Mi"
    now = timestamp()
    times = {"lastHeartbeatTime": now, "lastTransitionTime": now}
    status: Json = {
        "capacity": resources,
        "allocatable": resources,
        "conditions": [{**condition, **times} for condition in _DATA["conditions"]],
        "addresses": [
            *({"type": "InternalIP", "address": address} for address in spec.addresses),
            {"type": "Hostname", "address": spec.name},
        ],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": KUBELET_PORT}},
        "nodeInfo": _node_info(spec, profile),
        "images": [{"names": [f"{AGNHOST}:2.63.0"], "sizeBytes": 206367587}],
    }
    if spec.os is OS.LINUX and profile.minor >= _FEATURES_SINCE:
        status["features"] = {"supplementalGroupsPolicy": True}
    if profile.minor >= _DECLARED_SINCE:
        status["declaredFeatures"] = ["ExtendWebSocketsToKubelet"]
    return status


def lease_object(spec: NodeSpec) -> Json:
    """Return the node's heartbeat lease, renewed now."""
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": spec.name, "namespace": "kube-node-lease"},
        "spec": {
            "holderIdentity": spec.name,
            "leaseDurationSeconds": LEASE_SECONDS,
            "renewTime": micro_timestamp(),
        },
    }


def _labels(spec: NodeSpec, release: int) -> dict[str, str]:
    labels = {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": spec.os.value,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": spec.name,
        "kubernetes.io/os": spec.os.value,
    }
    if spec.os is OS.WINDOWS and release >= _BUILD_LABEL_SINCE:
        labels["node.kubernetes.io/windows-build"] = f"10.0.{spec.build}"
    if spec.zone:
        labels["topology.kubernetes.io/zone"] = spec.zone
    if spec.control_plane:
        labels["node-role.kubernetes.io/control-plane"] = ""
    return labels


def _taint(text: str) -> Json:
    # os=windows:NoSchedule
    pair, _, effect = text.rpartition(":")
    key, _, value = pair.partition("=")
    return {"key": key, "value": value, "effect": effect}


def _node_info(spec: NodeSpec, profile: Profile) -> Json:
    identity = uuid.uuid5(uuid.NAMESPACE_DNS, spec.name)
    windows, version = spec.os is OS.WINDOWS, profile.kubernetes_version
    return {
        "machineID": spec.name if windows else identity.hex,
        "systemUUID": str(identity).upper() if windows else str(identity),
        "bootID": "9" if windows else str(uuid.uuid4()),
        "kernelVersion": f"10.0.{spec.build}.{spec.patch}" if windows else platform.release(),
        "osImage": PRODUCTS[spec.build or 0] if windows else "Debian GNU/Linux 12 (bookworm)",
        "containerRuntimeVersion": spec.runtime,
        "kubeletVersion": version,
        "kubeProxyVersion": "" if profile.minor >= _NO_PROXY_VERSION_SINCE else version,
        "operatingSystem": spec.os.value,
        "architecture": "amd64",
    }
