"""Dry runs of several cases in one Pod: fields that must be refused, contexts that must be accepted. Pure.

Between the plan's cases and ``examine``: validation reports every field that it refuses, so one
answer is as exact as one for each field, and an accepted Pod has no field that is refused. What one
security context demands lies in itself (``ValidateSecurityContext``), so each has a container of its
own. A case that the answer does not decide is tried alone.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Any

from nettests.model.check import Case
from nettests.model.json_text import Object
from nettests.model.words import Outcome

Keys = tuple[str | int, ...]


def gathered(pods: Iterable[tuple[Case, Object]]) -> dict[Case, Object]:
    """Return, by case, the Pod that decides it together with others, if there is one."""
    pods = list(pods)
    return _refused(pods) | _accepted(pods)


def _refused(pods: Iterable[tuple[Case, Object]]) -> dict[Case, Object]:
    """Return the Pod that has the fields of all cases that differ in their field only."""
    alike: defaultdict[str, dict[Keys, tuple[Case, Object]]] = defaultdict(dict)
    for case, pod in pods:
        keys = tuple(_keys(case.field))
        refused = case.outcome is Outcome.REJECTED and not case.level and case.then is None
        if refused and (rest := _without(pod, keys)) is not None:
            alike[rest].setdefault(keys, (case, pod))
    together: dict[Case, Object] = {}
    for fields in alike.values():
        apart = [keys for keys in fields if not any(_within(keys, other) for other in fields)]
        if len(apart) > 1:
            pod = deepcopy(fields[apart[0]][1])
            for keys in apart[1:]:
                _set(pod, keys, _get(fields[keys][1], keys))
            together |= {fields[keys][0]: pod for keys in apart}
    return together


def _accepted(pods: Iterable[tuple[Case, Object]]) -> dict[Case, Object]:
    """Return the Pod that has the security contexts of all cases that differ in these only."""
    alike: defaultdict[str, list[tuple[Case, Object]]] = defaultdict(list)
    for case, pod in pods:
        if case.outcome is Outcome.ACCEPTED and not case.level and pod["kind"] == "Pod":
            rest = deepcopy(pod)
            for holder in (rest["spec"], *rest["spec"]["containers"]):
                holder.pop("securityContext", None)
            alike[json.dumps(rest, sort_keys=True)].append((case, pod))
    together: dict[Case, Object] = {}
    for cases in alike.values():
        pod, decided = deepcopy(cases[0][1]), {cases[0][0]: None}
        for case, other in cases[1:]:
            context = pod["spec"].setdefault("securityContext", {})
            further = other["spec"].get("securityContext", {})
            if all(context.get(key, value) == value for key, value in further.items()):
                context |= further
                _add_containers(pod["spec"]["containers"], other["spec"]["containers"])
                decided[case] = None
        if len(decided) > 1:
            together |= dict.fromkeys(decided, pod)
    return together


def _add_containers(containers: list[Object], others: Iterable[Object]) -> None:
    """Add containers under names of their own, unless one is there that differs in its name only."""
    for other in others:
        name = f"{other['name']}-{len(containers)}"
        if all({**container, "name": name} != {**other, "name": name} for container in containers):
            containers.append({**other, "name": name})


def _keys(field: str) -> Iterator[str | int]:
    """Yield the keys of a field's path."""
    # sample: spec.initContainers[0].securityContext.runAsUser
    for part in field.split("."):
        name, _, index = part.partition("[")
        yield name
        if index:
            yield int(index.removesuffix("]"))


def _within(keys: Keys, other: Keys) -> bool:
    return keys != other and keys[: len(other)] == other


def _get(item: Any, keys: Keys) -> Any:
    for key in keys:
        item = item[key]
    return item


def _set(item: Any, keys: Keys, value: Any) -> None:
    for key in keys[:-1]:
        item = item.setdefault(key, {}) if isinstance(item, dict) else item[key]
    item[keys[-1]] = value


def _without(pod: Object, keys: Keys) -> str | None:
    """Return a Pod without one field, and without what held only that; ``None`` if it has no such field."""
    rest = deepcopy(pod)
    try:
        _get(rest, keys)
    except (LookupError, TypeError):
        return None
    for length in range(len(keys), 0, -1):
        holder = _get(rest, keys[: length - 1])
        if not isinstance(holder, dict):
            break
        del holder[keys[length - 1]]
        if holder:
            break
    return json.dumps(rest, sort_keys=True)
