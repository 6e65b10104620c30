"""Remove what identifies a site from a run's reasons: node names, addresses, the cluster. Pure.

A conformance report is published, and reasons of skipped and unknown checks quote texts of the
cluster. The journal's writer removes secrets, but others' journals are not trusted in this.
"""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from nettests.model.facts import ClusterFacts
from nettests.model.visible import one_line
from nettests.redaction import Redactor

_BY_SHAPE = Redactor()
LENGTH = 240
"""Longer reasons are cut."""
ADDRESS = "⟨address⟩"

# samples: "https://api.prod.example:6443/version"
_HOST = re.compile(r"(?<=://)[^\s/\"'<>]+")
# samples: "172.30.0.13", "10.0.0.0/16", "127.0.0.1:6443"
_IPV4 = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?:/\d{1,2})?(?::\d{1,5})?(?![\w.]\d)")
# samples: "fd00:10:244::5", "fe80::1%eth0", "00:15:5d:aa:bb:cc"; "09:15:30" is none
_COLONS = re.compile(r"(?<![\w:.])[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}(?:%\w+)?(?![\w:])")
_HARDWARE = re.compile(r"(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}")


@dataclass(frozen=True, slots=True)
class Anonymous:
    """Replaces what identifies a site: the keys of ``names`` by their values, longest first."""

    names: Mapping[str, str]

    @classmethod
    def of(cls, facts: ClusterFacts, server: str = "") -> "Anonymous":
        """Return the replacements for a cluster: a node is named by its position in its pool."""
        external = facts.external_target
        replacements = {
            urlsplit(server).hostname or "": "the API server",
            facts.context: "the cluster",
            facts.namespace: "the namespace",
            (external and external.name) or "": "the external target",
        }
        for node in facts.nodes:
            called = f"{node.pool} node {node.member}"
            replacements |= {node.hostname: called, node.name: called}
        return cls({name: called for name, called in replacements.items() if name})

    def text(self, text: str) -> str:
        """Return ``text`` on one line, anonymised."""
        line = _HOST.sub(ADDRESS, one_line(_BY_SHAPE.text(text), limit=10 * LENGTH))
        for name in sorted(self.names, key=len, reverse=True):
            called = self.names[name]
            # sample: node "win" in "the driver of win is l2bridge", and not in "windows" or "win-10"
            pattern = rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)"
            line = re.sub(pattern, lambda _, called=called: called, line)  # type: ignore[misc]
        line = _COLONS.sub(_address, _IPV4.sub(ADDRESS, _HARDWARE.sub(ADDRESS, line)))
        return one_line(line, limit=LENGTH)


def _address(match: re.Match[str]) -> str:
    try:
        ipaddress.IPv6Address(match[0])
    except ValueError:
        return match[0]
    return ADDRESS
