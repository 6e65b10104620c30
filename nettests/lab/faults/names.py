"""DNS faults: lost queries, late or wrong answers, missed updates, wrong suffixes."""

import asyncio
from collections.abc import Mapping
from ipaddress import IPv4Address

from nettests.lab.client import Client, Json
from nettests.lab.client.informer import Informer
from nettests.lab.dns import server
from nettests.lab.dns.server import Trouble
from nettests.lab.errors import LabError
from nettests.lab.faults.targets import Inject, Targets, Undo, number, text, together
from nettests.lab.interfaces import Namespace
from nettests.lab.network.packets import Packets
from nettests.lab.node.components import KUBELET_FILE

_DEPLOYMENT = "/apis/apps/v1/namespaces/kube-system/deployments/coredns"
_PODS = "/api/v1/namespaces/kube-system/pods"
_SECONDS = 30
_PORT = "53"
_OTHER_DOMAIN = "other.local"


class NameFaults:
    """Acts on the cluster's DNS, on the resolver outside, and on what kubelets tell pods of either."""

    def __init__(self, targets: Targets) -> None:
        self._targets = targets

    def actions(self) -> Mapping[str, Inject]:
        """Return what puts each kind in force."""
        return {
            "dns-down": self._down,
            "dns-upstream-down": self._upstream_down,
            "dns-slow": self._slow,
            "dns-frozen": self._frozen,
            "dns-wildcard": self._wildcard,
            "dns-replica-wrong": self._replica_wrong,
            "wrong-cluster-domain": self._wrong_domain,
        }

    async def _down(self, options: Json) -> Undo:
        uid, node = self._targets.dns_pod()
        namespaces = self._targets.fabric.nodes[node].pod_namespaces()
        if uid not in namespaces:
            raise LabError("The DNS pod is not running.")
        chosen = text(options, "protocol")
        protocols = [chosen] if chosen else ["udp", "tcp"]
        return await self._without_names(namespaces[uid], protocols, number(options, "rate", 1))

    async def _upstream_down(self, _options: Json) -> Undo:
        return await self._without_names(self._targets.fabric.outside_server, ["udp", "tcp"], 1)

    async def _without_names(self, server: Namespace, protocols: list[str], rate: float) -> Undo:
        lose = self._targets.fabric.node_faults.lose_entering
        return await together(
            [
                await lose(server, Packets(protocol=protocol, port=_PORT), rate)
                for protocol in protocols
            ]
        )

    async def _slow(self, options: Json) -> Undo:
        return self._trouble(server.late(number(options, "seconds", 3.0)))

    async def _wildcard(self, _options: Json) -> Undo:
        return self._trouble(server.wildcard(self._targets.profile.outside_server))

    async def _frozen(self, _options: Json) -> Undo:
        self._targets.dns.frozen = True

        async def undo() -> None:
            self._targets.dns.frozen = False

        return undo

    async def _replica_wrong(self, _options: Json) -> Undo:
        uid, _ = self._targets.dns_pod()
        async with self._targets.client("faults") as client:
            pods = await _scaled(client, 2)
        wrong = next(pod for pod in pods if pod["metadata"]["uid"] != uid)
        end = self._trouble(server.denying(IPv4Address(wrong["status"]["podIP"])))

        async def undo() -> None:
            await end()
            async with self._targets.client("faults") as client:
                # of two, the annotated one is deleted; the lab knows its first DNS pod by its uid
                path = f"{_PODS}/{wrong['metadata']['name']}"
                cost = {"controller.kubernetes.io/pod-deletion-cost": "-1"}
                await client.patch(path, {"metadata": {"annotations": cost}})
                await _scaled(client, 1)

        return undo

    async def _wrong_domain(self, options: Json) -> Undo:
        disks = [self._targets.fabric.nodes[name].disk for name in self._targets.nodes(options)]
        before = [disk.files.get(KUBELET_FILE, "") for disk in disks]
        domain_line = f"clusterDomain: {self._targets.fabric.profile.cluster_domain}"
        for disk, written in zip(disks, before, strict=True):
            disk.cluster_domain = _OTHER_DOMAIN
            disk.files[KUBELET_FILE] = written.replace(
                domain_line, f"clusterDomain: {_OTHER_DOMAIN}"
            )

        async def undo() -> None:
            for disk, written in zip(disks, before, strict=True):
                disk.cluster_domain = ""
                disk.files[KUBELET_FILE] = written

        return undo

    def _trouble(self, trouble: Trouble) -> Undo:
        end = self._targets.dns.add(trouble)

        async def undo() -> None:
            end()

        return undo


async def _scaled(client: Client, replicas: int) -> list[Json]:
    """Scale the DNS; return its pods once exactly so many exist and are ready."""
    pods = Informer(client, _PODS, labelSelector="k8s-app=kube-dns")
    changed = asyncio.Event()
    pods.subscribe(lambda _key, _old, _new: changed.set())
    following = asyncio.create_task(pods.run())
    try:
        await client.patch(_DEPLOYMENT, {"spec": {"replicas": replicas}})
        async with asyncio.timeout(_SECONDS):
            while not _settled(present_pods := list(pods.objects.values()), replicas):
                await changed.wait()
                changed.clear()
    except TimeoutError as error:
        raise LabError(f"The cluster's DNS has not come to {replicas} replicas.") from error
    else:
        return present_pods
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


def _settled(pods: list[Json], replicas: int) -> bool:
    return len(pods) == replicas and all(map(_ready, pods))


def _ready(pod: Json) -> bool:
    conditions = pod.get("status", {}).get("conditions") or ()
    return any(
        condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions
    )
