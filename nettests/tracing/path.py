"""Captures of one flow → ``Trace``: the observed path, compared with the expected one. Pure.

A frame at a late hop proves that all earlier hops were passed. A missing frame proves something
only if its node's capture is complete; otherwise the trace is unsure, and names that node.

Without a cluster, the first capture is of the source's node and the last of the destination's.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from nettests.errors import PlanError
from nettests.model.facts import Address
from nettests.model.words import Protocol
from nettests.tracing import differences
from nettests.tracing.finding import Finding, Trace
from nettests.tracing.hops import Hop, Stage, hops, losses, packets
from nettests.tracing.mark import Mark, Marked, Way, marked
from nettests.tracing.packet import Capture, Edge, End, Scene

RULE_OF_THREE = 3
"""If none of n packets was lost, the loss rate may still be up to 3 / n (with 95 % confidence)."""
LARGE = 1000
"""Bytes from which a packet counts as large if its flow tests sizes."""


def trace(
    scene: Scene,
    mark: Mark,
    captures: Sequence[Capture],
    *,
    answered: bool | None = None,
    direct: Mark | None = None,
    anew: bool | None = None,
) -> Trace:
    """Return where the flow went, and the first difference.

    ``answered`` is the client's result, if known. ``direct`` marks a second flow from the same
    source to a backend's own address: it tells a load balancer that does not translate from a node
    that loses everything. ``anew``: a new connection was answered, the idle one was not.
    """
    sightings = [sighting for capture in captures for sighting in capture.sightings]
    frames = marked(sightings, mark)
    seen = _Seen(
        scene=scene,
        frames=frames,
        captures={capture.node: capture for capture in captures},
        answered=answered,
        direct=marked(sightings, direct) if direct is not None else (),
    )
    result = seen.trace()
    return _after_silence(result, anew=anew) if scene.silence and answered is False else result


def _after_silence(result: Trace, *, anew: bool | None) -> Trace:
    """Say what became of an idle connection that was not answered, if a new one shows the path."""
    silence = f"the connection was answered before {result.scene.silence:g} s of silence, and not after it"
    what = result.detail or result.finding.words
    if not anew:
        text = f"{silence}; a new one was not answered either, so the path itself may be broken: trace a check that opens a connection"
        return replace(result, finding=Finding.UNSURE, node="", detail=text)
    if result.stopped is None or result.finding is Finding.NEVER_LEFT_POD:
        text = f"{silence}, while a new one was: it was forgotten, and the captures do not show where: {what}"
        return replace(result, finding=Finding.UNSURE, node="", detail=text)
    if result.finding is Finding.UNSURE and result.remarks:
        text = f"{silence}, while a new one was: it was forgotten; {what}"
        return replace(result, finding=Finding.UNSURE, detail=text)
    return replace(result, finding=Finding.FORGOTTEN, detail=f"{silence}; {what}")


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
            at = next(hop for hop in path if hop.stage is Stage.TRANSLATED)
            return self._result(chosen, path, backend, at)
        stopped = _stopped(path)
        refused = None if self.answered else differences.refused(backend, self.frames)
        if refused is not None:
            at = next(hop for hop in path if hop.stage is Stage.ANSWERED)
            return self._result(refused, path, backend, at)
        if self.answered is True or (stopped is None and self.answered is None):
            return self._passed(path, backend)
        if (some := self._some_lost(path, backend)) is not None:
            return some
        if stopped is None:
            return self._data(path, backend)
        return self._where_it_stopped(path, backend, stopped, self.frames)

    def _passed(self, path: tuple[Hop, ...], backend: End | None) -> Trace:
        rewritten = differences.rewritten(self.scene, path)
        if rewritten is not None:
            at = next(hop for hop in path if hop.node == rewritten.node)
            return self._result(rewritten, path, backend, at)
        if (some := self._some_lost(path, backend)) is not None:
            return some
        if self.scene.tries:
            ends = [hop for hop in path if hop.stage in {Stage.SENT, Stage.ANSWERED}]
            count = sum(packets(hop, None) for hop in ends)
            share = f"a loss of less than {min(100, 100 * RULE_OF_THREE / max(1, count)):.0f} %"
            text = f"none of {count} packets was lost: {share} may not show in so few"
            finding = Finding.NOTHING_WRONG if count else Finding.UNSURE
            passed = differences.Difference(finding, text)
            return self._result(passed, path, backend, None)
        return self._result(differences.Difference(Finding.NOTHING_WRONG), path, backend, None)

    def _some_lost(self, path: tuple[Hop, ...], backend: End | None) -> Trace | None:
        """Return the trace if captures prove a partial loss; not for flows that test sizes."""
        if self.scene.size:
            return None
        for loss in losses(path, backend, answered=self.answered is True):
            if not (self._doubt(loss.before) or self._doubt(loss.hop)):
                dropped = differences.reason(loss.hop.node, self.frames)
                text = f"{loss}{'; ' if dropped else ''}{dropped}"
                return self._result(
                    differences.Difference(Finding.LOSES_SOME, text), path, backend, loss.hop
                )
        return None

    def _data(self, path: tuple[Hop, ...], backend: End | None) -> Trace:
        """Find where the data of an established connection stopped."""
        least = min(self.scene.size, LARGE) or 1
        sent = [
            frame
            for frame in self.frames
            if frame.way is Way.REQUEST and frame.packet.carried >= least
        ]
        back = [
            frame for frame in self.frames if frame.way is Way.REPLY and frame.packet.carried > 0
        ]
        of_data = hops(self.scene, backend, (*sent, *back))
        stopped = _stopped(of_data)
        if not sent or stopped is None:
            text = "frames arrived in both directions, but the client got no answer"
            return self._result(differences.Difference(Finding.UNSURE, text), path, backend, None)
        if self.scene.size:
            reported = any(frame.packet.reports_too_big for frame in self.frames)
            finding = Finding.TOO_BIG_TOLD if reported else Finding.TOO_BIG_UNTOLD
            text = f"packets of up to {max(frame.packet.length for frame in sent)} bytes were not seen there, smaller ones were"
            return self._unless_in_doubt(
                differences.Difference(finding, text), of_data, backend, stopped
            )
        return self._where_it_stopped(of_data, backend, stopped, (*sent, *back))

    def _where_it_stopped(
        self,
        path: tuple[Hop, ...],
        backend: End | None,
        stopped: Hop,
        frames: Iterable[Marked],
    ) -> Trace:
        captured = (seen for capture in self.captures.values() for seen in capture.sightings)
        difference = differences.of(
            self.scene, backend, path, stopped, tuple(frames), captured=captured
        )
        if difference.finding is Finding.UNTRANSLATED and not difference.seen:
            difference = differences.swallowed(self.scene, stopped, self.frames, self.direct)
        if difference.seen:
            return self._result(difference, path, backend, stopped)
        return self._unless_in_doubt(difference, path, backend, stopped)

    def _unless_in_doubt(
        self,
        difference: differences.Difference,
        path: tuple[Hop, ...],
        backend: End | None,
        stopped: Hop,
    ) -> Trace:
        """Return the difference if the missing frame would have been captured; else a doubt."""
        doubt = self._doubt(stopped)
        if doubt:
            text = f"not seen: {stopped.stage.value}, on {stopped.node}; but {doubt}"
            difference = differences.Difference(Finding.UNSURE, text)
        return self._result(difference, path, backend, stopped)

    def _doubt(self, stopped: Hop) -> str:
        capture = self.captures.get(stopped.node)
        if capture is None:
            return f"nothing was captured on {stopped.node}"
        if capture.doubt:
            return capture.doubt
        needed = _NEEDS.get(stopped.stage)
        if needed and not any(sighting.edge is needed for sighting in capture.sightings):
            return f"no interface of {stopped.node} is known to lead to a {needed.value}"
        return ""

    def _result(
        self,
        difference: differences.Difference,
        path: tuple[Hop, ...],
        backend: End | None,
        stopped: Hop | None,
    ) -> Trace:
        doubts = [
            f"{capture.node}: {capture.doubt}"
            for capture in self.captures.values()
            if capture.doubt
        ]
        unread = [
            f"{capture.node}: not understood: {text}"
            for capture in self.captures.values()
            for text in capture.unread
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
"""The kind of interface that must be known on a node before a missing hop counts."""


def _stopped(path: Sequence[Hop]) -> Hop | None:
    seen = max((number for number, hop in enumerate(path) if hop.seen), default=-1)
    return path[seen + 1] if seen + 1 < len(path) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedFlow:
    """The user's description of the flow."""

    mark: Mark
    service: Address | None = None
    backends: tuple[Address, ...] = ()
    vni: int | None = None


