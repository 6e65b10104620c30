"""The user's description of a cluster: the cluster profile, and the options that override it.

Reads the profile, and the Secret that a run copies; creates nothing.
"""

from dataclasses import replace

from nettests.cluster import Connection
from nettests.cluster.profile_file import read_profile
from nettests.errors import ClusterError, ManifestError
from nettests.model.cluster_profile import ClusterProfile, Images
from nettests.plan.images import tagged_images
from nettests.redaction import register
from nettests.session.run_options import RunOptions

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
