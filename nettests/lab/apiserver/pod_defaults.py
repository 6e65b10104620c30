"""Defaults and admission of pods and pod templates, as a real API server fills them in.

``fill_template`` is what every pod spec gets (``SetDefaults_PodSpec`` and the container defaults of
``k8s.io/kubernetes/pkg/apis/core/v1/defaults.go``); ``fill_pod`` adds what only pods get, and
``admit`` what the admission plugins ServiceAccount, DefaultTolerationSeconds and Priority add.
The functions change the spec they are given.
"""

import secrets
from typing import Any

from nettests.lab.apiserver.windows import containers

Json = dict[str, Any]

_NAME_CHARACTERS = "bcdfghjklmnpqrstvwxz2456789"
_TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"  # noqa: S105  a path, not a secret
_MODE = 0o644
_MODED_VOLUMES = ("configMap", "secret", "downwardAPI", "projected")
_PROBE = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
_EVICTING = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def random_suffix() -> str:
    """Return five characters as ``generateName`` appends them."""
    return "".join(secrets.choice(_NAME_CHARACTERS) for _ in range(5))


def fill_template(spec: Json) -> None:
    """Set the defaults of a pod spec, also where it is a template."""
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("terminationGracePeriodSeconds", 30)
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("securityContext", {})
    spec.setdefault("schedulerName", "default-scheduler")
    for _, container in containers(spec):
        _fill_container(container, host_network=bool(spec.get("hostNetwork")))
    for volume in spec.get("volumes") or ():
        _fill_volume(volume)


def _fill_container(container: Json, *, host_network: bool) -> None:
    container.setdefault("resources", {})
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    container.setdefault("imagePullPolicy", _pull_policy(container.get("image", "")))
    for port in container.get("ports") or ():
        port.setdefault("protocol", "TCP")
        if host_network:
            port.setdefault("hostPort", port.get("containerPort"))
    for variable in container.get("env") or ():
        reference = (variable.get("valueFrom") or {}).get("fieldRef")
        if reference is not None:
            reference.setdefault("apiVersion", "v1")
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if (probe := container.get(name)) is not None:
            _fill_probe(probe)


def _fill_probe(probe: Json) -> None:
    for name, value in _PROBE.items():
        probe.setdefault(name, value)
    if (request := probe.get("httpGet")) is not None:
        request.setdefault("path", "/")
        request.setdefault("scheme", "HTTP")


def _pull_policy(image: str) -> str:
    tag = image.rpartition("/")[2].partition(":")[2]
    return "Always" if tag in {"", "latest"} and "@" not in image else "IfNotPresent"


def _fill_volume(volume: Json) -> None:
    if set(volume) == {"name"}:
        volume["emptyDir"] = {}
    for kind in _MODED_VOLUMES:
        if kind in volume:
            volume[kind].setdefault("defaultMode", _MODE)
    if "hostPath" in volume:
        volume["hostPath"].setdefault("type", "")


def fill_pod(pod: Json) -> None:
    """Set the defaults of a pod: those of its spec, link variables, requests, status."""
    spec = pod.setdefault("spec", {})
    fill_template(spec)
    spec.setdefault("enableServiceLinks", True)
    for _, container in containers(spec):
        resources = container["resources"]
        if limits := resources.get("limits"):
            resources["requests"] = {**limits, **(resources.get("requests") or {})}
    pod["status"] = {"phase": "Pending", "qosClass": qos_class(spec)}


def qos_class(spec: Json) -> str:
    """Return the quality of service that requests and limits of cpu and memory give a pod."""
    resources = [container.get("resources") or {} for _, container in containers(spec)]
    wanted = [
        (part.get("requests", {}).get(name), part.get("limits", {}).get(name))
        for part in resources
        for name in ("cpu", "memory")
    ]
    if not any(request or limit for request, limit in wanted):
        return "BestEffort"
    if all(limit and request == limit for request, limit in wanted):
        return "Guaranteed"
    return "Burstable"


def admit(pod: Json, account: Json, priority: int, preemption: str) -> None:
    """Add what admission adds: service account and its token, tolerations, priority."""
    spec = pod["spec"]
    name = account["metadata"]["name"]
    spec["serviceAccountName"] = name
    spec["serviceAccount"] = name
    if _mounts_token(spec, account):
        _mount_token(spec)
    _tolerate_eviction(spec)
    spec["priority"] = priority
    spec.setdefault("preemptionPolicy", preemption)


def _mounts_token(spec: Json, account: Json) -> bool:
    wish = spec.get("automountServiceAccountToken")
    if wish is None:
        wish = account.get("automountServiceAccountToken")
    return wish is not False


def _mount_token(spec: Json) -> None:
    volume = f"kube-api-access-{random_suffix()}"
    mount = {"name": volume, "readOnly": True, "mountPath": _TOKEN_PATH}
    mounted = False
    for _, container in containers(spec):
        mounts = container.setdefault("volumeMounts", [])
        if not any(item.get("mountPath") == _TOKEN_PATH for item in mounts):
            mounts.append(dict(mount))
            mounted = True
    if mounted:
        spec.setdefault("volumes", []).append({"name": volume, "projected": _token_sources()})


def _token_sources() -> Json:
    namespace = {"apiVersion": "v1", "fieldPath": "metadata.namespace"}
    certificate = {"key": "ca.crt", "path": "ca.crt"}
    return {
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [certificate]}},
            {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": namespace}]}},
        ],
        "defaultMode": _MODE,
    }


def _tolerate_eviction(spec: Json) -> None:
    tolerations = spec.setdefault("tolerations", [])
    for key in _EVICTING:
        if not any(_tolerates(item, key) for item in tolerations):
            toleration = {"key": key, "operator": "Exists", "effect": "NoExecute"}
            tolerations.append({**toleration, "tolerationSeconds": 300})


def _tolerates(toleration: Json, key: str) -> bool:
    effect = toleration.get("effect")
    if effect not in {None, "", "NoExecute"}:
        return False
    return toleration.get("key") == key or (
        not toleration.get("key") and toleration.get("operator") == "Exists"
    )
