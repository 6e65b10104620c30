"""Remove what a run created, found by its label, and nothing else.

The last stage of a run, and all that a run killed half-way needs: no state file is read.
"""

import getpass
import socket
import time

from nettests.cluster import Connection
from nettests.cluster.apply import Ownership, delete_run
from nettests.errors import ClusterError

EXPIRES_AFTER = 6 * 3600
"""Seconds after which anybody may remove what a run left behind."""


def ownership(run_id: str) -> Ownership:
    """Return the labels of a run that starts now."""
    try:
        owner = f"{getpass.getuser()}.{socket.gethostname()}"
    except (KeyError, OSError):  # an identity without a name, as in a container
        owner = socket.gethostname()
    return Ownership(run=run_id, owner=owner, expires=int(time.time()) + EXPIRES_AFTER)


def clean_up(connection: Connection, run_id: str, *, wait: float) -> str:
    """Delete the run's objects; return what is left and how to remove it, or nothing."""
    try:
        delete_run(connection, run_id, wait=wait)
    except ClusterError as error:
        return (
            f"{error.message}; remove it with: kubectl delete namespace -l "
            f"nettests.dev/run={run_id}"
        )
    return ""
