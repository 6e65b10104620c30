"""Which cluster is emulated: its values, the profile files they are read from, the mechanisms that are switched.

``cluster`` holds the values, which every part of the lab is handed; ``profiles`` reads them, and
``mechanisms`` names what a user may switch against them. Nothing here creates a namespace or opens a socket.
"""

from nettests.lab.topology.cluster import (
    GENEVE,
    LINUX_MODE,
    OS,
    PRODUCTS,
    Address,
    Backend,
    Cni,
    Driver,
    Ipam,
    IPv6Networks,
    KubeProxy,
    Network,
    NodeIPv6,
    NodeSpec,
    Options,
    Plugin,
    Profile,
    ProxyMode,
    ServicePort,
    ServiceTable,
    of_family,
)
from nettests.lab.topology.windows_settings import Shim, WindowsSettings, shim_of

__all__ = [
    "GENEVE",
    "LINUX_MODE",
    "OS",
    "PRODUCTS",
    "Address",
    "Backend",
    "Cni",
    "Driver",
    "IPv6Networks",
    "Ipam",
    "KubeProxy",
    "Network",
    "NodeIPv6",
    "NodeSpec",
    "Options",
    "Plugin",
    "Profile",
    "ProxyMode",
    "ServicePort",
    "ServiceTable",
    "Shim",
    "WindowsSettings",
    "of_family",
    "shim_of",
]
