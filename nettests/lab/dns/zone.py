"""The records and answers of the cluster's DNS, computed from Services and EndpointSlices alone. Pure.

Follows "Kubernetes DNS-Based Service Discovery" (specification 1.1.0) as CoreDNS's ``kubernetes`` plugin serves it, with the
default Corefile of kubeadm: ``kubernetes cluster.local in-addr.arpa ip6.arpa { pods insecure; fallthrough in-addr.arpa ip6.arpa;
ttl 30 }``. A ``DnsView`` is built from objects as the API returns them; queries are answered from it, or forwarded. Names are
absolute, lower case, with the final dot. ``programs/LIMITS.txt`` lists known differences.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import ip_address
from typing import Any

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.reversename
import dns.rrset

from nettests.lab.topology import Address

Object = Mapping[str, Any]
"""A Kubernetes object as JSON."""

_FAMILIES = frozenset({"IPv4", "IPv6"})
"""Address types of EndpointSlices that are not host names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceTarget:
    """One SRV record; priority is 0, and ``zone`` divides the weight."""

    port: int
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DnsView:
    """All records of the cluster zone; with ``namespaces`` ``None`` every namespace is taken to exist."""

    domain: str
    addresses: Mapping[str, tuple[Address, ...]] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    services: Mapping[str, tuple[ServiceTarget, ...]] = field(default_factory=dict)
    pointers: Mapping[Address, tuple[str, ...]] = field(default_factory=dict)
    namespaces: frozenset[str] | None = None

    @property
    def zone(self) -> str:
        """The zone's apex, absolute."""
        return f"{self.domain.strip('.').lower()}."


class _Records:
    """Collects records: values in order, each once."""

    def __init__(self) -> None:
        self.addresses: defaultdict[str, dict[Address, None]] = defaultdict(dict)
        self.services: defaultdict[str, dict[ServiceTarget, None]] = defaultdict(dict)
        self.pointers: defaultdict[Address, dict[str, None]] = defaultdict(dict)
        self.aliases: dict[str, str] = {}

    def add(self, name: str, address: Address, base: str, ports: Iterable[Object]) -> None:
        """Add an address record, and the SRV records of the Service ``base`` that refer to it."""
        self.addresses[name][address] = self.pointers[address][name] = None
        for port in ports:
            if port.get("name"):  # only named ports have SRV records
                service = f"_{port['name']}._{port.get('protocol', 'TCP')}.{base}".lower()
                self.services[service][ServiceTarget(port=port["port"], target=name)] = None


def view_from_objects(
    services: Iterable[Object],
    endpoint_slices: Iterable[Object],
    domain: str,
    namespaces: Iterable[str] | None = None,
) -> DnsView:
    """Return the view of these objects; pod records exist only in ``namespaces`` if these are given."""
    slices: dict[tuple[str, str], list[Object]] = {}
    for piece in endpoint_slices:
        owner = piece["metadata"].get("labels", {}).get("kubernetes.io/service-name", "")
        slices.setdefault((piece["metadata"]["namespace"], owner), []).append(piece)
    records = _Records()
    zone = domain.strip(".").lower()
    for service in services:
        namespace, name = service["metadata"]["namespace"], service["metadata"]["name"]
        base = f"{name}.{namespace}.svc.{zone}.".lower()
        spec = service["spec"]
        if spec.get("type") == "ExternalName":
            records.aliases[base] = f"{spec['externalName'].rstrip('.').lower()}."
        elif spec.get("clusterIP") == "None":
            _add_headless(records, base, spec, slices.get((namespace, name), []))
        elif spec.get("clusterIP"):
            for text in spec.get("clusterIPs") or (spec["clusterIP"],):
                records.add(base, ip_address(text), base, spec.get("ports", ()))
    return DnsView(
        domain=zone,
        addresses={name: tuple(addresses) for name, addresses in records.addresses.items()},
        aliases=records.aliases,
        services={name: tuple(targets) for name, targets in records.services.items()},
        pointers={address: tuple(names) for address, names in records.pointers.items()},
        namespaces=None if namespaces is None else frozenset(namespaces),
    )


def _add_headless(records: _Records, base: str, spec: Object, slices: list[Object]) -> None:
    """Add the endpoints of a Service: each is named by its hostname, else by its address with dashes."""
    for piece in (each for each in slices if each.get("addressType") in _FAMILIES):
        for endpoint in piece.get("endpoints") or ():
            ready = endpoint.get("conditions", {}).get("ready")
            if ready is False and not spec.get("publishNotReadyAddresses"):
                continue
            for address in map(ip_address, endpoint["addresses"]):
                dashed = str(address).replace(".", "-").replace(":", "-")
                name = f"{str(endpoint.get('hostname') or dashed).lower()}.{base}"
                records.addresses[base][address] = None
                records.add(name, address, base, piece.get("ports") or ())


TTL = 30
_REMEMBERED = 4096
"""Names and data whose parsed form is kept."""
_NEGATIVE_TTL = 5
_DNS_VERSION = '"1.1.0"'
_REVERSE = (dns.reversename.ipv4_reverse_domain, dns.reversename.ipv6_reverse_domain)
_VERSIONS = {dns.rdatatype.A: 4, dns.rdatatype.AAAA: 6}
"""Types of address records, with their IP versions."""


