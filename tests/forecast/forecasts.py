"""Forecasts without a cluster: the facts of a lab profile, some of them changed, the shipped suites and manifests."""

from collections.abc import Iterable
from functools import cache

from nettests.forecast.expected_run import Planned, at_any_patch, deciding_patches
from nettests.forecast.facts_after import changed, notes
from nettests.forecast.forecast import Coming, Forecast, forecast
from nettests.forecast.keys import read_change
from nettests.model.facts import ClusterFacts
from nettests.model.words import CheckClass
from nettests.plan import build
from tests.facts import cluster_facts
from tests.manifests.shipped import expectations, flows, manifests

OLD, NEW = "win2019-l2bridge", "win2022-l2bridge-dsr"
TO_NEW = (
    *("kubernetes=1.33.5", "windows.build=20348.3207"),
    *("kubeProxy.dsr=true", "cni.loopbackDSR=on"),
)
"""What turns the first of these profiles into the second."""


@cache
def planned(facts: ClusterFacts) -> Planned:
    """Return what a run with every class of checks tests on these facts, and what is expected."""
    plan = build(facts, flows(), frozenset(CheckClass))
    return Planned(facts=facts, plan=plan, expectations=expectations(facts))


def forecast_of(facts: str | ClusterFacts, *to: str, of: str = "a run") -> Forecast:
    """Return the forecast of a profile by its name, or of facts of one's own."""
    before = cluster_facts(facts) if isinstance(facts, str) else facts
    changes = [read_change(word) for word in to]
    after = changed(before, changes)
    plan = planned(after)
    patches = deciding_patches(manifests(), changes)
    others = [planned(changed(before, changes, patch=one)).expectations for one in patches]
    plan = at_any_patch(plan, others, changes)
    told = notes(before, after, changes, manifests())
    return forecast(planned(before), plan, changes, manifests(), of=of, notes=told)


def ids(found: Forecast, *kinds: Coming) -> set[str]:
    """Return the checks of some kinds of change."""
    return {one.id for one in found.changes if one.kind in kinds}


def flows_of(names: Iterable[str]) -> set[str]:
    """Return the flows of checks, which their ids begin with."""
    return {name.partition("/")[0] for name in names}
