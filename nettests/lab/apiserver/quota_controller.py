"""The loop that writes into each ResourceQuota what it limits and what is used, as the quota controller does.

It looks whenever anything in the store changed; admission does not wait for it.
"""

from typing import Any

from nettests.lab.apiserver import quantities, resources
from nettests.lab.apiserver.generic_registry import Objects
from nettests.lab.apiserver.quota import QUOTAS, used_of

Json = dict[str, Any]

_LONGEST_WAIT = 3600.0


async def run(objects: Objects) -> None:
    """Keep the status of quotas up to date until cancelled."""
    with objects.store.subscribe_all() as subscription:
        while True:
            refresh(objects)
            await subscription.wait(_LONGEST_WAIT)


def refresh(objects: Objects) -> None:
    """Write the status of every quota whose figures changed."""
    for record in objects.store.records(QUOTAS):
        used = used_of(record.body, objects.store)
        status = {
            "hard": dict((record.body.get("spec") or {}).get("hard") or {}),
            "used": {name: quantities.spelled(amount, name) for name, amount in used.items()},
        }
        if used and record.body.get("status") != status:
            _write(objects, *record.name, status)


def _write(objects: Objects, namespace: str, name: str, status: Json) -> None:
    def change(item: Json) -> None:
        item["status"] = status

    objects.modify(resources.of_key(QUOTAS), namespace, name, change)
