"""Runs and faults by hand, for tests of judging."""

from dataclasses import replace

from nettests.lab.selftest.named_faults import Checks, Injection, NamedFault
from nettests.lab.selftest.runs import Check, Incident, Run


def inject(kind: str, **options: str | float) -> tuple[Injection, ...]:
    """Return one injection."""
    return (Injection(kind=kind, options={name: str(value) for name, value in options.items()}),)


PROFILE = "win2022-l2bridge-dsr"


def fault(**changes: object) -> NamedFault:
    """Return a fault that must turn ``pod-to-pod-ip`` at win-2, may turn NodePorts, and has to be called so."""
    made = NamedFault(
        name="node-cut-off",
        summary="nothing passes",
        profiles=(PROFILE,),
        injections=inject("packet-loss", node="win-2"),
        must=(Checks(flow="pod-to-pod-ip", target="win-2"),),
        may=(Checks(flow="nodeport-*"),),
        names=("win-2",),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


CHECKS = (
    Check(
        id="pod-to-pod-ip/a", flow="pod-to-pod-ip", verdict="pass", source="win-1", target="win-2"
    ),
    Check(
        id="pod-to-pod-ip/b", flow="pod-to-pod-ip", verdict="pass", source="win-1", target="win-1"
    ),
    Check(id="nodeport/a", flow="nodeport-from-external", verdict="limited", target="win-1"),
    Check(id="names/a", flow="dns-via-service", verdict="recorded", source="win-1"),
)
CAUSE = Incident(
    cause="Packets between win-2 and other nodes get no answer",
    traits=(("remote-node", "win-2"),),
    checks=("pod-to-pod-ip/a",),
)
HEALTHY = Run(exit_code=0, seconds=30, checks=CHECKS)


def run(
    *red: str,
    verdict: str = "fail",
    incidents: tuple[Incident, ...] = (CAUSE,),
    events: tuple[str, ...] = (),
) -> Run:
    """Return a run in which these checks have another verdict."""
    checks = tuple(replace(one, verdict=verdict) if one.id in red else one for one in CHECKS)
    return Run(
        exit_code=1,
        seconds=60,
        checks=checks,
        incidents=incidents if red else (),
        events=events,
    )