def answer(view: DnsView, query: dns.message.Message) -> dns.message.Message | None:
    """Return the response to ``query``, or ``None`` for a name outside of the cluster's zones."""
    if not query.question:
        refusal = dns.message.make_response(query)
        refusal.set_rcode(dns.rcode.FORMERR)
        return refusal
    queried = query.question[0]
    name = queried.name.to_text().lower()
    if any(queried.name.is_subdomain(domain) for domain in _REVERSE):
        return _answer_pointer(view, query, queried.name)
    if name != view.zone and not name.endswith(f".{view.zone}"):
        return None
    response = _authoritative(query)
    records = _records(view, name, queried.rdtype)
    for owner, kind, data in records:
        _add(response, owner, kind, data)
    if not records:
        if not _exists(view, name):
            response.set_rcode(dns.rcode.NXDOMAIN)
        soa = dns.rrset.from_rdata(_name(view.zone), _NEGATIVE_TTL, _rdata("SOA", _soa_data(view)))
        response.authority.append(soa)
    return response


def alias_target(view: DnsView, response: dns.message.Message) -> str | None:
    """Return the external target of an answer's CNAME, if any, which the server has to resolve."""
    for rrset in response.answer:
        if rrset.rdtype == dns.rdatatype.CNAME:
            target = str(rrset[0].target.to_text())
            return None if target.endswith(f".{view.zone}") else target
    return None


Record = tuple[str, str, str]
"""Owner name, type and data in presentation format."""


def _records(view: DnsView, name: str, kind: dns.rdatatype.RdataType) -> list[Record]:
    if name in view.aliases and kind in (*_VERSIONS, dns.rdatatype.CNAME):
        target = view.aliases[name]  # with its addresses, if it is in the cluster
        behind = _address_records(view, target, kind) if kind in _VERSIONS else []
        return [(name, "CNAME", target), *behind]
    if kind in _VERSIONS:
        return _address_records(view, name, kind)
    if kind == dns.rdatatype.SRV:
        targets = view.services.get(name, ())
        weight = max(1, 100 // len(targets)) if targets else 0
        return [(name, "SRV", f"0 {weight} {each.port} {each.target}") for each in targets]
    apex = view.zone
    data = {  # records of the zone itself, and of the specification's version
        (apex, dns.rdatatype.SOA): _soa_data(view),
        (apex, dns.rdatatype.NS): f"ns.dns.{apex}",
        (f"dns-version.{apex}", dns.rdatatype.TXT): _DNS_VERSION,
    }.get((name, kind))
    return [] if data is None else [(name, dns.rdatatype.to_text(kind), data)]


def _address_records(view: DnsView, name: str, kind: dns.rdatatype.RdataType) -> list[Record]:
    addresses = view.addresses.get(name)
    if addresses is None:
        pod = _pod_address(view, name)
        addresses = (pod,) if pod else ()
    fitting = (address for address in addresses if address.version == _VERSIONS[kind])
    return [(name, dns.rdatatype.to_text(kind), str(address)) for address in fitting]


def _pod_address(view: DnsView, name: str) -> Address | None:
    """Return the address in a pod's name; ``pods insecure`` answers any address in an existing namespace."""
    # Samples: 10-244-1-2.demo.pod.cluster.local. and fd00-10-244-1--2.demo.pod.cluster.local.
    suffix = f".pod.{view.zone}"
    if not name.endswith(suffix):
        return None
    label, _, namespace = name.removesuffix(suffix).partition(".")
    exists = view.namespaces is None or namespace in view.namespaces
    if not namespace or "." in namespace or not exists:
        return None
    separator = "." if label.count("-") == 3 and "--" not in label else ":"
    try:
        return ip_address(label.replace("-", separator))
    except ValueError:
        return None


def _exists(view: DnsView, name: str) -> bool:
    """Whether a name exists (NODATA, not NXDOMAIN): it has records, or is above a name that has."""
    if name in (view.zone, f"svc.{view.zone}", f"pod.{view.zone}", f"dns-version.{view.zone}"):
        return True
    for owners in (view.addresses, view.aliases, view.services):
        if name in owners or any(owner.endswith(f".{name}") for owner in owners):
            return True
    if _pod_address(view, name) is not None:
        return True
    return view.namespaces is not None and any(
        name in (f"{namespace}.svc.{view.zone}", f"{namespace}.pod.{view.zone}")
        for namespace in view.namespaces
    )


def _answer_pointer(
    view: DnsView, query: dns.message.Message, name: dns.name.Name
) -> dns.message.Message | None:
    """Answer a PTR query for a Service or endpoint; others are forwarded."""
    try:
        address = ip_address(dns.reversename.to_address(name))
    except (dns.exception.DNSException, ValueError):
        return None
    owners = view.pointers.get(address)
    if not owners or query.question[0].rdtype != dns.rdatatype.PTR:
        return None
    response = _authoritative(query)
    for owner in owners:
        _add(response, name.to_text(), "PTR", owner)
    return response


def _authoritative(query: dns.message.Message) -> dns.message.Message:
    response = dns.message.make_response(query, recursion_available=True)
    response.flags |= dns.flags.AA
    return response


def _add(response: dns.message.Message, owner: str, kind: str, data: str) -> None:
    rdata = _rdata(kind, data)
    rrset = response.find_rrset(
        response.answer, _name(owner), rdata.rdclass, rdata.rdtype, create=True
    )
    rrset.add(rdata, ttl=TTL)


@lru_cache(maxsize=_REMEMBERED)
def _name(text: str) -> dns.name.Name:
    return dns.name.from_text(text)


@lru_cache(maxsize=_REMEMBERED)
def _rdata(kind: str, data: str) -> dns.rdata.Rdata:
    """Return a record's data, which is immutable."""
    return dns.rdata.from_text(dns.rdataclass.IN, dns.rdatatype.from_text(kind), data)


def _soa_data(view: DnsView) -> str:
    return f"ns.dns.{view.zone} hostmaster.{view.zone} 1 7200 1800 86400 {_NEGATIVE_TTL}"
