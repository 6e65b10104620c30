"""What programs the Services of a Windows node: kube-proxy's proxier for kernelspace mode, ``pkg/proxy/winkernel``.

``proxier`` has HNS program load balancers, ``endpoint_choice`` chooses backends, ``load_balancer`` has the values.
``switch_rules``, beside this package, renders them as rules. Pure.
"""

from nettests.lab.network.winkernel.held import Hns
from nettests.lab.network.winkernel.proxier import Winkernel, host_of

__all__ = ["Hns", "Winkernel", "host_of"]
