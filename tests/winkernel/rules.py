"""Plays a recording against the harness' rules: the node's readings as HNS and the API server would show them."""

import json
from collections.abc import Collection, Iterable, Iterator

from nettests.rules import RULES, Evidence, UnreadableError, reduced
from tests.winkernel.recording import GONE, KUBERNETES, Balancer, Case, Json, Step

PLAYED = (
    "load-balancers",
    "load-balancer-backends",
    "local-policy-load-balancers",
    "stale-load-balancers",
)
ON_BRIDGES = ("empty-source-vip",)
ALWAYS = ("stale-load-balancers",)
READINGS = {
    reading.name: reading for name in (*PLAYED, *ON_BRIDGES) for reading in RULES[name].reads
}
PROTOCOLS = {"tcp": 6, "udp": 17, "sctp": 132}


def findings(
    case: Case, step: Step, balancers: Iterable[Balancer], lost: Collection[str] = ()
) -> Iterator[str]:
    """Yield what the rules find wrong where HNS holds these load balancers after a step.

    Where kube-proxy deleted endpoints of Pods here (``lost``), what leads to them is broken indeed: findings
    are no false ones then, but for load balancers that no Service has.
    """
    evidence = _evidence(case, step, list(balancers))
    played = PLAYED if case.overlay else (*PLAYED, *ON_BRIDGES)
    for name in ALWAYS if lost else played:
        try:
            found = RULES[name].demand(evidence)
        except UnreadableError:
            continue  # nothing to look at
        if not found.conforms:
            yield f"{name}: {found.detail}"


def _evidence(case: Case, step: Step, balancers: list[Balancer]) -> Evidence:
    services, slices = (json.dumps({"items": list(part)}) for part in (step.services, step.slices))
    texts = {
        "services": services,
        "services-after": services,
        "endpoint-slices": slices,
        "endpoint-slices-after": slices,
        "hns-endpoints-beside-policies": json.dumps(_endpoints(case, balancers)),
        "hns-policies": json.dumps([_policy(case, one) for one in balancers]),
    }
    facts = {
        "server": KUBERNETES,
        "node": str(case.settings["nodeName"]),
        "driver": str(case.settings["networkType"]).lower(),
        "dsr": "on" if case.settings["enableDSR"] else "off",
        "build": "10.0.20348.3207" if case.dsr_capable else "10.0.17763.1339",
        "node-addresses": str(case.settings["nodeIP"]),
    }
    kept = {name: reduced(READINGS[name], text) for name, text in texts.items()}
    return Evidence(texts=kept, facts=facts)


def _endpoints(case: Case, balancers: list[Balancer]) -> list[Json]:
    """Return the endpoints: of local Pods, and remote ones for what load balancers refer to."""
    local = [
        {
            "ID": pod[0],
            "IPAddress": pod[0],
            **({"IPv6Address": pod[1]} if len(pod) > 1 else {}),
        }
        for pod in case.pods
    ]
    mine = {address for pod in case.pods for address in pod}
    referred = {address for one in balancers for address in one.backends} - mine - {GONE}
    remote = [
        {"ID": address, "IPAddress": address, "IsRemoteEndpoint": True}
        for address in sorted(referred)
    ]
    return [*local, *remote]


def _policy(case: Case, one: Balancer) -> Json:
    owner = {address: pod[0] for pod in case.pods for address in pod}
    elb: Json = {
        "ExternalPort": one.external_port,
        "InternalPort": one.internal_port,
        "IsDSR": "DSR" in one.flags,
        "Protocol": PROTOCOLS[one.protocol],
        "SourceVIP": one.source_vip,
        "Type": "ELB",
        "VIPs": [one.vip] if one.vip else [],
    }
    if "IPv6" in one.flags:
        elb["IPv6"] = True
    references = [f"/endpoints/{owner.get(address, address)}" for address in one.backends]
    return {"Policies": [elb], "References": references}
