"""``nettests discover`` and ``nettests plan``: the facts of a cluster, and the checks that a run would make.

Both only read; nothing is created in the cluster.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import click

from nettests import terminal
from nettests.cli.help import Command
from nettests.cli.options import CHECKS, CLUSTER, IDS, CommonOptions, cluster_options
from nettests.cli.output_options import json_option
from nettests.cluster import connect
from nettests.model.check import Plan
from nettests.model.cluster_profile import ClusterProfile
from nettests.model.codec import to_data
from nettests.model.expectation import Expectation
from nettests.model.facts import ClusterFacts, Fact, NodeFacts
from nettests.model.words import OS
from nettests.session.blueprint import Blueprint, blueprint, read_manifests
from nettests.session.prepare import facts_of, profile_of
from nettests.session.run_options import RunOptions


@click.command(cls=Command, example="nettests discover --kubeconfig ~/.kube/config --json")
@cluster_options(CLUSTER)
@json_option("All facts with their origins, as JSON.")
def discover(*, common: CommonOptions, as_json: bool) -> None:
    """Show a cluster's facts, and why some are unknown."""
    with common.cluster() as options:
        facts = read_facts(options, profile_of(options))
    if as_json:
        terminal.document(to_data(facts))
        return
    for line in _described(facts):
        terminal.line(line)


@click.command(cls=Command, example="nettests plan --lab --flow=icmp-egress")
@cluster_options(CLUSTER, CHECKS, IDS)
@json_option("Checks with expectations, and skips, as JSON.")
def plan(*, common: CommonOptions, as_json: bool) -> None:
    """List the checks of a run, and the expected outcome of each.

    Each check is listed with the limitation entry that decides it. Reads the cluster; creates nothing.
    """
    tell_plan(read_blueprint(common), as_json=as_json)


def tell_plan(blueprint: Blueprint, *, as_json: bool) -> None:
    """Print a plan."""
    if as_json:
        terminal.document(_as_data(blueprint))
        return
    for line in planned_lines(blueprint):
        terminal.line(line)


def read_facts(options: RunOptions, profile: ClusterProfile) -> ClusterFacts:
    """Connect and discover; nothing is created."""
    with closing(connect(options.kubeconfig, options.context, profile.timing)) as connection:
        return facts_of(connection, profile, options)


def planned_on(
    common: CommonOptions, also: Callable[[RunOptions, ClusterProfile], None] | None = None
) -> tuple[ClusterProfile, Blueprint]:
    """Plan as a run would; return the plan with the cluster profile. ``also`` reads more while the cluster is open."""
    flows = common.registry().flows
    # Broken manifests are reported before a cluster is contacted or a lab started.
    read = read_manifests(common.options.manifests)
    with common.cluster() as options:
        profile = profile_of(options)
        facts = read_facts(options, profile)
        if also is not None:
            also(options, profile)
    return profile, blueprint(facts, flows, read, options.enabled, options.choice)


def read_blueprint(common: CommonOptions) -> Blueprint:
    """Read suites, manifests and the cluster, in this order, and plan."""
    return planned_on(common)[1]


def planned_lines(blueprint: Blueprint) -> Iterator[str]:
    """Yield the lines of a plan: each check with its expectation, each skip with its reason, and the totals."""
    for check in blueprint.plan.checks:
        swept = f", {len(check.members)} members" if check.members else ""
        yield f"{check.id}  {_expected(blueprint.expectations[check.id])}{swept}"
    for skip in blueprint.plan.skips:
        yield f"{skip.id}  skipped: {skip.reason}"
    yield _totals(blueprint.plan)


def _as_data(blueprint: Blueprint) -> dict[str, object]:
    return {
        "checks": [
            {**to_data(check), "expectation": to_data(blueprint.expectations[check.id])}
            for check in blueprint.plan.checks
        ],
        "skips": to_data(blueprint.plan.skips),
        "pods": to_data(blueprint.plan.pods),
        "services": to_data(blueprint.plan.services),
    }


def _expected(expectation: Expectation) -> str:
    if expectation.undecided:
        return f"undecided: {expectation.undecided}"
    words = "open" if expectation.expected is None else str(expectation.expected)
    return f"{words} ({expectation.limitation.id})" if expectation.limitation else words


def _totals(plan: Plan) -> str:
    flows = Counter(check.flow for check in plan.checks)
    return (
        f"{len(plan.checks)} checks of {len(flows)} flows, {len(plan.skips)} skipped; "
        f"{len(plan.pods)} pods, {len(plan.services)} Services"
    )


def _described(facts: ClusterFacts) -> Iterator[str]:
    yield f"context          {facts.context}"
    yield f"API server       {facts.server_git_version}"
    single: dict[str, Fact[Any]] = {
        "CNI plugin": facts.cni.plugin,
        "CNI backend": facts.cni.backend,
        "VXLAN VNI": facts.cni.vni,
        "VXLAN port": facts.cni.vxlan_port,
        "pod CIDRs": facts.pod_cidrs,
        "Service CIDRs": facts.service_cidrs,
        "DNS address": facts.dns_address,
        "cluster domain": facts.cluster_domain,
        "pod A records": facts.pod_records,
    }
    for name, fact in single.items():
        yield f"{name:16} {_value(fact)}"
    yield f"{'external target':16} {_external(facts)}"
    if facts.denied:
        yield f"{'denied':16} {', '.join(facts.denied)}"
    for node in facts.nodes:
        yield ""
        yield from _node(node)


def _node(node: NodeFacts) -> Iterator[str]:
    state = "Ready" if node.ready else "not Ready"
    cordoned = "" if node.schedulable else ", cordoned"
    yield f"{node.name}: {node.pool}, member {node.member}, {state}{cordoned}"
    facts: dict[str, Fact[Any]] = {
        "kubelet": node.kubelet,
        "runtime": node.runtime,
        "CNI driver": node.cni_driver,
        "kube-proxy mode": node.kube_proxy.mode,
    }
    if node.os is OS.WINDOWS:
        facts = {
            "build": node.build,
            **facts,
            "DSR": node.kube_proxy.dsr,
            "source VIP": node.kube_proxy.source_vip,
            "HostProcess": node.host_process,
        }
    for name, fact in facts.items():
        yield f"  {name:16} {_value(fact)}"


def _value(fact: Fact[Any]) -> str:
    if fact.value is None:
        return f"unknown: {fact.origin}"
    value = fact.value
    if isinstance(value, bool):
        text = "yes" if value else "no"
    elif isinstance(value, tuple):
        text = ", ".join(map(str, value))
    else:
        text = str(value)
    return f"{text}  ({fact.origin})"


def _external(facts: ClusterFacts) -> str:
    target = facts.external_target
    vantage = f"vantage: {facts.external_vantage}{', UDP too' if facts.external_udp else ''}"
    if target is None:
        return f"none declared; {vantage}"
    return f"{target.address or 'no address'}, {target.name or 'no name'}; {vantage}"
