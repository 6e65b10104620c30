"""Experiments about what stands in a node's network configuration. Used by ``experiments``."""

from tests.acceptance.experiment import Experiment

L2BRIDGE, OVERLAY = "win2019-l2bridge", "win2019-overlay"


def _turns(
    fact: str, profile: str, switch: str, *checks: str, beside: tuple[str, ...] = ()
) -> Experiment:
    """Return a configuration that is wrong when switched: checks that passed fail, in a run of their own."""
    return Experiment(
        fact=fact,
        profile=profile,
        switch=switch,
        checks=checks,
        was="pass",
        becomes="fail",
        apart=True,
        beside=beside,
    )


CONFIGURATION = (
    _turns(
        "kp-source-vip-l2bridge",
        L2BRIDGE,
        "bridge-source-vip=on",
        "hns-load-balancers/windows-1/empty-source-vip",
    ),
    _turns(
        "cni-exceptionlist",
        L2BRIDGE,
        "excepted-nodes=off",
        "hns-configuration/windows-1/outbound-nat",
        "flannel-host-configuration/windows-1/cni-exceptions",
    ),
    _turns(
        "cni-exceptionlist",
        OVERLAY,
        "excepted-world=on",
        "hns-configuration/windows-1/outbound-nat",
        "flannel-host-configuration/windows-1/cni-exceptions",
    ),
    _turns(
        "cni-route-needencap",
        L2BRIDGE,
        "own-node-route=off",
        "flannel-host-configuration/windows-1/cni-routes",
        "pod-to-node/windows-1/windows-1/same-node/*",
    ),
    _turns(
        "cni-antrea",
        "antrea-transparent",
        "proxy-left-behind=on",
        "kube-proxy-on-host/windows-1/antrea-alone-on-host",
    ),
    _turns(
        "cni-calico-limits",
        "calico-bgp-l2bridge",
        "calico-ipip=on",
        "windows-plugin-demands/windows-1/calico-pools",
    ),
    _turns(
        "cni-calico-strict-affinity",
        "calico-bgp-l2bridge",
        "calico-borrowing=on",
        "windows-plugin-demands/windows-1/calico-strict-affinity",
    ),
    _turns(
        "cni-eks-ipam",
        "eks-vpc-bridge",
        "windows-ipam=off",
        "windows-plugin-demands/windows-1/vpc-windows-ipam",
        beside=("pod-to-pod-ip",),  # a rule about Pods of the node has some to look at
    ),
    _turns(
        "cni-wrong-adapter",
        L2BRIDGE,
        "other-adapter=on",
        "hns-configuration/windows-1/hns-network-adapter",
    ),
    _turns(
        "flow-node-local-pod",
        OVERLAY,
        "flannel-release=11",
        "windows-plugin-demands/windows-1/flannel-release",
    ),
    _turns(
        "dns-kubelet-settings",
        L2BRIDGE,
        "own-resolver=off",
        "windows-component-configuration/windows-1/kubelet-resolv-conf",
    ),
    _turns(
        "plat-pause-image-match",
        L2BRIDGE,
        "pause-image=3",
        "windows-component-configuration/windows-1/pause-image",
    ),
    _turns(
        "cni-flannel-waiting",
        L2BRIDGE,
        "flannel-waits=on",
        "flannel-host-configuration/windows-1/flannel-network-made",
    ),
    _turns(
        "cni-flannel-rejoin",
        OVERLAY,
        "rejoined-subnet=on",
        "flannel-host-configuration/windows-1/source-vip-files",
    ),
    _turns(
        "node-services-restart",
        L2BRIDGE,
        "service-recovery=off",
        "windows-component-configuration/windows-1/kubelet-restarts",
    ),
)
