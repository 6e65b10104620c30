"""The digest of a cluster's facts: equal if nothing that verdicts may depend on differs.

Used by ``build``; a history compares it between runs. Values that change while networking does not are left out.
"""

import hashlib
import json
from typing import Any

from nettests.model.codec import to_data
from nettests.model.facts import ClusterFacts

_RUN = frozenset(
    {
        *("context", "denied", "namespace", "origin", "pod_security", "privileged"),
        *("fleet", "runtime_classes", "scale"),
    }
)
"""About the identity that sent it, the place where it sent it and what it may list, not about the network."""

_NODE = frozenset(
    {
        "name",
        "addresses",
        "pod_cidrs",
        "ready",
        "schedulable",
        "hostname",
        "left_out",
        "empty",
        "zone",
    }
)
"""About one machine: an autoscaler or a reimaged node changes them; node pool and member stay."""


def facts_digest(facts: ClusterFacts) -> str:
    """Return ``sha256:…`` over the canonical JSON (sorted keys, no blanks) of the lasting facts."""
    data = to_data(facts)
    data["nodes"] = [
        {key: value for key, value in node.items() if key not in _NODE} for node in data["nodes"]
    ]
    text = json.dumps(_lasting(data), sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _lasting(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _lasting(part) for key, part in value.items() if key not in _RUN}
    if isinstance(value, list | tuple):
        return [_lasting(part) for part in value]
    return value
