"""nft rules by which a Linux node's pods leave the cluster: Flannel's ``--ip-masq``. A pure renderer."""

from nettests.lab.network.tables import Chain, Table, word
from nettests.lab.topology import Network

_MULTICAST = {"ip": "224.0.0.0/4", "ip6": "ff00::/8"}


def flannel_table(*, cluster_cidr: Network, pod_cidr: Network) -> Table:
    """Return the table of one family: pods leave with the node's address, ICMP too."""
    ip = word(pod_cidr.network_address)
    rules = (
        f"{ip} saddr {cluster_cidr} {ip} daddr {cluster_cidr} return",
        f"{ip} saddr {cluster_cidr} {ip} daddr != {_MULTICAST[ip]} masquerade fully-random",
        f"{ip} saddr != {cluster_cidr} {ip} daddr {pod_cidr} return",
        f"{ip} saddr != {cluster_cidr} {ip} daddr {cluster_cidr} masquerade fully-random",
    )
    hook = "type nat hook postrouting priority 110"
    return Table(name="flannel", family=ip, chains={"masquerading": Chain(hook=hook, rules=rules)})
