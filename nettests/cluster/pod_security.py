"""Find the Pod Security level that a namespace enforces, with a dry run of a Pod that the stricter levels forbid.

Nothing is stored, and no permission to read the namespace is needed. The level may come from the namespace's label or
from the API server's configuration; the refusal names it in both cases. If something else refuses the dry run first,
the label is read.
"""

import re
from typing import Any

from nettests.cluster.apply import dry_run
from nettests.cluster.connection import Connection
from nettests.errors import ClusterError
from nettests.model.cluster_profile import AGNHOST
from nettests.model.facts import Fact, known, unknown
from nettests.model.json_text import read_json
from nettests.model.labels import ENFORCED_LEVEL_LABEL

# sample: pods "nettests-level" is forbidden: violates PodSecurity "restricted:latest": host namespaces …
_VIOLATION = re.compile(r'violates PodSecurity \\?"(\w+):')
# sample: pods "nettests-level" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2
# sample: pods "nettests-level" is forbidden: failed quota: small: must specify limits.example.com/gpu for: level
_OF_QUOTA = re.compile(r" is forbidden: (?:exceeded|failed) quota: ")
# sample: pods "late" is forbidden: unable to create new content in namespace apitr because it is being terminated
_TERMINATING = "because it is being terminated"
NAME = "nettests-level"
ORIGIN = "a dry run of a hostNetwork pod"


def level_of(connection: Connection, namespace: str) -> Fact[str]:
    """Return the level that ``namespace`` enforces; ``ClusterError`` if it does not exist, or is terminating."""
    answer = dry_run(connection, _pod(namespace))
    if answer.status == 404:
        raise ClusterError(
            f"there is no namespace {namespace}",
            hint=f"kubectl create namespace {namespace}, or leave --namespace out",
        )
    if _TERMINATING in answer.text:
        raise ClusterError(
            f"namespace {namespace} is terminating, and takes nothing new",
            hint=f"wait for its end (`kubectl describe namespace {namespace}` says what holds it), or name another one",
        )
    if match := _VIOLATION.search(answer.text):
        return known(match[1], ORIGIN)
    if answer.status < 300:
        return known("privileged", ORIGIN)
    if by_quota(answer.text):
        # ResourceQuota is the last of all admission plugins, so Pod Security had admitted the pod.
        return known("privileged", f"{ORIGIN}, which nothing but a quota refused")
    return _labelled(connection, namespace) or unknown(
        f"{ORIGIN} was refused with status {answer.status}: {answer.text[:300]}"
    )


def by_quota(text: str) -> bool:
    """Whether a refusal is by a ResourceQuota."""
    return bool(_OF_QUOTA.search(text))


def _labelled(connection: Connection, namespace: str) -> Fact[str] | None:
    """Return the level in the namespace's label; nothing if it has none or cannot be read."""
    answer = connection.answer("GET", f"/api/v1/namespaces/{namespace}")
    if answer.status != 200:
        return None
    labels = read_json(answer.body)["metadata"].get("labels") or {}
    level = labels.get(ENFORCED_LEVEL_LABEL)
    return known(level, f"the namespace's label {ENFORCED_LEVEL_LABEL}") if level else None


def _pod(namespace: str) -> dict[str, Any]:
    container = {"name": "level", "image": AGNHOST, "resources": RESOURCES}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": NAME, "namespace": namespace},
        "spec": {"hostNetwork": True, "containers": [container]},
    }


RESOURCES = {"requests": {"cpu": "1m", "memory": "1Mi"}, "limits": {"cpu": "1m", "memory": "1Mi"}}
"""Resources that a quota may demand of every pod."""
