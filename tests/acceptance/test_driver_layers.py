"""A run judged by another driver's layer: what differs between the drivers turns red, and nothing else.

Offline, from journals. Where two drivers differ is not read from manifests: it is where the runs of two
profiles observed something else. Forcing a layer is what a cluster profile does that states a wrong
``facts.cni.driver``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from nettests.expect import resolve
from nettests.model.facts import ClusterFacts, NodeFacts, known
from nettests.model.observation import Observation
from nettests.model.words import OS, Verdict
from nettests.session.blueprint import read_manifests
from nettests.session.rejudge import Recorded, rejudged
from tests.acceptance.runs import Runs
from tests.session.recorded_journal import read_recorded

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.xdist_group("whole-runs"),
    pytest.mark.timeout(1800),
]
SHIPPED = read_manifests()[0]
JUDGED = {Verdict.PASS, Verdict.LIMITED}
BY_EXCEPTIONS = {"icmp-pod-to-node"}
"""Flows in which profiles differ by OutBoundNAT's exceptions, which are stated beside the driver."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forced:
    """A recorded profile, the driver stated for it, and a profile that really has that driver."""

    profile: str
    driver: str
    other: str
    proxy: Mapping[str, Any]
    red: Mapping[str, Verdict]
    """The verdict of each flow in which the two differ."""


LIFTED, FAIL = Verdict.LIFTED, Verdict.FAIL
CASES = [
    Forced(
        profile="win2019-l2bridge",
        driver="overlay",
        other="win2019-overlay",
        proxy={},
        red={
            "node-to-pod": LIFTED,
            "etp-local-client-address": FAIL,
            "dsr-source-address": FAIL,
            "nodeport-source-address": LIFTED,
            "nodeport-from-pod-source-address": LIFTED,
            "service-hairpin-source": LIFTED,
        },
    ),
    Forced(
        profile="win2019-overlay",
        driver="l2bridge",
        other="win2019-l2bridge",
        proxy={},
        red={
            "node-to-pod": FAIL,
            "etp-local-client-address": FAIL,
            "dsr-source-address": FAIL,
            "nodeport-source-address": FAIL,
            "nodeport-from-pod-source-address": FAIL,
            "service-hairpin-source": FAIL,
        },
    ),
    Forced(
        profile="win2022-overlay-dsr",
        driver="l2bridge",
        other="win2022-l2bridge-dsr",
        proxy={},
        red=dict.fromkeys(
            (
                "node-to-pod",
                "nodeport-source-address",
                "nodeport-from-pod-source-address",
            ),
            FAIL,
        ),
    ),
    Forced(
        profile="antrea-transparent",
        driver="overlay",
        other="win2022-overlay-dsr",
        proxy={"mode": "kernelspace", "dsr": True},
        red=dict.fromkeys(
            (
                "node-to-pod",
                "nodeport-source-address",
                "nodeport-from-pod-source-address",
                "service-host-process-backend",
                "service-no-endpoints",
                "service-terminating-backends",
                "service-two-target-ports",
            ),
            LIFTED,
        ),
    ),
]


def recorded(runs: Runs, profile: str) -> Recorded:
    """The journal of a clean run."""
    return read_recorded(runs[profile].directory / "journal.jsonl")


def stating(facts: ClusterFacts, driver: str, proxy: Mapping[str, Any]) -> ClusterFacts:
    """The facts with another driver, and other settings of kube-proxy, stated for Windows nodes."""
    settings: dict[str, Any] = {name: known(value, "stated") for name, value in proxy.items()}

    def changed(node: NodeFacts) -> NodeFacts:
        if node.os is not OS.WINDOWS:
            return node
        return replace(
            node,
            cni_driver=known(driver, "stated"),
            kube_proxy=replace(node.kube_proxy, **settings),
        )

    return replace(facts, nodes=tuple(changed(node) for node in facts.nodes))


def differing(one: Recorded, other: Recorded) -> set[str]:
    """The checks a member of which observed something else in the other run, in a part that the flow claims."""
    found = set()
    for check in one.checks:
        parts = ["outcome"]
        parts += ["source_seen"] if check.claim.source_seen else []
        parts += ["distribution"] if check.claim.distribution else []
        seen = [(one.observations.get(at.id), other.observations.get(at.id)) for at in check.each]
        if any(
            here and there and _parts(here, parts) != _parts(there, parts) for here, there in seen
        ):
            found.add(check.id)
    return found


def _parts(observation: Observation, names: list[str]) -> list[object]:
    return [getattr(observation, name) for name in names]


def accepting_both(forced: Recorded, after: Mapping[str, Verdict]) -> set[str]:
    """The checks whose entry accepts several outcomes, and that met one of them."""
    expectations = resolve(forced.checks, forced.facts, SHIPPED)
    wanted = {check: one.expected for check, one in expectations.items()}
    several = {check for check, one in wanted.items() if one and one.alternatives}
    return {check for check in several if after.get(check) in JUDGED}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.profile}-as-{case.driver}")
def test_another_drivers_layer_is_red_exactly_where_the_drivers_differ(
    finished_runs: Runs, case: Forced
) -> None:
    """Judged by the entries of another driver, a clean run is lifted or fails where behaviour differs."""
    own, other = recorded(finished_runs, case.profile), recorded(finished_runs, case.other)
    forced = replace(own, facts=stating(own.facts, case.driver, case.proxy))
    decided = {
        check
        for check in own.verdicts
        if own.verdicts[check] in JUDGED
        and other.verdicts.get(check) in JUDGED
        and check.partition("/")[0] not in BY_EXCEPTIONS
    }
    after = {told.check: told.verdict for told in rejudged(forced, SHIPPED)}
    red = {check: after[check] for check in decided if after[check] is not own.verdicts[check]}
    assert set(red) == (differing(own, other) & decided) - accepting_both(forced, after)
    flows = {check.partition("/")[0]: verdict for check, verdict in red.items()}
    assert flows == case.red
