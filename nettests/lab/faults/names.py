"""DNS faults: lost queries, late or wrong answers, missed updates, wrong suffixes."""

from collections.abc import AsyncIterator, Callable
from ipaddress import IPv4Address

from nettests.lab.client import Client, Json
from nettests.lab.controllers.workloads import is_ready
from nettests.lab.dns import server
from nettests.lab.errors import LabError
from nettests.lab.faults.targets import (
    FAULTS,
    Options,
    Targets,
    Undo,
    changed,
    fault,
    pods_until,
    together,
)
from nettests.lab.interfaces import Namespace
from nettests.lab.network.packets import Packets
from nettests.lab.node.registration import KUBELET_FILE

_DEPLOYMENT = "/apis/apps/v1/namespaces/kube-system/deployments/coredns"
_PODS = "/api/v1/namespaces/kube-system/pods"
_OTHER_DOMAIN = "other.local"


async def _down(lab: Targets, options: Options) -> Undo:
    uid, node = lab.dns_pod()
    namespaces = lab.fabric.nodes[node].pod_namespaces()
    if uid not in namespaces:
        raise LabError("The DNS pod is not running.")
    chosen = options.text("protocol")
    protocols = [chosen] if chosen else ["udp", "tcp"]
    return await _unanswered(lab, namespaces[uid], protocols, options.number("rate", 1))


async def _upstream_down(lab: Targets, _options: Options) -> Undo:
    return await _unanswered(lab, lab.fabric.outside_server, ["udp", "tcp"], 1)


async def _unanswered(
    lab: Targets, server_namespace: Namespace, protocols: list[str], rate: float
) -> Undo:
    lose = lab.fabric.node_faults.lose_entering
    queries = [Packets(protocol=protocol, port="53") for protocol in protocols]
    return await together([await lose(server_namespace, packets, rate) for packets in queries])


FAULTS |= {"dns-down": _down, "dns-upstream-down": _upstream_down}


def _answering(name: str, trouble: Callable[[Targets, Options], server.Trouble]) -> None:
    @fault(name)
    async def inject(lab: Targets, options: Options) -> AsyncIterator[None]:
        end = lab.dns.add(trouble(lab, options))
        yield
        end()


_answering("dns-slow", lambda _lab, options: server.late(options.number("seconds", 3.0)))
_answering("dns-ignores", lambda _lab, options: server.ignoring(options.text("type") or "AAAA"))
_answering("dns-truncates", lambda _lab, _: server.truncating())
_answering("dns-wildcard", lambda lab, _: server.wildcard(lab.profile.outside_server))


@fault("dns-frozen")
async def _frozen(lab: Targets, _options: Options) -> AsyncIterator[None]:
    with changed([lab.dns], frozen=True):
        yield


@fault("dns-replica-wrong")
async def _replica_wrong(lab: Targets, options: Options) -> AsyncIterator[None]:
    uid, _ = lab.dns_pod()
    async with lab.client("faults") as client:
        pods = await _scaled(client, 2)
    wrong = next(pod for pod in pods if pod["metadata"]["uid"] != uid)
    address, ignored = IPv4Address(wrong["status"]["podIP"]), options.text("type")
    end = lab.dns.add(server.ignoring(ignored, address) if ignored else server.denying(address))
    yield
    end()
    async with lab.client("faults") as client:
        # on scaling down, the annotated one of both is deleted: the lab refers to its first DNS pod by uid
        cost = {"controller.kubernetes.io/pod-deletion-cost": "-1"}
        path = f"{_PODS}/{wrong['metadata']['name']}"
        await client.patch(path, {"metadata": {"annotations": cost}})
        await _scaled(client, 1)


@fault("wrong-cluster-domain")
async def _wrong_domain(lab: Targets, options: Options) -> AsyncIterator[None]:
    disks = lab.disks(options)
    before = [disk.files.get(KUBELET_FILE, "") for disk in disks]
    right, wrong = (f"clusterDomain: {d}" for d in (lab.profile.cluster_domain, _OTHER_DOMAIN))
    for disk, written in zip(disks, before, strict=True):
        disk.files[KUBELET_FILE] = written.replace(right, wrong)
    with changed(disks, cluster_domain=_OTHER_DOMAIN):
        yield
    for disk, written in zip(disks, before, strict=True):
        disk.files[KUBELET_FILE] = written


@fault("kubelet-set")
async def _kubelet_set(lab: Targets, options: Options) -> AsyncIterator[None]:
    disks, line = lab.disks(options), options.text("text")
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
