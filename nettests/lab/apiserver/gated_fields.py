"""Fields of pods that this version of the API server does not know, or has switched off: dropped.

After ``dropDisabledFields`` of ``k8s.io/kubernetes/pkg/api/pod`` and the defaults in
``pkg/features/kube_features.go``. ``fields.json`` is that of the newest version; what a release lacks, or
has behind a gate that is off by default, is not stored and so not validated either. Pure; it changes the
spec that it is given.
"""

from typing import Any

from nettests.lab.apiserver.windows import containers

Json = dict[str, Any]

# (the release, 1.x, from which the gate is on by default; the field of the pod's spec)
_POD = (
    (22, "securityContext.windowsOptions.hostProcess"),  # WindowsHostProcessContainers: new in 1.22
    (23, "ephemeralContainers"),  # EphemeralContainers: alpha in 1.16
    (24, "os"),  # IdentifyPodOS: alpha in 1.23
    (30, "securityContext.appArmorProfile"),  # AppArmorFields: new in 1.30
    (33, "securityContext.supplementalGroupsPolicy"),  # SupplementalGroupsPolicy: alpha in 1.31
    (33, "securityContext.seLinuxChangePolicy"),  # SELinuxChangePolicy: alpha in 1.32
    (33, "hostUsers"),  # UserNamespacesSupport: alpha in 1.25, beta and off in 1.30
    (34, "resources"),  # PodLevelResources: alpha in 1.32
)
_CONTAINER = (
    (22, "securityContext.windowsOptions.hostProcess"),
    (30, "securityContext.appArmorProfile"),
    (33, "securityContext.procMount"),  # ProcMountType: alpha in 1.12, beta and off in 1.31
)


def drop(spec: Json, minor: int) -> None:
    """Remove from a pod's spec what Kubernetes 1.``minor`` does not take with default gates."""
    _drop(spec, _POD, minor)
    for _, container in containers(spec):
        _drop(container, _CONTAINER, minor)


def _drop(holder: Json, fields: tuple[tuple[int, str], ...], minor: int) -> None:
    for since, path in fields:
        *parents, name = path.split(".")
        owner: Json | None = holder
        for parent in parents:
            owner = (owner or {}).get(parent)
        if minor < since and owner:
            owner.pop(name, None)
