"""Read whether nodes are Ready during a run: small requests without retries.

``session.node_monitor`` decides what a node that was not Ready means for a run.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from nettests.cluster.connection import ApiRequest, Connection
from nettests.errors import ClusterError
from nettests.model.json_text import Object, read_json

NODES = "/api/v1/nodes"
MANY = 32
"""In a cluster with more nodes, a few nodes are requested one by one."""
SHARE = 4
"""If more than one in this many nodes is needed, all are listed, which costs less."""
PATIENCE_SECONDS = 5.0
"""Time-out to connect, and to answer: a request that hangs must not delay a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """A node's Ready condition: since when, as the API says it, and why."""

    ready: bool
    since: str = ""
    why: str = ""


def read_readiness(
    connection: Connection, names: Collection[str], *, nodes: int
) -> Mapping[str, Readiness]:
    """Return the readiness of existing nodes in ``names``; the cluster has ``nodes`` nodes.

    ``ClusterError`` without an answer, or if it is not a list.
    """
    readiness: dict[str, Readiness] = {}
    patience = (PATIENCE_SECONDS, PATIENCE_SECONDS)
    for query in _queries(names, nodes):
        # The API server's cache is enough: it has the latest state at the next read.
        probed = {**query, "resourceVersion": "0"}
        request = ApiRequest("GET", NODES, query=probed, timeout=patience)
        answer = connection.answer(request, retried=())
        if answer.status != 200:
            raise ClusterError(f"{NODES}: status {answer.status}")
        try:
            items = read_json(answer.body)["items"]
            readiness |= {item["metadata"]["name"]: readiness_of(item) for item in items}
        except (LookupError, TypeError, ValueError) as error:
            raise ClusterError(f"{NODES} is no list of nodes: {error}") from error
    return {name: readiness[name] for name in names if name in readiness}


def _queries(names: Collection[str], nodes: int) -> Iterator[dict[str, str]]:
    if nodes <= MANY or len(names) * SHARE >= nodes:
        yield {}
        return
    for name in sorted(names):
        yield {"fieldSelector": f"metadata.name={name}"}


def readiness_of(node: Object) -> Readiness:
    """Return a Node's readiness; without the condition it is not Ready."""
    for condition in (node.get("status") or {}).get("conditions") or ():
        if condition["type"] == "Ready":
            words = (condition.get("reason"), condition.get("message"))
            return Readiness(
                ready=condition["status"] == "True",
                since=condition.get("lastTransitionTime") or "",
                why=": ".join(word for word in words if word),
            )
    return Readiness(ready=False, why="it has no condition Ready")
