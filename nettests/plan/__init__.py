"""Which checks apply to a cluster: same facts, same flows, same plan, in the same order.

Suites declare flows (``flow``), the ``registry`` collects them, ``cast`` chooses the nodes that play,
``matrix`` crosses them, ``controls`` adds positive controls and ``build`` puts the plan together.
Everything but the loading of suite modules is pure; nothing here knows pytest or Kubernetes' API.
"""

from nettests.model.service import ByHand, ServiceSettings
from nettests.plan import cases, pods
from nettests.plan.build import build
from nettests.plan.classes import read_classes
from nettests.plan.flow import Backing, Flow, Matrix, NameForm, flow, flow_of
from nettests.plan.registry import Registry, load
from nettests.plan.targets import LOAD_BALANCED

__all__ = [
    "LOAD_BALANCED",
    "Backing",
    "ByHand",
    "Flow",
    "Matrix",
    "NameForm",
    "Registry",
    "ServiceSettings",
    "build",
    "cases",
    "flow",
    "flow_of",
    "load",
    "pods",
    "read_classes",
]