def scene_of_captures(captures: Sequence[Capture], stated: StatedFlow) -> Scene:
    """Return the scene of the flow; raises ``PlanError`` if no capture shows it."""
    first, last = captures[0].node, captures[-1].node
    requests = [
        frame
        for capture in captures
        for frame in marked(capture.sightings, stated.mark)
        if frame.way is Way.REQUEST
    ]
    if not requests:
        raise PlanError(
            "no capture has a frame of that flow",
            hint="--port is the client's port, --token what its datagrams begin with",
        )
    begin = requests[0].packet
    requested = stated.service or begin.destination
    translated = stated.service is not None or bool({*stated.backends} - {requested})
    reached = {requests[-1].packet.destination} - {requested}
    ends = dict.fromkeys(stated.backends or reached)
    backends = tuple(End(address=address, node=last) for address in ends) or (
        () if translated else (End(address=requested, node=last),)
    )
    return Scene(
        protocol=stated.mark.protocol,
        source=End(address=begin.source, node=first, port=stated.mark.port),
        requested=requested,
        requested_port=begin.destination_port,
        backends=backends,
        translator=first if translated else "",
        encapsulated=True if stated.vni is not None else None,
        vni=stated.vni,
    )


def spanning(captures: Sequence[Capture], mark: Mark) -> tuple[Capture, ...]:
    """Return the captures, with a doubt on those that lack the flow and may not span its time.

    Node clocks differ, so a doubt may be wrong, which does no harm.
    """
    frames = [frame for capture in captures for frame in marked(capture.sightings, mark)]
    times = [frame.sighting.time for frame in frames]
    return tuple(
        replace(capture, doubt=f"the capture on {capture.node} does not span the time of the flow")
        if times
        and not capture.doubt
        and not marked(capture.sightings, mark)
        and not _spans(capture, min(times), max(times))
        else capture
        for capture in captures
    )


def _spans(capture: Capture, first: float, last: float) -> bool:
    times = [sighting.time for sighting in capture.sightings]
    return bool(times) and min(times) <= first and max(times) >= last


def protocol_of(*, token: str | None) -> Protocol:
    """Return the protocol of a mark: a token marks datagrams, a port marks connections."""
    return Protocol.UDP if token else Protocol.TCP
