"""Pods that several checks share, because each would start the same one and none changes it.

Between ``starting``'s checks of one node: the first creates the Pod and waits until it has started
or failed, the others find it, and the last one removes it. What is done with it is each check's own.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from nettests.model.check import Case
from nettests.model.json_text import Object

CHANGE_NOTHING = frozenset({"exec", "log", "pod-proxy", "port-forward"})
"""What is done with a Pod that other checks may use as well (``Afterwards.how``)."""


@dataclass(slots=True, eq=False)
class SharedPod:
    """One Pod: the manifest with which the first check created it, and who still needs it."""

    manifest: Object
    users: int = 0
    created: bool = False
    _watched: Object | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def watched(
        self, create: Callable[[Object], object], follow: Callable[[Object], Object]
    ) -> Object:
        """Return the Pod as it was once it had started or failed; what succeeds is done once."""
        with self._lock:
            if not self.created:
                create(self.manifest)
                self.created = True
            if self._watched is None:
                self._watched = follow(self.manifest)
            return self._watched


@dataclass(slots=True)
class SharedPods:
    """The shared Pods of a run; thread-safe."""

    remove: Callable[[Object], None]
    _pods: dict[str, SharedPod] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def one_for(self, manifest: Object) -> Iterator[SharedPod]:
        """Give a Pod like ``manifest``, whatever its name, as long as any check needs it."""
        name = manifest["metadata"]["name"]  # in a label too
        alike = json.dumps(manifest, sort_keys=True).replace(f'"{name}"', "")
        with self._lock:
            pod = self._pods.setdefault(alike, SharedPod(manifest))
            pod.users += 1
        try:
            yield pod
        finally:
            with self._lock:
                pod.users -= 1
                if last := not pod.users:
                    del self._pods[alike]
            if last and pod.created:
                self.remove(pod.manifest)


def may_share(case: Case) -> bool:
    """Whether checks of such a case leave their Pod as it was."""
    return case.then is not None and case.then.how in CHANGE_NOTHING
