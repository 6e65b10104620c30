"""Keys of labels and annotations used by several modules: our own and Kubernetes'.

A key that only one module uses (a platform's node pool, a taint) stays in that module.
"""

DOMAIN = "nettests.dev"
"""The domain of our names in a cluster and of the kinds of our documents."""

RUN_LABEL = f"{DOMAIN}/run"
OWNER_LABEL = f"{DOMAIN}/owner"
PURPOSE_LABEL = f"{DOMAIN}/purpose"
POD_LABEL = f"{DOMAIN}/pod"
MEMBER_LABEL = f"member.{DOMAIN}/"
"""A Pod has one such label per Service that it backs: a selector cannot express "one of"."""
SET_LABEL = f"{DOMAIN}/set"
REVISION = f"{DOMAIN}/revision"
"""The revision of a changed template, on its Pods."""
READINESS_LABEL = f"{DOMAIN}/readiness"
NEVER_READY = "never"
"""``READINESS_LABEL`` of Pods that are meant to run without becoming Ready."""
POOL_LABEL = f"{DOMAIN}/pool"
"""On a node: the node pool assigned by its operator."""
CREATED = f"{DOMAIN}/created"
EXPIRES = f"{DOMAIN}/expires"
KEPT = f"{DOMAIN}/kept"
"""Marks the Lease of a run that keeps its objects (``--keep``)."""
COLLECTED = f"{DOMAIN}/collected"
"""On the Lease of a dead run, once the removal of its objects has begun."""

APP_LABEL = "app.kubernetes.io/name"
INSTANCE_LABEL = "app.kubernetes.io/instance"
MANAGED_BY_LABEL = "app.kubernetes.io/managed-by"
"""On objects of ``nettests job``: application, Job, creator. None of them marks a run's objects."""
JOB_NAME_LABEL = "job-name"
"""On the Pods of a Job in all versions; the prefixed label came with Kubernetes 1.27."""
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
