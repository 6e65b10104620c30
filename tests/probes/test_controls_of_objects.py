"""Controls that make objects: what the API server said is said once, and what it did not say is requested again."""

from dataclasses import dataclass, field, replace

import pytest

from nettests.model.check import Action, Control
from nettests.model.words import Question, TargetKind
from nettests.probes.controls import CONTROL_TRIES, Controls
from nettests.probes.examine import Examination
from tests.probes.conftest import Bench
from tests.probes.made import action, check

PROBE = "probe-windows-1-1"


@dataclass(slots=True)
class Refusing:
    """An API server that takes no object, or is not reached."""

    error: str | None
    examined: list[Action] = field(default_factory=list)

    def examine(self, action: Action) -> Examination:
        """Count the questions."""
        self.examined.append(action)
        status = None if self.error else 403
        return Examination(tool="admission", words=("create",), status=status, error=self.error)


@pytest.mark.parametrize(
    ("error", "times"), [(None, 1), ("the stream was lost", CONTROL_TRIES)], ids=["said", "lost"]
)
def test_a_control_is_run_again_where_nothing_was_said(
    bench: Bench, error: str | None, times: int
) -> None:
    """A refusal stays one; a channel that failed says nothing of the control."""
    question = replace(action(PROBE, TargetKind.POD_IP), question=Question.ADMIT)
    one = check(question, Control(proves="path", action=question))
    refusing = Refusing(error)
    sender = replace(bench.observer([one]).sender, examiners={Question.ADMIT: refusing})
    Controls().send(sender, one)
    assert len(refusing.examined) == times
