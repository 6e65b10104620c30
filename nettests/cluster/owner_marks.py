"""Ownership marks: the labels and annotations on everything that a run creates. Pure.

Run and owner are labels, because objects are selected by them; creation and expiry are annotations,
because a time is not a valid label value. An object that lacks one of the marks is not ours,
whatever its name.

The Lease of a run keeps other runs out of the namespace, and shows whether the run is alive. A
thread of the run's process renews it, so that renewal ends with the process. Liveness is observed,
not computed from clocks: the Lease is renewed within its duration, or it is not.
"""

import re
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Self

from nettests.cluster.connection import ApiError, Connection
from nettests.errors import ClusterError
from nettests.model.json_text import Object, read_json
from nettests.model.labels import COLLECTED, CREATED, EXPIRES, KEPT, OWNER_LABEL, RUN_LABEL


@dataclass(frozen=True, slots=True, kw_only=True)
class Ownership:
    """Who created an object, for which run, when, and when it expires."""

    run: str
    owner: str
    created: datetime
    expires: datetime

    @property
    def labels(self) -> dict[str, str]:
        """The labels that every object of the run carries."""
        return {RUN_LABEL: self.run, OWNER_LABEL: label_value(self.owner)}

    @property
    def annotations(self) -> dict[str, str]:
        """The annotations that every object of the run carries."""
        return {CREATED: _spelled(self.created), EXPIRES: _spelled(self.expires)}

    def marked(self, item: Object) -> Object:
        """Return the object with the run's marks added to its labels and annotations.

        A workload's Pod template is marked, too: Pods outlive their workload for a moment.
        """
        for name in ("template", "jobTemplate"):
            if (template := (item.get("spec") or {}).get(name)) is not None:
                item = {**item, "spec": {**item["spec"], name: self.marked(template)}}
        meta = item.get("metadata") or {}
        marks = {
            "labels": {**(meta.get("labels") or {}), **self.labels},
            "annotations": {**(meta.get("annotations") or {}), **self.annotations},
        }
        return {**item, "metadata": {**meta, **marks}}

    @classmethod
    def of(cls, item: Object) -> Self | None:
        """Read the marks of an object; ``None`` if any is missing."""
        meta = item["metadata"]
        labels, notes = meta.get("labels") or {}, meta.get("annotations") or {}
        try:
            return cls(
                run=labels[RUN_LABEL],
                owner=labels[OWNER_LABEL],
                created=_read(notes[CREATED]),
                expires=_read(notes[EXPIRES]),
            )
        except (KeyError, ValueError):
            return None


def run_of(item: Object) -> str | None:
    """Return the run in an object's labels."""
    labels: Mapping[str, str] = item["metadata"].get("labels") or {}
    return labels.get(RUN_LABEL)


def label_value(text: str) -> str:
    """Return ``text`` as a valid label value: other characters become dashes, 63 at most."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text)[:63].strip("-_.")


def _spelled(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _read(text: str) -> datetime:
    # sample: 2026-11-21T22:20:00Z
    read = datetime.fromisoformat(text)
    if read.tzinfo is None:
        raise ValueError(f"no time zone: {text}")
    return read


NAME = "nettests"
"""The same name for every run: only one run at a time can hold the namespace."""
RENEWALS = 3
"""How often a Lease is renewed within its duration: two renewals may fail."""
JOIN_SECONDS = 5.0
"""How long to wait at the end for a running renewal."""
LOOK_SECONDS = 0.5
"""Between two reads of a Lease that may be renewed."""


def path_of_lease(namespace: str) -> str:
    """Return the path of the Lease of the run in ``namespace``."""
    return f"{_collection(namespace)}/{NAME}"


@dataclass(slots=True)
class Lease:
    """The Lease of the run ``ownership.run`` in ``namespace``; renewed from ``take`` to ``end``.

    ``lost`` is called once, from the renewing thread, if another run has taken it.
    """

    connection: Connection
    namespace: str
    ownership: Ownership
    seconds: float
    lost: Callable[[str], None]
    _ended: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def take(self) -> None:
        """Take the Lease and keep renewing it; ``ClusterError`` if a live run holds it."""
        try:
            self.connection.create(_collection(self.namespace), self._object())
        except ApiError as error:
            if error.status == 404:
                raise ClusterError(
                    f"somebody deleted namespace {self.namespace} while the run began",
                    hint="find out what removes namespaces here, and run again",
                ) from error
            if error.status != 409:
                raise
            self._take_over()
        self._thread = threading.Thread(target=self._renew, name="nettests-lease", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop renewing; the Lease is removed with the run's other objects."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(JOIN_SECONDS)

    def keep(self) -> None:
        """Stop renewing, and mark on the Lease that objects are kept on purpose."""
        self.end()
        current = self.connection.get(path_of_lease(self.namespace))
        notes = {**(current["metadata"].get("annotations") or {}), KEPT: "true"}
        current["metadata"]["annotations"] = notes
        self.connection.request("PUT", path_of_lease(self.namespace), body=current)

    def _take_over(self) -> None:
        """Take an existing Lease: the run's own after a lost answer, or that of a dead run."""
        path = path_of_lease(self.namespace)
        current = self.connection.get(path)
        if holder_of(current) == self.ownership.run:
            if is_collected(current):
                raise ClusterError(_collected(self.namespace), hint="run it again")
            return
        if KEPT in (current["metadata"].get("annotations") or {}) or is_renewed(
            self.connection, self.namespace, current
        ):
            owner = (current["metadata"].get("labels") or {}).get(OWNER_LABEL, "somebody")
            raise ClusterError(
                f"namespace {self.namespace} holds the objects of run {holder_of(current)} "
                f"(by {owner})",
                hint="choose another namespace, wait for its end, or see `nettests gc`",
            )
        existing = self._object()
        existing["metadata"]["resourceVersion"] = current["metadata"]["resourceVersion"]
        self.connection.request("PUT", path, body=existing)

    def _renew(self) -> None:
        while not self._ended.wait(self.seconds / RENEWALS):
            with suppress(ClusterError):  # the next renewal may succeed; two may fail
                if not self._renewed():
                    return

    def _renewed(self) -> bool:
        path = path_of_lease(self.namespace)
        try:
            current = self.connection.get(path)
        except ApiError as error:
            if error.status == 404:  # removed with its namespace
                return False
            raise
        if holder_of(current) != self.ownership.run:
            self.lost(f"namespace {self.namespace} was taken over by run {holder_of(current)}")
            return False
        if is_collected(current):
            self.lost(_collected(self.namespace))
            return False
        current["spec"]["renewTime"] = _now()
        self.connection.request("PUT", path, body=current)
        return True

    def _object(self) -> Object:
        return lease_object(self.ownership, self.namespace, self.seconds)


