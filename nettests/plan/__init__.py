"""Which checks apply to a cluster: same facts, same flows, same plan, in the same order.

Suites declare flows (``flow``), and ``declarations`` collects them. ``build`` names the stages in their
order: node pools (``node_pools``) → cells (``matrix``) → questions (``questions``, ``actions``) →
skips (``applicability``) → controls (``controls``) → needs (``needs``).
Everything except loading suite modules is pure; nothing here knows pytest or the Kubernetes API.
"""

from nettests.model.payload import ONE_MIB, SIXTY_FOUR_KIB
from nettests.model.service import ByHand, Change, Crowd, ServiceSettings
from nettests.plan import cases, pods
from nettests.plan.build import build
from nettests.plan.declarations import Registry, flow, flow_of, load
from nettests.plan.flow import (
    Backing,
    Flow,
    Matrix,
    Members,
    NameForm,
    read_classes,
    without_checks,
)
from nettests.plan.selection import Choice
from nettests.plan.targets import LOAD_BALANCED

__all__ = [
    "LOAD_BALANCED",
    "ONE_MIB",
    "SIXTY_FOUR_KIB",
    "Backing",
    "ByHand",
    "Change",
    "Choice",
    "Crowd",
    "Flow",
    "Matrix",
    "Members",
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
    "without_checks",
]
