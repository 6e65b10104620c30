"""Read the API server's answer to a dry run.

Accepted is 200 or 201. Rejected is 422 ``Invalid``; if the case names a field, only with a cause
that names that field, because a rejection for another reason (such as an API server without
``--allow-privileged``) says nothing about it. For a case about a Pod Security level, rejected is a
403 that names the level. Anything else (403 of another policy or a webhook, 429, 5xx) says nothing.
"""

import json
from typing import Any

from nettests.model.json_text import read_json
from nettests.model.observation import Raw
from nettests.model.words import Outcome
from nettests.parse.reading import Reading, not_understood, one_line, probe_failed

FORBIDDEN = 403
INVALID = 422


def read(raw: Raw) -> Reading:
    """Read one answer; ``context["field"]`` is the field that a rejection must name."""
    try:
        answer = read_json(raw.stdout)
    except ValueError:
        return not_understood(f"status {raw.status} with a body that is not JSON: {raw.stdout}")
    if not isinstance(answer, dict):
        return not_understood(
            f"status {raw.status} with a body that is not an object: {raw.stdout}"
        )
    # sample: {"kind":"Pod","apiVersion":"v1","metadata":{"name":"w"},"spec":{"os":{"name":"windows"}}}
    if raw.status in {200, 201} and "scheduling" in raw.context:
        return _steered(answer, raw)
    if raw.status in {200, 201}:
        return Reading(outcome=Outcome.ACCEPTED, detail=f"{answer.get('kind', 'object')} accepted")
    message = str(answer.get("message", raw.stdout))
    level = raw.context.get("level", "")
    # sample: pods "p" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true (pod or …
    if level and raw.status == FORBIDDEN and f'violates PodSecurity "{level}:' in message:
        return Reading(outcome=Outcome.REJECTED, detail=one_line(message))
    if level or raw.status != INVALID:
        return probe_failed(f"status {raw.status}, which says nothing of the object: {message}")
    # sample: "causes":[{"reason":"FieldValueForbidden","message":"Forbidden: cannot be set for a windows pod",
    #          "field":"spec.hostPID"}]
    wanted, refusal_causes = raw.context.get("field", ""), causes(answer)
    fields = [str(cause.get("field", "")) for cause in refusal_causes if not by_policy(cause)]
    if refusal_causes and not fields:
        return probe_failed(f"the API server takes no such Pod from anybody: {message}")
    if not wanted:
        return Reading(outcome=Outcome.REJECTED, detail=one_line(message))
    named = [cause for cause in refusal_causes if _names(cause, wanted)]
    if all(map(by_policy, named)):
        return probe_failed(f"rejected, but not for {wanted}: {message}")
    if len(named) < len(refusal_causes):
        message = "; ".join(f"{cause['field']}: {cause.get('message')}" for cause in named)
    return Reading(outcome=Outcome.REJECTED, detail=one_line(message))


def refuses(status: int, body: str, wanted: str) -> bool:
    """Whether an answer is a refusal that names the field ``wanted``."""
    if status != INVALID or not wanted:
        return False
    try:
        answer = read_json(body)
    except ValueError:
        return False
    return isinstance(answer, dict) and any(
        _names(cause, wanted) and not by_policy(cause) for cause in causes(answer)
    )


def _steered(pod: dict[str, Any], raw: Raw) -> Reading:
    """Read whether the stored Pod would have the scheduling settings of its RuntimeClass."""
    # sample: {"nodeSelector":{"kubernetes.io/os":"windows"},"tolerations":[{"key":"os","operator":"Equal",…}]}
    wanted = read_json(raw.context["scheduling"])
    spec, name = pod.get("spec") or {}, raw.context["steered"]
    selector = (wanted.get("nodeSelector") or {}).items()
    selected = set((spec.get("nodeSelector") or {}).items())
    lacking = [f"{key}={value}" for key, value in selector if (key, value) not in selected]
    tolerated = spec.get("tolerations") or []
    # Merging drops a toleration that another one covers; a toleration without a key covers all.
    everything = any(
        toleration.get("operator") == "Exists" and not toleration.get("key")
        for toleration in tolerated
    )
    lacking += [
        f"toleration {json.dumps(toleration)}"
        for toleration in wanted.get("tolerations") or ()
        if toleration not in tolerated and not everything
    ]
    if lacking:
        detail = f"a Pod of RuntimeClass {name} lacks {', '.join(lacking)}"
        return Reading(outcome=Outcome.DEVIATES, detail=one_line(detail))
    return Reading(
        outcome=Outcome.CONFORMS, detail=f"a Pod of RuntimeClass {name} stands where it says"
    )


def by_policy(cause: dict[str, Any]) -> bool:
    """Whether the API server forbids privileged containers (``--allow-privileged``)."""
    # sample: Forbidden: disallowed by cluster policy
    # sample: Forbidden: hostProcess containers are disallowed by cluster policy
    return str(cause.get("message", "")).endswith("disallowed by cluster policy")


def causes(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the causes of a refusal, each with its ``field`` and ``message``."""
    details = answer.get("details")
    listed_causes = details.get("causes") if isinstance(details, dict) else None
    return [cause for cause in listed_causes or [] if isinstance(cause, dict)]


def _names(cause: dict[str, Any], wanted: str) -> bool:
    """Whether a cause names the wanted field or one in it (``spec.os`` has ``spec.os.name``).

    Every field of a Pod lies in ``spec``, so only ``spec`` itself matches that.
    """
    field = str(cause.get("field", ""))
    within = wanted != "spec" and field.startswith((f"{wanted}.", f"{wanted}["))
    return field == wanted or within
