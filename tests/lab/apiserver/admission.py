"""The recorded admission of Windows pods, required of any API server by dry run, and what of an answer counts."""

import copy
import re
from typing import Any

import aiohttp

from tests.lab.apiserver.replay import Cluster, rows

Json = dict[str, Any]

ROWS = rows("windows-pod-admission.jsonl")


async def answers(cluster: Cluster) -> dict[int, tuple[int, Json]]:
    """Return HTTP status and body for the pod of each row."""
    found = {}
    async with aiohttp.ClientSession(cluster.base_url) as session:
        for line, row in ROWS.items():
            async with session.post(
                "/api/v1/namespaces/default/pods?dryRun=All",
                json=row["request"],
                headers={"Authorization": f"Bearer {cluster.token}"},
                ssl=cluster.tls or False,
            ) as response:
                found[line] = (response.status, await response.json(content_type=None))
    return found


def differences(answered: dict[int, tuple[int, Json]]) -> dict[int, str]:
    """Return the answers that are not as recorded, by line."""
    found = {}
    for line, row in ROWS.items():
        status, response = answered[line]
        if status != row["status"] or settled(response) != settled(row["response"]):
            found[line] = f"{row['case']}: {status} {response}"
    return found


def settled(response: Json) -> Json:
    """Leave out what the recorder left out, and the random part of the token volume's name."""
    response = copy.deepcopy(response)
    if response["kind"] == "Status":
        return response
    spec = response["spec"]
    spec.pop("volumes", None)
    for container in spec["containers"]:
        for mount in container["volumeMounts"]:
            mount["name"] = re.sub(r"(kube-api-access-)\w{5}$", r"\1random", mount["name"])
    return {"kind": response["kind"], "spec": spec}
