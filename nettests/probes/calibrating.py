"""Run the known questions on vantages, one process per batch; change and judge nothing.

Each probe has its own, as Pods of a node may differ in image, privileges and name servers.
"""

import re
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import assert_never

from nettests.model.calibration import Calibration, Instrument, begins, ended
from nettests.model.channel import ChannelError
from nettests.model.check import Action, Check
from nettests.model.cluster_profile import Timing
from nettests.model.dns_names import DEFAULT_DOMAIN
from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.model.powershell import FIRST_USE_SECONDS
from nettests.model.words import OS, Protocol, Question, Resolver, VantageKind
from nettests.parse.doubts import kept, known_answers, of_words
from nettests.probes.host_facts import Lacking
from nettests.probes.known_questions import Batch, Place, batches
from nettests.probes.rerun import TOOL_HANGS_SECONDS, Rerunning
from nettests.probes.sending import STOPPED, Probe
from nettests.rules import RULES
from nettests.rules.readings import OfPeers, ToolOutput

TRIES = 3


def places(
    checks: Iterable[Check],
    readings: Iterable[Lacking],
    probes: Mapping[str, Probe],
    facts: ClusterFacts,
) -> tuple[Place, ...]:
    """Return the probes that these checks and readings use, with the instruments they need."""
    needed: dict[str, set[Instrument]] = {}
    places_of: dict[str, tuple[str, VantageKind]] = {}
    for probe, node, kind, instruments in (*_of_checks(checks), *_of_readings(readings)):
        if probe in probes and instruments:
            places_of[probe] = (node, kind)
            needed.setdefault(probe, {Instrument.EXEC}).update(instruments)
    return tuple(
        place_of(probe, facts.node(node), kind, needed[probe], facts)
        for probe, (node, kind) in sorted(places_of.items())
    )


_Need = tuple[str, str, VantageKind, Collection[Instrument]]
"""A probe, its node, its vantage and the instruments needed there."""


def _of_checks(checks: Iterable[Check]) -> Iterator[_Need]:
    for action in (action for check in checks for action in check.actions):
        source = action.source
        if source.node is not None:
            origin = (Instrument.CURL,) if source.kind is VantageKind.NODE else ()
            yield source.probe, source.node, source.kind, (*_needed(action), *origin)


def _of_readings(readings: Iterable[Lacking]) -> Iterator[_Need]:
    for each in readings:
        kind = VantageKind.NODE if each.pod.purpose == "node" else VantageKind.POD
        yield each.pod.name, each.pod.node, kind, of_words(each.reading.words)


def place_of(
    probe: str,
    node: NodeFacts,
    kind: VantageKind,
    instruments: Collection[Instrument],
    facts: ClusterFacts,
) -> Place:
    """Return a place with the facts of its node."""
    return Place(
        node=node.name,
        vantage=kind,
        os=node.os,
        probe=probe,
        instruments=frozenset(instruments),
        address=str(node.addresses[0]) if node.addresses else "",
        build=str(node.build.value).partition(".")[0] if node.build.value else "",
        domain=facts.cluster_domain.value or DEFAULT_DOMAIN,
        families=facts.families,
    )


def every_instrument(os: OS, kind: VantageKind) -> frozenset[Instrument]:
    """Return all instruments that checks may use on such a vantage, whatever the plan."""
    on_node = kind is VantageKind.NODE
    usual = {Instrument.EXEC, Instrument.PING, Instrument.NSLOOKUP}
    usual |= {Instrument.CURL, Instrument.CONNECT} if on_node else {Instrument.DIAL}
    match os:
        case OS.LINUX:
            return frozenset(usual)
        case OS.WINDOWS:
            in_pods = {Instrument.REG, Instrument.POWERSHELL, Instrument.RESOLVE_DNSNAME}
            on_nodes = set(Instrument) - {Instrument.DIAL, Instrument.PKTMON}
            return frozenset(usual | (on_nodes if on_node else in_pods))
        case _:
            assert_never(os)


