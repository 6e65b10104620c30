"""Prepare a run: connection, cluster profile, facts, plan and expectations.

The first stage of a run, and of every command that needs a cluster. Creates nothing in the cluster and writes no file.
"""

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from nettests import probes
from nettests.cluster import Connection, connect
from nettests.cluster.discover import discover
from nettests.cluster.permissions import denied, level_of, privileged_of
from nettests.cluster.threads import threads
from nettests.model.cluster_profile import ClusterProfile
from nettests.model.facts import ClusterFacts, Fact
from nettests.model.permission import CREATE_POD
from nettests.plan import Flow
from nettests.session.blueprint import Blueprint, blueprint, read_manifests
from nettests.session.chosen_profile import copied_secret, profile_of
from nettests.session.course import StageClock
from nettests.session.report_dir import new_run_id
from nettests.session.run_options import RunOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What a run needs before anything is deployed."""

    options: RunOptions
    run_id: str
    directory: Path
    connection: Connection
    profile: ClusterProfile
    blueprint: Blueprint
    stages: StageClock = field(default_factory=StageClock)
    """The duration of each stage so far."""


def prepare(options: RunOptions, flows: Iterable[Flow]) -> Prepared:
    """Connect, discover, plan and resolve; ``NettestsError`` before anything is deployed.

    Writes nothing: ``Run`` creates the run directory.
    """
    stages = StageClock()
    stages.begin("discover")
    read = read_manifests(
        options.manifests
    )  # broken manifests are reported before any cluster is contacted
    profile = profile_of(options)
    connection = connect(options.kubeconfig, options.context, profile.timing)
    profile = copied_secret(connection, profile)
    run_id = new_run_id()
    facts = facts_of(connection, profile, options)
    # Each run samples other pairs of a large cluster; the facts keep the seed.
    again = options.choice.seed
    seed = zlib.crc32(run_id.encode()) if again is None else again
    fleet = replace(facts.fleet, seed=seed)
    facts = replace(facts, fleet=fleet)
    stages.begin("plan")
    planned = blueprint(facts, flows, read, options.enabled, options.choice)
    stages.end()
    return Prepared(
        options=options,
        run_id=run_id,
        directory=options.report_dir / run_id,
        connection=connection,
        profile=profile,
        blueprint=planned,
        stages=stages,
    )


def blank_of(
    labels: Mapping[str, str], profile: ClusterProfile, facts: ClusterFacts, namespace: str
) -> probes.Blank:
    """Return what all objects of a run have in common, from the profile and its namespace."""
    return probes.Blank(
        namespace=namespace,
        labels=labels,
        images=profile.images,
        settings=profile.pods,
        pod_security=facts.pod_security.value or "privileged",
        existing=bool(facts.namespace),
        external_ips=profile.external_ips,
        isolated=profile.network_policy,
    )


def facts_of(connection: Connection, profile: ClusterProfile, options: RunOptions) -> ClusterFacts:
    """Discover the cluster, and what admission allows in the namespace that a run would use."""
    namespace = options.namespace or ""
    with threads(connection, "facts") as pool:
        admitted = pool.submit(_privileged, connection, namespace)
        level = pool.submit(level_of, connection, namespace) if namespace else None
        facts = discover(connection, profile, namespace)
        if level is not None:  # first: it raises if the namespace does not exist
            facts = replace(facts, pod_security=level.result())
        return replace(facts, privileged=admitted.result())


def _privileged(connection: Connection, namespace: str) -> Fact[bool]:
    """Return whether privileged Pods are valid; reviews permissions itself, beside discovery."""
    missing = denied(connection, (CREATE_POD,), namespace)
    return privileged_of(connection, namespace, tuple(map(str, missing)))
