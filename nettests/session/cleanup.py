"""Identify a run, and remove what it created and nothing else: the last stage."""

import getpass
import socket
from datetime import UTC, datetime, timedelta

from nettests.cluster import Connection
from nettests.cluster.apply import CreatedObjects, delete_run
from nettests.cluster.ownership import Ownership
from nettests.errors import ClusterError

EXPIRES_AFTER = timedelta(hours=6)
"""After so long no run lives, and what was kept is removed by whoever collects leftovers."""


def ownership(run_id: str) -> Ownership:
    """Return the marks of a run that starts now."""
    try:
        owner = f"{getpass.getuser()}.{socket.gethostname()}"
    except (KeyError, OSError):  # an identity without a name, as in a container
        owner = socket.gethostname()
    now = datetime.now(UTC).replace(microsecond=0)
    return Ownership(run=run_id, owner=owner, created=now, expires=now + EXPIRES_AFTER)


def clean_up(
    connection: Connection,
    marks: Ownership,
    created: CreatedObjects,
    *,
    wait: float,
    namespace: str | None = None,
) -> str:
    """Delete what the run made; return what is left and how to remove it, or nothing.

    ``namespace`` is the one of others that the run used instead of its own.
    """
    try:
        delete_run(connection, marks, created, wait=wait, namespace=namespace)
    except ClusterError as error:
        where = f" --namespace {namespace}" if namespace else ""
        return f"{error.message}; remove it with: nettests gc --run {marks.run}{where} --yes"
    return ""
