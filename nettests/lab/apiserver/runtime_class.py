"""The admission plugin RuntimeClass: a Pod that names a class gets its scheduling and overhead.

After ``plugin/pkg/admission/runtimeclass`` of Kubernetes 1.36. The functions change the Pod they are given.
"""

from typing import Any

Json = dict[str, Any]


def refusal(pod: Json, runtime_class: Json | None) -> str:
    """Merge what the class says into the Pod that names it; return why the Pod is refused, or nothing."""
    spec = pod["spec"]
    if runtime_class is None:
        return f'pod rejected: RuntimeClass "{spec["runtimeClassName"]}" not found'
    scheduling = runtime_class.get("scheduling") or {}
    wanted, node_selector = scheduling.get("nodeSelector") or {}, spec.get("nodeSelector") or {}
    for key in sorted(wanted.keys() & node_selector.keys()):
        if wanted[key] != node_selector[key]:
            return (
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {wanted[key]}; "
                f"pod.spec.nodeSelector[{key}] = {node_selector[key]}"
            )
    if wanted:
        spec["nodeSelector"] = {**node_selector, **wanted}
    tolerations = spec.get("tolerations") or []
    added = [
        toleration
        for toleration in scheduling.get("tolerations") or ()
        if toleration not in tolerations
    ]
    if added:
        spec["tolerations"] = [*tolerations, *added]
    if overhead := (runtime_class.get("overhead") or {}).get("podFixed"):
        spec["overhead"] = overhead
    return ""
