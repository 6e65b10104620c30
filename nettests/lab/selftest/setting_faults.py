"""Named faults of settings: a mechanism that contradicts builds and arguments. Values.

Each has a lab of its own, since nothing switches them while it runs. They reach what no packet does: admission,
kubelets' rules, configuration, limitations that no longer show.
"""

from nettests.lab.selftest.declared import Checks, NamedFault
from nettests.lab.selftest.places import BRIDGE, EMPTY, OLD_BRIDGE, OVERLAY, SERVICES

SETTING_FAULTS = (
    NamedFault(
        name="components-set-wrong",
        summary="Windows nodes have a pause image that does not fit, a resolv.conf of Linux, half an HTTP proxy and no "
        "recovery of services, and their flanneld waits",
        profiles=(BRIDGE,),
        mechanisms=(
            *("pause-image=4", "own-resolver=off", "half-proxied=on", "service-recovery=off"),
            "flannel-waits=on",
        ),
        must=(
            *(
                Checks(id=f"windows-component-configuration/*/{case}")
                for case in (
                    *("kubelet-restarts", "kubelet-resolv-conf", "pause-image", "proxy-variables"),
                )
            ),
            Checks(id="flannel-host-configuration/*/flannel-network-made"),
        ),
        names=("kubelet|component|pause|flannel",),
    ),
    NamedFault(
        name="proxy-service-set-wrong",
        summary="kube-proxy's service on Windows nodes is not started again, and SourceVip.json is of another subnet",
        profiles=(SERVICES,),
        mechanisms=("service-recovery=off", "rejoined-subnet=on"),
        must=(
            Checks(id="kube-proxy-on-host/*/kube-proxy-restarts"),
            Checks(id="windows-component-configuration/*/kubelet-restarts"),
            Checks(id="flannel-host-configuration/*/source-vip-files"),
        ),
        names=("kube-proxy|kubelet|subnet|source",),
    ),
    NamedFault(
        name="no-admission-rules",
        summary="the API server knows no rules for Windows Pods",
        profiles=(BRIDGE,),
        mechanisms=(
            *("windows-pod-rules=off", "windows-container-rules=off"),
            *("windows-pod-security=off", "runtime-classes=off", "host-process-rules=off"),
        ),
        must=tuple(
            Checks(flow=flow)
            for flow in (
                *("windows-pod-fields", "windows-container-fields", "windows-pod-restricted"),
                *("runtime-class-steering", "hostprocess-pod-rules"),
            )
        ),
        may=(Checks(flow="linux-pod-windows-options"),),
        names=("windows|admission|container-fields|rejected|rule",),
    ),
    NamedFault(
        name="kubelet-without-rules",
        summary="kubelets know nothing of Pods for Windows: systems, users, hostNetwork, ends",
        profiles=(BRIDGE,),
        mechanisms=(
            *("pod-os=off", "run-as-non-root=off", "graceful-end=off", "pod-identity=off"),
            *("host-network=on", "resolv-conf=on"),
        ),
        must=tuple(
            Checks(flow=flow)
            for flow in (
                *("pod-of-other-os", "windows-run-as-non-root", "pod-termination"),
                *("stateful-set-names", "pod-host-network", "dns-mounted-file"),
            )
        ),
        may=(Checks(flow="pod-hostname-fqdn"),),
        names=("pod|limitation|start",),
    ),
    NamedFault(
        name="policies-ignored",
        summary="kube-proxy on Windows treats externalTrafficPolicy Local as Cluster",
        profiles=(BRIDGE,),
        mechanisms=("external-traffic-local=off",),
        must=(Checks(flow="etp-local-client-address"), Checks(flow="etp-local-no-local-backend")),
        may=(Checks(flow="etp-*"), Checks(flow="hns-load-balancers")),
        names=("etp-local|source address|NodePort",),
    ),
    NamedFault(
        name="no-outbound-nat",
        summary="Windows nodes do not translate what leaves the cluster",
        profiles=(BRIDGE,),
        mechanisms=("outbound-nat=off",),
        must=(
            Checks(flow="pod-to-external-ip", source="win-1"),
            Checks(flow="pod-to-external-source-address", source="win-1"),
        ),
        may=(
            Checks(flow="*external*", source="win-1"),
            Checks(flow="dns-policy-*", source="win-1"),
            Checks(flow="pod-to-external-ip", source="win-*"),
        ),
        names=("external|outside|out of the cluster", "win-1|windows"),
    ),
    NamedFault(
        name="pings-leave",
        summary="OutBoundNAT translates ICMP, which this build is documented not to do",
        profiles=(BRIDGE,),
        mechanisms=("outbound-icmp=on",),
        must=(Checks(flow="icmp-egress", source="win-1"),),
        may=(Checks(flow="icmp-*", source="win-1"),),
        names=("icmp", "limitation"),
    ),
    NamedFault(
        name="no-port-mappings",
        summary="the network plugin maps no hostPorts on Windows",
        profiles=(BRIDGE, OVERLAY),
        mechanisms=("port-mappings=off",),
        must=(
            Checks(flow="hostport-from-other-node", target="win-1"),
            Checks(flow="hostport-from-external", target="win-1"),
        ),
        may=(Checks(flow="hostport-*"),),
        names=("hostPort",),
    ),
    NamedFault(
        name="wrong-cni-files",
        summary="the plugin's files name the CNI version 0.4.0 and spare all addresses from OutBoundNAT",
        profiles=(BRIDGE,),
        mechanisms=("cni-version=4", "excepted-world=on", "excepted-nodes=off"),
        must=(
            Checks(flow="flannel-host-configuration"),
            Checks(flow="hns-configuration"),
        ),
        may=(
            Checks(flow="windows-cni-configuration"),
            Checks(flow="*external*", source="win-1"),
            Checks(flow="dns-policy-*", source="win-1"),
            Checks(flow="pod-to-node*", source="win-1"),
        ),
        names=("rule|setting|external|out of the cluster",),
    ),
    NamedFault(
        name="host-rules",
        summary="Windows nodes reach ClusterIPs that their documents deny them",
        profiles=(OLD_BRIDGE,),
        mechanisms=("host-rules=on",),
        must=(Checks(flow="node-to-service-clusterip", source="win-1"),),
        may=(Checks(flow="node-to-service-*", source="win-1"),),
        names=("limitation",),
    ),
    NamedFault(
        name="empty-nodes-forward",
        summary="a Windows node forwards NodePorts without a Pod of its network, which documents deny",
        profiles=(EMPTY,),
        mechanisms=("empty-node-ports=on",),
        must=(Checks(flow="nodeport-at-empty-node", target="win-3"),),
        names=("limitation",),
    ),
    NamedFault(
        name="no-backends-on-hosts",
        summary="firewalls of Windows hosts answer at closed ports, and several ports are dialled",
        profiles=(BRIDGE,),
        mechanisms=("stealth=off", "one-internal-port=off"),
        must=(
            Checks(flow="pod-to-node-closed-port", target="win-*"),
            Checks(flow="service-two-target-ports", source="win-1"),
        ),
        may=(
            Checks(flow="hostport-bound-*"),
            Checks(flow="nodeport-*"),
            Checks(flow="service-*"),
            # A NodePort without an endpoint on its node is a closed port of the host.
            Checks(flow="etp-local-no-local-backend", target="win-*"),
            Checks(id="etp-local-no-local-backend/external/windows-1/*"),
        ),
        names=("limitation",),
    ),
)
