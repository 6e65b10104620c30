"""A few Pods and Services on a lab, made and probed with the official Python client alone."""

import gc
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from kubernetes import client, config, stream

from nettests.model.cluster_profile import AGNHOST
from nettests.model.windows_programs import START_AGNHOST


@dataclass(frozen=True, slots=True, kw_only=True)
class Objects:
    """A namespace of its own on a cluster, with what a test makes in it."""

    api: client.CoreV1Api
    namespace: str = field(default="by-hand")

    def close(self) -> None:
        """Close the client's connections: what is left open would fail a later test."""
        self.api.api_client.close()
        self.api.api_client.rest_client.pool_manager.clear()
        gc.collect()  # what the client still left open shows here, not in a later test

    def start(self) -> None:
        """Make the namespace."""
        self.api.create_namespace({"metadata": {"name": self.namespace}})

    def pod(self, name: str, node: str, *args: str, host_process: bool = False) -> str:
        """Make a Pod pinned to a Windows node and return its address once it is Ready."""
        spec: dict[str, Any] = {
            "os": {"name": "windows"},
            "nodeSelector": {"kubernetes.io/os": "windows", "kubernetes.io/hostname": node},
            "tolerations": [{"operator": "Exists"}],
            "containers": [{"name": "agnhost", "image": AGNHOST, "args": list(args)}],
        }
        if host_process:
            spec["hostNetwork"] = True
            spec["securityContext"] = {
                "windowsOptions": {
                    "hostProcess": True,
                    "runAsUserName": "NT AUTHORITY\\SYSTEM",
                }
            }
            spec["containers"][0]["command"] = list(START_AGNHOST)
        self.api.create_namespaced_pod(
            self.namespace,
            {"metadata": {"name": name, "labels": {"app": name}}, "spec": spec},
        )
        wait_for(lambda: self._ready(name))
        address: str = self.api.read_namespaced_pod(name, self.namespace).status.pod_ip
        return address

    def service(self, name: str, selects: str, port: int = 80) -> str:
        """Make a ClusterIP Service in front of one Pod's port 8080 and return its ClusterIP."""
        made = self.api.create_namespaced_service(
            self.namespace,
            {
                "metadata": {"name": name},
                "spec": {
                    "selector": {"app": selects},
                    "ports": [{"name": "http", "port": port, "targetPort": 8080}],
                },
            },
        )
        address: str = made.spec.cluster_ip
        return address

    def dial(self, probe: str, host: str, port: int) -> str:
        """Probe a resident probe to dial; ``connected`` or the client's error text."""
        query = urlencode({"host": host, "port": port, "request": "hostname", "tries": 1})
        web = self.api.api_client
        answer = web.call_api(
            "GET",
            f"{web.configuration.host}/api/v1/namespaces/{self.namespace}"
            f"/pods/{probe}:8080/proxy/dial?{query}",
            {"Authorization": web.configuration.auth_settings()["BearerToken"]["value"]},
        )
        text = answer.read().decode()
        return "connected" if json.loads(text).get("responses") else text

    def curl(self, pod: str, url: str) -> str:
        """Run the Windows node's own curl in a HostProcess Pod; ``connected`` or its error text."""
        run = stream.stream(
            self.api.connect_get_namespaced_pod_exec,
            pod,
            self.namespace,
            command=["curl.exe", "-sS", "-m", "3", url],
            stdout=True,
            stderr=True,
            stdin=False,
            tty=False,
            _preload_content=False,
        )
        run.run_forever(timeout=20)
        printed = run.read_stdout() + run.read_stderr()
        run.close()
        run.sock.shutdown()  # the client leaves a WebSocket open that the server has ended
        return "connected" if run.returncode == 0 else printed

    def _ready(self, name: str) -> bool:
        status = self.api.read_namespaced_pod(name, self.namespace).status
        return any(c.type == "Ready" and c.status == "True" for c in status.conditions or ())


def connect(kubeconfig: str) -> Objects:
    """Connect with the official client."""
    made = config.new_client_from_config(config_file=kubeconfig)
    return Objects(api=client.CoreV1Api(made))


def wait_for(holds: Callable[[], bool], *, seconds: float = 30) -> None:
    """Wait until a condition holds; fail the test at the deadline."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "the condition never held"
        time.sleep(0.05)
