"""One watch of a namespace's Pods for all that follow one of them.

Used by ``follow``: separate watches would be a request for each Pod, and another one every few
seconds. The watch runs in a thread while there are followers, and begins with a list.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from nettests.errors import ClusterError
from nettests.model.json_text import Object


@dataclass(slots=True)
class SharedWatch:
    """The Pods of one namespace, from ``states`` (``list_watch.states``). Thread-safe."""

    states: Callable[[], Iterator[Mapping[str, Object]]]
    _changed: threading.Condition = field(default_factory=threading.Condition)
    last: dict[str, Object] = field(default_factory=dict)
    """The last state of each Pod, also of those that are gone."""
    _latest: Mapping[str, Object] | None = None
    _followers: int = 0
    _watching: bool = False
    _failure: ClusterError | None = None

    def follow(self, name: str, *, seconds: float, look: float) -> Iterator[Object | None]:
        """Yield one Pod's states (``None`` if it does not exist): on change, and every ``look`` s."""
        deadline = time.monotonic() + seconds
        with self._changed:
            self._followers += 1
            if not self._watching:
                self._watching, self._failure, self._latest = True, None, None
                threading.Thread(target=self._watch, name="nettests-pods", daemon=True).start()
        try:
            while (left := deadline - time.monotonic()) > 0:
                with self._changed:
                    listed, seen = self._latest is not None, (self._latest or {}).get(name)
                if listed:
                    yield seen
                with self._changed:
                    self._changed.wait_for(
                        lambda seen=seen, listed=listed: (  # type: ignore[misc]
                            self._failure is not None
                            or (self._latest is not None) is not listed
                            or (self._latest or {}).get(name) is not seen
                        ),
                        timeout=min(look, left),
                    )
                    if self._failure is not None:
                        raise self._failure
        finally:
            with self._changed:
                self._followers -= 1

    def has_gone(self, name: str, before: Object | None) -> bool:
        """Whether a Pod is gone whose last state is another than ``before``."""
        with self._changed:
            return name not in (self._latest or {}) and self.last.get(name) is not before

    def _watch(self) -> None:
        failure: ClusterError | None = None
        try:
            for pods in self.states():
                with self._changed:
                    self._latest = dict(pods)
                    self.last |= pods
                    self._changed.notify_all()
                    if not self._followers:
                        self._watching = False
                        return
        except ClusterError as error:
            failure = error
        finally:
            with self._changed:
                if failure is not None:
                    self._watching, self._failure = False, failure
                self._changed.notify_all()
