"""Named faults of configuration and admission: edited objects, and webhooks for Pods. Values.

They test what no packet shows: rules that read API objects, and what the API server accepts and refuses.
"""

from nettests.lab.selftest.declared import Checks, NamedFault, inject
from nettests.lab.selftest.places import BRIDGE, OVERLAY, UNPROVEN, through_proxy_of

_PROXIES = "daemonset/kube-system/kube-proxy-windows"
_OF_PODS = (
    *("windows-pod-fields", "windows-container-fields", "windows-pod-restricted"),
    *("linux-pod-windows-options", "hostprocess-pod-rules", "pod-of-other-os"),
)

_WRITTEN = (
    NamedFault(
        name="vxlan-of-linux",
        summary="Flannel's ConfigMap names the VXLAN id and port that are its defaults on Linux",
        profiles=(OVERLAY,),
        injections=inject(
            "object-edited",
            object="configmap/kube-flannel/kube-flannel-cfg",
            patch='{"data": {"net-conf.json": "{\\"Network\\": \\"10.244.0.0/16\\", '
            '\\"Backend\\": {\\"Type\\": \\"vxlan\\", \\"VNI\\": 1, \\"Port\\": 8472}}"}}',
        ),
        must=(
            Checks(id="flannel-vxlan-configuration/*/vxlan-network-id"),
            Checks(id="flannel-vxlan-configuration/*/vxlan-port"),
        ),
        # HNS has the id that Flannel's network was made with, not the one that is written now.
        may=(Checks(flow="hns-configuration"),),
        names=("vxlan",),
    ),
    NamedFault(
        name="proxy-newer-than-api",
        summary="kube-proxy on Windows was upgraded to 1.34 before the API server",
        profiles=(BRIDGE,),
        injections=inject(
            "object-edited",
            object=_PROXIES,
            patch='{"spec": {"template": {"spec": {"containers": [{"name": "kube-proxy", "image": '
            '"docker.io/sigwindowstools/kube-proxy:v1.34.2-flannel-hostprocess"}]}}}}',
        ),
        must=(Checks(id="kube-proxy-configuration/*/kube-proxy-skew"),),
        names=("kube-proxy",),
    ),
    NamedFault(
        name="proxy-mode-of-linux",
        summary="kube-proxy on Windows is given the mode of Linux nodes, and ends on win-1 as it starts",
        profiles=(BRIDGE,),
        injections=inject(
            "object-edited",
            object=_PROXIES,
            patch='{"spec": {"template": {"spec": {"containers": [{"name": "kube-proxy", "args": '
            '["--hostname-override=$(NODE_NAME)", "--v=6", "--proxy-mode=nftables", "--enable-dsr=true", '
            '"--feature-gates=WinOverlay=false,WinDSR=true"]}]}}}}',
        ),
        must=(
            Checks(flow="kube-proxy-mode"),
            Checks(flow="pod-to-service-clusterip", source="win-1"),
        ),
        may=(*through_proxy_of("win-1"), Checks(flow="flannel-host-configuration", node="win-1")),
        names=("proxy of win-1",),
    ),
    NamedFault(
        name="proxy-bound-to-loopback",
        summary="kube-proxy on Windows is told to serve NodePorts at loopback addresses alone, which it ignores",
        profiles=(BRIDGE,),
        injections=inject(
            "object-edited",
            object=_PROXIES,
            patch='{"spec": {"template": {"spec": {"containers": [{"name": "kube-proxy", "args": '
            '["--hostname-override=$(NODE_NAME)", "--v=6", "--proxy-mode=kernelspace", "--enable-dsr=true", '
            '"--nodeport-addresses=127.0.0.0/8", "--feature-gates=WinOverlay=false,WinDSR=true"]}]}}}}',
        ),
        must=(Checks(id="kube-proxy-configuration/*/nodeport-addresses"),),
        names=("rule|setting|kube-proxy|nodeport",),
    ),
    NamedFault(
        name="pods-with-ipv6",
        summary="the plugin gives Pods on an overlay an IPv6 address too, which its documents deny",
        profiles=(OVERLAY,),
        mechanisms=("unasked-ipv6=on",),
        must=(Checks(flow="windows-pod-families"),),
        may=(Checks(flow="windows-cni-configuration"), Checks(flow="hns-configuration")),
        names=("ipv4|ipv6",),
    ),
    NamedFault(
        name="node-of-ipv6-alone",
        summary="win-1's kubelet names an IPv6 address of its node and no other",
        profiles=(BRIDGE,),
        injections=inject(
            "object-edited",
            object="node-status/win-1",
            patch='{"status": {"addresses": [{"type": "InternalIP", "address": "fd00:172:30::15"}, '
            '{"type": "Hostname", "address": "win-1"}]}}',
        ),
        must=(Checks(flow="windows-address-families"),),
        # There is no server at that address; a client with another address has not proven where it is; and neither
        # serves as a control: from outside that is another node's NodePort.
        may=(
            Checks(node="win-1"),
            Checks(flow="nodeport-from-external", verdict="unknown"),
            Checks(flow="nodeport-source-address", verdict="unknown"),
            *UNPROVEN,
        ),
        names=("win-1", "address"),
    ),
)

_ADMITTED = (
    NamedFault(
        name="system-stripped",
        summary="a webhook takes the name of the operating system from new Pods",
        profiles=(BRIDGE,),
        injections=inject("pods-changed", patch='{"spec": {"os": null}}'),
        must=tuple(
            Checks(flow=flow)
            for flow in (
                *("linux-pod-windows-options", "windows-pod-fields", "windows-container-fields"),
                "pod-of-other-os",
            )
        ),
        may=tuple(Checks(flow=flow) for flow in _OF_PODS),
        names=("fields|options|accepted|rejected",),
    ),
    NamedFault(
        name="system-filled-in",
        summary="a webhook names Windows as the operating system of Pods that select its nodes",
        profiles=(BRIDGE,),
        injections=inject(
            "pods-changed",
            match='{"spec": {"os": null, "nodeSelector": {"kubernetes.io/os": "windows"}}}',
            patch='{"spec": {"os": {"name": "windows"}}}',
        ),
        must=(Checks(flow="pod-fields-without-os"),),
        may=(Checks(flow="windows-pod-linux-fields"),),
        names=("pod-fields-without-os|rejected",),
    ),
    NamedFault(
        name="host-network-refused",
        summary="a webhook refuses Pods for Windows that request their node's network and are no HostProcess Pods",
        profiles=(BRIDGE,),
        injections=inject(
            "pods-refused",
            match='{"spec": {"os": {"name": "windows"}, "hostNetwork": true, '
            '"securityContext": {"windowsOptions": null}}}',
        ),
        must=(Checks(flow="windows-pod-admitted"),),
        may=(Checks(flow="pod-host-network"), Checks(flow="hostprocess-pod-rules"), *UNPROVEN),
        names=("hostNetwork|refused|rejected|denied",),
    ),
)

CONFIGURATION_FAULTS = (*_WRITTEN, *_ADMITTED)
