"""Whether a node admits a pod that is bound to it: the kubelet's admit handlers, as far as the lab needs them. Pure."""

from nettests.lab.client import Json
from nettests.lab.controllers.scheduling import selects
from nettests.lab.node.status import Rejection
from nettests.lab.topology import NodeSpec, Profile


def refusal(pod: Json, node: Json | None, spec: NodeSpec, profile: Profile) -> Rejection | None:
    """Say why the node does not admit the pod; ``node`` is its object, once the agent has seen it."""
    wanted = (pod["spec"].get("os") or {}).get("name")
    looks = bool(profile.mechanism("pod-os", 1))
    if looks and wanted and wanted != spec.os.value:
        return Rejection(
            reason="PodOSNotSupported",
            message="Failed to admit pod as the OS field doesn't match node OS",
        )
    if node is not None and not selects(pod, node):
        return Rejection(
            reason="NodeAffinity",
            message="Predicate NodeAffinity failed: "
            "node(s) didn't match Pod's node affinity/selector",
        )
    return None
