"""Plays a recording against the lab's planner: the node as the lab describes it, and what it would require of HNS."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network, ip_address, ip_network

from nettests.lab.controllers.endpoints import SERVICE_LABEL
from nettests.lab.network.thresholds import SwitchFeatures, switch_features
from nettests.lab.network.winkernel import Hns, Winkernel
from nettests.lab.network.winkernel.load_balancer import NODE_PORT, Host, LoadBalancer
from nettests.lab.topology import (
    OS,
    Address,
    Backend,
    Cni,
    Driver,
    KubeProxy,
    NodeSpec,
    Plugin,
    Profile,
    of_family,
)
from tests.lab.controllers.whole_table import service_table
from tests.winkernel.recording import GONE, KUBERNETES, Balancer, Case, Step

_BUILD = (20348, 9999)


def differences(case: Case) -> Iterator[tuple[Step, frozenset[str], list[str]]]:
    """Yield each step with the local endpoints that are lost, and what planner and recording have alone."""
    held, profile = Hns(), _profile(case)
    features = _features(case, profile)
    families = [_host(case, address) for address in _addresses(case)]
    proxies = [(host, Winkernel(features, held)) for host in families]
    for step in case.steps:
        table = service_table(step.services, step.slices, profile)
        for host, proxy in proxies:
            orphaned = _orphaned(step, host.address.version)
            proxy.sync(of_family(table, host.address), host, orphaned)
        made = frozenset(_as_recorded(one, host.endpoints, held) for one in held.balancers)
        yield (
            step,
            frozenset(held.lost),
            [
                *(
                    f"planned, not recorded: {one}"
                    for one in sorted(map(str, made - step.balancers))
                ),
                *(
                    f"recorded, not planned: {one}"
                    for one in sorted(map(str, step.balancers - made))
                ),
            ],
        )


def _orphaned(step: Step, version: int) -> dict[tuple[str, str], list[Backend]]:
    """Return what slices list, in one IP family, of Services that are not there."""
    there = {(one["metadata"]["namespace"], one["metadata"]["name"]) for one in step.services}
    found: dict[tuple[str, str], list[Backend]] = {}
    for item in step.slices:
        labels = item["metadata"].get("labels") or {}
        owner = (item["metadata"]["namespace"], labels.get(SERVICE_LABEL, ""))
        if owner in there or item["addressType"] != f"IPv{version}":
            continue
        found.setdefault(owner, []).extend(
            Backend(address=ip_address(one["addresses"][0]), port=0, node=one.get("nodeName"))
            for one in item.get("endpoints") or ()
        )
    return found


def _as_recorded(one: LoadBalancer, local: Mapping[Address, str], held: Hns) -> Balancer:
    there = (
        (local.get(address) == number and number not in held.lost)
        or held.remote.get(address) == number
        for number, address in one.references
    )
    named = zip(there, one.references, strict=True)
    return Balancer(
        vip="" if one.kind == NODE_PORT else str(one.vip),
        protocol=one.protocol,
        external_port=one.external_port,
        internal_port=one.internal_port,
        flags=frozenset(map(str, one.flags)),
        backends=tuple(sorted(str(to) if is_there else GONE for is_there, (_, to) in named)),
        source_vip=str(one.source_vip or ""),
    )


def _addresses(case: Case) -> list[Address]:
    second = [case.settings["nodeIPv6"]] if case.settings.get("dualStack") else []
    return [ip_address(text) for text in (case.settings["nodeIP"], *second)]


def _host(case: Case, address: Address) -> Host:
    vip = case.settings["sourceVip"]
    subnets = case.settings["remoteSubnets"]
    return Host(
        name=case.settings["nodeName"],
        address=address,
        source_vip=ip_address(vip) if vip else None,
        remote_subnets=tuple((ip_network(net), ip_address(to)) for net, to in subnets.items()),
        endpoints={ip_address(text): pod[0] for pod in case.pods for text in pod},
    )


def _profile(case: Case) -> Profile:
    build, patch = _BUILD
    node = NodeSpec(
        name=case.settings["nodeName"],
        os=OS.WINDOWS,
        address=IPv4Address(case.settings["nodeIP"]),
        pod_cidr=IPv4Network("10.244.3.0/24"),
        build=build,
        patch=patch,
    )
    driver = Driver.OVERLAY if case.overlay else Driver.L2BRIDGE
    return Profile(
        name="recorded",
        summary="",
        kubernetes_version=KUBERNETES,
        nodes=(node,),
        cni=Cni(plugin=Plugin.SDNBRIDGE, backend="vxlan", driver=driver),
        kube_proxy=KubeProxy(dsr=case.settings["enableDSR"]),
    )


def _features(case: Case, profile: Profile) -> SwitchFeatures:
    """Return the features; the recording names HNS' version, of which builds are the lab's measure."""
    return replace(
        switch_features(profile.nodes[0], profile),
        external_traffic_local=case.dsr_capable,
        preserve_destination=case.dsr_capable,
        modifies=case.modifies,
        backend_limit=case.limit,
    )
