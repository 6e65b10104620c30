"""The headings of pages that sources cite, as the pages have them: no section is made up.

Of pages of several releases those of all of them. A page that is not here is not compared.
"""

_INTRO = frozenset(
    {
        "Supported Functionality and Limitations",
        "Supported Functionality",
        "Limitations",
        "V1.Container",
        "V1.Pod",
        "V1.PodSecurityContext",
        "Getting Help and Troubleshooting",
        "Compatibility and limitations",  # from 1.22 on
    }
)
_GUIDE = frozenset({"Ensuring OS-specific workloads land on the appropriate container host"})

HEADINGS = {
    "Networking on Windows": frozenset(
        {
            "Container networking on Windows",
            "Network modes",
            "IP address management (IPAM)",
            "Direct Server Return (DSR)",
            "Load balancing and Services",
            "Limitations",
        }
    ),
    "Windows containers in Kubernetes": frozenset(
        {
            "Windows nodes in Kubernetes",
            "Compatibility and limitations",
            "Command line options for the kubelet; Pods",
            "Field compatibility for container specifications",
            "Field compatibility for pod specifications",
            "Pause container",
            "Windows OS version compatibility",
        }
    ),
    "Windows debugging tips": frozenset(
        {
            "Network troubleshooting",
            "My Windows Pods do not have network connectivity",
            "My Windows Pods cannot ping external resources",
            "My Windows node cannot access NodePort type Services",
            "vNICs and HNS endpoints of containers are being deleted",
            "My Windows node cannot access my services using the service IP",
            "No network adapter is found when starting the kubelet",
            "My Kubernetes installation is failing because my Windows Server node is behind a proxy",
            "With flannel, my nodes are having issues after rejoining a cluster",
            "My Windows Pods cannot launch because of missing /run/flannel/subnet.env",
        }
    ),
    "Intro to Windows support in Kubernetes": _INTRO,
    "Guide for running Windows containers in Kubernetes": _GUIDE,
    "Guide for scheduling Windows containers in Kubernetes": _GUIDE,
    "IPv4/IPv6 dual-stack": frozenset({"Services", "Windows support"}),
    "Troubleshooting Kubernetes: common problems": frozenset(
        {
            "Load balancers are plumbed inconsistently across the cluster nodes",
            "HostPort publishing is not working",
            "My Windows pods cannot ping external resources",
            "My Windows node cannot access a NodePort service",
            "My Windows node stops routing through NodePorts after I scaled down my pods",
            "After some time, vNICs and HNS endpoints of containers are being deleted",
            (
                "Pod-to-pod connectivity between hosts is broken on my Kubernetes cluster "
                "running on vSphere"
            ),
            "My Windows node cannot access my services using the service IP",
            "No network adapter is found when starting Kubelet",
        }
    ),
    "Windows container network drivers": frozenset(
        {
            "NAT network driver",
            "Transparent network driver",
            "Overlay network driver",
            "L2bridge network driver",
            "L2tunnel network driver",
            "IPAM",
            "Service Discovery",
        }
    ),
    "Windows container version compatibility": frozenset({"Windows Server host OS compatibility"}),
    "Network isolation and security": frozenset(
        {"Windows Server containers", "Kubernetes pods", "Customizing default port ACLs"}
    ),
    "Requirements for Windows nodes": frozenset(
        {"CNI and networking options", "Windows platform requirements", ""}
    ),
}
