"""Remove the Pods of single checks several at a time: one request for each would double their cost.

Used by ``starting`` in the run's own namespace, whose removal takes the last ones.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from nettests.model.json_text import Object

BATCH = 8
"""How many Pods wait to be removed on all nodes: few, because each takes memory and an address."""


@dataclass(slots=True)
class Removals:
    """The Pods that no check needs any more; thread-safe."""

    remove: Callable[[Sequence[str]], None]
    _names: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, pod: Object) -> None:
        """Remove a Pod, with others or at once if it occupies ports of its node."""
        name = pod["metadata"]["name"]
        spec = pod["spec"]
        ports = (port for container in spec["containers"] for port in container.get("ports") or ())
        if spec.get("hostNetwork") or any(port.get("hostPort") for port in ports):
            self.remove([name])
            return
        with self._lock:
            self._names.append(name)
            if len(self._names) < BATCH:
                return
            names, self._names = self._names, []
        self.remove(names)
