"""The next step where a limit was reached: of connections, or of Services.

Beside ``advice``. Hints only: they never change a verdict.
"""

from nettests.model.check import Check
from nettests.model.service import Crowd
from nettests.model.words import OS

AFTER_PORTS = (
    "see how many ports the node hands out and how many are taken (netsh int ipv4 show dynamicport tcp, show "
    "excludedportrange tcp; netstat -ano), and which limit a NAT or an outbound rule outside has for it"
)
AFTER_PORTS_ON_LINUX = (
    "see how many ports and flows the node holds (net.ipv4.ip_local_port_range, nf_conntrack_count beside "
    "nf_conntrack_max), and which limit a NAT or an outbound rule outside has for it"
)
AFTER_CROWD = (
    "read the log of that node's kube-proxy from then on (hcnCreateLoadBalancer, 0x803b0013: the ports are used up, of which each "
    "load balancer without DSR takes 64), and compare hnsdiag list loadbalancers with the Services"
)
AFTER_CROWD_ON_LINUX = (
    "read the log of that node's kube-proxy from then on, and its metrics sync_proxy_rules_duration_seconds and "
    "network_programming_duration_seconds"
)
AFTER_LEFTOVERS = (
    "compare hnsdiag list loadbalancers with the Services: kube-proxy removes what it remembers alone; read its log from the "
    "removal on, and restart it, which clears what HNS has of it"
)
AFTER_LEFTOVERS_ON_LINUX = (
    "compare the node's rules (nft list table ip kube-proxy, iptables-save -t nat, ipvsadm -Ln) with the Services, and read the log of "
    "its kube-proxy from their removal on"
)


def after_limit(check: Check) -> str:
    """Return what to look at, in words of the source's system."""
    windows = check.source.os is OS.WINDOWS
    settings = check.target.settings
    crowd = settings.crowd if settings is not None else None
    if crowd is None:
        return AFTER_PORTS if windows else AFTER_PORTS_ON_LINUX
    if crowd is Crowd.REMOVED:
        return AFTER_LEFTOVERS if windows else AFTER_LEFTOVERS_ON_LINUX
    return AFTER_CROWD if windows else AFTER_CROWD_ON_LINUX
