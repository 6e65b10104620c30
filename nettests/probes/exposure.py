"""Ports of a run's objects that are reachable from outside the pod network. Pure.

``render`` lists them, and ``deploy`` rejects objects that would let anybody run commands: agnhost's
``netexec`` serves ``/shell``, ``/exit`` and ``/upload`` by default (decision 0004).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nettests.model.json_text import Object

OUTSIDE = ("NodePort", "LoadBalancer")
"""Service types that are reachable from outside the pod network."""
_NETEXEC = {"TCP": ("--http-port", 8080), "UDP": ("--udp-port", 8081)}
_NO_SNAT_TEST = {"TCP": ("--port", 8080)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposed:
    """One port: its object, its way in (``NodePort``, ``hostNetwork`` …), and its server."""

    object: str
    way: str
    protocol: str
    port: int
    server: str
    commands: bool
    """Whether anyone who reaches it may run commands."""

    def __str__(self) -> str:
        return f"{self.object}: {self.way} leads to {self.protocol} {self.port}, {self.server}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listener:
    protocol: str
    port: int
    server: str
    commands: bool
    names: tuple[str, ...]


def exposed_ports(items: Sequence[Object]) -> list[Exposed]:
    """Return every port of these objects that is reachable from outside the pod network."""
    bare = [_pod_of(item) for item in items]
    pods = [item for item in bare if item["kind"] == "Pod"]
    ports: list[Exposed] = []
    for item in bare:
        if item["kind"] == "Pod":
            ports += _of_pod(item)
        elif item["kind"] == "Service":
            ports += _of_service(item, pods)
    return ports


def _pod_of(item: Object) -> Object:
    """Return a workload's Pod under the workload's name; other objects unchanged."""
    template = item.get("spec", {}).get("template")
    if template is None:
        return item
    metadata = {**template["metadata"], "name": item["metadata"]["name"]}
    return {"kind": "Pod", "metadata": metadata, "spec": template["spec"]}


def _of_pod(pod: Object) -> Iterator[Exposed]:
    """Yield the ports of a pod on its node's network, and the hostPorts of others."""
    for container in _containers(pod["spec"]):
        host = pod["spec"].get("hostNetwork") or _host_process(pod["spec"], container)
        mapped = {
            (port.get("protocol", "TCP"), port["containerPort"])
            for port in container.get("ports") or ()
            if port.get("hostPort")
        }
        way = "the address of its node" if host else "hostPort"
        for listener in _listeners(container):
            if host or (listener.protocol, listener.port) in mapped:
                yield _exposed(pod, way, listener)


def _of_service(service: Object, pods: Iterable[Object]) -> Iterator[Exposed]:
    spec = service["spec"]
    ways = [spec["type"]] if spec.get("type") in OUTSIDE else []
    ways += ["externalIPs"] if spec.get("externalIPs") else []
    for way in ways:
        for pod in pods:
            labels = pod["metadata"].get("labels", {})
            if spec.get("selector") and spec["selector"].items() <= labels.items():
                yield from _through(service, way, pod)


def _through(service: Object, way: str, pod: Object) -> Iterator[Exposed]:
    for port in service["spec"].get("ports", ()):
        target = port.get("targetPort", port["port"])
        protocol = port.get("protocol", "TCP")
        for container in _containers(pod["spec"]):
            for listener in _listeners(container):
                if listener.protocol == protocol and target in {listener.port, *listener.names}:
                    yield _exposed(service, f"{way} {port['port']}", listener)


def _exposed(item: Object, way: str, listener: _Listener) -> Exposed:
    return Exposed(
        object=f"{item['kind']} {item['metadata']['name']}",
        way=way,
        protocol=listener.protocol,
        port=listener.port,
        server=listener.server,
        commands=listener.commands,
    )


def _listeners(container: Object) -> Iterator[_Listener]:
    """Yield the sockets of a container's agnhost server; a run's other programs have none."""
    words = [*container.get("command", ()), *container.get("args", ())]
    program = next((word for word in words if word in {"netexec", "no-snat-test"}), "")
    options = dict(word.partition("=")[::2] for word in words if word.startswith("--"))
    override = options.get("--http-override", "")
    table = {"netexec": _NETEXEC, "no-snat-test": _NO_SNAT_TEST}.get(program, {})
    for protocol, (option, usual) in table.items():
        port = int(options.get(option, usual))
        full = program == "netexec" and protocol == "TCP" and not override.startswith("/")
        if port < 0:
            continue
        yield _Listener(
            protocol=protocol,
            port=port,
            server=_described(program, protocol, override),
            commands=full,
            names=tuple(
                named["name"]
                for named in container.get("ports") or ()
                if named.get("containerPort") == port and "name" in named
            ),
        )


def _described(program: str, protocol: str, override: str) -> str:
    if program == "no-snat-test":
        return "which tells the client's address"
    if protocol == "UDP":
        return "which tells its host name and the client's address"
    if override:
        return f"which answers {override} and nothing else"
    return "which runs commands for anybody (/shell)"


def _containers(spec: Object) -> Iterator[Object]:
    yield from spec.get("initContainers") or ()
    yield from spec["containers"]


def _host_process(spec: Object, container: Object) -> bool:
    contexts = (spec.get("securityContext") or {}, container.get("securityContext") or {})
    return any((context.get("windowsOptions") or {}).get("hostProcess") for context in contexts)
