"""What probes tell of a late Service is what incidents read of it."""

from nettests.judge.advice import Late, late_service
from nettests.model.words import TargetKind
from tests.probes.conftest import Stage
from tests.probes.made import ask, check
from tests.probes.test_lateness import PROBE, SERVICE, silent_for_a_while


def test_service_probe_and_node_are_read_back(stage: Stage) -> None:
    """From the words that a run writes into its journal."""
    silent_for_a_while(stage)
    asked = check(ask(PROBE, TargetKind.SERVICE_CLUSTERIP))
    stage.observe(asked)
    told = late_service(stage.done(asked.id)["late"])
    assert told == Late(SERVICE, PROBE, stage.pods[PROBE].node)


def test_other_words_are_no_late_service() -> None:
    """Nothing is guessed."""
    assert late_service("attempt 1 took 1.03 s") is None
