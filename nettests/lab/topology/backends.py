"""Which backends each network plugin has in the lab, and which type of HNS network each makes. Read by ``profiles``."""

from nettests.lab.topology.cluster import Plugin

DRIVERS: dict[Plugin, tuple[tuple[str, str], ...]] = {
    Plugin.FLANNEL: (("host-gw", "l2bridge"), ("vxlan", "overlay")),
    Plugin.AZURE: (("vnet", "l2tunnel"), ("overlay", "l2bridge")),
    Plugin.ANTREA: (("geneve", "transparent"), ("vxlan", "transparent")),
    Plugin.CALICO: (("vxlan", "overlay"), ("windows-bgp", "l2bridge")),
    Plugin.SDNBRIDGE: (("routes", "l2bridge"),),
    Plugin.OVN_KUBERNETES: (("hybrid-overlay", "overlay"),),
    Plugin.VPC: (("vpc", "l2bridge"),),
}
"""Backends of each plugin, and the HNS network that they make."""

ROUTED = frozenset({"host-gw", "routes"})
"""Backends that the lab wires in both families."""
