"""The rule that nodes of one node pool agree, where no document says what is right.

What is specific to a node (name, addresses, its part of the Pod network, object ids) does not
count. If two nodes differ, nothing shows which is wrong; of more, the one that differs from most.
"""

import ipaddress
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from nettests.model.facts import Network, NodeFacts
from nettests.rules.cni_files import CNI
from nettests.rules.evidence import Evidence, Finding, NothingThereError, finding, rule
from nettests.rules.hns_networks import NETWORKS
from nettests.rules.host import DYNAMIC, PROFILES
from nettests.rules.kubelet import KUBELET
from nettests.rules.readings import OfPeers

COMPARED = tuple(
    OfPeers(name=f"{tool.name}-of-peers", of=tool)
    for tool in (KUBELET, PROFILES, NETWORKS, CNI, DYNAMIC)
)
_NAMED = 3
"""Values listed in a finding."""
# samples: 10.244.3.1, 10.244.3.0/24, fd00:10:244:3::/64
_ADDRESS = re.compile(r"(?i)\b(\d+(?:\.\d+){3}|[0-9a-f]{1,4}(?::[0-9a-f]{0,4}){2,7})(/\d+)?")
# samples: 8d6ba3e5-6b4f-4a55-9d33-0f6e13a1a3a8; 00-15-5D-1E-00-0D; vpcbr0a1b2c3d4e5f, as Amazon's plugin names networks
_ID = re.compile(
    r"(?i)\b(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5})\b|(?<=vpcbr)[0-9a-f]{12}\b"
)


def spelled_alike(text: str, node: NodeFacts, of_pods: Iterable[Network] = ()) -> str:
    """Replace what is specific to a node in a reading; Calico may give it any Pod addresses."""
    networks = (*node.pod_cidrs, *of_pods)

    def address(match: re.Match[str]) -> str:
        try:
            read = ipaddress.ip_interface(match[0])
        except ValueError:
            return match[0]
        its_part = any(
            read.ip in whole and (whole in node.pod_cidrs or read.network != whole)
            for whole in networks
        )
        return "(its address)" if read.ip in node.addresses or its_part else match[0]

    alike = _ADDRESS.sub(address, _ID.sub("(an id)", text))
    return re.sub(re.escape(node.name), "(its name)", alike, flags=re.IGNORECASE)


def of_peer(reading: OfPeers, text: str, node: NodeFacts, of_pods: Iterable[Network]) -> str:
    """Return what is compared: the tool's output, for the kubelet with facts of the node."""
    alike = spelled_alike(text, node, of_pods)
    return "\n".join((alike, *_facts(node))) if reading.of == KUBELET else alike


def _facts(node: NodeFacts) -> Iterator[str]:
    proxy = node.kube_proxy
    for name, fact in (
        ("kubelet", node.kubelet),
        ("runtime", node.runtime),
        ("kube-proxy", proxy.version),
        ("kube-proxy's mode", proxy.mode),
        ("kube-proxy's DSR", proxy.dsr),
        ("DNS suffixes", node.dns_suffixes),
    ):
        value = " ".join(fact.value) if isinstance(fact.value, tuple) else fact.value
        yield f"{name}{_IS}{_UNKNOWN if value is None else value}"


_IS, _UNKNOWN = ": ", "not known"


@rule(about=(), reads=COMPARED)
def like_its_peers(evidence: Evidence) -> Finding:
    """Nodes of a pool have the same kubelet, plugin, HNS network, firewall and port settings."""
    node, compared, differences = evidence.fact("node"), 0, []
    for reading in COMPARED:
        texts: Mapping[str, str] = evidence.object(reading)
        if node not in texts or len(texts) < 2:
            continue
        compared += 1
        values = _comparable({name: _values(text) for name, text in sorted(texts.items())})
        usual, its = Counter(values.values()).most_common(1)[0][0], values[node]
        if its != usual:
            like = ", ".join([name for name, value in values.items() if value == usual][:_NAMED])
            differences.append(
                f"{reading.of.name} of {node} {_shown(its - usual)}, and of {like} {_shown(usual - its)}"
            )
    if not compared:
        raise NothingThereError(f"there is no second node to compare {node} with")
    return finding(
        not differences,
        "; ".join(differences) or f"{compared} readings as on its peers",
        "nodes of one pool to be set up alike",
        of=compared,
        by="whoever runs a cluster expects",
    )


def _values(text: str) -> frozenset[str]:
    return frozenset(filter(None, (part.strip(" []{}\r") for part in re.split(r"[\n,]", text))))


def _comparable(values: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """Leave out a fact that is not known of every node: then it is no difference."""
    unknown = tuple(
        text.removesuffix(_UNKNOWN)
        for text in frozenset().union(*values.values())
        if text.endswith(f"{_IS}{_UNKNOWN}")
    )
    return {
        name: frozenset(text for text in texts if not text.startswith(unknown))
        for name, texts in values.items()
    }


def _shown(values: frozenset[str]) -> str:
    return f"has {', '.join(sorted(values)[:_NAMED]) or 'nothing more'}"
