"""Checks, expectations and observations for tables of verdicts: what matters is stated."""

from collections.abc import Sequence
from typing import Any

from nettests.model.check import Action, Check, Target, Vantage
from nettests.model.expectation import AppliedLimitation, Expectation, Expected, KnownBug, Source
from nettests.model.observation import Attempt, ControlResult, Observation
from nettests.model.words import (
    OS,
    Category,
    Distribution,
    Outcome,
    Placement,
    Protocol,
    SourceSeen,
    TargetKind,
    VantageKind,
)

CLAIM = Expected(outcome=Outcome.CONNECTED)
BACKENDS = ("server-1", "server-2")
HOLD = (
    ControlResult(proves="vantage", ok=True, detail="connected"),
    ControlResult(proves="target", ok=True, detail="connected"),
)
LIMITATION = AppliedLimitation(
    id="node-svc-vip-docs",
    summary="a node does not reach Services",
    layer="base",
    category=Category.BY_DESIGN,
    mechanism="no rule sits on the host's port",
    sources=(Source(document="Windows debugging tips", section="Network troubleshooting"),),
    because=(),
    file="limitations/base/services.yaml",
    line=7,
)


BUG = KnownBug(
    id="dsr-hairpin-bug",
    summary="a Pod does not reach itself through its Service",
    shows=Expected(outcome=Outcome.TIMED_OUT, alternatives=(Outcome.UNREACHABLE,)),
)


def check(kind: TargetKind = TargetKind.SERVICE_CLUSTERIP, os: OS = OS.WINDOWS) -> Check:
    """Return a check whose target has two backends."""
    return Check(
        id="f/windows-1/windows-1/other-node/tcp",
        flow="node-to-service-clusterip",
        title="windows-1 node → windows-1 service-clusterip on another node, TCP",
        action=Action(
            source=Vantage(kind=VantageKind.NODE, probe="node-windows-1-1", os=os),
            target=Target(kind=kind, backends=BACKENDS),
            protocol=Protocol.TCP,
        ),
        placement=Placement.OTHER_NODE,
        claim=CLAIM,
        controls=(),
        sources=(),
    )


def expects(
    expected: Expected | None,
    *,
    claim: Expected = CLAIM,
    limited: bool | None = None,
    undecided: str | None = None,
    bugs: Sequence[KnownBug] = (),
) -> Expectation:
    """Return an expectation; it comes of a limitation unless it is the claim itself."""
    of_limitation = expected != claim if limited is None else limited
    return Expectation(
        claim=claim,
        expected=expected,
        limitation=LIMITATION if of_limitation else None,
        undecided=undecided,
        known_bugs=tuple(bugs),
    )


def attempt(outcome: Outcome, number: int = 1, detail: str = "") -> Attempt:
    """Return one attempt."""
    return Attempt(
        number=number,
        outcome=outcome,
        detail=detail or f"it {outcome.value}",
        started=0.0,
        elapsed=0.1,
        channel="exec",
    )


def observed(
    *outcomes: Outcome,
    controls: Sequence[ControlResult] = HOLD,
    source: SourceSeen | None = None,
    distribution: Distribution | None = None,
    backends: Sequence[str] = ("server-1",),
    **changes: Any,
) -> Observation:
    """Return an observation of these outcomes, trusted unless told otherwise."""
    last = outcomes[-1]
    given: dict[str, Any] = {
        "check": "f/windows-1/windows-1/other-node/tcp",
        "outcome": last,
        "agreed": len(set(outcomes)) == 1,
        "attempts": tuple(attempt(one, n) for n, one in enumerate(outcomes, 1)),
        "controls": tuple(controls),
        "source_seen": source,
        "server_saw": "10.244.3.2" if source else None,
        "backends": tuple(backends) if last.positive else (),
        "distribution": distribution,
    }
    return Observation(**{**given, **changes})


def control(proves: str, *, ok: bool) -> ControlResult:
    """Return how one control ended."""
    return ControlResult(proves=proves, ok=ok, detail="connected" if ok else "timed out")


VANTAGE_ONLY = (control("vantage", ok=True), control("target", ok=False))
"""The source works, and nobody else reaches the target either."""
