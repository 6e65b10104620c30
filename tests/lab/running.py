"""Labs as a user starts them: by the command line, with a state folder of the tests' own."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import psutil
import requests
from kubernetes import config
from kubernetes.client import ApiException, CoreV1Api
from kubernetes.stream import stream

T = TypeVar("T")

AGNHOST = "registry.k8s.io/e2e-test-images/agnhost:2.63.0"
EVERYTHING = [{"operator": "Exists"}]


def lab_command(
    *arguments: str,
    runtime: Path,
    environment: Mapping[str, str] | None = None,
    timeout: float = 300,
) -> subprocess.CompletedProcess[str]:
    """Run ``nettests lab``; labs are noted below ``runtime``."""
    return subprocess.run(
        [sys.executable, "-m", "nettests.lab", *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env={**os.environ, "XDG_RUNTIME_DIR": str(runtime), **(environment or {})},
    )


def until(condition: Callable[[], T | None], *, seconds: float = 90, what: str = "") -> T:
    """Return what ``condition`` returns as soon as it is true; fail after ``seconds``."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited {seconds} s for {what or condition}"
        time.sleep(0.05)
    return found


@dataclass(frozen=True, kw_only=True)
class Lab:
    """A running lab."""

    name: str
    profile: str
    pid: int
    kubeconfig: Path
    cluster_profile: Path
    runtime: Path

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a ``nettests lab`` command on this lab."""
        return lab_command(*arguments, "--name", self.name, runtime=self.runtime)

    def describe(self) -> dict[str, Any]:
        """Return phases, process and namespace descriptors."""
        found: dict[str, Any] = json.loads(self.command("status", "--json").stdout)
        return found

    @cached_property
    def core(self) -> CoreV1Api:
        """The official client."""
        return CoreV1Api(config.new_client_from_config(str(self.kubeconfig)))

    @contextmanager
    def streaming(self) -> Iterator[CoreV1Api]:
        """A client of its own for exec and port-forward, which change it while they run."""
        with config.new_client_from_config(str(self.kubeconfig)) as api:
            yield CoreV1Api(api)

    def run(self, name: str, node: str, *, namespace: str = "default", **spec: Any) -> Any:
        """Create a pod pinned to ``node`` and return it once it is Ready."""
        self.create(pod(name, node, **spec), namespace=namespace)
        return self.ready(name, namespace=namespace)

    def create(self, body: dict[str, Any], *, namespace: str = "default") -> None:
        """Create a pod."""
        self.core.create_namespaced_pod(namespace, body)

    def ready(self, name: str, *, namespace: str = "default") -> Any:
        """Return the pod as soon as it is Ready."""
        return until(
            lambda: self.found(name, lambda it: _condition(it, "Ready"), namespace=namespace),
            what=f"pod {name} to be Ready",
        )

    def found(
        self, name: str, wanted: Callable[[Any], bool], *, namespace: str = "default"
    ) -> Any | None:
        """Return the pod if it is as wanted."""
        found = self.core.read_namespaced_pod(name, namespace)
        return found if wanted(found) else None

    def until_pod(self, name: str, wanted: Callable[[Any], bool], *, seconds: float = 90) -> Any:
        """Return the pod as soon as it is as wanted."""
        return until(lambda: self.found(name, wanted), seconds=seconds, what=f"pod {name}")

    def exec(self, name: str, *argv: str, container: str | None = None) -> tuple[int, str]:
        """Run argv in a pod; return exit code and standard output."""
        more = {"container": container} if container else {}
        with self.streaming() as core:
            opened = stream(
                core.connect_get_namespaced_pod_exec,
                name,
                "default",
                command=list(argv),
                stdout=True,
                stderr=True,
                stdin=False,
                tty=False,
                _preload_content=False,
                **more,
            )
            opened.run_forever(timeout=15)
            close(opened)
            return int(opened.returncode), str(opened.read_stdout())

    def refused_exec(self, name: str) -> int:
        """Return the HTTP status with which opening an exec is answered."""
        configuration = self.core.api_client.configuration
        headers = {
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Protocol": "v4.channel.k8s.io",
            "Authorization": configuration.get_api_key_with_prefix("BearerToken"),
        }
        url = f"{configuration.host}/api/v1/namespaces/default/pods/{name}/exec"
        with requests.Session() as session:
            session.trust_env = False
            session.verify = configuration.ssl_ca_cert
            query = {"command": "hostname", "stdout": "true"}
            return session.get(url, params=query, headers=headers, timeout=10).status_code

    def remove(self, name: str) -> None:
        """Delete a pod and wait until it is gone."""
        self.core.delete_namespaced_pod(name, "default")
        until(lambda: self.is_gone(name), what=f"pod {name} to go")

    def is_gone(self, name: str) -> bool:
        """Say whether the pod does not exist."""
        try:
            self.core.read_namespaced_pod(name, "default")
        except ApiException as error:
            return bool(error.status == 404)
        return False

    def warnings(self, name: str) -> dict[str, str]:
        """Return messages of the pod's warnings by reason."""
        found = self.core.list_namespaced_event(
            "default", field_selector=f"involvedObject.name={name}"
        )
        return {event.reason: event.message for event in found.items if event.type == "Warning"}


