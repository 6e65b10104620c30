"""The lab's data plane: namespaces, links and rules that carry real packets of an emulated cluster.

``create_fabric`` builds the network of a profile inside namespaces that ``enter_isolated_namespaces``
has entered; ``probe_isolation`` and ``find_nft`` check beforehand whether that can work. It takes
Service tables and pod ids; it does not see API objects and runs no programs.
"""

from nettests.lab.network.fabric import LabFabric as LabFabric
from nettests.lab.network.fabric import create_fabric as create_fabric
from nettests.lab.network.isolation import IsolationError as IsolationError
from nettests.lab.network.isolation import enter_isolated_namespaces as enter_isolated_namespaces
from nettests.lab.network.isolation import probe_isolation as probe_isolation
from nettests.lab.network.nft import NftError as NftError
from nettests.lab.network.nft import find_nft as find_nft
