"""What to do about a configuration that deviates, by the name of its rule.

Used by ``advice``. The steps are those of the Kubernetes documentation ("Windows debugging tips", formerly
the troubleshooting section of "Windows containers in Kubernetes") and of Microsoft's "Common problems".
"""

REMEDIES = {
    "proxy-mode": "give kube-proxy --proxy-mode=kernelspace on Windows nodes; without it versions before "
    "1.26 run the userspace proxy",
    "hostname-override": "start kube-proxy with --hostname-override=$(hostname): with another name it "
    "takes the node's own endpoints for remote ones and deletes the vNICs of its containers",
    "network-name": "set KUBE_NETWORK (cbr0 for host-gw, vxlan0 or flannel.4096 for vxlan) in kube-proxy's "
    "environment, or give --network-name",
    "source-vip": "on overlay reserve an address of the node's subnet and give it as --source-vip; after a "
    "node has rejoined remove C:\\k\\SourceVip.json and C:\\k\\SourceVipRequest.json, which hold the old one",
    "dsr-gate": "give kube-proxy --feature-gates=WinDSR=true beside --enable-dsr",
    "overlay-gate": "give kube-proxy --feature-gates=WinOverlay=true",
    "kube-proxy-skew": "bring kube-proxy to the version of the node's kubelet",
    "kubelet-skew": "upgrade the node: see the version-skew policy",
    "windows-build-label": "look at the kubelet: it sets the label itself from 1.17 on; RuntimeClasses and "
    "node selectors rely on it",
    "windows-taint": "register the kubelet with --register-with-taints=os=windows:NoSchedule, or keep Linux "
    "pods away with node selectors",
    "update-not-broken": "install a later cumulative update (KB5044281 or newer) and restart the node",
    "overlay-update": "install KB4489899 or a later cumulative update",
    "dsr-update": "install the cumulative update of May 2020 or a later one, or set --enable-dsr=false",
    "control-plane-on-linux": "move the control plane to Linux nodes; Windows nodes are workers only",
    "vxlan-network-id": "set VNI to 4096 or above in net-conf.json of Flannel's ConfigMap: HNS refuses lower "
    "ones and flanneld ends",
    "vxlan-port": "set Port to 4789 in net-conf.json of Flannel's ConfigMap, and open UDP 4789 both ways",
    "vxlan-options": "remove DirectRouting and GBP from net-conf.json of Flannel's ConfigMap",
    "calico-build": "install KB4571748 or later on Windows Server 2019, a current update on 2022: Calico's "
    "policies need DSR",
    "antrea-alone": "remove kube-proxy from Windows nodes: AntreaProxy serves all Services (proxyAll)",
    "ipv4-address": "give the node an IPv4 address: Windows supports IPv4 or both families, never IPv6 alone",
    "overlay-pods-ipv4": "the documents deny IPv6 on overlay: see which plugin gave it, and ask the flows "
    "over it before anything relies on it",
    "calico-pods-ipv4": "the documents deny IPv6 with Calico on Windows: see which pool gave it, and ask the "
    "flows over it before anything relies on it",
}
UNKNOWN_RULE = "compare what was found with what the documents demand"
