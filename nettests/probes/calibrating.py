"""Ask the known questions of vantages, each in as few processes as there are batches; changes nothing and judges nothing.

One Pod of each kind stands for all of its kind on a node: they share image, runtime and host. ``session`` decides when.
"""

import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from nettests.model.calibration import Calibration, Instrument
from nettests.model.channel import ChannelError
from nettests.model.check import Action, Check, Vantage
from nettests.model.cluster_profile import Timing
from nettests.model.words import OS, Question, VantageKind
from nettests.parse.doubts import known_answers
from nettests.probes.known_questions import Batch, batches
from nettests.probes.rerun import Rerunning
from nettests.probes.sending import STOPPED, Probe

TRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A vantage of a node that is calibrated, and the instruments of it that checks need."""

    node: str
    vantage: VantageKind
    os: OS
    probe: str
    instruments: frozenset[Instrument]


def places(checks: Iterable[Check], probes: Mapping[str, Probe]) -> tuple[Place, ...]:
    """Return what has to be calibrated for these checks: of each node and vantage the first probe that can be used."""
    needed: dict[tuple[str, VantageKind], set[Instrument]] = {}
    sources: dict[tuple[str, VantageKind], Vantage] = {}
    for action in (action for check in checks for action in check.actions):
        source, instruments = action.source, frozenset(_needed(action))
        if source.os is not OS.LINUX or source.probe not in probes or not instruments:
            continue
        key = (source.node or "", source.kind)
        sources.setdefault(key, source)
        needed.setdefault(key, set()).update(instruments)
    return tuple(
        Place(
            node=node,
            vantage=kind,
            os=sources[node, kind].os or OS.LINUX,
            probe=sources[node, kind].probe,
            instruments=frozenset(needed[node, kind]),
        )
        for node, kind in sorted(needed)
    )


def _needed(action: Action) -> Iterator[Instrument]:
    """Yield the instruments that answers to ``action`` need."""
    if action.question is Question.PING:
        yield Instrument.EXEC
        yield Instrument.PING


def calibrate(
    place: Place, probe: Probe, timing: Timing, stopped: threading.Event
) -> Iterator[Calibration]:
    """Yield the answers of one place, the repeated ones included; what ``stopped`` comes before says so.

    What is not understood is asked again: until hcsshim 0.12 output of short processes may be lost.
    """
    for batch in batches(place.os, place.instruments):
        for _ in range(TRIES):
            calibration = _carried_out(place, batch, probe, timing.execute, stopped)
            yield calibration
            if stopped.is_set() or all(answer.trusted for answer in known_answers(calibration)):
                break


def _carried_out(
    place: Place, batch: Batch, probe: Probe, seconds: float, stopped: threading.Event
) -> Calibration:
    began = time.monotonic()

    def calibration(**answer: object) -> Calibration:
        return Calibration(
            node=place.node,
            vantage=place.vantage.value,
            os=place.os,
            probe=place.probe,
            asked=batch.asked,
            command=batch.words,
            seconds=round(time.monotonic() - began, 3),
            **answer,  # type: ignore[arg-type]
        )

    if stopped.is_set():
        return calibration(error=f"{STOPPED} before this was calibrated")
    if probe.execute is None:
        return calibration(error=f"{probe.name} has no exec channel")
    try:
        with probe.execute.slots:
            got = Rerunning(channel=probe.execute).run(batch.words, timeout=seconds)
    except ChannelError as error:
        return calibration(error=error.message)
    return calibration(exit_code=got.exit_code, stdout=got.stdout, stderr=got.stderr)
