"""Find out with a dry run whether the API server admits privileged containers at all.

Nothing is stored. An API server without ``--allow-privileged`` refuses privileged and HostProcess containers while it
validates a Pod, before Pod Security, quotas and admission policies are evaluated: a Pod that those refuse has passed
(k8s.io/kubernetes/pkg/apis/core/validation, ``ValidateSecurityContext`` and ``validateWindowsHostProcessPod``).
"""

import re
from typing import Any

from nettests.cluster.apply import dry_run
from nettests.cluster.connection import Connection
from nettests.cluster.pod_security import RESOURCES
from nettests.model.cluster_profile import AGNHOST
from nettests.model.facts import Fact, unknown
from nettests.model.json_text import read_json
from nettests.model.permission import CREATE_POD
from nettests.parse.admission import by_policy, causes

NAME = "nettests-privileged"
ORIGIN = "a dry run of a privileged HostProcess pod"
PLACE = "default"
"""The namespace of the dry run if a run creates its own: this one always exists."""
_LATER = re.compile(
    # sample: pods "x" is forbidden: violates PodSecurity "baseline:latest": host namespaces …
    r"violates PodSecurity \\?\""
    # sample: pods "x" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2
    r"| is forbidden: (?:exceeded|failed) quota: "
    # sample: pods "x" is forbidden: ValidatingAdmissionPolicy 'nettests' with binding 'nettests' denied request: …
    r"| is forbidden: ValidatingAdmissionPolicy '"
)
"""Refusals by admission plugins that decide only about valid Pods."""


def privileged_of(connection: Connection, namespace: str, denied: tuple[str, ...]) -> Fact[bool]:
    """Return whether privileged Pods are valid; ``namespace`` is the one a run uses, empty for its own.

    ``denied`` is what this identity may not do: without permission to create Pods there is no dry run.
    """
    if str(CREATE_POD) in denied:
        return unknown(f"this identity may not {CREATE_POD}")
    answer = dry_run(connection, _pod(namespace or PLACE))
    if answer.status < 300:
        return Fact(value=True, origin=ORIGIN)
    if words := _refusal(answer.text):
        return Fact(value=False, origin=words)
    if _LATER.search(answer.text):
        return Fact(value=True, origin=f"{ORIGIN}, which was found valid and refused later")
    return unknown(f"{ORIGIN} was refused with status {answer.status}: {answer.text[:300]}")


def _refusal(text: str) -> str:
    """Return the API server's words about privileged containers, if it refused them as such."""
    try:
        status = read_json(text)
    except ValueError:
        return ""
    refusals = causes(status) if isinstance(status, dict) else []
    return "; ".join(
        f"{cause.get('field')}: {cause.get('message')}" for cause in refusals if by_policy(cause)
    )


def _pod(namespace: str) -> dict[str, Any]:
    container = {
        "name": "privileged",
        "image": AGNHOST,
        "securityContext": {"privileged": True},
        "resources": RESOURCES,
    }
    options = {"hostProcess": True, "runAsUserName": "NT AUTHORITY\\Local service"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": NAME, "namespace": namespace},
        "spec": {
            "hostNetwork": True,
            "automountServiceAccountToken": False,
            "securityContext": {"windowsOptions": options},
            "containers": [container],
        },
    }
