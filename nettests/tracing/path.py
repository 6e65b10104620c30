"""Captures of one flow → ``Trace``: the path that was seen, beside the one that is expected. Pure.

A frame that was seen late proves that all earlier hops were passed. A frame that was not seen proves something only
where its node's capture is whole; elsewhere the trace is unsure, and says of which node.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nettests.tracing import differences
from nettests.tracing.finding import Finding
from nettests.tracing.hops import Hop, Stage, hops
from nettests.tracing.mark import Mark, Marked, Way, marked
from nettests.tracing.result import Trace
from nettests.tracing.scene import End, Scene
from nettests.tracing.sighting import Capture, Edge

LARGE = 1000
"""A packet that carries so much is a large one, where its flow is about sizes."""


def trace(
    scene: Scene,
    mark: Mark,
    captures: Sequence[Capture],
    *,
    answered: bool | None = None,
    direct: Mark | None = None,
) -> Trace:
    """Return where the flow went and what is the first difference.

    ``answered`` is what its client says, if it is known. ``direct`` marks a second flow, which the same source sent to a
    backend's own address: it tells a load balancer that does not translate from a node that loses all of it.
    """
    sightings = [one for capture in captures for one in capture.sightings]
    frames = marked(sightings, mark)
    seen = _Seen(
        scene=scene,
        frames=frames,
        captures={one.node: one for one in captures},
        answered=answered,
        direct=marked(sightings, direct) if direct is not None else (),
    )
    return seen.trace()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    scene: Scene
    frames: tuple[Marked, ...]
    captures: dict[str, Capture]
    answered: bool | None
    direct: tuple[Marked, ...] = ()

    def trace(self) -> Trace:
        chosen = differences.chosen(self.scene, self.frames)
        backend = chosen if isinstance(chosen, End) else None
        path = hops(self.scene, backend, self.frames)
        if isinstance(chosen, differences.Difference):
            at = next(one for one in path if one.stage is Stage.TRANSLATED)
            return self._found(chosen, path, backend, at)
        stopped = _stopped(path)
        refused = None if self.answered else differences.refused(backend, self.frames)
        if refused is not None:
            at = next(one for one in path if one.stage is Stage.ANSWERED)
            return self._found(refused, path, backend, at)
        if self.answered is True or (stopped is None and self.answered is None):
            return self._passed(path, backend)
        if stopped is None:
            return self._data(path, backend)
        return self._lost(path, backend, stopped, self.frames)

    def _passed(self, path: tuple[Hop, ...], backend: End | None) -> Trace:
        rewritten = differences.rewritten(self.scene, path)
        if rewritten is not None:
            at = next(one for one in path if one.stage is Stage.DELIVERED)
            return self._found(rewritten, path, backend, at)
        return self._found(differences.Difference(Finding.NOTHING_WRONG), path, backend, None)

    def _data(self, path: tuple[Hop, ...], backend: End | None) -> Trace:
        """Look where the data of a connection stopped that was opened, and which its client gave up."""
        least = min(self.scene.size, LARGE) or 1
        sent = [
            one for one in self.frames if one.way is Way.REQUEST and one.packet.carried >= least
        ]
        back = [one for one in self.frames if one.way is Way.REPLY and one.packet.carried > 0]
        of_data = hops(self.scene, backend, (*sent, *back))
        stopped = _stopped(of_data)
        if not sent or stopped is None:
            text = "frames went there and back, and the client had no answer"
            return self._found(differences.Difference(Finding.UNSURE, text), path, backend, None)
        if self.scene.size:
            told = any(one.packet.told_too_big for one in self.frames)
            finding = Finding.TOO_BIG_TOLD if told else Finding.TOO_BIG_UNTOLD
            text = f"packets of up to {max(one.packet.length for one in sent)} bytes were not seen there, smaller ones were"
            return self._sure(differences.Difference(finding, text), of_data, backend, stopped)
        return self._lost(of_data, backend, stopped, (*sent, *back))

    def _lost(
        self,
        path: tuple[Hop, ...],
        backend: End | None,
        stopped: Hop,
        frames: Iterable[Marked],
    ) -> Trace:
        difference = differences.of(self.scene, backend, path, stopped, tuple(frames))
        if difference.finding is Finding.UNTRANSLATED and not difference.seen:
            difference = differences.swallowed(self.scene, stopped, self.frames, self.direct)
        if difference.seen:
            return self._found(difference, path, backend, stopped)
        return self._sure(difference, path, backend, stopped)

    def _sure(
        self,
        difference: differences.Difference,
        path: tuple[Hop, ...],
        backend: End | None,
        stopped: Hop,
    ) -> Trace:
        """Return the difference if what was not seen would have been seen."""
        doubt = self._doubt(stopped)
        if doubt:
            text = f"not seen: {stopped.stage.value}, on {stopped.node}; but {doubt}"
            difference = differences.Difference(Finding.UNSURE, text)
        return self._found(difference, path, backend, stopped)

    def _doubt(self, stopped: Hop) -> str:
        capture = self.captures.get(stopped.node)
        if capture is None:
            return f"nothing was captured on {stopped.node}"
        if capture.doubt:
            return capture.doubt
        needed = _NEEDS.get(stopped.stage)
        if needed and not any(one.edge is needed for one in capture.sightings):
            return f"no interface of {stopped.node} is known to lead to a {needed.value}"
        return ""

    def _found(
        self,
        difference: differences.Difference,
        path: tuple[Hop, ...],
        backend: End | None,
        stopped: Hop | None,
    ) -> Trace:
        doubts = [f"{one.node}: {one.doubt}" for one in self.captures.values() if one.doubt]
        unread = [
            f"{one.node}: not understood: {text}"
            for one in self.captures.values()
            for text in one.unread
        ]
        return Trace(
            scene=self.scene,
            finding=difference.finding,
            node=difference.node or (stopped.node if stopped else ""),
            detail=difference.detail,
            hops=path,
            frames=self.frames,
            backend=backend,
            stopped=stopped,
            answered=self.answered,
            remarks=(*doubts, *unread),
        )


_NEEDS = {
    Stage.LEFT: Edge.WIRE,
    Stage.DELIVERED: Edge.POD,
    Stage.REPLY_LEFT: Edge.WIRE,
    Stage.REPLY_DELIVERED: Edge.POD,
}
"""What has to be known of a node's interfaces before a hop that was not seen there counts."""


def _stopped(path: Sequence[Hop]) -> Hop | None:
    """Return the hop behind the last one that was seen."""
    seen = max((number for number, one in enumerate(path) if one.seen), default=-1)
    return path[seen + 1] if seen + 1 < len(path) else None
