"""Readings of a healthy Windows node, one for each that a rule may request: every rule has something to look at."""

import json
from typing import Any

from nettests.model.json_text import Object
from nettests.rules import RULES
from nettests.rules.readings import OfPeers, ToolOutput
from nettests.rules.subjects import KUBE_PROXY_ON_HOST
from tests.rules.made import (
    log,
)

NETWORK = "flannel.4096"
_NAT = {"Type": "OutBoundNAT", "ExceptionList": ["10.244.0.0/16", "10.96.0.0/16"]}


def _items(*items: Object) -> str:
    return json.dumps({"items": list(items)})


def _pod(name: str, **more: Any) -> Object:
    return {
        "metadata": {"name": name, "namespace": more.get("namespace", "demo")},
        "spec": {
            "dnsPolicy": "ClusterFirst",
            "containers": [{"name": name, "image": more.get("image", "agnhost:2.53")}],
        },
        "status": {
            "phase": "Running",
            "podIP": more.get("address", "10.244.3.5"),
            "podIPs": [{"ip": more.get("address", "10.244.3.5")}],
        },
    }


_NODE: Object = {
    "metadata": {
        "name": "win-1",
        "labels": {"node.kubernetes.io/windows-build": "10.0.20348"},
    },
    "spec": {"taints": [{"key": "os", "value": "windows", "effect": "NoSchedule"}]},
    "status": {
        "nodeInfo": {
            "kernelVersion": "10.0.20348.3207",
            "kubeletVersion": "v1.29.4",
            "operatingSystem": "windows",
            "containerRuntimeVersion": "containerd://1.7.20",
        },
        "addresses": [{"type": "InternalIP", "address": "172.30.0.13"}],
        "conditions": [{"type": "Ready", "status": "True"}],
    },
}
_CONTROL_PLANE: Object = {
    "metadata": {"name": "linux-1", "labels": {"node-role.kubernetes.io/control-plane": ""}},
    "spec": {},
    "status": {
        "nodeInfo": {"operatingSystem": "linux"},
        "conditions": [{"type": "Ready", "status": "True"}],
    },
}
_PROXY = _pod(
    "kube-proxy-windows-x2x4z",
    namespace="kube-system",
    image="docker.io/sigwindowstools/kube-proxy:v1.29.4-flannel-hostprocess",
    address="172.30.0.13",
)
_PROXY["spec"]["hostNetwork"] = True
_PODS = _items(_pod("web"), _PROXY)
_SIGNALS = {"name": "signals", "port": 83, "protocol": "SCTP"}
_SERVICES = [
    {
        "metadata": {"name": name, "namespace": "demo"},
        "spec": {
            "clusterIP": vip,
            "ports": [{"port": 80, "protocol": "TCP"}, *([_SIGNALS] if name == "web" else [])],
            **({"externalTrafficPolicy": "Local"} if name == "local" else {}),
        },
    }
    for name, vip in (("web", "10.96.7.7"), ("local", "10.96.7.8"))
]
_SLICES = [
    {
        "metadata": {"namespace": "demo", "labels": {"kubernetes.io/service-name": name}},
        "endpoints": [{"addresses": [address], "nodeName": node}],
        "ports": [{"name": "", "protocol": "TCP", "port": 8080}, {**_SIGNALS, "port": 8083}],
    }
    for name, address, node in (
        ("web", "10.244.3.5", "win-1"),
        ("local", "10.244.1.7", "linux-1"),
    )
]
_ENDPOINTS: list[Object] = [
    {
        "ID": "a1",
        "IPAddress": "10.244.3.5",
        "VirtualNetworkName": NETWORK,
        "GatewayAddress": "10.244.3.1",
        "DNSServerList": "10.96.0.10",
        "DNSSuffix": "demo.svc.cluster.local,svc.cluster.local,cluster.local",
        "Policies": [_NAT],
    },
    {"ID": "b2", "IPAddress": "10.244.1.7", "IsRemoteEndpoint": True, "Policies": []},
]


def _balancer(
    vip: str, endpoint: str, source: str = "", *, port: int = 80, protocol: int = 6
) -> Object:
    elb = {
        "ExternalPort": port,
        "InternalPort": port + 8000,
        "IsDSR": False,
        "Protocol": protocol,
        "SourceVIP": source,
        "Type": "ELB",
        "VIPs": [vip],
    }
    return {"Policies": [elb], "References": [f"/endpoints/{endpoint}"], "State": 2}


