"""Rules about the load balancers in HNS: those of Services are there, with the right backends, and no others.

Sources: kube-proxy ``pkg/proxy/winkernel``, Microsoft's ``networkhealth.ps1`` (References against endpoints).
Services that change between the readings are given the benefit of it. ``balancing`` says what is due.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nettests.model.versions import KubernetesVersion, WindowsBuild
from nettests.rules.balancing import CLUSTER_IP, Due, Frontend, Node, due, service_of
from nettests.rules.evidence import Evidence, Finding, NothingThereError, Object, finding
from nettests.rules.hns import (
    POLICIES,
    RUN_LABEL,
    SERVICES,
    SERVICES_AFTER,
    SLICES,
    name_of,
    policies_of,
    shown,
)
from nettests.rules.node import FIRST_DSR

ENDPOINTS_BESIDE = "hns-endpoints-beside-policies"
"""Read with the load balancers, so that what they refer to is in it."""
SLICES_AFTER = "endpoint-slices-after"
PROTOCOLS = {6: "TCP", 17: "UDP", 132: "SCTP"}
SKIPS_UNSERVING = KubernetesVersion.parse("1.27")
"""Picked to 1.24.10, 1.25.6 and 1.26.1 (#113776); between them it is not asked."""
EARLIEST_DSR = WindowsBuild(17763, 1397)
"""KB4565349 (8B), the earliest update of Windows Server 2019 that Microsoft named; ``FIRST_DSR`` is sure."""
DSR_BUILD = 19041
"""Windows 2004, the first release that all sources name."""
HEALTH_PORT = 10256
"""kube-proxy's own, which ``--forward-healthcheck-vip`` makes answer at load balancers' addresses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A load balancer that HNS shows: ``backends`` by address, ``gone`` counts references to nothing."""

    front: Frontend
    family: int
    backends: frozenset[str]
    gone: int
    port: int
    direct: bool


def load_balancers(evidence: Evidence) -> Finding:
    """HNS has a load balancer at the ClusterIP of every Service port with backends.

    Those of Services with externalTrafficPolicy Local and backends on other nodes alone are another rule's:
    versions of kube-proxy are documented to leave them out.
    """
    return _complete(evidence, afar=False)


def local_policy_load_balancers(evidence: Evidence) -> Finding:
    """externalTrafficPolicy Local takes no load balancer from the ClusterIP where no backend is local."""
    return _complete(evidence, afar=True)


def load_balancer_backends(evidence: Evidence) -> Finding:
    """Every load balancer of a Service leads to that Service's backends, and each Service port has one."""
    wanted: dict[Frontend, list[Due]] = {}
    for one in (each for service in _asked(evidence) for each in _due(evidence, service)):
        wanted.setdefault((one.front[0] or str(one.family), *one.front[1:]), []).append(one)
    there: dict[Frontend, list[Shown]] = {}
    for shown_one in _shown_by_hns(evidence):
        key = (shown_one.front[0] or str(shown_one.family), *shown_one.front[1:])
        there.setdefault(key, []).append(shown_one)
    wrong = list(_twice(evidence))
    looked = 0
    for front, dues in wanted.items():
        if len(dues) > 1:
            continue  # Services that share an address and port have one load balancer, whose is not said
        due_here = dues[0].backends and dues[0].kind != CLUSTER_IP  # those are other rules' matter
        looked += dues[0].settled and bool(due_here or there.get(front))
        wrong += _differs(evidence, dues[0], there.get(front, []))
    if not looked and not wrong:
        raise NothingThereError(
            "no Service stays that has backends and a load balancer on this node"
        )
    return finding(
        not wrong,
        shown(wrong) or f"{looked} load balancers with their Services' backends",
        "one load balancer for each Service port and address, with exactly its backends for this node",
        of=looked,
    )


def stale_load_balancers(evidence: Evidence) -> Finding:
    """HNS has no load balancer for what is no Service."""
    there = set(_frontends(evidence.rows(POLICIES)))
    if not there:
        raise NothingThereError("HNS shows no load balancer on the node")
    services = (*evidence.items(SERVICES), *evidence.items(SERVICES_AFTER))
    known = {one for service in services for one in _ports(service)}
    stale = [f"a stale one for {_spelled(one)}" for one in sorted(there - known)]
    return finding(
        not stale,
        shown(stale) or f"{len(there)} load balancers, all of Services",
        "no load balancer for what is no Service",
        of=len(there),
    )


def _complete(evidence: Evidence, *, afar: bool) -> Finding:
    """Compare the ClusterIPs that are there with those that are due."""
    there = set(_frontends(evidence.rows(POLICIES)))
    wanted = {
        one.front
        for service in _asked(evidence)
        if _is_afar(evidence, service) is afar
        for one in _due(evidence, service)
        if one.kind == CLUSTER_IP and one.settled and one.backends
    }
    if not wanted:
        which = " with externalTrafficPolicy Local and no local backend" if afar else ""
        raise NothingThereError(f"no Service{which} stays that has backends for this node")
    missing = [f"no load balancer for {_spelled(one)}" for one in sorted(wanted - there)]
    return finding(
        not missing,
        shown(missing) or f"{len(there)} load balancers for {len(wanted)} Service ports due",
        "a load balancer for every one of these Service ports that has backends",
        of=len(wanted),
    )


def _differs(evidence: Evidence, wanted: Due, there: list[Shown]) -> Iterator[str]:
    """Yield what is wrong with the load balancers of one frontend."""
    front = _spelled(wanted.front)
    if not wanted.backends and wanted.settled and there:
        yield f"a load balancer for {front}, which has no backends for this node"
    missing = wanted.backends and wanted.settled and not there
    if missing and wanted.kind != CLUSTER_IP:  # of ClusterIPs other rules say it
        yield f"no load balancer for {front}"
    if len(there) > 1:
        yield f"{len(there)} load balancers for {front}"
    for one in there:
        if not wanted.settled:
            continue
        if one.gone:
            yield f"{front} refers to {one.gone} endpoints that HNS does not have"
        lacking, foreign = wanted.backends - one.backends, one.backends - wanted.backends
        if wanted.backends and lacking:
            yield f"{front} lacks {', '.join(sorted(lacking))}"
        if wanted.backends and foreign:
            yield f"{front} leads to {', '.join(sorted(foreign))}, no backend of it"
        if wanted.ports and one.port not in wanted.ports:
            yield f"{front} dials port {one.port}"
        direct = _node_dsr(evidence) if wanted.direct is None else wanted.direct
        if direct is not None and one.direct is not direct:
            yield f"{front} is {'' if one.direct else 'not '}of DSR"


def _twice(evidence: Evidence) -> Iterator[str]:
    """Yield addresses that two HNS endpoints have, as after a remote one was made for a local Pod."""
    remote, local = _addresses(evidence)
    for address in sorted(remote & local):
        yield f"a remote endpoint at {address}, which is a local one's"
    held = Counter(
        (str(one.get("VirtualNetworkName")), bool(one.get("IsRemoteEndpoint")), str(one[key]))
        for one in evidence.rows(ENDPOINTS_BESIDE)
        for key in ("IPAddress", "IPv6Address")
        if one.get(key)
    )
    for (_, remote_one, address), count in sorted(held.items()):
        if count > 1:
            yield f"{count} {'remote' if remote_one else 'local'} endpoints at {address}"


def _node_dsr(evidence: Evidence) -> bool | None:
    setting = evidence.facts.get("dsr")
    return None if setting is None else setting == "on"


def _asked(evidence: Evidence) -> list[Object]:
    """Return the Services that are the same before and after, with the same endpoints; not the runs' own."""
    after = {name_of(one): one for one in evidence.items(SERVICES_AFTER)}
    before_slices, after_slices = _by_service(evidence, SLICES), _by_service(evidence, SLICES_AFTER)
    found = []
    for one in evidence.items(SERVICES):
        name = name_of(one)
        same = _told(one) == _told(after.get(name, {})) and (
            _listed_endpoints(before_slices.get(name, []))
            == _listed_endpoints(after_slices.get(name, []))
        )
        if same and RUN_LABEL not in (one["metadata"].get("labels") or {}):
            found.append(one)
    return found


def _told(service: Object) -> object:
    return service.get("spec"), service.get("status") or {}


def _listed_endpoints(slices: Iterable[Object]) -> list[object]:
    return sorted((str((one.get("endpoints"), one.get("ports"))) for one in slices), key=str)


def _by_service(evidence: Evidence, reading: str) -> dict[str, list[Object]]:
    found: dict[str, list[Object]] = {}
    for item in evidence.items(reading):
        found.setdefault(service_of(item), []).append(item)
    return found


def _due(evidence: Evidence, service: Object) -> Iterator[Due]:
    remote, local = _addresses(evidence)
    node = Node(
        name=evidence.fact("node"),
        local=frozenset(local),
        remote=frozenset(remote),
        knows_dsr=_knows_dsr(evidence),
    )
    if evidence.version("server") < SKIPS_UNSERVING and _is_unsure(evidence, service):
        return
    yield from due(service, _by_service(evidence, SLICES).get(name_of(service), []), node)


def _knows_dsr(evidence: Evidence) -> bool | None:
    """Whether HNS of the node's build has DSR; open between the updates that sources name, and where it is not known."""
    text = evidence.facts.get("build")
    if text is None:
        return True
    build = WindowsBuild.parse(text)
    if build.build >= DSR_BUILD or (build >= FIRST_DSR and build.build == FIRST_DSR.build):
        return True
    named = build.build == FIRST_DSR.build and build.patch_known
    return False if named and build < EARLIEST_DSR else None


def _is_unsure(evidence: Evidence, service: Object) -> bool:
    """Whether older releases make different things of a Service: of its policy, or of endpoints that go or do not serve."""
    if service["spec"].get("internalTrafficPolicy") == "Local":
        return True
    for item in _by_service(evidence, SLICES).get(name_of(service), []):
        for endpoint in item.get("endpoints") or []:
            conditions = endpoint.get("conditions") or {}
            if conditions.get("serving") is False or conditions.get("terminating") is True:
                return True
    return False


def _is_afar(evidence: Evidence, service: Object) -> bool:
    """Whether its policy is Local and none of its backends is on this node."""
    if service["spec"].get("externalTrafficPolicy") != "Local":
        return False
    return not any(
        endpoint.get("nodeName") == evidence.fact("node")
        for item in _by_service(evidence, SLICES).get(name_of(service), [])
        for endpoint in item.get("endpoints") or []
    )


def _addresses(evidence: Evidence) -> tuple[set[str], set[str]]:
    """Return the addresses of remote and of local endpoints."""
    found: tuple[set[str], set[str]] = set(), set()
    for one in evidence.rows(ENDPOINTS_BESIDE):
        for key in ("IPAddress", "IPv6Address"):
            if one.get(key):
                found[not one.get("IsRemoteEndpoint")].add(str(one[key]))
    return found


def _shown_by_hns(evidence: Evidence) -> Iterator[Shown]:
    # sample: {"Policies": [{"Type": "ELB", …}], "References": ["/endpoints/c55b2c86-…"]}
    by_id = {str(one.get("ID")).lower(): one for one in evidence.rows(ENDPOINTS_BESIDE)}
    for one in evidence.rows(POLICIES):
        references = [str(text).rsplit("/", 1)[-1].lower() for text in one.get("References") or []]
        known = [by_id[number] for number in references if number in by_id]
        for policy in policies_of(one, "ELB"):
            for front in _frontends([one]):
                second = bool(policy.get("IPv6")) or ":" in front[0] or _all_second(known)
                key = "IPv6Address" if second else "IPAddress"
                yield Shown(
                    front=front,
                    family=6 if second else 4,
                    backends=frozenset(str(e.get(key) or e.get("IPAddress")) for e in known),
                    gone=len(references) - len(known),
                    port=int(policy.get("InternalPort") or 0),
                    direct=bool(policy.get("IsDSR")),
                )


def _all_second(endpoints: list[Object]) -> bool:
    return bool(endpoints) and all(":" in str(one.get("IPAddress")) for one in endpoints)


def _frontends(lists: Iterable[Object]) -> Iterator[Frontend]:
    # sample: {"ExternalPort":  443, "InternalPort":  6443, "IsDSR":  false, "Protocol":  6,
    #          "SourceVIP":  "10.244.3.2", "Type":  "ELB", "VIPs":  ["10.96.0.1"]}
    for one in lists:
        for policy in policies_of(one, "ELB"):
            protocol = PROTOCOLS.get(policy.get("Protocol", 0), "?")
            vips = policy.get("VIPs") or [""]
            for vip in vips if isinstance(vips, list) else [vips]:
                yield str(vip), int(policy["ExternalPort"]), protocol


def _ports(service: Object) -> Iterator[Frontend]:
    """Yield every frontend that kube-proxy may make of a Service."""
    spec, status = service["spec"], service.get("status") or {}
    ingress = (status.get("loadBalancer") or {}).get("ingress") or []
    balanced = [str(item["ip"]) for item in ingress if item.get("ip")]
    own = [*(spec.get("clusterIPs") or [spec.get("clusterIP")]), *(spec.get("externalIPs") or [])]
    for port in spec.get("ports") or []:
        protocol = port.get("protocol", "TCP")
        yield from ((str(one), int(port["port"]), protocol) for one in (*own, *balanced) if one)
        if port.get("nodePort"):
            yield "", int(port["nodePort"]), protocol
        # forwardHealthCheckVip: the balancer's address, in the protocol of the Service port
        health = int(spec.get("healthCheckNodePort") or HEALTH_PORT)
        yield from ((one, health, protocol) for one in balanced)
    if spec.get("healthCheckNodePort"):
        yield from ((str(one), int(spec["healthCheckNodePort"]), "TCP") for one in own if one)


def _spelled(one: Frontend) -> str:
    return f"{one[0] or 'NodePort'}:{one[1]}/{one[2]}"
