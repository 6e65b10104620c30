"""Pods that stand as long as one command needs them, outside of a run: deployed, used, and removed again.

For ``nettests diagnose --hosts`` and ``nettests calibrate``. What is refused, does not come up or is left behind is a remark.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from nettests import probes
from nettests.errors import NettestsError
from nettests.model.check import Plan
from nettests.session.holding import Holding
from nettests.session.prepare import Prepared, blank_of
from nettests.session.run_options import Keep
from nettests.session.standing import Standing


@contextmanager
def standing_for_a_while(
    prepared: Prepared, plan: Plan, remarks: list[str]
) -> Iterator[Standing | None]:
    """Yield what stands of a plan's Pods, ``None`` where none was created; all of it is removed with the block."""
    facts, profile = prepared.blueprint.facts, prepared.profile
    holding = Holding(
        connection=prepared.connection,
        run_id=prepared.run_id,
        namespace=facts.namespace or f"nettests-{prepared.run_id}",
        timing=profile.timing,
        keep=Keep.NEVER,
        shared=bool(facts.namespace),
    )
    try:
        yield _deploy(prepared, plan, holding, remarks)
    finally:
        holding.end(0)
        if holding.left_behind:
            remarks.append(f"left behind: {holding.left_behind}")


def _deploy(
    prepared: Prepared, plan: Plan, holding: Holding, remarks: list[str]
) -> Standing | None:
    facts, profile = prepared.blueprint.facts, prepared.profile
    try:
        access, marks = holding.begin(touches=True)
        blank = blank_of(marks.labels, profile, facts, holding.namespace)
        deployment = probes.deploy(
            access,
            plan,
            facts,
            blank=blank,
            timing=profile.timing,
            on_namespace=lambda: holding.guard(marks, remarks.append),
            on_progress=lambda *_: None,
        )
    except NettestsError as error:
        remarks.append(error.message)
        return None
    remarks += deployment.problems.values()
    return Standing(access=access, blank=blank, deployment=deployment)
