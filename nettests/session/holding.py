"""What a run holds in the cluster: its namespace, its Lease, its objects, and their removal.

Used by ``Run``, and by commands that need Pods for a while. Whether objects are kept is decided here, from the user's
options and the run's result. Everything created through the handle that ``begin`` returns is removed, and nothing else.
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
from nettests.cluster.ownership import Lease, Ownership
from nettests.errors import ClusterError
from nettests.model.cluster_profile import Timing
from nettests.model.labels import RUN_LABEL
from nettests.session.prepare import Prepared
from nettests.session.run_options import Keep

FAILED = frozenset({1, 6})
"""Exit codes of a run that found something: fail, lifted, flaky; or only unknown."""


@dataclass(slots=True)
class Holding:
    """The objects of one run. ``namespace`` is the run's own, or one of others with ``shared``."""

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
    """What stands on purpose, and how to look at it and remove it."""
    _waited: float = 0
    """Seconds that the removal has been waited for; another attempt at the end of the run has only the rest."""
    _lease: Lease | None = None
    _access: Access | None = None

    @classmethod
    def of(cls, prepared: Prepared, keep: Keep) -> "Holding":
        """Return what will hold the objects of a run: in its own namespace, or in the existing one that it was given."""
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
        """Return the access that creates objects, each with the marks of this run.

        A run that ``touches`` nothing only reads: it leaves nothing to remove either.
        """
        self.touched = touches
        marks = ownership(self.run_id)
        self._access = Access(self.connection, marks)
        return self._access, marks

    def guard(self, marks: Ownership, lost: Callable[[str], None]) -> None:
        """Take the Lease, when the namespace stands; ``ClusterError`` when a living run has it."""
        self._lease = Lease(self.connection, self.namespace, marks, self.timing.lease, lost)
        self._lease.take()

    def end(self, exit_code: int | None) -> None:
        """Remove the objects, or keep them, and create no other; ``exit_code`` is ``None`` before the run's is known."""
        if not self.touched or self.gone or self.kept:
            return
        if self.keep is Keep.ALWAYS or (self.keep is Keep.ON_FAILURE and exit_code in FAILED):
            self._hold()
        elif self.keep is Keep.NEVER or exit_code is not None:
            self._remove()

    @property
    def ending(self) -> bool:
        """Whether objects are being removed, or are gone: that they no longer stand is no event."""
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
        # An API server that is gone is tried for so long, whichever request it is: five times half a minute each is no end.
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
