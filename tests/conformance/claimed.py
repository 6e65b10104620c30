"""A vendor profile as text, changed where a test says so, and runs on which it is tried: real plans, stated behaviour."""

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import replace
from functools import cache
from typing import Any

from nettests.conformance.assessment import JudgedRun, assess
from nettests.conformance.conformance_report import ConformanceReport, Digest, Digests
from nettests.conformance.vendor_profile import VendorProfile, read_vendor_profile
from nettests.model.check import Plan
from nettests.model.facts import ClusterFacts
from nettests.model.words import CheckClass
from nettests.model.yaml_text import write_yaml
from nettests.plan import build
from nettests.report import Results
from nettests.report.results import CheckResult
from tests.compare.runs import Behaves, as_expected, results
from tests.facts import cluster_facts
from tests.manifests.shipped import flows

FACTS = cluster_facts("win2019-l2bridge")
PODS, SERVICES, SOURCES, ECHO = (
    "pod-to-pod-ip",
    "pod-to-service-clusterip",
    "dsr-source-address",
    "icmp-egress",
)
FILE = "acme.yaml"
DATA: dict[str, Any] = {
    "apiVersion": "nettests.dev/v1alpha1",
    "kind": "VendorProfile",
    "implementation": {
        "organization": "Acme Networks",
        "project": "Acme CNI",
        "url": "https://acme.example/cni",
        "version": "2.4.1",
        "contact": ["https://acme.example/support"],
    },
    "plugin": "flannel",
    "supports": {
        "kubernetes": ">=1.24 <1.35",
        "builds": ["17763", ">=20348.1 <20349"],
        "drivers": ["l2bridge"],
    },
    "features": [
        {"name": "Pod network", "level": "core", "flows": [PODS]},
        {"name": "Services", "level": "core", "flows": [SERVICES]},
        {"name": "Source addresses", "level": "extended", "flows": [SOURCES]},
        {
            "name": "Echo requests",
            "level": "unsupported",
            "reason": "OutBoundNAT brings no answer back.",
            "flows": [ECHO],
        },
    ],
}
DIGESTS = Digests(
    journal=Digest(file="journal.jsonl", sha256="1a" * 32),
    profile=Digest(file=FILE, sha256="2b" * 32),
    manifests=(Digest(file="manifests/limitations/base.yaml", sha256="3c" * 32),),
)


def text_of(change: Callable[[dict[str, Any]], object] = lambda data: None) -> str:
    """Return the text of the profile, with its data changed before it is written."""
    data = deepcopy(DATA)
    change(data)
    return write_yaml(data)


def profile(change: Callable[[dict[str, Any]], object] = lambda data: None) -> VendorProfile:
    """Return the profile."""
    return read_vendor_profile(text_of(change), FILE)


def claiming(*flows: str, level: str = "core") -> VendorProfile:
    """Return a profile of one feature of these flows; an extended one stands beside a core one of another flow."""
    feature = {"name": "Claimed", "level": level, "flows": [*flows]}
    other = (
        [] if level == "core" else [{"name": "Nodes", "level": "core", "flows": ["node-to-pod"]}]
    )
    return profile(lambda data: data.update(features=[feature, *other]))


def judged(
    behaves: Behaves = as_expected,
    *,
    facts: ClusterFacts = FACTS,
    flows_run: Iterable[str] = (),
    own: Iterable[str] = (),
) -> JudgedRun:
    """Return a judged run of all flows, or of those that are named."""
    return JudgedRun(
        results=_ran(facts, behaves, tuple(flows_run)),
        plan=_planned(facts),
        before={},
        own_entries=frozenset(own),
        nettests="0.1.0",
    )


@cache
def _ran(facts: ClusterFacts, behaves: Behaves, flows_run: tuple[str, ...]) -> Results:
    return results(facts, behaves, flows=flows_run)


@cache
def _planned(facts: ClusterFacts) -> Plan:
    return build(facts, flows(), frozenset(CheckClass))


def with_checks(run: JudgedRun, change: Callable[[CheckResult], CheckResult | None]) -> JudgedRun:
    """Return a run whose checks are changed, or taken out."""
    changed = (change(one) for one in run.results.checks)
    kept = tuple(one for one in changed if one is not None)
    made: Results = replace(run.results, checks=kept)
    return replace(run, results=made)


def report(run: JudgedRun | None = None, claims: VendorProfile | None = None) -> ConformanceReport:
    """Return the report of a run, a whole one in which everything is as documented unless said."""
    return assess(claims or profile(), run or judged(), DIGESTS)