def start(profile: str, name: str, runtime: Path, *options: str) -> Lab:
    """Start a lab; fail with its own words if it does not come up. It ends with the tests, however these end."""
    done = lab_command(
        *("up", "--profile", profile, "--name", name, "--json"),
        *("--while", str(os.getpid()), *options),
        runtime=runtime,
    )
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    return Lab(
        name=printed["name"],
        profile=printed["profile"],
        pid=printed["pid"],
        kubeconfig=Path(printed["kubeconfig"]),
        cluster_profile=Path(printed["cluster_profile"]),
        runtime=runtime,
    )


def close(opened: Any) -> None:
    """Close an exec; the official client leaves the socket open when the server ended first."""
    opened.close()
    opened.sock.shutdown()


def pod(name: str, node: str, **spec: Any) -> dict[str, Any]:
    """Return a pod pinned to ``node``; ``args`` are agnhost's, the rest goes into the spec."""
    container: dict[str, Any] = {"name": "c", "image": spec.pop("image", AGNHOST)}
    for field in (
        "args",
        "command",
        "readinessProbe",
        "livenessProbe",
        "env",
        "ports",
        "lifecycle",
    ):
        if field in spec:
            container[field] = spec.pop(field)
    if "args" not in container and "command" not in container:
        container["args"] = ["netexec"]
    labels = spec.pop("labels", {"app": name})
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "nodeSelector": {"kubernetes.io/hostname": node},
            "tolerations": EVERYTHING,
            "terminationGracePeriodSeconds": 2,
            "containers": [container],
            **spec,
        },
    }


def host_process(name: str, node: str, **spec: Any) -> dict[str, Any]:
    """Return a HostProcess pod that runs agnhost."""
    options = {"hostProcess": True, "runAsUserName": "NT AUTHORITY\\SYSTEM"}
    return pod(
        name,
        node,
        command=["%CONTAINER_SANDBOX_MOUNT_POINT%/agnhost", "pause"],
        os={"name": "windows"},
        hostNetwork=True,
        securityContext={"windowsOptions": options},
        **spec,
    )


def waiting(found: Any) -> str:
    """Return why the pod's container waits, ``""`` when it does not."""
    statuses = found.status.container_statuses or []
    state = statuses[0].state.waiting if statuses else None
    return str(state.reason) if state else ""


def processes_of(lab: Lab) -> list[psutil.Process]:
    """Return the live processes whose command line names the lab's folder."""
    folder = str(lab.kubeconfig.parent)
    found = []
    for process in psutil.process_iter():
        try:
            if folder in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found


def _condition(found: Any, kind: str) -> bool:
    conditions = found.status.conditions or []
    return any(each.type == kind and each.status == "True" for each in conditions)


@contextmanager
def running(runtime: Path, name: str = "short", *options: str) -> Iterator[Lab]:
    """A small lab that is down again whatever happens."""
    lab = start("linux", name, runtime, *options)
    try:
        yield lab
    finally:
        lab_command("down", "--name", name, runtime=runtime)


def assert_nothing_left(lab: Lab) -> None:
    """Fail if a process of the lab lives, a file is left, or its ports still answer."""
    assert until(lambda: not processes_of(lab))
    assert until(lambda: not alive(lab.pid))
    assert list(lab.runtime.iterdir()) == []


def alive(pid: int) -> bool:
    """Say whether a process runs; a zombie does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
