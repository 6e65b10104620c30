"""Rules about HNS load balancers: those of Services exist with the right backends, and no others.

``balancing`` has the expected ones, ``hns_load_balancers`` the actual ones. Sources: kube-proxy
``pkg/proxy/winkernel``, Microsoft's ``networkhealth.ps1``.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

from nettests.model import ports
from nettests.model.grouping import grouped
from nettests.model.json_text import Object
from nettests.model.versions import KubernetesVersion, WindowsBuild
from nettests.rules.balancing import (
    CLUSTER_IP,
    SERVICES,
    SERVICES_AFTER,
    SLICES,
    SLICES_AFTER,
    Frontend,
    Node,
    Wanted,
    by_service,
    unchanged,
    wanted_balancers,
)
from nettests.rules.evidence import Evidence, Finding, NothingThereError, finding, name_of, rule
from nettests.rules.hns import shown
from nettests.rules.hns_load_balancers import (
    ENDPOINTS_BESIDE,
    POLICIES,
    Shown,
    addresses,
    balancers,
    frontends,
    held_twice,
    load_balancers_of,
)
from nettests.rules.node import FIRST_DSR
from nettests.rules.subjects import HNS, KERNELSPACE, L2BRIDGE

SKIPS_UNSERVING = KubernetesVersion.parse("1.27")
"""Backported to 1.24.10, 1.25.6 and 1.26.1 (#113776); below 1.27 such Services are not judged."""
EARLIEST_DSR = WindowsBuild(17763, 1397)
"""KB4565349 (8B), the earliest update that Microsoft named; ``FIRST_DSR`` is certain."""
SCTP = "SCTP"
"""Not supported on Windows: a separate rule checks whether HNS has it."""
DSR_BUILD = 19041
"""Windows 2004, the first release that all sources name."""
READ = (SERVICES, SLICES, POLICIES, ENDPOINTS_BESIDE, SLICES_AFTER, SERVICES_AFTER)
"""In this order: HNS is read between the two readings of API objects."""


@rule(about=(KERNELSPACE,), reads=READ)
def load_balancers(evidence: Evidence) -> Finding:
    """HNS has a load balancer at the ClusterIP of every Service port with backends.

    Services with externalTrafficPolicy Local and only remote backends have a rule of their own:
    some versions of kube-proxy are documented to omit them.
    """
    return _complete(evidence, afar=False)


@rule(about=(KERNELSPACE,), reads=READ)
def local_policy_load_balancers(evidence: Evidence) -> Finding:
    """With externalTrafficPolicy Local, nodes without backends still serve the ClusterIP."""
    return _complete(evidence, afar=True)


@rule(about=(KERNELSPACE,), reads=READ)
def sctp_load_balancers(evidence: Evidence) -> Finding:
    """HNS has a load balancer at the ClusterIP of every SCTP Service port with backends.

    A Service whose other ports are missing too is ignored: kube-proxy has not handled it yet.
    """
    in_hns = set(frontends(load_balancers_of(evidence)))
    wanted: dict[Frontend, str] = {}
    for service in unchanged(evidence, of_runs=True):
        fronts = {
            balancer.front: balancer.service
            for balancer in _wanted_balancers(evidence, service)
            if balancer.kind == CLUSTER_IP and balancer.backends
        }
        of_sctp = {front: name for front, name in fronts.items() if front[2] == SCTP}
        if fronts.keys() - of_sctp.keys() <= in_hns:
            wanted |= of_sctp
    if not wanted:
        raise NothingThereError(
            "no Service with a port of SCTP stays that has backends for this node"
        )
    missing = _missing(wanted, in_hns)
    return finding(
        not missing,
        shown(missing) or f"load balancers for {len(wanted)} Service ports of SCTP",
        "a load balancer for every Service port of SCTP that has backends",
        of=len(wanted),
    )


@rule(about=(KERNELSPACE, HNS), reads=READ)
def load_balancer_backends(evidence: Evidence) -> Finding:
    """Every load balancer of a Service has exactly its backends, and each Service port has one.

    On overlay all share one source VIP, except those that use the node's address.
    """
    wanted = grouped(
        (_place(balancer), balancer)
        for service in unchanged(evidence)
        for balancer in _wanted_balancers(evidence, service)
        if balancer.front[2] != SCTP
    )
    in_hns = grouped((_place(balancer), balancer) for balancer in balancers(evidence))
    wrong = list(held_twice(evidence))
    compared = 0
    for front, wanted_here in wanted.items():
        if len(wanted_here) > 1:
            continue  # Services that share an address and port share a load balancer, and nothing shows whose it is
        expected_here = (
            wanted_here[0].backends and wanted_here[0].kind != CLUSTER_IP
        )  # those have rules of their own
        compared += wanted_here[0].settled and bool(expected_here or in_hns.get(front))
        wrong += _differs(evidence, wanted_here[0], in_hns.get(front, []))
    wrong += _sources(
        evidence, [balancer for front in wanted for balancer in in_hns.get(front, [])]
    )
    if not compared and not wrong:
        raise NothingThereError(
            "no Service stays that has backends and a load balancer on this node"
        )
    return finding(
        not wrong,
        shown(wrong) or f"{compared} load balancers with their Services' backends",
        "one load balancer for each Service port and address, with exactly its backends for this node",
        of=compared,
    )


@rule(about=(KERNELSPACE,), reads=(SERVICES, POLICIES, SERVICES_AFTER))
def stale_load_balancers(evidence: Evidence) -> Finding:
    """HNS has no load balancer without a Service."""
    in_hns = set(frontends(load_balancers_of(evidence)))
    if not in_hns:
        raise NothingThereError("HNS shows no load balancer on the node")
    services = (*evidence.items(SERVICES), *evidence.items(SERVICES_AFTER))
    service_ports = {port for service in services for port in _ports(service)}
    stale = [f"a stale one for {_spelled(front)}" for front in sorted(in_hns - service_ports)]
    return finding(
        not stale,
        shown(stale) or f"{len(in_hns)} load balancers, all of Services",
        "no load balancer for what is no Service",
        of=len(in_hns),
    )


@rule(about=(KERNELSPACE, L2BRIDGE), reads=(POLICIES,))
def empty_source_vip(evidence: Evidence) -> Finding:
    """On l2bridge, load balancers have no source VIP, whatever kube-proxy's flag: HNS uses the
    node's address."""
    # sample: "ExternalPort":  443, "SourceVIP":  "", "Type":  "ELB", "VIPs":  ["10.96.0.1"]
    in_hns = load_balancers_of(evidence)
    if not in_hns:
        raise NothingThereError("HNS shows no load balancer on the node")
    given = sorted({balancer.source for balancer in in_hns if balancer.source})
    return finding(
        not given,
        f"source VIP {', '.join(given)}" if given else f"{len(in_hns)} load balancers without one",
        "an empty source VIP in HNS on l2bridge",
        of=len(in_hns),
    )


def _complete(evidence: Evidence, *, afar: bool) -> Finding:
    in_hns = set(frontends(load_balancers_of(evidence)))
    wanted = {
        balancer.front: balancer.service
        for service in unchanged(evidence)
        if _is_afar(evidence, service) is afar
        for balancer in _wanted_balancers(evidence, service)
        if balancer.kind == CLUSTER_IP
        and balancer.settled
        and balancer.backends
        and balancer.front[2] != SCTP
    }
    if not wanted:
        which = " with externalTrafficPolicy Local and no local backend" if afar else ""
        raise NothingThereError(f"no Service{which} stays that has backends for this node")
    missing = _missing(wanted, in_hns)
    return finding(
        not missing,
        shown(missing) or f"{len(in_hns)} load balancers for {len(wanted)} Service ports expected",
        "a load balancer for every one of these Service ports that has backends",
        of=len(wanted),
    )


def _missing(wanted: Mapping[Frontend, str], in_hns: Collection[Frontend]) -> list[str]:
    return [
        f"no load balancer for {_spelled(front, wanted[front])}"
        for front in sorted(wanted.keys() - in_hns)
    ]


def _differs(evidence: Evidence, wanted: Wanted, in_hns: list[Shown]) -> Iterator[str]:
    front = _spelled(wanted.front, wanted.service)
    if not wanted.backends and wanted.settled and in_hns:
        yield f"a load balancer for {front}, which has no backends for this node"
    missing = wanted.backends and wanted.settled and not in_hns
    if missing and wanted.kind != CLUSTER_IP:  # those of ClusterIPs have their own rules
        yield f"no load balancer for {front}"
    if len(in_hns) > 1:
        yield f"{len(in_hns)} load balancers for {front}"
    for balancer in in_hns:
        if not wanted.settled:
            continue
        if balancer.gone:
            yield f"{front} refers to {balancer.gone} endpoints that HNS does not have"
        lacking, foreign = wanted.backends - balancer.backends, balancer.backends - wanted.backends
        if wanted.backends and lacking:
            yield f"{front} lacks {', '.join(sorted(lacking))}"
        if wanted.backends and foreign:
            yield f"{front} leads to {', '.join(sorted(foreign))}, no backend of it"
        if wanted.ports and balancer.port not in wanted.ports:
            yield f"{front} dials port {balancer.port}"
        direct = _node_dsr(evidence) if wanted.direct is None else wanted.direct
        if direct is not None and balancer.direct is not direct:
            yield f"{front} is {'' if balancer.direct else 'not '}of DSR"


def _sources(evidence: Evidence, in_hns: Iterable[Shown]) -> Iterator[str]:
    """Yield wrong source VIPs on overlay, neither kube-proxy's nor the node's address."""
    if evidence.facts.get("driver") != "overlay":
        return
    given = {balancer.source for balancer in in_hns}
    if "" in given:
        yield "load balancers without a source VIP"
    several = sorted(given - {"", *evidence.facts.get("node-addresses", "").split(",")})
    if len(several) > 1:
        yield f"load balancers with several source VIPs: {', '.join(several)}"


def _node_dsr(evidence: Evidence) -> bool | None:
    setting = evidence.facts.get("dsr")
    return None if setting is None else setting == "on"


def _wanted_balancers(evidence: Evidence, service: Object) -> Iterator[Wanted]:
    remote, local = addresses(evidence)
    node = Node(
        name=evidence.fact("node"),
        local=frozenset(local),
        remote=frozenset(remote),
        knows_dsr=_knows_dsr(evidence),
    )
    if evidence.version("server") < SKIPS_UNSERVING and _is_unsure(evidence, service):
        return
    yield from wanted_balancers(
        service, by_service(evidence, SLICES).get(name_of(service), []), node
    )


def _knows_dsr(evidence: Evidence) -> bool | None:
    """Whether HNS of this build supports DSR; ``None`` between updates that sources name."""
    text = evidence.facts.get("build")
    if text is None:
        return True
    build = WindowsBuild.parse(text)
    if build.build >= DSR_BUILD or (build >= FIRST_DSR and build.build == FIRST_DSR.build):
        return True
    named = build.build == FIRST_DSR.build and build.patch_known
    return False if named and build < EARLIEST_DSR else None


def _is_unsure(evidence: Evidence, service: Object) -> bool:
    """Whether older releases handle a Service differently, by policy or endpoint conditions."""
    if service["spec"].get("internalTrafficPolicy") == "Local":
        return True
    for item in by_service(evidence, SLICES).get(name_of(service), []):
        for endpoint in item.get("endpoints") or []:
            conditions = endpoint.get("conditions") or {}
            if conditions.get("serving") is False or conditions.get("terminating") is True:
                return True
    return False


def _is_afar(evidence: Evidence, service: Object) -> bool:
    if service["spec"].get("externalTrafficPolicy") != "Local":
        return False
    return not any(
        endpoint.get("nodeName") == evidence.fact("node")
        for item in by_service(evidence, SLICES).get(name_of(service), [])
        for endpoint in item.get("endpoints") or []
    )


def _ports(service: Object) -> Iterator[Frontend]:
    spec, status = service["spec"], service.get("status") or {}
    ingress = (status.get("loadBalancer") or {}).get("ingress") or []
    balanced = [str(item["ip"]) for item in ingress if item.get("ip")]
    service_ips = [
        *(spec.get("clusterIPs") or [spec.get("clusterIP")]),
        *(spec.get("externalIPs") or []),
    ]
    for port in spec.get("ports") or []:
        protocol = port.get("protocol", "TCP")
        yield from (
            (str(address), int(port["port"]), protocol)
            for address in (*service_ips, *balanced)
            if address
        )
        if port.get("nodePort"):
            yield "", int(port["nodePort"]), protocol
        # forwardHealthCheckVip: the balancer's address, in the protocol of the Service port
        health = int(spec.get("healthCheckNodePort") or ports.KUBE_PROXY_HEALTH)
        yield from ((address, health, protocol) for address in balanced)
    if spec.get("healthCheckNodePort"):
        yield from (
            (str(address), int(spec["healthCheckNodePort"]), "TCP")
            for address in service_ips
            if address
        )


def _place(balancer: Wanted | Shown) -> Frontend:
    """Return the frontend, with the family instead of a NodePort's missing address."""
    return (balancer.front[0] or str(balancer.family), *balancer.front[1:])


def _spelled(front: Frontend, service: str = "") -> str:
    at = f"{front[0] or 'NodePort'}:{front[1]}/{front[2]}"
    return f"{service} at {at}" if service else at
