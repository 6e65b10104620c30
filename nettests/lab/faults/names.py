"""DNS faults: lost queries, late or wrong answers, missed updates, wrong suffixes."""

from collections.abc import AsyncIterator, Callable
from ipaddress import IPv4Address

from nettests.lab.client import Client, Json
from nettests.lab.controllers.workloads import is_ready
from nettests.lab.dns import server
from nettests.lab.dns.server import Trouble
from nettests.lab.errors import LabError
from nettests.lab.faults.targets import (
    FAULTS,
    Targets,
    Undo,
    changed,
    fault,
    number,
    pods_until,
    text,
    together,
)
from nettests.lab.interfaces import Namespace
from nettests.lab.network.packets import Packets
from nettests.lab.node.registration import KUBELET_FILE

_DEPLOYMENT = "/apis/apps/v1/namespaces/kube-system/deployments/coredns"
_PODS = "/api/v1/namespaces/kube-system/pods"
_OTHER_DOMAIN = "other.local"


async def _down(targets: Targets, options: Json) -> Undo:
    uid, node = targets.dns_pod()
    namespaces = targets.fabric.nodes[node].pod_namespaces()
    if uid not in namespaces:
        raise LabError("The DNS pod is not running.")
    chosen = text(options, "protocol")
    protocols = [chosen] if chosen else ["udp", "tcp"]
    return await _unanswered(targets, namespaces[uid], protocols, number(options, "rate", 1))


async def _upstream_down(targets: Targets, _options: Json) -> Undo:
    return await _unanswered(targets, targets.fabric.outside_server, ["udp", "tcp"], 1)


async def _unanswered(
    targets: Targets, server_namespace: Namespace, protocols: list[str], rate: float
) -> Undo:
    lose = targets.fabric.node_faults.lose_entering
    queries = [Packets(protocol=protocol, port="53") for protocol in protocols]
    return await together([await lose(server_namespace, packets, rate) for packets in queries])


FAULTS |= {"dns-down": _down, "dns-upstream-down": _upstream_down}


def _answering(name: str, trouble: Callable[[Targets, Json], Trouble]) -> None:
    @fault(name)
    async def inject(targets: Targets, options: Json) -> AsyncIterator[None]:
        end = targets.dns.add(trouble(targets, options))
        yield
        end()


_answering("dns-slow", lambda _targets, options: server.late(number(options, "seconds", 3.0)))
_answering(
    "dns-ignores", lambda _targets, options: server.ignoring(text(options, "type") or "AAAA")
)
_answering("dns-truncates", lambda _targets, _: server.truncating())
_answering("dns-wildcard", lambda targets, _: server.wildcard(targets.profile.outside_server))


@fault("dns-frozen")
async def _frozen(targets: Targets, _options: Json) -> AsyncIterator[None]:
    with changed([targets.dns], frozen=True):
        yield


@fault("dns-replica-wrong")
async def _replica_wrong(targets: Targets, options: Json) -> AsyncIterator[None]:
    uid, _ = targets.dns_pod()
    async with targets.client("faults") as client:
        pods = await _scaled(client, 2)
    wrong = next(pod for pod in pods if pod["metadata"]["uid"] != uid)
    address, ignored = IPv4Address(wrong["status"]["podIP"]), text(options, "type")
    end = targets.dns.add(server.ignoring(ignored, address) if ignored else server.denying(address))
    yield
    end()
    async with targets.client("faults") as client:
        # on scaling down, the annotated one of both is deleted: the lab refers to its first DNS pod by uid
        cost = {"controller.kubernetes.io/pod-deletion-cost": "-1"}
        path = f"{_PODS}/{wrong['metadata']['name']}"
        await client.patch(path, {"metadata": {"annotations": cost}})
        await _scaled(client, 1)


@fault("wrong-cluster-domain")
async def _wrong_domain(targets: Targets, options: Json) -> AsyncIterator[None]:
    disks = targets.disks(options)
    before = [disk.files.get(KUBELET_FILE, "") for disk in disks]
    right, wrong = (f"clusterDomain: {d}" for d in (targets.profile.cluster_domain, _OTHER_DOMAIN))
    for disk, written in zip(disks, before, strict=True):
        disk.files[KUBELET_FILE] = written.replace(right, wrong)
    with changed(disks, cluster_domain=_OTHER_DOMAIN):
        yield
    for disk, written in zip(disks, before, strict=True):
        disk.files[KUBELET_FILE] = written


@fault("kubelet-set")
async def _kubelet_set(targets: Targets, options: Json) -> AsyncIterator[None]:
    disks, line = targets.disks(options), text(options, "text")
    before = [disk.files.get(KUBELET_FILE, "") for disk in disks]
    for disk, written in zip(disks, before, strict=True):
        disk.files[KUBELET_FILE] = f"{written.rstrip()}\n{line}\n"
    yield
    for disk, written in zip(disks, before, strict=True):
        disk.files[KUBELET_FILE] = written


async def _scaled(client: Client, replicas: int) -> list[Json]:
    """Scale the cluster's DNS; return its pods once exactly so many exist and are ready."""
    await client.patch(_DEPLOYMENT, {"spec": {"replicas": replicas}})
    return await pods_until(
        client,
        _PODS,
        lambda pods: len(pods) == replicas and all(map(is_ready, pods)),
        f"The cluster's DNS has not come to {replicas} replicas.",
        labelSelector="k8s-app=kube-dns",
    )
