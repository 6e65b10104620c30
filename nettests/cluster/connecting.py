"""Choose a cluster and open a connection to it; report first if either does not work.

Every command that reads a cluster starts here. ``connection`` sends the later requests.
"""

from pathlib import Path

from nettests.cluster.connection import Connection
from nettests.cluster.kubeconfig import choose
from nettests.errors import ClusterError
from nettests.model.cluster_profile import Timing
from nettests.model.versions import KubernetesVersion


def connect(
    kubeconfig: Path | None,
    context: str | None,
    timing: Timing | None = None,
) -> Connection:
    """Choose a context, connect and request the version, so that errors show at once."""
    connection = Connection(choose(kubeconfig, context), timing)
    server_version(connection)
    return connection


def server_version(connection: Connection) -> tuple[KubernetesVersion, str]:
    """Return the API server's version, parsed and as ``gitVersion``; requested only once."""
    if connection.version is None:
        connection.version = str(connection.get("/version").get("gitVersion", ""))
    text = connection.version
    try:
        return KubernetesVersion.parse(text), text
    except ValueError as error:
        raise ClusterError(
            f"{connection.server} answers /version with {text!r}, which is no Kubernetes version"
        ) from error
