"""Cases of flows without a path: objects for the API server, rules of configuration.

Used by suites with ``flow``. Pure. A case holds its object as JSON, so that a journal contains
exactly what was tested, and a rule with its subject and demand (``rules``).
"""

import json
from copy import deepcopy
from typing import Any

from nettests.errors import PlanError
from nettests.model.check import Afterwards, Case
from nettests.model.cluster_profile import AGNHOST
from nettests.model.json_text import Object
from nettests.model.labels import OS_LABEL
from nettests.model.nearest import nearest
from nettests.model.words import Outcome
from nettests.rules import RULES
from nettests.rules.subjects import RUNTIME_CLASSES

STEERED = "steered"


def pod(os: str | None = "windows", /, **spec: Any) -> Object:
    """Return a Pod for nodes of ``os`` (without ``spec.os`` for ``None``), for dry runs only."""
    pod_spec: Object = {
        "nodeSelector": {OS_LABEL: os or "windows"},
        "containers": [{"name": "probe", "image": AGNHOST, "args": ["pause"]}],
        **spec,
    }
    if os is not None:
        pod_spec["os"] = {"name": os}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "admission"}, "spec": pod_spec}


def unplaced() -> Object:
    """Return a Pod without any constraint on its node, for dry runs only."""
    manifest = pod(None)
    del manifest["spec"]["nodeSelector"]
    return manifest


def service(**spec: Any) -> Object:
    """Return a Service with one port, for dry runs only."""
    service_spec = {"ports": [{"port": 80}], "selector": {"app": "admission"}, **spec}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "admission"},
        "spec": service_spec,
    }


def container(name: str = "probe", **fields: Any) -> Object:
    """Return a container like that of ``pod``, with these fields."""
    base: Object = deepcopy(pod()["spec"]["containers"][0])
    return {**base, "name": name, **fields}


def with_container(kind: str, os: str | None = "windows", **fields: Any) -> Object:
    """Return a pod whose first container of ``kind`` (``initContainers`` …) has these fields."""
    if kind == "containers":
        return pod(os, containers=[container(**fields)])
    return pod(os, **{kind: [container("other", **fields)]})


def rejected(label: str, item: Object, *, field: str, counter: Object | None = None) -> Case:
    """Return a case whose object is rejected for ``field``, while ``counter`` is accepted."""
    return Case(
        label=label,
        object=_text(item),
        field=field,
        counter=_text(counter or pod()),
        outcome=Outcome.REJECTED,
    )


def accepted(label: str, item: Object) -> Case:
    """Return a case whose object is accepted; a refusal counts only if a plain object is accepted."""
    plain = service() if item["kind"] == "Service" else pod(item["spec"].get("os", {}).get("name"))
    return Case(label=label, object=_text(item), counter=_text(plain), outcome=Outcome.ACCEPTED)


def in_level(label: str, item: Object, outcome: Outcome, *, level: str, counter: Object) -> Case:
    """Return a case whose Pod is admitted or refused in a namespace of that Pod Security level.

    A refusal counts only if the namespace admits ``counter``.
    """
    return Case(
        label=label, object=_text(item), counter=_text(counter), outcome=outcome, level=level
    )


def steered(label: str, item: Object) -> Case:
    """Return a case whose Pod names a RuntimeClass and gets its scheduling constraints."""
    return Case(
        label=label,
        object=_text(item),
        counter=_text(item),
        outcome=Outcome.CONFORMS,
        when=(RUNTIME_CLASSES.word,),
        then=Afterwards(how=STEERED),
    )


def rule(name: str) -> Case:
    """Return the case of a rule of configuration; ``PlanError`` for an unknown name."""
    if name not in RULES:
        hint = nearest(name, sorted(RULES), what="rules", most=3)
        raise PlanError(f"there is no rule of configuration {name!r}", hint=hint)
    definition = RULES[name]
    return Case(
        label=name,
        outcome=Outcome.CONFORMS,
        when=tuple(subject.word for subject in definition.about),
        beside_pod=definition.beside_pod,
    )


def _text(item: Object) -> str:
    return json.dumps(item, sort_keys=True)
