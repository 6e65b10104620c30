"""Dry runs of several forbidden fields in one Pod, whose refusal names each of them. Pure.

Between the plan's cases and ``examine``: validation reports every field that it refuses, so one
answer is as exact as one for each field. A case whose field the answer does not name is tried alone.
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
    """Return, by case, the Pod that has the fields of all cases that differ in their field only."""
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
