"""Pods for one command, outside of a run: deployed, used, and removed again.

For ``nettests diagnose --hosts``, ``nettests calibrate`` and ``nettests trace``. Leftovers become a
remark; for the first two, so do Pods that are refused or do not start.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from nettests.errors import NettestsError
from nettests.model.check import Plan
from nettests.session.deploying import deploy
from nettests.session.holding import Holding
from nettests.session.prepare import Prepared
from nettests.session.run_options import Keep
from nettests.session.standing import Standing


@contextmanager
def held_for_a_while(prepared: Prepared, remarks: list[str]) -> Iterator[Holding]:
    """Yield the holding of a command's objects; they are removed after the block."""
    holding = Holding.of(prepared, Keep.NEVER)
    try:
        yield holding
    finally:
        holding.end(0)
        if holding.left_behind:
            remarks.append(f"left behind: {holding.left_behind}")


@contextmanager
def standing_for_a_while(
    prepared: Prepared, plan: Plan, remarks: list[str]
) -> Iterator[Standing | None]:
    """Yield the deployed Pods of a plan, ``None`` if refused; all are removed after the block."""
    with held_for_a_while(prepared, remarks) as holding:
        standing = None
        try:
            standing = deploy(prepared, plan, holding, lost=remarks.append)
        except NettestsError as error:
            remarks.append(error.message)
        else:
            remarks += standing.deployment.problems.values()
        yield standing
