"""How kubelet and kube-proxy are started on a Windows node, and what they say of it. Pure.

Scripts of sig-windows-tools register them with nssm (kubelet) and, where kube-proxy is a service of its host, as the
documents of Kubernetes 1.19 do: ``nssm install kube-proxy``, its parameters and its variable. Nothing is started by
what stands here.
"""

from collections.abc import Mapping

from nettests.lab.client import Json
from nettests.lab.installers.system_objects import kube_proxy_flags, network_name
from nettests.lab.topology import OS, Address, NodeSpec, Profile

Values = tuple[tuple[str, str, str], ...]
"""Name, kind and data of each value below a key of the registry."""
SERVICES = r"HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services"
_RESTART = "80510100000000000000000001000000140000000100000010270000"
"""``SERVICE_FAILURE_ACTIONS``: restart after 10 s, as ``sc.exe failure kubelet reset= 86400 actions= restart/10000``."""
_NOTHING = "80510100000000000000000000000000"


def kube_proxy_line(spec: NodeSpec, profile: Profile, source_vip: Address | None) -> str:
    """Return the command line of a kube-proxy that is a service of its Windows node."""
    vip = [] if source_vip is None else [f"--source-vip={source_vip}"]
    own = [r"--kubeconfig=C:\k\config", f"--hostname-override={spec.name}"]
    return " ".join([r"C:\k\kube-proxy.exe", *own, *kube_proxy_flags(profile), *vip])


def registry(
    spec: NodeSpec, profile: Profile, source_vip: Address | None = None
) -> dict[str, Values]:
    """Return what the service control manager of a Windows node knows of kubelet and kube-proxy."""
    if spec.os is not OS.WINDOWS:
        return {}
    restarts = bool(profile.mechanism("service-recovery", 1))
    found = _service(
        "kubelet", r"C:\k\kubelet.exe --config=C:\var\lib\kubelet\config.yaml", restarts
    )
    proxy = profile.kube_proxy
    given = OS.WINDOWS in proxy.service_on and not proxy.is_replaced(spec.os)
    if given or profile.mechanism("proxy-left-behind", 0):
        line = kube_proxy_line(spec, profile, source_vip)
        found |= _by_nssm("kube-proxy", line, f"KUBE_NETWORK={network_name(profile)}", restarts)
    return found


def _service(name: str, line: str, restarts: bool) -> dict[str, Values]:  # noqa: FBT001
    failure = _RESTART if restarts else _NOTHING
    return {
        rf"{SERVICES}\{name}": (
            ("Type", "REG_DWORD", "0x10"),
            ("Start", "REG_DWORD", "0x2"),
            ("ErrorControl", "REG_DWORD", "0x1"),
            ("ImagePath", "REG_EXPAND_SZ", line),
            ("DisplayName", "REG_SZ", name),
            ("ObjectName", "REG_SZ", "LocalSystem"),
            ("FailureActions", "REG_BINARY", failure),
        )
    }


def _by_nssm(name: str, line: str, variable: str, restarts: bool) -> dict[str, Values]:  # noqa: FBT001
    program, _, parameters = line.partition(" ")
    key = rf"{SERVICES}\{name}"
    return {
        key: (
            ("Type", "REG_DWORD", "0x10"),
            ("Start", "REG_DWORD", "0x2"),
            ("ErrorControl", "REG_DWORD", "0x1"),
            ("ImagePath", "REG_EXPAND_SZ", r"C:\k\nssm.exe"),
            ("DisplayName", "REG_SZ", name),
            ("DependOnService", "REG_MULTI_SZ", "kubelet"),
            ("ObjectName", "REG_SZ", "LocalSystem"),
        ),
        rf"{key}\Parameters": (
            ("AppDirectory", "REG_EXPAND_SZ", r"C:\k"),
            ("Application", "REG_EXPAND_SZ", program),
            ("AppParameters", "REG_EXPAND_SZ", parameters),
            ("AppEnvironmentExtra", "REG_MULTI_SZ", variable),
        ),
        rf"{key}\Parameters\AppExit": (("", "REG_SZ", "Restart" if restarts else "Exit"),),
    }


def configuration(os: OS, mode: str, flags: Mapping[str, str]) -> Json:
    """Return what ``/configz`` of kube-proxy shows: the object in its memory, with Go's names.

    Of its fields those that flags of the lab set (``pkg/proxy/apis/config/types.go``).
    """
    gates = dict(pair.split("=") for pair in flags.get("feature-gates", "").split(",") if pair)
    found: Json = {
        "FeatureGates": {name: value == "true" for name, value in gates.items()},
        "HostnameOverride": flags.get("hostname-override", ""),
        "Mode": mode,
    }
    if os is OS.LINUX:
        return {"kubeproxy.config.k8s.io": {**found, "IPTables": {"LocalhostNodePorts": True}}}
    windows = {
        "NetworkName": "",
        "SourceVip": flags.get("source-vip", ""),
        "EnableDSR": flags.get("enable-dsr") == "true",
        "RootHnsEndpointName": "",
        "ForwardHealthCheckVip": False,
    }
    return {"kubeproxy.config.k8s.io": {**found, "Winkernel": windows}}
