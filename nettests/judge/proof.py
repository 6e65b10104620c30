"""What an observation proves: by its positive controls (ARCHITECTURE, trust rule 4), and of names.

The first stage of judging one check. "Timed out" proves nothing unless, in the same window, this
vantage reached something by this protocol and another vantage got an answer from this target; one
path may show both. "One backend answered" proves nothing unless several could. Of a name that goes
to a name server outside the cluster, what that server withheld is no failure of the cluster.
"""

from dataclasses import dataclass, replace

from nettests.model.check import Check
from nettests.model.expectation import Expected
from nettests.model.observation import NOT_RUN, ControlResult, Observation
from nettests.model.target_kinds import Naming
from nettests.model.words import OS, Distribution, Outcome, Resolver, VantageKind

VANTAGE = "vantage"
TARGET = "target"
PATH = "path"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """An observation of one check, and what it proves."""

    observation: Observation
    """With ``nxdomain`` where only a name server outside withheld that answer."""
    kept_back: str
    """Why such a server hides the result, or nothing."""
    lacking: str
    """Why the controls do not prove a result that needs them, or nothing."""
    vantage_fails: str
    """Why nothing shows that the vantage of a negative result works, or nothing."""
    failed_target: ControlResult | None
    """The control that shows that another vantage does not reach the target either."""

    @property
    def why_failed(self) -> str:
        """The detail of the last failed attempt, and which of its controls failed alike."""
        why, target = self.observation.last_detail, self.failed_target
        if self.observation.outcome.positive:
            return why
        if target is not None:
            return f"{why}; nothing else reaches the target either ({target.detail})"
        controls = self.observation.controls
        reached = any(control.ok for control in controls if control.proves == VANTAGE)
        here = None if reached else _lost_here(self.observation)
        return f"{why}; the source reaches nothing else either ({here.detail})" if here else why


def proof_of(check: Check, expected: Expected | None, observation: Observation) -> Proof:
    """Return what an observation proves of an expected outcome, or of one left open."""
    seen = read_as_denied(check, observation)
    needed = _needs_controls(seen)
    in_cluster = check.source.kind is not VantageKind.EXTERNAL
    unproven = needed and not seen.outcome.positive
    # A control that was not run, or whose own probe was not reached, shows nothing about the
    # target.
    failed = (
        control
        for control in seen.controls
        if control.proves == TARGET and not control.ok and _met_network(control)
    )
    return Proof(
        observation=seen,
        kept_back=_kept_from_the_suffixes(check, expected, seen),
        lacking=_why_not_proven(seen) if needed else "",
        vantage_fails=_why_vantage_fails(seen, in_cluster=in_cluster) if unproven else "",
        failed_target=next(failed, None),
    )


def _needs_controls(observation: Observation) -> bool:
    """Whether an observation is conclusive only with positive controls."""
    if observation.outcome in {Outcome.DEVIATES, Outcome.CUT_SHORT}:
        return False  # read directly: no time-out to explain
    one_backend = observation.distribution is Distribution.ONE_BACKEND
    return one_backend or not observation.outcome.positive


def _why_not_proven(observation: Observation) -> str:
    """Return why the controls do not prove a result that needs them, or nothing."""
    for control in observation.controls:
        if not control.ok:
            return f"the {control.proves} control failed as well ({control.detail})"
    shown = {control.proves for control in observation.controls}
    needed = {TARGET} if observation.outcome.positive else {VANTAGE, TARGET}
    missing = set() if PATH in shown else needed - shown
    if missing:
        return f"this cluster allows no {sorted(missing)[0]} control"
    return ""


def _why_vantage_fails(observation: Observation, *, in_cluster: bool) -> str:
    """Return why nothing shows that this vantage could reach anything by this protocol, or nothing.

    If the target answers other vantages meanwhile and a vantage ``in_cluster`` reaches nothing else
    either, that is evidence about its paths. An external vantage may be where no node is reachable.
    """
    controls = [control for control in observation.controls if control.proves in {VANTAGE, PATH}]
    if any(control.ok for control in controls) or (in_cluster and _lost_here(observation)):
        return ""
    if not controls:
        return "this cluster allows no vantage control"
    return f"the {controls[0].proves} control failed as well ({controls[0].detail})"


def _lost_here(observation: Observation) -> ControlResult | None:
    """Return the vantage control that timed out while the target answered another vantage."""
    if not any(control.ok for control in observation.controls if control.proves == TARGET):
        return None
    silent = (
        control
        for control in observation.controls
        if control.proves == VANTAGE and control.detail.startswith(Outcome.TIMED_OUT.value)
    )
    return next(silent, None)


def _met_network(control: ControlResult) -> bool:
    """Whether a failed control was sent over the network at all."""
    # sample: probe_failed: control channel port-forward: port-forward to p: …
    return control.detail != NOT_RUN and not control.detail.startswith(Outcome.PROBE_FAILED.value)


NOT_FOUND = frozenset({Outcome.NXDOMAIN, Outcome.SERVFAIL, Outcome.TIMED_OUT})


def read_as_denied(check: Check, observation: Observation) -> Observation:
    """Read an outcome as ``nxdomain`` if only the cluster DNS's upstream withheld that answer."""
    if not _leaves_the_domain(check) or observation.outcome not in NOT_FOUND:
        return observation
    attempts = tuple(
        replace(attempt, outcome=Outcome.NXDOMAIN) if attempt.outcome in NOT_FOUND else attempt
        for attempt in observation.attempts
    )
    return replace(
        observation,
        outcome=Outcome.NXDOMAIN,
        attempts=attempts,
        agreed=len({attempt.outcome for attempt in attempts}) == 1,
    )


def _leaves_the_domain(check: Check) -> bool:
    """Whether a query for the name reaches a name server outside the cluster, at once or later.

    The DNS client of Windows takes a name with a dot as it is; only nslookup goes on to the
    suffixes (Kubernetes documentation, "DNS resolution on Windows nodes").
    """
    form, action = check.target.name_form or "", check.action
    if form.endswith("."):
        return False
    if check.target.descriptor.naming is Naming.ABSENT:
        return True
    final = (
        action.source.os is OS.WINDOWS and action.resolver is not Resolver.NSLOOKUP and "." in form
    )
    return final and check.target.descriptor.naming is Naming.CLUSTER and "{domain}" not in form


BEFORE_THE_SUFFIXES = (
    "nslookup queries the bare name first, and tries the DNS suffixes only after the answer “no such name”, which the "
    "upstream server did not give"
)


def _kept_from_the_suffixes(
    check: Check, expected: Expected | None, observation: Observation
) -> str:
    """Return why nslookup never tried the suffixes that a name needs to resolve, or nothing.

    BIND's nslookup goes on only after NXDOMAIN (``bin/dig/dighost.c``).
    """
    form, action = check.target.name_form or "", check.action
    walks = action.source.os is OS.WINDOWS and action.resolver is Resolver.NSLOOKUP
    partial = "." in form.rstrip(".") and not form.endswith(".") and "{domain}" not in form
    if not walks or not partial or check.target.descriptor.naming is not Naming.CLUSTER:
        return ""
    if expected is None or expected.outcome is not Outcome.RESOLVED:
        return ""
    kept = {attempt.outcome for attempt in observation.attempts} <= {
        Outcome.SERVFAIL,
        Outcome.TIMED_OUT,
    }
    return BEFORE_THE_SUFFIXES if kept and observation.attempts else ""
