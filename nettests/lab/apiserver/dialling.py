"""Connection errors in the words of Go's ``net`` package, as clients of a real API server read them."""

import errno

from nettests.lab.apiserver.call import Call

_TEXTS = {
    errno.ECONNREFUSED: "connect: connection refused",
    errno.EHOSTUNREACH: "connect: no route to host",
    errno.ENETUNREACH: "connect: network is unreachable",
    errno.ECONNRESET: "read: connection reset by peer",
    errno.ETIMEDOUT: "i/o timeout",
}


def go_text(error: OSError) -> str:
    """Return what Go says of a failed connect or read."""
    if isinstance(error, TimeoutError):
        return _TEXTS[errno.ETIMEDOUT]
    return _TEXTS.get(error.errno or 0, str(error.strerror or error).lower())


def dial_text(address: str, port: int, error: OSError) -> str:
    """Return ``dial tcp address:port: …``."""
    return f"dial tcp {address}:{port}: {go_text(error)}"


def forward_error(call: Call, port: int, error: Exception) -> str:
    """Return what a kubelet says when it cannot reach a port in a pod; the words are containerd's."""
    record = call.server.store.get(call.resource.key, call.namespace, call.name)
    uid = record.body["metadata"]["uid"].replace("-", "") if record else ""
    sandbox = (uid * 2)[:64]
    detail = str(error)
    if isinstance(error, OSError):
        text = go_text(error)
        detail = (
            f'failed to execute portforward in network namespace "/var/run/netns/cni-{uid}": failed '
            f'to connect to localhost:{port} inside namespace "{sandbox}", IPv4: dial tcp4 '
            f"127.0.0.1:{port}: {text} IPv6 dial tcp6 [::1]:{port}: {text} "
        )
    return f"error forwarding port {port} to pod {sandbox}, uid : {detail}"
