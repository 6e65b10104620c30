"""The lab's data plane: namespaces, links and rules that carry real packets of an emulated cluster.

``create_fabric`` builds the network of a profile inside namespaces that ``enter_isolated_namespaces``
has entered; ``probe_isolation`` and ``find_nft`` say beforehand whether that can work. It takes
Service tables and pod ids; it knows no API objects and runs no programs.
"""

from nettests.lab.network.fabric import LabFabric, create_fabric
from nettests.lab.network.faults import Drop
from nettests.lab.network.isolation import (
    IsolationError,
    enter_isolated_namespaces,
    probe_isolation,
)
from nettests.lab.network.nft import NftError, find_nft

__all__ = [
    "Drop",
    "IsolationError",
    "LabFabric",
    "NftError",
    "create_fabric",
    "enter_isolated_namespaces",
    "find_nft",
    "probe_isolation",
]
