"""When positive controls make a result conclusive (ARCHITECTURE, trust rule 4).

Used by ``verdicts``. "Timed out" proves nothing unless, in the same window, this vantage reached
something by this protocol and another vantage got an answer from this target; one path may show
both. "One backend answered" proves nothing unless several could.
"""

from nettests.judge.message import last_detail
from nettests.model.observation import NOT_RUN, ControlResult, Observation
from nettests.model.words import Distribution, Outcome

VANTAGE = "vantage"
TARGET = "target"
PATH = "path"


def needs_controls(observation: Observation) -> bool:
    """Whether an observation is conclusive only with positive controls."""
    if observation.outcome in {Outcome.DEVIATES, Outcome.CUT_SHORT}:
        return False  # read directly: no time-out to explain
    one_backend = observation.distribution is Distribution.ONE_BACKEND
    return one_backend or not observation.outcome.positive


def why_not_proven(observation: Observation) -> str:
    """Return why the controls do not prove a result that needs them, or nothing."""
    for control in observation.controls:
        if not control.ok:
            return _failed(control)
    shown = {control.proves for control in observation.controls}
    needed = {TARGET} if observation.outcome.positive else {VANTAGE, TARGET}
    missing = set() if PATH in shown else needed - shown
    if missing:
        return f"this cluster allows no {sorted(missing)[0]} control"
    return ""


def why_vantage_fails(observation: Observation, *, in_cluster: bool) -> str:
    """Return why nothing shows that this vantage could reach anything by this protocol, or nothing.

    If the target answers other vantages meanwhile and a vantage ``in_cluster`` reaches nothing else
    either, that is evidence about its paths. An external vantage may be where no node is reachable.
    """
    controls = [control for control in observation.controls if control.proves in {VANTAGE, PATH}]
    if any(control.ok for control in controls) or (in_cluster and _lost_here(observation)):
        return ""
    if not controls:
        return "this cluster allows no vantage control"
    return _failed(controls[0])


def _failed(control: ControlResult) -> str:
    return f"the {control.proves} control failed as well ({control.detail})"


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


def failed_target(observation: Observation) -> ControlResult | None:
    """Return the control that shows that another vantage does not reach the target either.

    A control that was not run, or whose own probe was not reached, shows nothing about the target.
    """
    failed = (
        control
        for control in observation.controls
        if control.proves == TARGET and not control.ok and _met_network(control)
    )
    return next(failed, None)


def _met_network(control: ControlResult) -> bool:
    """Whether a failed control was sent over the network at all."""
    # sample: probe_failed: control channel port-forward: port-forward to p: …
    return control.detail != NOT_RUN and not control.detail.startswith(Outcome.PROBE_FAILED.value)


def unseen_part(observation: Observation, *, source: bool, distribution: bool) -> str:
    """Return which asserted part of a positive result no answer showed, or nothing."""
    if not observation.outcome.positive:
        return ""
    if source and observation.source_seen is None:
        return "no answer says which source address the server saw"
    if distribution and observation.distribution is None:
        return "no answer says which backend it came from"
    return ""


def why_failed(observation: Observation) -> str:
    """Return the detail of the last failed attempt, and which of its controls failed alike."""
    why, target = last_detail(observation), failed_target(observation)
    if observation.outcome.positive:
        return why
    if target is not None:
        return f"{why}; nothing else reaches the target either ({target.detail})"
    here = (
        None
        if any(each.ok for each in observation.controls if each.proves == VANTAGE)
        else _lost_here(observation)
    )
    return f"{why}; the source reaches nothing else either ({here.detail})" if here else why
