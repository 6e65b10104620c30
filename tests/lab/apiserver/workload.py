"""A small cluster around the API server under test: scheduler, kubelets, endpoint controller.

It speaks to the API over HTTP only, as the lab's own components do, and brings pods to what their
image and arguments lead to; addresses of pods are loopback addresses on which servers really listen.
"""

import asyncio
import contextlib
import ssl
import uuid
from collections.abc import Coroutine
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from nettests.lab.client import ApiError, Client
from tests.lab.apiserver.kubelets import NODES, WORKER, TestNodes
from tests.lab.apiserver.made import (
    KNOWN_IMAGE,
    condition,
    container_status,
    node_object,
    now,
    pod_conditions,
)
from tests.lab.apiserver.netexec import NetExec

Json = dict[str, Any]


class Workload:
    """Scheduler, kubelets and endpoint controller in one: brings pods to what their spec leads to."""

    def __init__(self, client: Client, nodes: TestNodes, tls: ssl.SSLContext) -> None:
        self._client = client
        self._nodes = nodes
        self._tls = tls
        self._runners: list[web.AppRunner] = []
        self._addresses = iter(f"127.30.{WORKER}.{number}" for number in range(10, 250))
        self._handled: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> "Workload":
        for name, address in NODES.items():
            await self._client.create("/api/v1/nodes", node_object(name, address))
            node = await self._client.get(f"/api/v1/nodes/{name}")
            node["status"] = node_object(name, address)["status"]
            await self._client.replace(f"/api/v1/nodes/{name}/status", node)
            await self._listen(address, 10250, "ok", "text/plain; charset=utf-8", self._tls)
            health = (
                '{"lastUpdated":"2026-11-21T01:22:09Z","currentTime":"2026-11-21T01:22:09Z",'
                '"nodeEligible":true,"healthy":true,"status":{"IPv4":{"lastUpdated":'
                '"2026-11-21T01:22:09Z","healthy":true},"IPv6":{"lastUpdated":'
                '"2026-11-21T01:22:09Z","healthy":true}}}'
            )
            await self._listen(address, 10256, health, "application/json", None)
        self._start(self._pods())
        self._start(self._services())
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in list(self._tasks):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        for kubelet in self._nodes.kubelets.values():
            for server in kubelet.servers.values():
                await server.stop()
        for runner in self._runners:
            await runner.cleanup()

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _listen(
        self, address: str, port: int, text: str, kind: str, tls: ssl.SSLContext | None
    ) -> None:
        async def answer(_request: web.Request) -> web.Response:
            headers = {"Content-Type": kind, "X-Content-Type-Options": "nosniff"}
            return web.Response(body=text.encode(), headers=headers)

        app = web.Application()
        app.router.add_get("/healthz", answer)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, address, port, ssl_context=tls).start()
        self._runners.append(runner)

    async def _pods(self) -> None:
        async for event in self._client.watch("/api/v1/pods", "0"):
            pod = event["object"]
            if event["type"] in {"BOOKMARK", "DELETED"}:
                continue
            if pod["metadata"].get("deletionTimestamp"):
                self._start(self._remove(pod))
            elif pod["metadata"]["uid"] not in self._handled:
                self._handled.add(pod["metadata"]["uid"])
                self._start(self._place(pod))

    async def _place(self, pod: Json) -> None:
        if (pod["spec"].get("nodeSelector") or {}).get("kubernetes.io/os") == "windows":
            text = (
                "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. "
                "no new claims to deallocate, preemption: 0/2 nodes are available: "
                "2 Preemption is not helpful for scheduling."
            )
            unfit = condition("PodScheduled", "False", "Unschedulable", text)
            await self._report(pod, {"conditions": [unfit]})
            await self._event(pod, "Warning", "FailedScheduling", text, scheduler=True)
            return
        node = "n1" if pod["metadata"]["name"] in {"badcmd", "once"} else "n2"
        path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        await self._client.create(
            f"{path}/binding", {"apiVersion": "v1", "kind": "Binding", "target": target}
        )
        text = f"Successfully assigned {pod['metadata']['namespace']}/{pod['metadata']['name']} to {node}"
        await self._event(pod, "Normal", "Scheduled", text, scheduler=True)
        bound = await self._client.get(path)
        await self._run(bound, node)

    async def _run(self, pod: Json, node: str) -> None:
        name = pod["spec"]["containers"][0]["name"]
        why = f"containers with unready status: [{name}]"
        waits = pod_conditions("False", "ContainersNotReady", why)
        base: Json = {
            "observedGeneration": 1,
            "hostIP": NODES[node],
            "hostIPs": [{"ip": NODES[node]}],
            "startTime": now(),
            "resources": {},
            "phase": "Pending",
            "conditions": waits,
        }
        creating = container_status(pod, {"waiting": {"reason": "ContainerCreating"}})
        await self._report(pod, {**base, "containerStatuses": [creating]})
        address = NODES[node] if pod["spec"].get("hostNetwork") else next(self._addresses)
        base |= {"podIP": address, "podIPs": [{"ip": address}]}
        await self._report(pod, {**base, **await self._outcome(pod, node, address)})

    async def _outcome(self, pod: Json, node: str, address: str) -> Json:
        """Return what becomes of a pod: no image, a bad command, a short life, or a server."""
        image, name = pod["spec"]["containers"][0]["image"], pod["metadata"]["name"]
        if image != KNOWN_IMAGE:
            await self._event(pod, "Normal", "Pulling", "Pulling image", node=node)
            state: Json = {
                "waiting": {"reason": "ImagePullBackOff", "message": f"Back-off {image}"}
            }
            return {"containerStatuses": [container_status(pod, state)]}
        await self._event(pod, "Normal", "Pulled", "Container image already present", node=node)
        ended: Json = {"exitCode": 1, "reason": "Error", "startedAt": now(), "finishedAt": now()}
        state = {"terminated": {**ended, "containerID": f"containerd://{uuid.uuid4().hex}"}}
        if name == "once":
            self._nodes.unreachable.add(address)
            conditions = pod_conditions("False", "PodFailed", "")
            status = container_status(pod, state)
            return {"phase": "Failed", "conditions": conditions, "containerStatuses": [status]}
        if name == "badcmd":
            status = container_status(pod, state, state, 1)
            return {"phase": "Running", "containerStatuses": [status]}
        await self._serve(pod, node, address)
        status = container_status(pod, {"running": {"startedAt": now()}})
        conditions = pod_conditions("True", "", "")
        return {"phase": "Running", "conditions": conditions, "containerStatuses": [status]}

    async def _serve(self, pod: Json, node: str, address: str) -> None:
        meta = pod["metadata"]
        if pod["spec"]["containers"][0].get("args", [""])[0] != "netexec":
            return
        server = NetExec(meta["name"], address)
        await server.start(8080)
        kubelet = self._nodes.kubelets[node]
        kubelet.servers[f"{meta['namespace']}/{meta['name']}"] = server
        kubelet.logs[f"{meta['namespace']}/{meta['name']}"] = server.log

    async def _remove(self, pod: Json) -> None:
        meta, node = pod["metadata"], pod["spec"].get("nodeName", "")
        generation = meta["generation"]
        if (pod.get("status") or {}).get("observedGeneration") != generation:
            for condition in pod["status"].get("conditions") or ():
                condition["observedGeneration"] = generation
            await self._report(pod, {"observedGeneration": generation})
            return
        key = f"{meta['namespace']}/{meta['name']}"
        await asyncio.sleep(meta.get("deletionGracePeriodSeconds", 0))
        if server := self._nodes.kubelets[node].servers.pop(key, None):
            await server.stop()
        with contextlib.suppress(ApiError):
            await self._client.delete(
                f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}",
                {"gracePeriodSeconds": 0, "preconditions": {"uid": meta["uid"]}},
            )

    async def _report(self, pod: Json, status: Json) -> None:
        meta = pod["metadata"]
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/status"
        with contextlib.suppress(ApiError):
            await self._client.patch(path, {"status": status})

    async def _event(
        self,
        pod: Json,
        kind: str,
        reason: str,
        text: str,
        *,
        node: str = "",
        scheduler: bool = False,
    ) -> None:
        meta = pod["metadata"]
        about: Json = {
            "kind": "Pod",
            "namespace": meta["namespace"],
            "name": meta["name"],
            "uid": meta["uid"],
            "apiVersion": "v1",
            "resourceVersion": meta["resourceVersion"],
        }
        event: Json = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{meta['name']}.{uuid.uuid4().hex[:16]}"},
            "involvedObject": about,
            "reason": reason,
            "message": text,
            "type": kind,
        }
        if scheduler:
            event |= {
                "eventTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
                "action": "Binding",
                "reportingComponent": "default-scheduler",
                "reportingInstance": "default-scheduler-test",
            }
        else:
            about["fieldPath"] = "spec.containers{c}"
            event |= {
                "source": {"component": "kubelet", "host": node},
                "firstTimestamp": now(),
                "lastTimestamp": now(),
                "count": 1,
                "reportingComponent": "kubelet",
                "reportingInstance": node,
            }
        await self._client.create(f"/api/v1/namespaces/{meta['namespace']}/events", event)

    async def _services(self) -> None:
        async for event in self._client.watch("/api/v1/services", "0"):
            service = event["object"]
            if event["type"] == "ADDED" and service["metadata"]["name"] != "kubernetes":
                await self._publish(service)

    async def _publish(self, service: Json) -> None:
        meta, spec = service["metadata"], service["spec"]
        namespace, name = meta["namespace"], meta["name"]
        chosen = ",".join(f"{key}={value}" for key, value in (spec.get("selector") or {}).items())
        pods = await self._client.get(f"/api/v1/namespaces/{namespace}/pods", labelSelector=chosen)
        ready = [pod for pod in pods["items"] if (pod.get("status") or {}).get("podIP")]
        changed = {"endpoints.kubernetes.io/last-change-trigger-time": now()}
        ports = [
            {
                **({"name": port["name"]} if port.get("name") else {}),
                "port": port["targetPort"],
                "protocol": port["protocol"],
            }
            for port in spec.get("ports") or ()
        ]
        refs = [
            {
                "kind": "Pod",
                "namespace": namespace,
                "name": pod["metadata"]["name"],
                "uid": pod["metadata"]["uid"],
            }
            for pod in ready
        ]
        owner = {
            "apiVersion": "v1",
            "kind": "Service",
            "name": name,
            "uid": meta["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
        await self._client.create(
            f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices",
            {
                "apiVersion": "discovery.k8s.io/v1",
                "kind": "EndpointSlice",
                "metadata": {
                    "generateName": f"{name}-",
                    "labels": {
                        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
                        "kubernetes.io/service-name": name,
                    },
                    "annotations": changed,
                    "ownerReferences": [owner],
                },
                "addressType": "IPv4",
                "endpoints": [
                    {
                        "addresses": [pod["status"]["podIP"]],
                        "conditions": {"ready": True, "serving": True, "terminating": False},
                        "targetRef": reference,
                        "nodeName": pod["spec"]["nodeName"],
                    }
                    for pod, reference in zip(ready, refs, strict=True)
                ],
                "ports": ports,
            },
        )
        addresses = [
            {"ip": pod["status"]["podIP"], "nodeName": pod["spec"]["nodeName"], "targetRef": ref}
            for pod, ref in zip(ready, refs, strict=True)
        ]
        endpoints: Json = {
            "apiVersion": "v1",
            "kind": "Endpoints",
            "metadata": {
                "name": name,
                "labels": {"endpoints.kubernetes.io/managed-by": "endpoint-controller"},
                "annotations": changed,
            },
        }
        if addresses:
            endpoints["subsets"] = [{"addresses": addresses, "ports": ports}]
        await self._client.create(f"/api/v1/namespaces/{namespace}/endpoints", endpoints)
