"""The user's description of a cluster: the cluster profile, and the options that override it.

Used by a run and by every command that reads a cluster. Reads only; nothing is created.
"""

from dataclasses import replace

from nettests.cluster import Connection
from nettests.cluster.discover import discover
from nettests.cluster.permissions import denied, level_of, privileged_of
from nettests.cluster.profile_file import read_profile
from nettests.cluster.threads import threads
from nettests.errors import ManifestError
from nettests.model.cluster_profile import ClusterProfile
from nettests.model.facts import ClusterFacts, Fact
from nettests.model.permission import CREATE_POD
from nettests.plan.images import tagged_images
from nettests.session.run_options import RunOptions


def profile_of(options: RunOptions) -> ClusterProfile:
    """Return the cluster profile, with images as the options name them.

    An image that is named on the command line is the image of every node.
    """
    profile = read_profile(options.cluster_profile)
    images = profile.images
    if options.registry:
        images = replace(images, registry=options.registry)
    if options.pre_pull:
        images = replace(images, pre_pull=True)
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


def facts_of(connection: Connection, profile: ClusterProfile, options: RunOptions) -> ClusterFacts:
    """Discover the cluster, with what admission makes of a run's Pods and of the namespace that it would use."""
    namespace = options.namespace or ""
    with threads(connection, "facts") as pool:
        admitted = pool.submit(_privileged, connection, namespace)
        level = pool.submit(level_of, connection, namespace) if namespace else None
        facts = discover(connection, profile, namespace)
        if level is not None:  # first: it says so where there is no such namespace
            facts = replace(facts, pod_security=level.result())
        return replace(facts, privileged=admitted.result())


def _privileged(connection: Connection, namespace: str) -> Fact[bool]:
    """Return whether privileged Pods are valid; beside discovery, whose answer about the right is not waited for."""
    missing = denied(connection, (CREATE_POD,), namespace)
    return privileged_of(connection, namespace, tuple(map(str, missing)))
