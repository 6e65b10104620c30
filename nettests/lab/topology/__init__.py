"""The emulated cluster: its values, the profile files that they are read from, and switchable mechanisms.

``cluster`` has the values, which every part of the lab uses; ``profiles`` reads them, and ``mechanisms``
lists what a user may switch against them. Nothing here creates a namespace or opens a socket.
"""

from nettests.lab.topology.cluster import GENEVE as GENEVE
from nettests.lab.topology.cluster import LINUX_MODE as LINUX_MODE
from nettests.lab.topology.cluster import OS as OS
from nettests.lab.topology.cluster import PRODUCTS as PRODUCTS
from nettests.lab.topology.cluster import Address as Address
from nettests.lab.topology.cluster import Backend as Backend
from nettests.lab.topology.cluster import Cni as Cni
from nettests.lab.topology.cluster import Driver as Driver
from nettests.lab.topology.cluster import Ipam as Ipam
from nettests.lab.topology.cluster import IPv6Networks as IPv6Networks
from nettests.lab.topology.cluster import KubeProxy as KubeProxy
from nettests.lab.topology.cluster import Network as Network
from nettests.lab.topology.cluster import NodeIPv6 as NodeIPv6
from nettests.lab.topology.cluster import NodeSpec as NodeSpec
from nettests.lab.topology.cluster import Options as Options
from nettests.lab.topology.cluster import Plugin as Plugin
from nettests.lab.topology.cluster import Profile as Profile
from nettests.lab.topology.cluster import ProxyMode as ProxyMode
from nettests.lab.topology.cluster import ServicePort as ServicePort
from nettests.lab.topology.cluster import ServiceTable as ServiceTable
from nettests.lab.topology.cluster import of_family as of_family
from nettests.lab.topology.windows_settings import Shim as Shim
from nettests.lab.topology.windows_settings import WindowsSettings as WindowsSettings
from nettests.lab.topology.windows_settings import shim_of as shim_of
