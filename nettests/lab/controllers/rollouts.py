"""How a Deployment moves from the ReplicaSet of one template to the next. Pure.

Beside ``workloads``, which has the sets' Pods. As the Deployment controller does for ``RollingUpdate``: the new
set grows as far as ``maxSurge`` lets it, old ones shrink as far as ``maxUnavailable`` lets them, Pods that are not
Ready first (``pkg/controller/deployment/rolling.go``). What a set says of its Pods may be old: one of the new set
that is not known to be Ready holds an old one. No pauses, deadlines, revisions or roll-backs, and a set that is
empty stays.
"""

import math
from collections.abc import Sequence

from nettests.lab.client import Json


def scales(
    deployment: Json, current: str, sets: Sequence[Json], *, rolling: bool = True
) -> dict[str, int]:
    """Return how many replicas each set gets, by name; ``current`` is that of the present template.

    Where it is not ``rolling``, as for ``Recreate`` here, the new set has all of them at once and the old ones none.
    """
    wanted = int(deployment["spec"].get("replicas", 1))
    old = [item for item in sets if item["metadata"]["name"] != current]
    replicas = {item["metadata"]["name"]: int(item["spec"].get("replicas", 1)) for item in sets}
    if not rolling or not any(replicas[item["metadata"]["name"]] for item in old):
        return {name: wanted if name == current else 0 for name in replicas}
    surge, unavailable = _limits(deployment, wanted)
    room = wanted + surge - sum(replicas.values())
    scaled = {**replicas, current: min(wanted, replicas[current] + max(room, 0))}
    least = wanted - unavailable
    ready = {item["metadata"]["name"]: _ready(item) for item in sets}
    lacking = replicas[current] - ready.get(current, 0)
    may_go = sum(replicas.values()) - least - lacking
    for item in old:  # Pods that are not Ready go first
        name = item["metadata"]["name"]
        idle = min(max(scaled[name] - ready[name], 0), max(may_go, 0))
        scaled[name] -= idle
        may_go -= idle
    spare = min(sum(ready.values()) - least, may_go)
    for item in old:
        name = item["metadata"]["name"]
        less = min(scaled[name], max(spare, 0))
        scaled[name] -= less
        spare -= less
    return scaled


def _ready(item: Json) -> int:
    return int((item.get("status") or {}).get("readyReplicas", 0))


def _limits(deployment: Json, wanted: int) -> tuple[int, int]:
    """Return ``maxSurge``, rounded up, and ``maxUnavailable``, rounded down; not both are none."""
    stated = (deployment["spec"].get("strategy") or {}).get("rollingUpdate") or {}
    surge = math.ceil(_number(stated.get("maxSurge", "25%"), wanted))
    unavailable = math.floor(_number(stated.get("maxUnavailable", "25%"), wanted))
    return surge, unavailable or (0 if surge else 1)


def _number(stated: int | str, wanted: int) -> float:
    text = str(stated)
    return wanted * int(text[:-1]) / 100 if text.endswith("%") else int(text)
