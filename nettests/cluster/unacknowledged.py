"""Remove the Pods of a run that no kubelet has acted on, at its end.

Nothing of them was started, and a silent kubelet would never confirm their deletion: the namespace would stay until
somebody removes the node. Pods that were started end by their grace period and are not handled here.
"""

from contextlib import suppress

from nettests.cluster.apply import owned_objects, path_of
from nettests.cluster.connection import Connection
from nettests.cluster.ownership import Ownership
from nettests.cluster.undo import CreatedObjects
from nettests.errors import ClusterError
from nettests.model.pod_problem import is_unacknowledged


def delete_unacknowledged(
    connection: Connection, marks: Ownership, created: CreatedObjects, namespace: str
) -> None:
    """Delete these Pods without a grace period, each only in the version read: one that a kubelet has accepted meanwhile stays."""
    with suppress(ClusterError):  # the removal of the rest finds and names what stays
        for pod in owned_objects(connection, "Pod", marks.run, namespace):
            if Ownership.of(pod) == marks and created.holds(pod) and is_unacknowledged(pod):
                seen = {key: pod["metadata"][key] for key in ("uid", "resourceVersion")}
                connection.request(
                    "DELETE",
                    f"{path_of(pod)}/{pod['metadata']['name']}",
                    body={"gracePeriodSeconds": 0, "preconditions": seen},
                )
