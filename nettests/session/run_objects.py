"""The objects that a run holds in the cluster, from namespace and Lease to Pods, and their removal.

Used by ``Run``, and by commands that need Pods for a while. Options and the run's result decide
whether objects are kept. Only what was created through the ``Access`` of ``begin`` is removed.
"""

import getpass
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from nettests.cluster import Connection
from nettests.cluster.access import Access
from nettests.cluster.apply import CreatedObjects, delete_run, delete_unacknowledged
from nettests.cluster.owner_marks import Lease, Ownership
from nettests.errors import ClusterError
from nettests.model.cluster_profile import Timing
from nettests.model.labels import RUN_LABEL
from nettests.session.prepare import Prepared
from nettests.session.run_options import Keep

FAILED = frozenset({1, 6})
"""Exit codes of a run that found something: red verdicts, or only unknown ones."""


@dataclass(slots=True)
class RunObjects:
    """The objects of one run; ``shared`` if ``namespace`` existed before the run."""

    connection: Connection
    run_id: str
    namespace: str
    timing: Timing
    keep: Keep
    shared: bool = False
    touched: bool = False
    """Whether anything may have been created."""
    gone: bool = False
    left_behind: str = ""
    """What could not be removed, and how to remove it."""
    kept: str = ""
    """That objects were kept, and how to inspect and remove them."""
    _waited: float = 0
    """Seconds spent waiting for the removal; a second attempt gets only the rest."""
    _lease: Lease | None = None
    _access: Access | None = None

    @classmethod
    def of(cls, prepared: Prepared, keep: Keep) -> "RunObjects":
        """Return the objects of a run, in a namespace of its own or in the chosen existing one."""
        existing = prepared.blueprint.facts.namespace
        return cls(
            connection=prepared.connection,
            run_id=prepared.run_id,
            namespace=existing or f"nettests-{prepared.run_id}",
            timing=prepared.profile.timing,
            keep=keep,
            shared=bool(existing),
        )

    def begin(self, *, touches: bool) -> tuple[Access, Ownership]:
        """Return the access that creates objects, and the marks of this run that each of them gets.

        ``touches`` is whether the run creates anything; if not, there is nothing to remove.
        """
        self.touched = touches
        marks = ownership(self.run_id)
        self._access = Access(self.connection, marks)
        return self._access, marks

    def guard(self, marks: Ownership, lost: Callable[[str], None]) -> None:
        """Take the Lease once the namespace exists; ``ClusterError`` if a live run holds it."""
        self._lease = Lease(self.connection, self.namespace, marks, self.timing.lease, lost)
        self._lease.take()

    def end(self, exit_code: int | None) -> None:
        """Remove or keep the objects, and create no more; ``exit_code`` may not be known yet."""
        if not self.touched or self.gone or self.kept:
            return
        if self.keep is Keep.ALWAYS or (self.keep is Keep.ON_FAILURE and exit_code in FAILED):
            self._hold()
        elif self.keep is Keep.NEVER or exit_code is not None:
            self._remove()

    @property
    def ending(self) -> bool:
        """Whether objects are being removed or are gone: that they disappear is no event."""
        return self._access is not None and self._access.ended.is_set()

    def _hold(self) -> None:
        try:
            if self._lease is not None:
                self._lease.keep()
        except ClusterError as error:
            self.left_behind = f"the Lease does not say that objects are kept: {error.message}"
        where = f" --namespace {self.namespace}" if self.shared else ""
        self.kept = (
            f"the objects of this run stand in namespace {self.namespace}\n"
            f"  look at them: kubectl --context {self.connection.context} -n {self.namespace} "
            f"get pods,services -l {RUN_LABEL}={self.run_id} -o wide\n"
            f"  remove them:  nettests gc --context {self.connection.context} "
            f"--run {self.run_id}{where} --yes"
        )

    def _remove(self) -> None:
        assert self._access is not None, "nothing is touched before there is an access"
        assert self._access.ownership is not None, "and what it creates is marked"
        self._access.ended.set()
        marks, created = self._access.ownership, self._access.created
        began = time.monotonic()
        # One deadline for all requests: five time-outs of a dead API server would take minutes.
        self.connection.under_way.until = began + self.timing.clean_up
        delete_unacknowledged(self.connection, marks, created, self.namespace)
        left = clean_up(
            self.connection,
            marks,
            created,
            wait=max(0.0, self.timing.clean_up - self._waited),
            namespace=self.namespace if self.shared else None,
        )
        self._waited += time.monotonic() - began
        self.gone = not left
        self.left_behind = left and (self.left_behind or left)
        if self._lease is not None:
            self._lease.end()


EXPIRES_AFTER = timedelta(hours=6)
"""No run lives longer; after that, ``nettests gc`` removes kept objects."""


def ownership(run_id: str) -> Ownership:
    """Return the marks of a run that starts now."""
    try:
        owner = f"{getpass.getuser()}.{socket.gethostname()}"
    except (KeyError, OSError):  # a user without a name, as in a container
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
    """Delete what the run created; return what is left and how to remove it, or nothing.

    ``namespace`` is the existing one that the run used, if any.
    """
    try:
        delete_run(connection, marks, created, wait=wait, namespace=namespace)
    except ClusterError as error:
        where = f" --namespace {namespace}" if namespace else ""
        return f"{error.message}; remove it with: nettests gc --run {marks.run}{where} --yes"
    return ""
