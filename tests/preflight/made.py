"""Evidence as a session would gather it, on stated facts: plans are the real ones."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from nettests.bounds import Bounds
from nettests.cluster.owner_marks import lease_object
from nettests.model.check import Plan
from nettests.model.cluster_profile import ClusterProfile
from nettests.model.facts import ClusterFacts, known
from nettests.model.json_text import Object
from nettests.model.permission import Permission, reviewed
from nettests.plan import Flow, build, load
from nettests.preflight import Evidence, Finding, Quota, findings
from nettests.preflight.demand import Passing
from nettests.probes import short_lived_objects, standing
from nettests.resources import suites_path
from nettests.session.prepare import blank_of
from nettests.session.run_objects import ownership
from tests.plan.clusters import mixed

FLOWS = load([suites_path()]).flows
STAGING = replace(
    mixed(), namespace="staging", pod_security=known("privileged", "a dry run of a hostNetwork pod")
)


def only(*names: str) -> tuple[Flow, ...]:
    """Return the shipped flows of these names."""
    return tuple(flow for flow in FLOWS if flow.name in names)


def evidence(
    facts: ClusterFacts | None = None, flows: tuple[Flow, ...] = FLOWS, **others: Any
) -> Evidence:
    """Return the evidence of a cluster, a healthy one unless told otherwise."""
    facts = facts or mixed()
    plan = build(facts, flows)
    return Evidence(
        server="https://127.0.0.1:6443",
        facts=facts,
        plan=plan,
        objects=objects_of(plan, facts),
        passing=passing_of(plan, facts),
        whole=build(replace(facts, denied=()), flows),
        missing=missing(facts),
        **others,
    )


def objects_of(plan: Plan, facts: ClusterFacts) -> tuple[Object, ...]:
    """Return what stands while a run tests."""
    blank = blank_of({}, ClusterProfile(), facts, facts.namespace or "nettests-preflight")
    lease = lease_object(ownership("preflight"), blank.namespace, 30)
    return (*standing(plan, facts, blank), lease)


def passing_of(plan: Plan, facts: ClusterFacts) -> tuple[Passing, ...]:
    """Return what comes and goes beside it."""
    blank = blank_of({}, ClusterProfile(), facts, facts.namespace or "nettests-preflight")
    groups = short_lived_objects(plan, facts, blank, Bounds())
    return tuple(Passing(objects=some, at_once=number) for some, number in groups)


def missing(facts: ClusterFacts) -> tuple[Permission, ...]:
    """Return the permissions that these facts deny."""
    wanted = reviewed(facts.server_version, (), own_namespace=not facts.namespace)
    return tuple(one for one in wanted if str(one) in facts.denied)


def finding(topic: str, found: Evidence) -> Finding:
    """Return what is said of one topic."""
    return next(one for one in findings(found) if one.topic == topic)


def quota(resource: str, hard: float | Fraction, used: float = 0) -> tuple[Quota, ...]:
    """Return one limit."""
    return (
        Quota(
            name="ResourceQuota small", resource=resource, hard=Fraction(hard), used=Fraction(used)
        ),
    )
