"""Plays a recording against the harness' rules: the node's readings as HNS and the API server would show them."""

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from nettests.model.json_text import Object
from nettests.model.labels import SERVICE_NAME_LABEL
from nettests.rules import RULES, Evidence, NothingThereError, reduced
from tests.rules.made import ended
from tests.winkernel.recording import (
    GONE,
    KUBERNETES,
    Balancer,
    Case,
    Step,
)

PLAYED = (
    "load-balancers",
    "load-balancer-backends",
    "sctp-load-balancers",
    "local-policy-load-balancers",
    "stale-load-balancers",
)
ON_BRIDGES = ("empty-source-vip",)
OF_FRONTENDS = ("stale-load-balancers",)
"""What compares frontends with Services alone: it holds whatever became of endpoints."""
READINGS = {
    reading.name: reading for name in (*PLAYED, *ON_BRIDGES) for reading in RULES[name].reads
}
PROTOCOLS = {"tcp": 6, "udp": 17, "sctp": 132}


def findings(
    case: Case, step: Step, balancers: Iterable[Balancer], lost: Collection[str] = ()
) -> Iterator[str]:
    """Yield what the rules find wrong where HNS holds these load balancers after a step.

    Where kube-proxy deleted endpoints of Pods here (``lost``), Services that lead to them are broken indeed: findings about
    those are no false ones, and they are left out; all others are as they should be.
    """
    held = list(balancers)
    whole = _evidence(case, step, held, lost)
    rest = _evidence(case, _without(step, case, lost), held, lost) if lost else whole
    for name in PLAYED if case.overlay else (*PLAYED, *ON_BRIDGES):
        try:
            found = RULES[name].demand(whole if name in OF_FRONTENDS else rest)
        except NothingThereError:
            continue
        if not found.conforms:
            yield f"{name}: {found.detail}"


def _without(step: Step, case: Case, lost: Collection[str]) -> Step:
    """Return the step without the Services of which a slice names an address of a Pod whose endpoint is lost."""
    gone = {address for pod in case.pods if pod[0] in lost for address in pod}
    led = {
        (
            item["metadata"]["namespace"],
            (item["metadata"].get("labels") or {}).get(SERVICE_NAME_LABEL),
        )
        for item in step.slices
        for endpoint in item.get("endpoints") or ()
        if gone & set(endpoint["addresses"])
    }
    kept = [
        one
        for one in step.services
        if (one["metadata"]["namespace"], one["metadata"]["name"]) not in led
    ]
    return replace(step, services=tuple(kept))


def _evidence(case: Case, step: Step, balancers: list[Balancer], lost: Collection[str]) -> Evidence:
    services, slices = (json.dumps({"items": list(part)}) for part in (step.services, step.slices))
    texts = {
        "services": services,
        "services-after": services,
        "endpoint-slices": slices,
        "endpoint-slices-after": slices,
        "hns-endpoints-beside-policies": json.dumps(_endpoints(case, balancers, lost)),
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
    kept = {name: reduced(READINGS[name], ended(name, text)) for name, text in texts.items()}
    return Evidence(texts=kept, facts=facts)


def _endpoints(case: Case, balancers: list[Balancer], lost: Collection[str]) -> list[Object]:
    """Return the endpoints: of local Pods, and remote ones for what load balancers refer to."""
    local = [
        {
            "ID": pod[0],
            "IPAddress": pod[0],
            **({"IPv6Address": pod[1]} if len(pod) > 1 else {}),
        }
        for pod in case.pods
        if pod[0] not in lost
    ]
    mine = {address for pod in case.pods for address in pod}
    referred = {address for one in balancers for address in one.backends} - mine - {GONE}
    remote = [
        {"ID": address, "IPAddress": address, "IsRemoteEndpoint": True}
        for address in sorted(referred)
    ]
    return [*local, *remote]


def _policy(case: Case, one: Balancer) -> Object:
    owner = {address: pod[0] for pod in case.pods for address in pod}
    elb: Object = {
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
