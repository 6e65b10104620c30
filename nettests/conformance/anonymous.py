"""Reasons as a run words them → the same without what is of one site: names of nodes, addresses, the cluster's own name.

A conformance report is published, and reasons of skips and of what could not be judged are texts of a cluster. Pure.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from nettests.model.facts import ClusterFacts
from nettests.model.visible import one_line

LENGTH = 240
"""Of a reason no more is published."""
ADDRESS = "⟨address⟩"

# samples: "172.30.0.13", "10.0.0.0/16", "https://127.0.0.1:6443"
_IPV4 = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?:/\d{1,2})?(?::\d{1,5})?(?![\w.]\d)")
# samples: "fd00:10:244::5", "fe80::1%eth0", "[fd00::1]:80"
_IPV6 = re.compile(r"(?<![\w:.])\[?(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}\]?(?:%\w+)?(?![\w:])")


@dataclass(frozen=True, slots=True)
class Anonymous:
    """Replaces what is of one site; ``names`` are replaced by their values, the longest first."""

    names: Mapping[str, str]

    @classmethod
    def of(cls, facts: ClusterFacts) -> "Anonymous":
        """Return what replaces the names of a cluster: a node is called by its place in its pool."""
        names = {node.name: f"{node.pool} node {node.member}" for node in facts.nodes}
        names |= {
            node.hostname: f"{node.pool} node {node.member}"
            for node in facts.nodes
            if node.hostname and node.hostname not in names
        }
        if facts.context:
            names.setdefault(facts.context, "the cluster")
        if facts.namespace:
            names.setdefault(facts.namespace, "the namespace")
        return cls(names)

    def text(self, text: str) -> str:
        """Return ``text`` on one line, without them."""
        line = one_line(text, limit=10 * LENGTH)
        for name in sorted(self.names, key=len, reverse=True):
            pattern = rf"(?<![\w.-]){re.escape(name)}(?![\w-])"
            line = re.sub(pattern, self.names[name].replace("\\", r"\\"), line)
        return one_line(_IPV6.sub(ADDRESS, _IPV4.sub(ADDRESS, line)), limit=LENGTH)
