"""The name by which a run's cluster is recognised. Pure.

Facts hold no identity of a cluster (decision 0054), so clusters are told apart by the API server's host and port. If
that is this machine itself, as for tunnels and labs, whose ports change, the kubeconfig's context is used.
"""

from ipaddress import ip_address
from urllib.parse import urlsplit

from nettests.compare.recorded import RecordedRun


def cluster_of(run: RecordedRun) -> str:
    """Return the name of a run's cluster: ``api.staging:6443``, or ``context kind-a at this machine``."""
    return cluster_name(run.run.server, run.run.context)


def cluster_name(server: str, context: str) -> str:
    """Return the same for the API server's address and the kubeconfig's context."""
    host, port = _address(server)
    if _is_loopback(host):
        return f"context {context or 'of no name'} at this machine"
    return f"{host}:{port}" if port else host


def is_this_machine(server: str) -> bool:
    """Whether an API server's address is this machine's own, as of a tunnel or a lab: it identifies no cluster."""
    return _is_loopback(_address(server)[0])


def _address(server: str) -> tuple[str, str]:
    # samples: "https://api.staging.test:6443", "https://[::1]:35035"
    try:
        parts = urlsplit(server)
        return parts.hostname or server, str(parts.port or "")
    except ValueError:
        return server, ""


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host in {"", "localhost"}
