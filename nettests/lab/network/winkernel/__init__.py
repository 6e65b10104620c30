"""kube-proxy on a Windows node in kernelspace mode, after ``pkg/proxy/winkernel``. No side effects.

``proxier`` creates load balancers in HNS (``held``), ``endpoint_choice`` chooses backends, ``load_balancer`` has the
values. ``switch_rules``, beside this package, renders them as rules.
"""

from nettests.lab.network.winkernel.held import Hns
from nettests.lab.network.winkernel.proxier import Winkernel, host_of

__all__ = ["Hns", "Winkernel", "host_of"]