def _needed(action: Action) -> Iterator[Instrument]:
    """Yield the instruments that answers to ``action`` will need (see ``parse.doubts``)."""
    match action.question:
        case Question.INSPECT:
            rule = RULES.get(action.case.label) if action.case else None
            for reading in rule.reads if rule else ():
                if isinstance(reading, ToolOutput | OfPeers):
                    yield from of_words(reading.words)
        case Question.IDLE | Question.DURING | Question.SCALE:
            yield from (Instrument.EXEC, Instrument.DIAL)
        case Question.WITNESS:
            yield from (Instrument.EXEC, Instrument.CURL)
        case Question.ADMIT | Question.START:
            return
        case Question.RESOLVE:
            yield from _resolving(action.resolver or Resolver.SYSTEM)
        case (
            Question.REACH
            | Question.PING
            | Question.DISTRIBUTE
            | Question.PATH_MTU
            | Question.LOSS
            | Question.FLOWS
            | Question.CHURN
        ):
            existing = action.target.existing is not None
            yield Instrument.CONNECT if existing else _reaching(action.source.kind, action.protocol)
        case _:
            assert_never(action.question)


def _resolving(resolver: Resolver) -> tuple[Instrument, ...]:
    match resolver:
        case Resolver.SYSTEM:
            return (Instrument.DIAL,)
        case Resolver.NSLOOKUP:
            return (Instrument.NSLOOKUP,)
        case Resolver.RESOLVE_DNSNAME:
            return (Instrument.POWERSHELL, Instrument.RESOLVE_DNSNAME)
        case _:
            assert_never(resolver)


def _reaching(kind: VantageKind, protocol: Protocol) -> Instrument:
    """Return the instrument by which a vantage reaches an address; nodes cannot dial."""
    if protocol is Protocol.ICMP:
        return Instrument.PING
    if kind is not VantageKind.NODE:
        return Instrument.DIAL
    return Instrument.CONNECT if protocol is Protocol.UDP else Instrument.CURL


_BY_POWERSHELL = frozenset({Instrument.POWERSHELL, Instrument.RESOLVE_DNSNAME, Instrument.HNS})


def calibrate(
    place: Place, probe: Probe, timing: Timing, stopped: threading.Event, *, alone: bool = True
) -> Iterator[Calibration]:
    """Yield one place's answers, including repeated ones; after ``stopped`` they are errors.

    Unless ``alone``, another Pod of its vantage on its node answers how a missing program ends.

    Answers not understood are repeated: hcsshim before 0.12 may lose output, and HNS may fail
    briefly. If a batch timed out, the questions without PowerShell run once more on their own.
    """
    for batch in batches(place)[0 if alone else 1 :]:
        for _ in range(TRIES):
            calibration = _carried_out(place, batch, probe, timing.execute, stopped)
            yield calibration
            if calibration.error or all(answer.trusted for answer in known_answers(calibration)):
                break
        others = place.instruments - _BY_POWERSHELL
        if calibration.error and len(batch.questions) > 1 and others < place.instruments:
            apart = replace(place, instruments=others)
            yield _carried_out(apart, batches(apart)[-1], probe, timing.execute, stopped)


def _carried_out(
    place: Place, batch: Batch, probe: Probe, seconds: float, stopped: threading.Event
) -> Calibration:
    began = time.monotonic()

    def calibration(**answer: object) -> Calibration:
        return Calibration(
            node=place.node,
            vantage=place.here.how if place.here else place.vantage.value,
            os=place.os,
            probe=place.probe,
            questions=batch.questions,
            command=batch.words,
            seconds=round(time.monotonic() - began, 3),
            context=place.context,
            **answer,  # type: ignore[arg-type]
        )

    if stopped.is_set():
        return calibration(error=f"{STOPPED} before this was calibrated")
    if probe.execute is None:
        return calibration(error=f"{probe.name} has no exec channel")
    first_use = FIRST_USE_SECONDS if Instrument.POWERSHELL in place.instruments else 0
    try:
        with probe.execute.slots:
            processes = Rerunning(channel=probe.execute, beyond=TOOL_HANGS_SECONDS + first_use)
            got = processes.run(batch.words, timeout=seconds + first_use)
    except ChannelError as error:
        return calibration(error=error.message)
    stdout, stderr = folded(got.stdout), got.stderr
    if not batch.marked:
        stdout = f"{begins(0)}\n{stdout}\n{ended(0, str(got.exit_code))}\n"
        stderr = f"{begins(0)}\n{stderr}"
    return kept(calibration(exit_code=got.exit_code, stdout=stdout, stderr=stderr))


def folded(output: str) -> str:
    """Return an output as recorded: long runs of ``x`` are replaced by their length."""
    return re.sub(r"x{1000,}", lambda match: f"[{len(match[0])} times x]", output)
