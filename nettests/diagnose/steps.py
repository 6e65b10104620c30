"""The steps that read one subject: small, and independent of each other.

A step yields items: a file's content, or the reason why there is none. An item replaces an earlier
one with the same file, so that a slow step shows what it has. A denied request, a missing tool or a
deleted Pod is a reason, never an error of the run.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from nettests.diagnose import inventory
from nettests.diagnose.allowed import allowed
from nettests.diagnose.inventory import Command, OfPorts
from nettests.diagnose.object_text import as_yaml, cut_note, event_lines, pod_lines
from nettests.diagnose.subjects import DNS, NODE, POD, SERVICE, Subject
from nettests.model.channel import ChannelError, ExecAnswer, ExecChannel, ProgramMissingError
from nettests.model.facts import ClusterFacts
from nettests.model.json_text import Object, read_json
from nettests.model.labels import SERVICE_NAME_LABEL
from nettests.model.powershell import whole_output
from nettests.model.words import OS
from nettests.parse.reading import one_line
from nettests.probes.seams import ApiServer
from nettests.redaction import Redactor
from nettests.rules.readings import Request

OK = 200
FEW_WORDS = 200
"""From this many characters on, output of a failed tool is kept as output."""
DNS_PLACE = "kube-system"
DNS_LABEL = "k8s-app=kube-dns"
"""The label of the cluster DNS's Service and Pods."""
DNS_PODS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What a step has read, or the problem that prevented it."""

    file: str
    title: str
    text: str = ""
    problem: str = ""
    command_line: str = ""
    """The exact request or command."""
    log: bool = False
    """A log is cut at its beginning, because its end matters most."""


Step = Callable[[], Iterator[Item]]


class NotReadError(Exception):
    """Something cannot be read; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Reads one cluster; ``open_exec`` returns the exec channel to a node."""

    api: ApiServer
    facts: ClusterFacts
    namespace: str
    redactor: Redactor
    """Everything read passes it at once, before it is formatted, cut or written."""
    open_exec: Callable[[str], ExecChannel]
    why_closed: Callable[[str], str]
    """Returns why tools cannot be run on a node, or nothing."""
    seconds: float
    """The time-out of a process on a node."""
    log_lines: int
    log_bytes: int
    _failed: dict[str, str] = field(default_factory=dict)
    """Nodes whose exec failed, with the reason: it is not tried again for each command."""

    def steps(self, subject: Subject) -> Iterator[tuple[str, Step]]:
        """Yield the steps of a subject, each with its title."""
        name = subject.name
        match subject.kind:
            case kind if kind == NODE:
                yield "the Node", lambda: self._node(name)
                yield "Pods of the node", lambda: self._node_pods(name)
                yield from self._host(name)
            case kind if kind == SERVICE:
                yield "the Service", lambda: self._service(self.namespace, name)
            case kind if kind == POD:
                yield "the Pod", lambda: self._pod(self.namespace, name)
            case kind if kind == DNS:
                yield "cluster DNS", self._dns

    def _node(self, name: str) -> Iterator[Item]:
        yield self._object("node.yaml", "the Node", f"/api/v1/nodes/{name}")
        yield self._events("Node", name)

    def _node_pods(self, name: str) -> Iterator[Item]:
        """Yield a table of the node's Pods, and kube-proxy's Pods in full; others' stay private."""
        query = {"fieldSelector": f"spec.nodeName={name}"}
        try:
            listed = self._list("/api/v1/pods", query)
        except NotReadError as error:
            yield Item(file="", title="Pods of the node, kube-proxy's log", problem=str(error))
            return
        yield Item(file="pods.txt", title="Pods of the node", text=pod_lines(listed))
        proxies = [pod for pod in listed if pod["metadata"]["name"].startswith("kube-proxy")]
        for pod in proxies:
            metadata = pod["metadata"]
            yield Item(file="kube-proxy.yaml", title="kube-proxy's Pod", text=as_yaml([pod]))
            yield from self._logs(metadata["namespace"], pod, prefix="kube-proxy")
        if not proxies:
            yield Item(file="", title="kube-proxy's log", problem="no kube-proxy Pod runs there")

    def _host(self, name: str) -> Iterator[tuple[str, Step]]:
        closed = self.why_closed(name)
        if closed:
            title = "what its own tools say"
            yield title, lambda: iter([Item(file="", title=title, problem=closed)])
            return
        os = self.facts.node(name).os
        listed = inventory.of_system(os)
        for command in listed:
            yield command.title, lambda command=command: iter([self._run(name, command)])  # type: ignore[misc]
        if os is OS.WINDOWS:
            yield "counters, layers and rules of the virtual switch", lambda: self._vfp(name)

    def _vfp(self, node: str) -> Iterator[Item]:
        ports = self._run(node, inventory.VFP_PORTS)
        yield ports
        if ports.problem:
            return
        for port_commands in inventory.of_vfp_ports(ports.text):
            yield from self._of_ports(node, port_commands)

    def _of_ports(self, node: str, of: OfPorts) -> Iterator[Item]:
        """Yield the file again after each command, so that a later one that hangs loses nothing."""
        sections, problems = [], []
        for number, words in enumerate(of.words, 1):
            item = self._run(node, Command(file="", title=" ".join(words), words=words))
            if item.problem:
                problems.append(item.problem)
                continue
            sections.append(f"# {item.title}\n{item.text}")
            if number < len(of.words):
                note = cut_note(f"{number} of {len(of.words)} commands had run by then")
                yield Item(file=of.file, title=of.title, text="\n".join([*sections, note]))
        problems.append("no port was listed")
        yield Item(
            file=of.file,
            title=of.title,
            text="\n".join(sections),
            problem="" if sections else problems[0],
        )

    def _service(self, namespace: str, name: str, prefix: str = "") -> Iterator[Item]:
        of = f"/api/v1/namespaces/{namespace}/services/{name}"
        yield self._object(f"{prefix}service.yaml", "the Service", of)
        yield self._all(
            f"{prefix}endpointslices.yaml",
            "its EndpointSlices",
            f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices",
            {"labelSelector": f"{SERVICE_NAME_LABEL}={name}"},
        )
        yield self._events("Service", name, namespace)

    def _pod(self, namespace: str, name: str) -> Iterator[Item]:
        try:
            pod = self._read(f"/api/v1/namespaces/{namespace}/pods/{name}", {})
        except NotReadError as error:
            yield Item(file="", title="the Pod", problem=str(error))
            return
        yield Item(file="pod.yaml", title="the Pod", text=as_yaml([pod]))
        yield self._events("Pod", name, namespace)
        yield from self._logs(namespace, pod)

    def _dns(self) -> Iterator[Item]:
        services_path = f"/api/v1/namespaces/{DNS_PLACE}/services"
        try:
            services = self._list(services_path, {"labelSelector": DNS_LABEL})
            pods = self._list(f"/api/v1/namespaces/{DNS_PLACE}/pods", {"labelSelector": DNS_LABEL})
        except NotReadError as error:
            yield Item(file="", title="the Service and Pods of the cluster DNS", problem=str(error))
            return
        for service in services[:1]:
            yield from self._service(DNS_PLACE, service["metadata"]["name"])
        yield Item(file="pods.yaml", title="its Pods", text=as_yaml(pods[:DNS_PODS]))
        for pod in pods[:DNS_PODS]:
            yield from self._logs(DNS_PLACE, pod, prefix=pod["metadata"]["name"])
        path = f"/api/v1/namespaces/{DNS_PLACE}/configmaps/coredns"
        yield self._object("configmap.yaml", "its ConfigMap", path)

    def _logs(self, namespace: str, pod: Object, prefix: str = "") -> Iterator[Item]:
        """Yield the end of each container's log, and of the previous one if it was restarted."""
        name = pod["metadata"]["name"]
        statuses = pod.get("status", {}).get("containerStatuses") or []
        restarted = {status["name"] for status in statuses if status.get("restartCount")}
        for container in (spec["name"] for spec in pod["spec"]["containers"]):
            stem = "-".join(dict.fromkeys(part for part in (prefix, container) if part))
            for previous in (False, True) if container in restarted else (False,):
                before = ", before its restart" if previous else ""
                query = {
                    "container": container,
                    "tailLines": str(self.log_lines),
                    "limitBytes": str(self.log_bytes),
                    "timestamps": "true",
                    **({"previous": "true"} if previous else {}),
                }
                request = Request(
                    path=f"/api/v1/namespaces/{namespace}/pods/{name}/log", query=query
                )
                file, title = f"{stem}{'.previous' if previous else ''}.log", f"log of {container}"
                yield self._text(file, f"{title}{before}", request)

    def _events(self, kind: str, name: str, namespace: str = "") -> Item:
        path = f"/api/v1/namespaces/{namespace}/events" if namespace else "/api/v1/events"
        selector = f"involvedObject.kind={kind},involvedObject.name={name}"
        try:
            events = self._list(path, {"fieldSelector": selector})
        except NotReadError as error:
            return Item(file="", title="events", problem=str(error))
        return Item(file="events.txt", title="events", text=event_lines(events))

    def _object(self, file: str, title: str, path: str) -> Item:
        try:
            return Item(file=file, title=title, text=as_yaml([self._read(path, {})]))
        except NotReadError as error:
            return Item(file="", title=title, problem=str(error))

    def _all(self, file: str, title: str, path: str, query: Mapping[str, str]) -> Item:
        try:
            return Item(file=file, title=title, text=as_yaml(self._list(path, query)))
        except NotReadError as error:
            return Item(file="", title=title, problem=str(error))

    def _text(self, file: str, title: str, request: Request) -> Item:
        try:
            status, text = self.api.read(request.path, request.query)
        except ChannelError as error:
            return Item(file="", title=title, problem=error.message)
        if status != OK:
            return Item(file="", title=title, problem=self._refusal(status, text))
        text = self.redactor.text(text) or "(nothing was logged)\n"
        return Item(file=file, title=title, text=text, log=True)

    def _list(self, path: str, query: Mapping[str, str]) -> list[Object]:
        listed = self._read(path, query)
        items: list[Object] = listed.get("items") or []
        kind = str(listed.get("kind", "")).removesuffix("List")
        return [
            {"apiVersion": listed.get("apiVersion", ""), "kind": kind, **item} for item in items
        ]

    def _read(self, path: str, query: Mapping[str, str]) -> Object:
        try:
            status, text = self.api.read(path, query)
        except ChannelError as error:
            raise NotReadError(error.message) from error
        if status != OK:
            raise NotReadError(self._refusal(status, text))
        try:
            read: Object = self.redactor.value(allowed(read_json(text)))
        except ValueError:
            raise NotReadError(f"{path} did not answer with JSON") from None
        return read

    def _refusal(self, status: int, text: str) -> str:
        return f"status {status}: {one_line(self.redactor.text(text))}"

    def _run(self, node: str, command: Command) -> Item:
        """Run a tool on the node; short output of a failed one is the reason, not output."""
        command_line = " ".join(command.words)
        try:
            got = self._exec(node, command)
        except ProgramMissingError:
            why = f"there is no {command.words[0]}"
            return Item(file="", title=command.title, problem=why, command_line=command_line)
        except ChannelError as error:
            return Item(
                file="", title=command.title, problem=error.message, command_line=command_line
            )
        if got.exit_code != 0 and len(got.stdout.strip()) < FEW_WORDS:
            output = one_line(self.redactor.text(got.stderr or got.stdout)) or "it said nothing"
            why = f"{command.words[0]} ended with {got.exit_code}: {output}"
            return Item(file="", title=command.title, problem=why, command_line=command_line)
        stdout = got.stdout if got.exit_code else whole_output(command.words, got.stdout)
        if stdout is None:
            why = f"the output of {command.words[0]} was cut short"
            return Item(file="", title=command.title, problem=why, command_line=command_line)
        text = self.redactor.text(stdout + got.stderr)
        return Item(file=command.file, title=command.title, text=text, command_line=command_line)

    def _exec(self, node: str, command: Command) -> ExecAnswer:
        channel = self.open_exec(node)
        with channel.slots:
            if node in self._failed:
                raise ChannelError(self._failed[node])
            try:
                return channel.run(command.words, timeout=self.seconds)
            except ProgramMissingError:
                raise
            except ChannelError as error:
                self._failed[node] = error.message
                raise
