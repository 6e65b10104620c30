"""Dumps of HNS and of the firewall on Windows nodes, read as rules and facts read them.

What is due is written in clauses: each has to be among what was read. A clause that refers to another file of the
folder, or that no reading spells, is compared as far as its own words go.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

from nettests.rules.evidence import UnreadableError
from nettests.rules.hns import Endpoint, endpoint_of, network_of, objects_in, of_kind
from nettests.rules.hns_load_balancers import POLICIES, load_balancers_in
from nettests.rules.hns_networks import ENDPOINTS, NETWORKS
from nettests.rules.host import PROFILES, profiles_of
from nettests.rules.nat import exceptions_of
from scripts.sample_readings.sample import UNKNOWN, Read, Sample, kept_of

NUMBERS = {1: "", 2: "both", 3: "all three"}
SAME = re.compile(r"same facts as ([\w-]+)")


def _readable(read: Callable[[Sample], Read]) -> Callable[[Sample], Read]:
    def guarded(sample: Sample) -> Read:
        try:
            return read(sample)
        except UnreadableError as error:
            return Read(text=f"{UNKNOWN}: {error.message}")

    return guarded


def _endpoints(sample: Sample) -> Read:
    facts = list(_facts(_endpoints_in(sample)))
    expected = sample.expected
    if match := SAME.search(expected):
        other = replace(sample, file=f"{match[1]}.json")
        right = facts == list(_facts(_endpoints_in(other)))
    else:
        right = all(_clause(clause, facts) for clause in expected.split(";"))
    return Read(text="; ".join(facts), right=right)


def _endpoints_in(sample: Sample) -> list[Endpoint]:
    return [endpoint_of(row) for row in objects_in(kept_of(ENDPOINTS, sample.text))]


def _facts(endpoints: list[Endpoint]) -> Iterator[str]:
    for endpoint in endpoints:
        yield f"{'remote' if endpoint.remote else 'local'} endpoint {' '.join(endpoint.addresses)}"
        for nat in of_kind(endpoint.policies, "OutBoundNAT"):
            excepted = list(exceptions_of(nat))
            number = NUMBERS.get(len(excepted), str(len(excepted)))
            yield " ".join(filter(None, ("OutBoundNAT excepts", number, *excepted)))
        if endpoint.dns_servers:
            yield f"DNS of the cluster {' '.join(endpoint.dns_servers)}"
        if endpoint.dns_suffix:
            yield f"suffix {endpoint.dns_suffix}"
        if endpoint.gateway:
            yield f"gateway {endpoint.gateway}"


def _clause(clause: str, facts: list[str]) -> bool:
    return any(fact.lower().startswith(clause.strip().lower()) for fact in facts)


def _networks(sample: Sample) -> Read:
    networks = [network_of(row) for row in objects_in(kept_of(NETWORKS, sample.text))]
    kinds = Counter("nat" if network.is_nat else network.kind.lower() for network in networks)
    counts = [f"{len(networks)} network{'s' if len(networks) != 1 else ''}"]
    counts += [
        f"{number} {kind} network{'s' if number != 1 else ''}" for kind, number in kinds.items()
    ]
    wanted = re.split(r",? or |, ", sample.expected)[0]
    return Read(text=", ".join(counts), right=wanted in counts)


def _policies(sample: Sample) -> Read:
    spelled = []
    for balancer in load_balancers_in(kept_of(POLICIES, sample.text)):
        for address, port, protocol in balancer.fronts:
            references = len(balancer.references)
            parts = (
                f"front ({address},{port},{protocol})",
                "DSR" if balancer.direct else "no DSR",
                f"source {balancer.source or 'none'}",
                f"{references} reference{'s' if references != 1 else ''}",
            )
            spelled.append(", ".join(parts))
    return Read(text="; ".join(spelled), right=sample.expected in spelled)


def _firewall(sample: Sample) -> str:
    try:
        states = set(profiles_of(kept_of(PROFILES, sample.text)).values())
    except ValueError as error:
        return f"{UNKNOWN}: {error}"
    return (
        {True: "on", False: "off"}[states.pop()] if len(states) == 1 else f"{UNKNOWN}: they differ"
    )


READINGS = {
    "hns:endpoints": _readable(_endpoints),
    "hns:networks": _readable(_networks),
    "hns:policies": _readable(_policies),
    "hns:firewall": _firewall,
}
