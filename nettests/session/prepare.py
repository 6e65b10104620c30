"""Prepare a run: cluster profile, connection, facts, plan and expectations.

The first stage of a run, and of every command that needs a cluster. The cluster profile is the
user's description of the cluster, with the options that override it. Creates nothing in the cluster
and writes no file.
"""

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from nettests import probes
from nettests.cluster import Connection, connect
from nettests.cluster.discover import discover
from nettests.cluster.permissions import denied, level_of, privileged_of
from nettests.cluster.profile_file import read_profile
from nettests.cluster.threads import threads
from nettests.errors import ClusterError, ManifestError
from nettests.model.cluster_profile import ClusterProfile, Images
from nettests.model.facts import ClusterFacts, Fact
from nettests.model.permission import CREATE_POD
from nettests.plan import Flow
from nettests.plan.images import tagged_images
from nettests.redaction import register
from nettests.session.blueprint import Blueprint, blueprint, read_manifests
from nettests.session.report_dir import new_run_id
from nettests.session.run_options import RunOptions
from nettests.session.run_state import StageClock


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


DEFAULT_NAMESPACE = "default"
"""Of the Secret of ``--pull-secret`` if it is named without a namespace."""
PULL_KEYS = (".dockerconfigjson", ".dockercfg")
"""The keys of pull Secrets (Kubernetes, "Secrets", "Docker config Secrets")."""


def profile_of(options: RunOptions) -> ClusterProfile:
    """Return the cluster profile, with the images that the options name.

    An image on the command line is used on every node.
    """
    profile = read_profile(options.cluster_profile)
    images = profile.images
    if options.registry:
        images = replace(images, registry=options.registry)
    if options.pre_pull:
        images = replace(images, pre_pull=True)
    if options.pull_secret:
        images = _with_secret(images, options.pull_secret, options.namespace)
    if images.pull_secret_file and options.namespace:
        raise ManifestError(
            f"images.pullSecretFile cannot be used with --namespace {options.namespace}",
            hint="create the Secret there and name it in images.pullSecrets",
        )
    if images.pull_secrets and not options.namespace:
        raise ManifestError(
            "images.pullSecrets names Secrets of a namespace that does not exist yet",
            hint="use --namespace, or images.pullSecretFile, of which a run makes a Secret",
        )
    if options.image:
        images = replace(images, probe=options.image, by_system={})
    if images.require_digest and (tagged := tagged_images(images)):
        raise ManifestError(
            f"images.requireDigest is set, and these images are named by tag: {', '.join(tagged)}",
            hint="name them as name@sha256:…; nettests images --digests prints what nodes report",
        )
    if options.nodes:
        profile = replace(profile, fleet_nodes=options.nodes)
    if options.excluded_nodes:
        profile = replace(profile, excluded_nodes=options.excluded_nodes)
    return replace(profile, images=images) if images != profile.images else profile


def _with_secret(images: Images, given: str, used: str | None) -> Images:
    """Name the Secret of ``--pull-secret``: in the namespace that is used, or to be copied."""
    namespace, _, name = given.rpartition("/")
    if not used:
        return replace(images, pull_secret=f"{namespace or DEFAULT_NAMESPACE}/{name}")
    if namespace not in {"", used}:
        raise ManifestError(
            f"--pull-secret {given} is not in the namespace {used}, into which a run copies no Secret",
            hint=f"create it there, and name it without a namespace: --pull-secret {name}",
        )
    return replace(images, pull_secrets=(*images.pull_secrets, name))


def copied_secret(connection: Connection, profile: ClusterProfile) -> ClusterProfile:
    """Read the pull Secret that a run copies; ``ClusterError`` if it is none or may not be read."""
    if not profile.images.pull_secret:
        return profile
    namespace, _, name = profile.images.pull_secret.partition("/")
    item = connection.get(f"/api/v1/namespaces/{namespace}/secrets/{name}")
    data = {key: text for key, text in (item.get("data") or {}).items() if key in PULL_KEYS}
    if not data:
        raise ClusterError(
            f"the Secret {profile.images.pull_secret} is no pull Secret: it has none of {', '.join(PULL_KEYS)}",
            hint="create one with `kubectl create secret docker-registry`",
        )
    for text in data.values():
        register(text)
    return replace(profile, images=replace(profile.images, pull_secret_data=data))