def lease_object(ownership: Ownership, namespace: str, seconds: float) -> Object:
    """Return the initial Lease of a run."""
    now = _now()
    return ownership.marked(
        {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": NAME, "namespace": namespace},
            "spec": {
                "holderIdentity": ownership.run,
                "leaseDurationSeconds": max(1, round(seconds)),
                "acquireTime": now,
                "renewTime": now,
            },
        }
    )


def holder_of(lease: Object) -> str:
    """Return the run that holds a Lease."""
    return str((lease.get("spec") or {}).get("holderIdentity") or "")


def read_lease(connection: Connection, namespace: str) -> Object | None:
    """Return the Lease in a namespace, if there is one."""
    try:
        return connection.get(path_of_lease(namespace))
    except ApiError as error:
        if error.status == 404:
            return None
        raise


def is_collected(lease: Object) -> bool:
    """Whether ``nettests gc`` has begun to remove the objects of the Lease's run."""
    return COLLECTED in (lease["metadata"].get("annotations") or {})


def collect_lease(
    connection: Connection, ownership: Ownership, namespace: str, seen: Object | None
) -> Object:
    """Mark on the Lease that its run's objects are being removed, and return it as stored.

    ``seen`` is the Lease as last read, or ``None``; the write fails with 409 if it has changed, so
    that a run that renews or takes its Lease at the same moment wins. A run that wakes up later
    finds the mark and ends.
    """
    if seen is None:
        lease = _collected_object(lease_object(ownership, namespace, 1))
        return connection.create(_collection(namespace), lease)
    answer = connection.request("PUT", path_of_lease(namespace), body=_collected_object(seen))
    try:
        stored: Object = read_json(answer.body)
    except ValueError as error:
        raise ClusterError(f"the Lease of {namespace} was not answered as JSON: {error}") from error
    return stored


def _collected_object(lease: Object) -> Object:
    meta = lease["metadata"]
    notes = {**(meta.get("annotations") or {}), COLLECTED: _now()}
    return {**lease, "metadata": {**meta, "annotations": notes}}


def _collected(namespace: str) -> str:
    return f"nobody renewed the Lease of namespace {namespace} in time, so that `nettests gc` removes its objects"


def is_renewed(
    connection: Connection, namespace: str, seen: Object | None, *, seconds: float = 30
) -> bool:
    """Wait until the Lease is renewed or its duration has passed; return whether it was renewed.

    ``seen`` is the Lease as last read; if there was none, one that appears within ``seconds``
    counts as renewed: its run was just starting.
    """
    stated = ((seen or {}).get("spec") or {}).get("leaseDurationSeconds")
    duration = float(stated or seconds)
    before = _version(seen)
    deadline = time.monotonic() + duration
    while True:
        over = time.monotonic() >= deadline
        now = read_lease(connection, namespace)  # the last read comes after the deadline
        if now is None and seen is not None:
            return False
        if _version(now) != before:
            return True
        if over:
            return False
        time.sleep(min(LOOK_SECONDS, max(0.0, deadline - time.monotonic())))


def _version(lease: Object | None) -> str:
    return str(lease["metadata"]["resourceVersion"]) if lease else ""


def _collection(namespace: str) -> str:
    return f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
