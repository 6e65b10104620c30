"""What the recorder did between rows without writing it down, and bodies that name moving things."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

Json = dict[str, Any]

NAMESPACE = "/api/v1/namespaces/apitr"
IMAGE = "registry.k8s.io/e2e-test-images/agnhost:2.63.0"


class Api(Protocol):
    """What preparations need of the replay."""

    async def get(self, path: str) -> Json: ...

    async def post(self, path: str, item: Json) -> None: ...

    async def wait_for(self, path: str, condition: Callable[[Json], Any]) -> None: ...


FIRST_POD = 17
BODY_OF_A_MOMENT = {109: "the runtime was removing the container whose log was requested"}


def _pod(name: str, args: list[str], **spec: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {
            "terminationGracePeriodSeconds": 1,
            "containers": [{"name": "c", "image": spec.pop("image", IMAGE), "args": args}],
            **spec,
        },
    }


def _running(pod: Json) -> bool:
    statuses = (pod.get("status") or {}).get("containerStatuses") or [{}]
    return "running" in (statuses[0].get("state") or {})


async def _first_pod_runs(api: Api) -> None:
    await api.wait_for(f"{NAMESPACE}/pods/p1", _running)


async def _endpoints(api: Api) -> None:
    path = f"/apis/discovery.k8s.io/v1{NAMESPACE.removeprefix('/api/v1')}/endpointslices"
    await api.wait_for(path, lambda found: any(i["endpoints"] for i in found["items"]))
    for name in ("s1", "noep"):
        await api.wait_for(f"{NAMESPACE}/endpoints/{name}", lambda item: "metadata" in item)
        await api.wait_for(
            f"{NAMESPACE}/endpoints/{name}", lambda item: item["kind"] == "Endpoints"
        )


async def _more_pods(api: Api) -> None:
    netexec = ["netexec", "--http-port=8080", "--udp-port=8081"]
    pods = f"{NAMESPACE}/pods"
    await api.post(pods, _pod("noimg", netexec, image="registry.k8s.io/none:1"))
    await api.post(pods, _pod("badcmd", ["nosuch"]))
    await api.post(
        pods, _pod("once", ["connect", "127.0.0.1:1", "--timeout=1s"], restartPolicy="Never")
    )
    await api.post(pods, _pod("nofit", netexec, nodeSelector={"kubernetes.io/os": "windows"}))
    await api.post(pods, _pod("hostnet", ["pause"], hostNetwork=True))

    def state(name: str, kind: str, reason: str = "") -> Callable[[Json], bool]:
        def reached(pod: Json) -> bool:
            statuses = (pod.get("status") or {}).get("containerStatuses") or [{}]
            found = (statuses[0].get("state") or {}).get(kind)
            return found is not None and (not reason or found.get("reason") == reason)

        return reached

    await api.wait_for(f"{pods}/noimg", state("noimg", "waiting", "ImagePullBackOff"))
    await api.wait_for(f"{pods}/once", lambda pod: pod["status"].get("phase") == "Failed")
    await api.wait_for(f"{pods}/hostnet", _running)
    await api.wait_for(f"{pods}/nofit", lambda pod: bool(pod["status"].get("conditions")))

    def failed_twice(pod: Json) -> bool:
        statuses = (pod.get("status") or {}).get("containerStatuses") or [{}]
        return "terminated" in statuses[0].get("state", {}) and bool(statuses[0]["restartCount"])

    await api.wait_for(f"{pods}/badcmd", failed_twice)


async def _gone(api: Api) -> None:
    await api.wait_for(f"{NAMESPACE}/pods/p1", lambda item: item["kind"] == "Status")


PREPARATIONS: Mapping[int, Callable[[Api], Awaitable[None]]] = {
    19: _first_pod_runs,
    51: _endpoints,
    103: _more_pods,
    118: _gone,
}


async def _changed_node(api: Api) -> str:
    pod = await api.get(f"{NAMESPACE}/pods/p1")
    pod["spec"]["nodeName"] = "n9"
    return json.dumps(pod)


async def _stale_version(api: Api) -> str:
    pod = await api.get(f"{NAMESPACE}/pods/p1")
    pod["metadata"]["labels"]["x"] = "y"
    pod["metadata"]["resourceVersion"] = "1"
    return json.dumps(pod)


REWRITES: Mapping[int, Callable[[Api], Awaitable[str]]] = {
    40: _changed_node,
    41: _stale_version,
}
