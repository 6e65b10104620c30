"""Count objects that may not be listed, by the status of a ResourceQuota.

RBAC has no permission for metadata only: whoever may list Secrets may read them. The quota
controller counts every kind that can be created, listed, watched and deleted, CRDs included, as
``count/<resource>`` (Kubernetes documentation, "Resource Quotas"; ``GetQuotableResources``). The
limit is too high to refuse anything. The quota carries the run's marks, like all that ``gc`` may
leave.
"""

import time
from collections.abc import Iterable
from secrets import token_hex
from typing import Any

from nettests.cluster.connection import ApiError, Connection
from nettests.cluster.owner_marks import Ownership

COUNT_SECONDS = 15.0
POLL_SECONDS = 0.2
_LIMIT = "1000000000"


def count(
    connection: Connection, namespace: str, marks: Ownership, resources: Iterable[str]
) -> dict[str, str]:
    """Return a namespace's number of objects by resource (``secrets``, ``widgets.example.com``).

    A resource that was not counted in time is missing. ``ApiError`` if no quota may be created.
    """
    name, folder = (
        f"nettests-count-{token_hex(4)}",
        f"/api/v1/namespaces/{namespace}/resourcequotas",
    )
    keys = {f"count/{resource}": resource for resource in resources}
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"hard": dict.fromkeys(keys, _LIMIT)},
    }
    try:
        connection.create(folder, marks.marked(quota))
    except ApiError as error:
        if error.status != 409:  # 409: an answer was lost, and the request repeated
            raise
    try:
        used = _used(connection, f"{folder}/{name}", keys)
    finally:
        connection.delete(f"{folder}/{name}")
    return {resource: str(used[key]) for key, resource in keys.items() if key in used}


def _used(connection: Connection, path: str, keys: Iterable[str]) -> dict[str, Any]:
    """Return what the quota controller counted, which it writes all at once."""
    deadline = time.monotonic() + COUNT_SECONDS
    while True:
        status = connection.get(path).get("status") or {}
        if set(keys) <= (status.get("hard") or {}).keys():
            return status.get("used") or {}
        if time.monotonic() > deadline:
            return {}
        time.sleep(POLL_SECONDS)
