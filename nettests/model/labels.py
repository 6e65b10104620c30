"""Keys of labels and annotations used by several modules: our own, and Kubernetes' own where they matter here.

A key that only one module uses (a platform's node pool, a taint) stays in that module.
"""

DOMAIN = "nettests.dev"
"""The domain of all our names in a cluster, and of the kinds of documents that we read and write."""

RUN_LABEL = f"{DOMAIN}/run"
OWNER_LABEL = f"{DOMAIN}/owner"
PURPOSE_LABEL = f"{DOMAIN}/purpose"
POD_LABEL = f"{DOMAIN}/pod"
MEMBER_LABEL = f"member.{DOMAIN}/"
"""A Pod has one such label for each Service that it backs: a selector cannot express "one of"."""
SET_LABEL = f"{DOMAIN}/set"
REVISION = f"{DOMAIN}/revision"
"""The revision of a changed template, on its Pods."""
READINESS_LABEL = f"{DOMAIN}/readiness"
NEVER_READY = "never"
"""The value of ``READINESS_LABEL`` on Pods that are meant to run without being Ready."""
POOL_LABEL = f"{DOMAIN}/pool"
"""On a node: the node pool that its operator puts it in."""
CREATED = f"{DOMAIN}/created"
EXPIRES = f"{DOMAIN}/expires"
KEPT = f"{DOMAIN}/kept"
"""Marks the Lease of a run that keeps its objects (``--keep``)."""
COLLECTED = f"{DOMAIN}/collected"
"""On the Lease of a dead run, from the moment when its objects are being removed."""

APP_LABEL = "app.kubernetes.io/name"
INSTANCE_LABEL = "app.kubernetes.io/instance"
MANAGED_BY_LABEL = "app.kubernetes.io/managed-by"
"""On objects of ``nettests job``: the application, the Job, the creator. None of them marks an object of a run."""
JOB_NAME_LABEL = "job-name"
"""On the Pods of a Job, in all versions; the one with a prefix came with Kubernetes 1.27."""
CONTROL_PLANE_LABEL = "node-role.kubernetes.io/control-plane"
"""On nodes of the control plane, and the key of the taint that keeps Pods off them."""
OS_LABEL = "kubernetes.io/os"
HOSTNAME_LABEL = "kubernetes.io/hostname"
WINDOWS_BUILD_LABEL = "node.kubernetes.io/windows-build"
SERVICE_NAME_LABEL = "kubernetes.io/service-name"
"""On an EndpointSlice: the Service that it belongs to."""
POLICY_LABEL = f"{DOMAIN}/policy"
"""On Pods of single checks that a NetworkPolicy selects: ``denied`` or ``allowed``."""
ENFORCED_LEVEL_LABEL = "pod-security.kubernetes.io/enforce"
"""On a namespace: the level of Pod Security that its Pods must keep."""


def is_ours(key: str) -> bool:
    """Whether we identify our own objects by this label or annotation."""
    return key.partition("/")[0].endswith(DOMAIN)


def document_version(version: str) -> str:
    """Return the ``apiVersion`` of one of our documents."""
    return f"{DOMAIN}/{version}"
