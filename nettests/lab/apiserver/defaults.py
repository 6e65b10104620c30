"""Defaults of pods and workloads, and what admission adds to pods, as a real API server fills them in.

``fill_template`` sets the defaults of every pod spec (``SetDefaults_PodSpec`` and the container defaults of
``k8s.io/kubernetes/pkg/apis/core/v1/defaults.go``); ``fill_pod`` those of pods only, ``fill_workload`` those of
workloads and Jobs; ``admit`` does what the admission plugins ServiceAccount, DefaultTolerationSeconds and Priority
do. The functions change the object that they are given; ``validation`` checks it.
"""

import secrets

from nettests.lab.apiserver.windows import containers
from nettests.lab.data_files import read_yaml
from nettests.lab.interfaces import Json

_NAME_CHARACTERS = "bcdfghjklmnpqrstvwxz2456789"
_TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"  # noqa: S105  a path, not a secret
_MODE = 0o644
_MODED_VOLUMES = ("configMap", "secret", "downwardAPI", "projected")
_EVICTING = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_BATCH = "batch.kubernetes.io/"

_KINDS = read_yaml(__package__, "kinds.yaml")


def random_suffix() -> str:
    """Return five random characters, as ``generateName`` appends them."""
    return "".join(secrets.choice(_NAME_CHARACTERS) for _ in range(5))


def fill(item: Json, defaults: Json) -> None:
    """Set missing fields of an object and of the objects in it."""
    for key, value in defaults.items():
        if isinstance(value, dict):
            fill(item.setdefault(key, {}), value)
        else:
            item.setdefault(key, value)


def fill_template(spec: Json) -> None:
    """Set the defaults of a pod spec, in a pod or a template."""
    fill(spec, _KINDS["template"])
    for _, container in containers(spec):
        _fill_container(container, host_network=bool(spec.get("hostNetwork")))
    for volume in spec.get("volumes") or ():
        if set(volume) == {"name"}:
            volume["emptyDir"] = {}
        for kind in _MODED_VOLUMES:
            if kind in volume:
                volume[kind].setdefault("defaultMode", _MODE)
        if "hostPath" in volume:
            volume["hostPath"].setdefault("type", "")


def _fill_container(container: Json, *, host_network: bool) -> None:
    image = container.get("image", "")
    tag = image.rpartition("/")[2].partition(":")[2]
    newest = tag in {"", "latest"} and "@" not in image
    fill(
        container,
        {**_KINDS["container"], "imagePullPolicy": "Always" if newest else "IfNotPresent"},
    )
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
            fill(probe, _KINDS["probe"])
            if "httpGet" in probe:
                fill(probe["httpGet"], {"path": "/", "scheme": "HTTP"})


def fill_pod(pod: Json) -> None:
    """Set the defaults of a pod: of its spec, service links, requests and status."""
    spec = pod.setdefault("spec", {})
    fill_template(spec)
    spec.setdefault("enableServiceLinks", True)
    for _, container in containers(spec):
        resources = container["resources"]
        if limits := resources.get("limits"):
            resources["requests"] = {**limits, **(resources.get("requests") or {})}
    pod["status"] = {"phase": "Pending", "qosClass": _qos_class(spec)}


def _qos_class(spec: Json) -> str:
    wanted = [
        (part.get("requests", {}).get(name), part.get("limits", {}).get(name))
        for part in (container.get("resources") or {} for _, container in containers(spec))
        for name in ("cpu", "memory")
    ]
    if not any(request or limit for request, limit in wanted):
        return "BestEffort"
    same = all(limit and request == limit for request, limit in wanted)
    return "Guaranteed" if same else "Burstable"


def fill_workload(key: str, item: Json) -> None:
    """Set the defaults of a workload, Job, CronJob or claim, by the key of its kind.

    Jobs have no default restart policy; validation refuses an empty one later.
    """
    spec = item.setdefault("spec", {})
    batch = key.endswith(".batch")
    if key != "persistentvolumeclaims":
        holder = spec.setdefault("jobTemplate", {}) if key == "cronjobs.batch" else item
        restart = {"restartPolicy": "" if batch else "Always"}
        fill(holder, {"spec": {"template": {"metadata": {}, "spec": restart}}})
        fill_template(holder["spec"]["template"]["spec"])
    fill(spec, _KINDS["defaults"][key])
    for name, limits in _KINDS["rolling"].get(key, {}).items():
        if spec[name]["type"] == "RollingUpdate":
            fill(spec[name], {"rollingUpdate": limits})
    if key == "jobs.batch":
        _mark_job(item)


def _mark_job(job: Json) -> None:
    """Give a Job the selector and labels that its strategy generates from its uid and name."""
    metadata, template = job["metadata"], job["spec"]["template"]["metadata"]
    own_labels = {"controller-uid": metadata["uid"], "job-name": metadata.get("name", "")}
    marks = {**own_labels, **{f"{_BATCH}{key}": value for key, value in own_labels.items()}}
    template["labels"] = {**(template.get("labels") or {}), **marks}
    selector = {"matchLabels": {f"{_BATCH}controller-uid": metadata["uid"]}}
    job["spec"].setdefault("selector", selector)


def admit(pod: Json, account: Json, priority: int, preemption: str) -> None:
    """Apply admission: service account and its token, tolerations, priority."""
    spec = pod["spec"]
    spec["serviceAccountName"] = spec["serviceAccount"] = account["metadata"]["name"]
    wish = spec.get("automountServiceAccountToken")
    if (account.get("automountServiceAccountToken") if wish is None else wish) is not False:
        _mount_token(spec)
    tolerations = spec.setdefault("tolerations", [])
    for key in _EVICTING:
        if not any(_tolerates(item, key) for item in tolerations):
            toleration = {"key": key, "operator": "Exists", "effect": "NoExecute"}
            tolerations.append({**toleration, "tolerationSeconds": 300})
    spec["priority"] = priority
    spec.setdefault("preemptionPolicy", preemption)


def _mount_token(spec: Json) -> None:
    volume = f"kube-api-access-{random_suffix()}"
    mount = {"name": volume, "readOnly": True, "mountPath": _TOKEN_PATH}
    namespace = {"apiVersion": "v1", "fieldPath": "metadata.namespace"}
    certificate = {"key": "ca.crt", "path": "ca.crt"}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [certificate]}},
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": namespace}]}},
    ]
    mounted = False
    for _, container in containers(spec):
        mounts = container.setdefault("volumeMounts", [])
        if not any(item.get("mountPath") == _TOKEN_PATH for item in mounts):
            mounts.append(dict(mount))
            mounted = True
    if mounted:
        projected = {"sources": sources, "defaultMode": _MODE}
        spec.setdefault("volumes", []).append({"name": volume, "projected": projected})


def _tolerates(toleration: Json, key: str) -> bool:
    if toleration.get("effect") not in {None, "", "NoExecute"}:
        return False
    every = not toleration.get("key") and toleration.get("operator") == "Exists"
    return toleration.get("key") == key or every
