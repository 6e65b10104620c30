"""What probes tell of a late Service is what incidents read of it."""

from nettests.judge.advice import Late, late_service
from nettests.model.words import TargetKind
from tests.probes.conftest import Bench
from tests.probes.made import action, check
from tests.probes.test_lateness import PROBE, SERVICE, idle_connection


def test_service_probe_and_node_are_read_back(bench: Bench) -> None:
    """From the words that a run writes into its journal."""
    idle_connection(bench)
    probed = check(action(PROBE, TargetKind.SERVICE_CLUSTERIP))
    bench.observe(probed)
    told = late_service(bench.done(probed.id)["late"])
    assert told == Late(SERVICE, PROBE, bench.pods[PROBE].node)


def test_other_words_are_no_late_service() -> None:
    """Nothing is guessed."""
    assert late_service("attempt 1 took 1.03 s") is None
