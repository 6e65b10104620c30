"""Answers of the API server, and what a failure means.

Used by ``connection``; nothing is sent here. ``judge.refusals`` reads refusals by admission.
"""

from dataclasses import dataclass

from nettests.errors import ClusterError
from nettests.judge.refusals import AFTER_REFUSAL, is_of_rbac, refusal_of
from nettests.model.json_text import read_json

RETRIED = frozenset({429, 500, 502, 503, 504})


class ApiError(ClusterError):
    """The API server answered with a failure."""

    def __init__(self, message: str, *, status: int, reason: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.reason = reason
        self.forbidden = status == 403


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An HTTP response of the API server, or of a server behind its proxy."""

    status: int
    body: bytes
    content_type: str = ""
    retry_after: str | None = None

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode(errors="replace")


class SilentError(ClusterError):
    """The API server accepted the request and did not answer in time."""


class SlowError(ClusterError):
    """The API server began to answer and did not finish in time: another try would take as long."""


class ClosedError(ClusterError):
    """The connection was closed meanwhile: the run is over."""


class TlsError(ClusterError):
    """The API server's certificate is not the one that the kubeconfig trusts."""


def distrust(reason: str) -> str:
    """Return a hint for an untrusted certificate; a wrong clock makes valid ones invalid."""
    # sample: certificate verify failed: certificate is not yet valid (_ssl.c:1028), … certificate has expired
    if "not yet valid" in reason or "has expired" in reason:
        return (
            "compare this machine's clock with the cluster's (`date -u` on both), and see when the API server's certificate "
            "ends (`kubeadm certs check-expiration`)"
        )
    return "does certificate-authority-data of this context belong to this cluster?"


class HandshakeError(Exception):
    """A WebSocket was not opened: it was refused with ``status``, or the answer was invalid."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retry_after: str | None = None,
        of_the_node: bool = False,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after
        self.of_the_node = of_the_node
        """Whether the API server could not reach the node: another try would fail as well."""


def refusal(answer: Answer, phrase: str) -> HandshakeError:
    """Return the error for a refused WebSocket: status line and message, no headers."""
    try:
        message = f": {read_json(answer.body)['message']}"
    except (ValueError, KeyError, TypeError):
        message = ""
    return HandshakeError(
        f"Handshake status {answer.status} {phrase}{message}",
        status=answer.status,
        retry_after=answer.retry_after,
        # sample: error dialing backend: dial tcp 172.30.0.11:10250: connect: connection refused
        of_the_node="dialing backend" in answer.text,
    )


def failure(method: str, path: str, answer: Answer, server: str, context: str) -> ApiError:
    """Return the error for an answer that is a failure."""
    try:
        status = read_json(answer.body)
        message, reason = str(status["message"]), str(status.get("reason", ""))
    except (ValueError, KeyError, TypeError, AttributeError):
        message, reason = answer.text.strip() or "no message", ""
    if answer.status == 401:
        return ApiError(
            f"the API server {server} does not accept the credentials of context "
            f"{context}: {message}",
            status=401,
            reason=reason,
            hint="the token or certificate is wrong or has expired; log in again",
        )
    return ApiError(
        f"{method} {path}: {answer.status} {reason}: {message}",
        status=answer.status,
        reason=reason,
        hint=_next_step(answer.status, message, server, context),
    )


def _next_step(status: int, message: str, server: str, context: str) -> str:
    # sample: User "system:anonymous" cannot list resource "nodes" in API group "" at the …
    if status == 403 and '"system:anonymous"' in message:
        return (
            f"context {context} gives no credentials, or the helper that should fetch them "
            "fails: try `kubectl auth whoami`"
        )
    if refusal := refusal_of(message):
        return refusal.next_step
    # sample: pods "p" is forbidden: image policy webhook backend denied one or more images
    if status == 403 and '" is forbidden: ' in message and not is_of_rbac(message):
        return AFTER_REFUSAL
    if status == 403:
        return "grant the role in manifests/rbac, or use a context that may do so"
    if status in RETRIED:
        return f"{server} itself is in trouble; look at its health, then run again"
    return ""
