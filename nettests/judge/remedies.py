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
    "dsr-update": "install KB4571748 or a later cumulative update, or set --enable-dsr=false",
    "control-plane-on-linux": "move the control plane to Linux nodes; Windows nodes are workers only",
    "vxlan-network-id": "set VNI to 4096 or above in net-conf.json of Flannel's ConfigMap: HNS refuses lower "
    "ones and flanneld ends",
    "vxlan-port": "set Port to 4789 in net-conf.json of Flannel's ConfigMap, and open UDP 4789 both ways",
    "vxlan-options": "remove DirectRouting and GBP from net-conf.json of Flannel's ConfigMap",
    "calico-build": "install KB4571748 or later on Windows Server 2019, a current update on 2022: Calico's "
    "policies need DSR",
    "antrea-alone": "remove kube-proxy from Windows nodes: AntreaProxy serves all Services (proxyAll)",
    "ipv4-address": "give the node an IPv4 address: Windows supports IPv4 or both families, never IPv6 alone",
    "pod-families": "see that the node has podCIDRs of both families, that its plugin is dual-stack (win-bridge and "
    "win-overlay are not) and that Windows is new enough (2004, build 19041.610)",
    "sdnbridge-dual-stack": "make the HNS network of type L2Bridge, with a subnet of each family, before the first Pod "
    "starts: sdnbridge makes none for two families",
    "overlay-pods-ipv4": "the documents deny IPv6 on overlay: see which plugin gave it, and ask the flows "
    "over it before anything relies on it",
    "calico-pods-ipv4": "the documents deny IPv6 with Calico on Windows: see which pool gave it, and ask the "
    "flows over it before anything relies on it",
    "hns-network": "compare Get-HnsNetwork with KUBE_NETWORK; where no network was made, check the name of "
    "the physical adapter (InterfaceName of start.ps1) and restart flanneld",
    "hns-network-type": "remove the HNS network of another type and let the plugin make its own "
    "(Get-HnsNetwork, Remove-HnsNetwork)",
    "hns-network-subnet": "the node has rejoined with another subnet: remove the old HNS network and "
    "C:\\k\\SourceVip.json, C:\\k\\SourceVipRequest.json, then restart flanneld",
    "pod-endpoints": "check KUBE_NETWORK and --hostname-override of kube-proxy, and the network's name in the "
    "CNI configuration; on virtual machines allow MAC spoofing",
    "outbound-nat": "put the cluster, Service and (on l2bridge) management subnets into ExceptionList in the CNI "
    "configuration, take outside addresses out of it, and recreate the pods",
    "nat-unused": "name the plugin's network in the CNI configuration: pods came to the runtime's default one",
    "loopback-dsr-update": "install KB4571748 or a later cumulative update, or remove loopbackDSR "
    "from the CNI configuration",
    "load-balancers": "compare Get-HnsPolicyList with the Services; read kube-proxy's log for HNS errors, "
    "then restart kube-proxy, which writes all policies anew",
    "load-balancer-backends": "compare References of Get-HnsPolicyList and Get-HnsEndpoint with the EndpointSlices; "
    "restart kube-proxy, which writes all policies anew",
    "local-policy-load-balancers": "a bug of kube-proxy before 1.27: update it, or back the Service on this node "
    "too, or set externalTrafficPolicy Cluster",
    "stale-load-balancers": "restart kube-proxy, which removes all policies and writes those of Services anew; "
    "from 1.26 on it leaks none",
    "empty-source-vip": "compare kube-proxy's version with its release notes, and see who else writes load balancers "
    "into HNS: on l2bridge replies to another address than the node's may not find the way back",
    "running-build": "restart the kubelet: it reports the build with which it was started",
    "virtual-adapter": "creation of the virtual network has failed: Get-NetAdapter | ? Name -Like "
    "'vEthernet (Ethernet*' shows nothing; set InterfaceName of start.ps1 to the physical adapter",
    "node-ports-free": "move the range: netsh int ipv4 set dynamicport tcp start=49152 num=16384, or delete "
    "the exclusion",
    "port-pools-left": "enable DSR, which rewrites no source, or install KB4551853 or later, from which on "
    "load balancers share a pool",
    "processes-running": "start what is missing: kubelet, kube-proxy and flanneld have to run before anything "
    "else is looked at",
    "subnet-file": "restart flanneld, or copy /run/flannel/subnet.env of a Linux node to C:\\run\\flannel and "
    "set FLANNEL_SUBNET to the node's pod CIDR",
    "cni-network": "give the CNI configuration and KUBE_NETWORK the same name",
    "cni-exceptions": "put the cluster, Service and (on l2bridge) management subnets into ExceptionList in the CNI "
    "configuration, and take outside addresses out of it; it applies to new pods",
    "cni-routes": "add ROUTE policies with NeedEncap for the Service subnet and, on l2bridge, the node's own "
    "address (/32) to the CNI configuration",
    "cni-version": "write an older cniVersion into the CNI configuration, or install release 1.0.1 or later of "
    "the plugins: one that does not know the version starts no pod",
    "policy-form": "write the file as sig-windows-tools does for containerd: sdnbridge (host-gw) or sdnoverlay (vxlan), "
    "each policy with Settings; with win-bridge or win-overlay add apiVersion: 2; the plugin refuses what it does not "
    "know, or leaves it out without a word",
    "cni-ipam": "name host-local in the CNI configuration (azure-vnet-ipam with Azure CNI, calico-ipam with "
    "Calico), and see that the node's pod CIDR is the range it hands out",
    "win-bridge-pods-ipv4": "the documents deny IPv6 with these plugins: see which plugin gave it; "
    "both families need sdnbridge or Azure CNI",
    "pod-gateway": "compare the HNS network's subnet with the node's pod CIDR; remove an HNS network of an "
    "earlier life of the node and restart the plugin's daemon; with sdnbridge on Flannel's network set "
    "forceBridgeGateway among optionalFlags",
    "overlay-network-id": "make the HNS network again with a network id of 4096 or above and UDP port 4789: "
    "the other nodes have to use the same",
    "hybrid-overlay-id": "let the hybrid overlay make its HNS network again: Linux nodes send to Windows nodes "
    "with network id 4097 only",
    "calico-networking": "install Calico 3.16 or later, or give it CALICO_NETWORKING_BACKEND=none beside another "
    "network plugin",
}
UNKNOWN_RULE = "compare what was found with what the documents demand"