_VXLAN = [{"Type": "VSID", "VSID": 4096}, {"Type": "VxlanPort", "Port": 4789}]
_CNI = {
    "cniVersion": "0.3.0",
    "name": NETWORK,
    "type": "flannel",
    "delegate": {
        "type": "win-overlay",
        "apiVersion": 2,
        "ipam": {"type": "host-local"},
        "policies": [
            {
                "Name": "EndpointPolicy",
                "Value": {
                    "Type": "OutBoundNAT",
                    "Settings": {"Exceptions": ["10.244.0.0/16", "10.96.0.0/16"]},
                },
            },
            {
                "Name": "EndpointPolicy",
                "Value": {
                    "Type": "SDNROUTE",
                    "Settings": {"DestinationPrefix": "10.96.0.0/16", "NeedEncap": True},
                },
            },
        ],
    },
}
_ABOUT = "CNI win-overlay plugin v1.5.1\nCNI protocol versions supported: 0.3.0, 0.4.0, 1.0.0\n"
_FLANNEL = {
    "Network": "10.244.0.0/16",
    "Backend": {"Type": "vxlan", "VNI": 4096, "Port": 4789},
}
SERVICE = r"""
HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\{name}
    Type    REG_DWORD    0x10
    Start    REG_DWORD    0x2
    ImagePath    REG_EXPAND_SZ    {program}
    FailureActions    REG_BINARY    {actions}
"""
NAMES = r"""
HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\.NET CLR Data
HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\hns
HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\kubelet
"""
RESTART = "80510100000000000000000001000000140000000100000010270000"
BY_NSSM = r"""
HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\kube-proxy
    Start    REG_DWORD    0x2
    ImagePath    REG_EXPAND_SZ    C:\k\nssm.exe

HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\kube-proxy\Parameters
    Application    REG_EXPAND_SZ    C:\k\kube-proxy.exe
    AppParameters    REG_EXPAND_SZ    --v=4 --proxy-mode=kernelspace
    AppEnvironmentExtra    REG_MULTI_SZ    NODE_NAME=win-1\0KUBE_NETWORK=flannel.4096

HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\kube-proxy\Parameters\AppExit
    (Default)    REG_SZ    Restart
"""
KUBELET = r"""C:\k\kubelet.exe --config=C:\var\lib\kubelet\config.yaml --node-ip=172.30.0.13
apiVersion: kubelet.config.k8s.io/v1beta1
clusterDNS:
- 10.96.0.10
clusterDomain: cluster.local
resolvConf: ""
"""
MACHINE = r"""
HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Control\Session Manager\Environment
    OS    REG_SZ    Windows_NT
    HTTP_PROXY    REG_SZ    http://proxy.example:3128
    HTTPS_PROXY    REG_SZ    http://proxy.example:3128
"""
HEALTHY = {
    "kube-proxy-mode": "kernelspace",
    "kube-proxy-configz": json.dumps(
        {
            "kubeproxy.config.k8s.io": {
                "FeatureGates": {"WinOverlay": True, "WinDSR": True},
                "HostnameOverride": "win-1",
                "Mode": "kernelspace",
                "Winkernel": {"NetworkName": "", "SourceVip": "10.244.3.2", "EnableDSR": True},
            }
        }
    ),
    "kube-proxy-version": 'kubernetes_build_info{build_date="2024",git_version="v1.29.4"} 1\n',
    "kube-proxy-command-line": json.dumps(
        {
            "CommandLine": r"C:\k\kube-proxy.exe --proxy-mode=kernelspace --hostname-override=win-1 "
            "--source-vip=10.244.3.2 --enable-dsr=true --feature-gates=WinOverlay=true,WinDSR=true"
        }
    ),
    "kube-proxy-service": BY_NSSM,
    "kube-proxy-service-left": BY_NSSM,
    "kubeproxy-service": "",
    "kubeproxy-service-left": "",
    "kubelet-service": SERVICE.format(
        name="kubelet", program=r"C:\k\kubelet.exe --windows-service", actions=RESTART
    ),
    "service-names": NAMES,
    "calico-ipam-configs": json.dumps(
        {"items": [{"metadata": {"name": "default"}, "spec": {"strictAffinity": True}}]}
    ),
    "vpc-settings": json.dumps({"data": {"enable-windows-ipam": "true"}}),
    "calico-ip-pools": json.dumps(
        {
            "items": [
                {
                    "metadata": {"name": "default-ipv4-ippool"},
                    "spec": {"cidr": "10.244.0.0/16", "ipipMode": "Never", "vxlanMode": "Always"},
                }
            ]
        }
    ),
    "service-names-beside-kube-proxy": NAMES,
    "kubelet-settings": KUBELET,
    "resolv-conf-files": "False\nFalse\n",
    "containerd-configuration": '  sandbox_image = "registry.k8s.io/pause:3.10"\n',
    "machine-variables": MACHINE,
    "source-vip-files": '{"cniVersion": "0.2.0", "ip4": {"ip": "10.244.3.2/24", "gateway": "10.244.3.1"}}\n',
    "flannel-log": "F I1121 1 x.go:1] Waiting to get ManagementIP from HNSNetwork cbr0\n"
    "F I1121 1 x.go:2] Wrote subnet file to /run/flannel/subnet.env\n",
    "node": json.dumps(_NODE),
    "daemon-sets": _items(
        {
            "metadata": {"name": "kube-proxy-windows", "namespace": "kube-system"},
            "status": {"desiredNumberScheduled": 1, "numberReady": 1},
        }
    ),
    "nodes": _items(_NODE, _CONTROL_PLANE),
    "node-pods": _PODS,
    "node-pods-after": _PODS,
    "kube-proxy-log": log(
        proxy_mode="kernelspace",
        hostname_override="win-1",
        network_name=NETWORK,
        source_vip="10.244.3.2",
        feature_gates="WinOverlay=true,WinDSR=true",
        enable_dsr="true",
    ),
    "services": _items(*_SERVICES),
    "services-after": _items(*_SERVICES),
    "endpoint-slices": _items(*_SLICES),
    "endpoint-slices-after": _items(*_SLICES),
    "hns-endpoints": json.dumps(_ENDPOINTS),
    "hns-endpoints-beside-policies": json.dumps(_ENDPOINTS),
    "hns-policies": json.dumps(
        [
            _balancer("10.96.7.7", "A1"),
            _balancer("10.96.7.7", "A1", port=83, protocol=132),
            _balancer("10.96.7.8", "B2"),
        ]
    ),
    "hns-networks": json.dumps(
        [
            {
                "Name": NETWORK,
                "Type": "Overlay",
                "ManagementIP": "172.30.0.13",
                "Subnets": [{"AddressPrefix": "10.244.3.0/24", "Policies": [_VXLAN[0]]}],
                "Policies": [_VXLAN[1]],
            },
            {"Name": "nat", "Type": "NAT"},
        ]
    ),
    "cni-configuration": json.dumps(_CNI),
    "win-bridge-about": _ABOUT.replace("overlay", "bridge"),
    "win-overlay-about": _ABOUT,
    "flannel-config": json.dumps({"data": {"net-conf.json": json.dumps(_FLANNEL)}}),
    "flannel-subnet-file": "FLANNEL_NETWORK=10.244.0.0/16\nFLANNEL_SUBNET=10.244.3.1/24\n",
    "ipconfig": (
        "Ethernet adapter vEthernet (Ethernet):\n\n"
        "   IPv4 Address. . . . . . . . . . . : 172.30.0.13\n"
    ),
    "processes": (
        '"kubelet.exe","1","Services","0","4 K"\n"kube-proxy.exe","2","Services","0","4 K"\n'
        '"flanneld.exe","3","Services","0","4 K"\n'
    ),
    "windows-version": "Microsoft Windows [Version 10.0.20348.3207]\n",
    "dynamic-ports": "Start Port      : 49152\nNumber of Ports : 16384\n",
    "excluded-ports": "Start Port    End Port\n----------    --------\n     50000       50059     *\n",
}
"""Each reading, of a node of a cluster with Flannel's overlay."""
OTHERWISE = {
    "antrea-alone-on-host": {
        "kube-proxy-service-left": "",
        "node-pods": _items(_pod("antrea-agent-5", image="antrea/antrea-windows:v2.4.1")),
        "processes": '"kubelet.exe","1","Services","0","4 K"\n',
    },
    "antrea-alone": {"node-pods": _items(_pod("web"))},
    "flannel-release": {
        "node-pods": _items(_pod("kube-flannel-5", image="sigwindowstools/flannel:v0.21.5"))
    },
    "calico-networking": {
        "node-pods": _items(_pod("calico-node-windows-5", image="calico/node-windows:v3.27.0"))
    },
    "load-balancer-backends": {
        "hns-policies": json.dumps(
            [
                _balancer("10.96.7.7", "A1", "10.244.3.2"),
                _balancer("10.96.7.8", "B2", "10.244.3.2"),
            ]
        )
    },
    "hybrid-overlay-id": {
        "hns-networks": json.dumps(
            [
                {
                    "Name": "OVNKubernetesHybridOverlayNetwork",
                    "Type": "Overlay",
                    "Subnets": [{"Policies": [{"Type": "VSID", "VSID": 4097}]}],
                }
            ]
        )
    },
    "vpc-interface": {
        "hns-networks": json.dumps([{"Name": "vpcbr0a1b2c3d4e5f", "Type": "L2Bridge"}])
    },
    "calico-kept-addresses": {
        "hns-networks": json.dumps(
            [
                {
                    "Name": "Calico",
                    "Type": "L2Bridge",
                    "Subnets": [{"AddressPrefix": "10.244.3.0/26"}],
                }
            ]
        )
    },
    "sdnbridge-dual-stack": {
        "cni-configuration": json.dumps(
            {
                "cniVersion": "0.3.0",
                "name": "cbr0",
                "type": "sdnbridge",
                "optionalFlags": {"enableDualStack": True},
            }
        ),
        "hns-networks": json.dumps([{"Name": "cbr0", "Type": "L2Bridge"}]),
    },
}
"""Readings of other clusters, for rules about those alone."""


def taken(rule: str) -> dict[str, str]:
    """Return the readings that a rule is given of such a node, whose kube-proxy is a Pod unless the rule is about others."""
    one = RULES[rule]
    anywhere = KUBE_PROXY_ON_HOST in one.about
    texts = {**HEALTHY, **OTHERWISE.get(rule, {})}
    texts |= {
        reading.name: json.dumps(
            dict.fromkeys(("win-1", "win-2"), texts.get(reading.of.name, "[]"))
        )
        for reading in one.reads
        if isinstance(reading, OfPeers)
    }
    return {
        reading.name: texts[reading.name]
        for reading in one.reads
        if anywhere or not (isinstance(reading, ToolOutput) and reading.only_where)
    }
