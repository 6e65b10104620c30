"""All rules of configuration by their names, which are the labels of cases in check ids."""

from collections.abc import Mapping

from nettests.rules import (
    cni,
    hns,
    kube_proxy,
    load_balancers,
    node,
    plugin,
    policies,
    windows,
)
from nettests.rules.evidence import Rule

_PROXY = (kube_proxy.PODS, kube_proxy.LOG)
_BALANCED = (
    hns.SERVICES,
    hns.SLICES,
    hns.POLICIES,
    load_balancers.ENDPOINTS_BESIDE,
    load_balancers.SLICES_AFTER,
    hns.SERVICES_AFTER,
)
_PORTS = (windows.DYNAMIC, windows.EXCLUDED)

RULES: Mapping[str, Rule] = {
    "proxy-mode": Rule(readings=_PROXY, judge=kube_proxy.proxy_mode),
    "hostname-override": Rule(readings=_PROXY, judge=kube_proxy.hostname_override),
    "network-name": Rule(readings=_PROXY, judge=kube_proxy.network_name),
    "source-vip": Rule(readings=_PROXY, judge=kube_proxy.source_vip),
    "dsr-gate": Rule(readings=_PROXY, judge=kube_proxy.dsr_gate),
    "overlay-gate": Rule(readings=_PROXY, judge=kube_proxy.overlay_gate),
    "kube-proxy-skew": Rule(readings=_PROXY, judge=kube_proxy.kube_proxy_skew),
    "kubelet-skew": Rule(readings=(node.NODE,), judge=node.kubelet_skew),
    "windows-build-label": Rule(readings=(node.NODE,), judge=node.windows_build_label),
    "windows-taint": Rule(readings=(node.NODE,), judge=node.windows_taint),
    "update-not-broken": Rule(readings=(node.NODE,), judge=node.update_not_broken),
    "overlay-update": Rule(readings=(node.NODE,), judge=node.overlay_update),
    "dsr-update": Rule(readings=(node.NODE,), judge=node.dsr_update),
    "control-plane-on-linux": Rule(readings=(node.NODES,), judge=node.control_plane_on_linux),
    "vxlan-network-id": Rule(readings=(node.FLANNEL,), judge=node.vxlan_network_id),
    "vxlan-port": Rule(readings=(node.FLANNEL,), judge=node.vxlan_port),
    "vxlan-options": Rule(readings=(node.FLANNEL,), judge=node.vxlan_options),
    "calico-build": Rule(readings=(node.NODE,), judge=plugin.calico_build),
    "antrea-alone": Rule(readings=(kube_proxy.PODS,), judge=plugin.antrea_alone),
    "ipv4-address": Rule(readings=(node.NODE,), judge=plugin.ipv4_address),
    "pod-families": Rule(readings=(kube_proxy.PODS,), judge=plugin.pod_families),
    "sdnbridge-dual-stack": Rule(readings=(cni.CNI, hns.NETWORKS), judge=cni.sdnbridge_dual_stack),
    "overlay-pods-ipv4": Rule(readings=(kube_proxy.PODS,), judge=plugin.pods_ipv4),
    "calico-pods-ipv4": Rule(readings=(kube_proxy.PODS,), judge=plugin.pods_ipv4),
    "calico-networking": Rule(readings=(kube_proxy.PODS,), judge=plugin.calico_networking),
    "hns-network": Rule(readings=(*_PROXY, hns.NETWORKS), judge=hns.hns_network),
    "hns-network-type": Rule(readings=(*_PROXY, hns.NETWORKS), judge=hns.hns_network_type),
    "hns-network-subnet": Rule(readings=(*_PROXY, hns.NETWORKS), judge=hns.hns_network_subnet),
    "pod-endpoints": Rule(
        readings=(*_PROXY, hns.ENDPOINTS, hns.PODS_AFTER), judge=hns.pod_endpoints
    ),
    "outbound-nat": Rule(readings=(kube_proxy.PODS, hns.ENDPOINTS), judge=hns.outbound_nat),
    "nat-unused": Rule(
        readings=(kube_proxy.PODS, hns.NETWORKS, hns.ENDPOINTS), judge=hns.nat_unused
    ),
    "pod-gateway": Rule(readings=(kube_proxy.PODS, hns.ENDPOINTS), judge=hns.pod_gateway),
    "overlay-network-id": Rule(readings=(hns.NETWORKS,), judge=hns.overlay_network_id),
    "hybrid-overlay-id": Rule(readings=(hns.NETWORKS,), judge=hns.hybrid_overlay_id),
    "load-balancers": Rule(readings=_BALANCED, judge=load_balancers.load_balancers),
    "load-balancer-backends": Rule(readings=_BALANCED, judge=load_balancers.load_balancer_backends),
    "local-policy-load-balancers": Rule(
        readings=_BALANCED, judge=load_balancers.local_policy_load_balancers
    ),
    "stale-load-balancers": Rule(
        readings=(hns.SERVICES, hns.POLICIES, hns.SERVICES_AFTER),
        judge=load_balancers.stale_load_balancers,
    ),
    "empty-source-vip": Rule(readings=(hns.POLICIES,), judge=hns.empty_source_vip),
    "running-build": Rule(readings=(node.NODE, windows.VERSION), judge=windows.running_build),
    "virtual-adapter": Rule(readings=(windows.ADAPTERS,), judge=windows.virtual_adapter),
    "node-ports-free": Rule(readings=_PORTS, judge=windows.node_ports_free),
    "port-pools-left": Rule(readings=_PORTS, judge=windows.port_pools_left),
    "processes-running": Rule(readings=(windows.PROCESSES,), judge=windows.processes_running),
    "subnet-file": Rule(readings=(windows.SUBNET,), judge=windows.subnet_file),
    "cni-network": Rule(readings=(*_PROXY, cni.CNI), judge=windows.cni_network),
    "cni-exceptions": Rule(readings=(cni.CNI, kube_proxy.PODS), judge=windows.cni_exceptions),
    "loopback-dsr-update": Rule(readings=(node.NODE, cni.CNI), judge=windows.loopback_dsr_update),
    "cni-routes": Rule(readings=(cni.CNI, kube_proxy.PODS), judge=windows.cni_routes),
    "cni-version": Rule(readings=(cni.CNI, *cni.ABOUT.values()), judge=cni.cni_version),
    "policy-form": Rule(readings=(cni.CNI,), judge=policies.policy_form),
    "cni-ipam": Rule(readings=(cni.CNI, kube_proxy.PODS), judge=cni.cni_ipam),
    "win-bridge-pods-ipv4": Rule(
        readings=(cni.CNI, kube_proxy.PODS), judge=cni.win_bridge_pods_ipv4
    ),
}
