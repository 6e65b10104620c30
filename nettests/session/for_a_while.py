"""Pods that stand as long as one command needs them, outside of a run: deployed, used, and removed again.

For ``nettests diagnose --hosts``, ``nettests calibrate`` and ``nettests trace``. What is left behind is a remark; to the first two
so is what is refused or does not come up.
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
def held_for_a_while(prepared: Prepared, remarks: list[str]) -> Iterator[Holding]:
    """Yield what holds a command's objects; they are removed with the block."""
    facts = prepared.blueprint.facts
    holding = Holding(
        connection=prepared.connection,
        run_id=prepared.run_id,
        namespace=facts.namespace or f"nettests-{prepared.run_id}",
        timing=prepared.profile.timing,
        keep=Keep.NEVER,
        shared=bool(facts.namespace),
    )
    try:
        yield holding
    finally:
        holding.end(0)
        if holding.left_behind:
            remarks.append(f"left behind: {holding.left_behind}")


def deployed(prepared: Prepared, plan: Plan, holding: Holding, remarks: list[str]) -> Standing:
    """Deploy what a plan needs; ``NettestsError`` where that is refused."""
    facts, profile = prepared.blueprint.facts, prepared.profile
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
    return Standing(access=access, blank=blank, deployment=deployment)


@contextmanager
def standing_for_a_while(
    prepared: Prepared, plan: Plan, remarks: list[str]
) -> Iterator[Standing | None]:
    """Yield what stands of a plan's Pods, ``None`` where none was created; all of it is removed with the block."""
    with held_for_a_while(prepared, remarks) as holding:
        standing = None
        try:
            standing = deployed(prepared, plan, holding, remarks)
        except NettestsError as error:
            remarks.append(error.message)
        else:
            remarks += standing.deployment.problems.values()
        yield standing
