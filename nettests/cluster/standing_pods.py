"""List once which of a run's Pods exist, by the run's label; the caller decides what it means.

``wait`` is for Pods that are not Ready yet. Here they were Ready before, and a reboot, a drain or a person may have
removed them since.
"""

from collections.abc import Collection
from typing import Any

from nettests.cluster.connection import Connection
from nettests.cluster.wait import is_standing
from nettests.model.pod_problem import problem_of

Object = dict[str, Any]


def standing_pods(
    connection: Connection, namespace: str, names: Collection[str], *, selector: str
) -> tuple[dict[str, Object], dict[str, str]]:
    """Return the Pods of ``names`` that are Ready now, and why the others are not; ``ClusterError`` without an answer."""
    listed = connection.items(f"/api/v1/namespaces/{namespace}/pods", labelSelector=selector)
    pods = {pod["metadata"]["name"]: pod for pod in listed}
    why = {name: _why_not(pods.get(name)) for name in names}
    return (
        {name: pods[name] for name in names if not why[name]},
        {name: reason for name, reason in why.items() if reason},
    )


def _why_not(pod: Object | None) -> str:
    if pod is None:
        return "it is no longer in the API"
    if "deletionTimestamp" in pod["metadata"]:
        return "it is being deleted"
    if is_standing(pod):
        return ""
    return f"it is not Ready ({problem_of(pod)})"
