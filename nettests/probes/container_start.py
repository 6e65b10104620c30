"""How the containers of a run's Pods start, how servers prove that they listen, and how one that ends says why. Pure.

Used by ``objects``. A container of the probe image needs no command, but on a Windows node, where the image's own program
does not start as it is (``model.windows_programs``).
"""

from typing import Any

from nettests.model.windows_programs import AGNHOST, START_AGNHOST

Object = dict[str, Any]

LISTENING_SECONDS = 5
"""For a connection of a server with itself: a refusal takes two seconds on Windows (curl/curl#14144)."""
_UNTIL_IT_LISTENS = {"periodSeconds": 1, "timeoutSeconds": 20, "failureThreshold": 3600}
"""A startup probe is not run again once it succeeded. Starting a process takes seconds on a busy Windows node."""


def start(spec: Object, container: Object) -> None:
    """Let a container of the probe image start wherever its Pod's ``spec`` puts it, and say what it wrote if it ends.

    Its status then has the end of its log as its message, unless it left one itself (Kubernetes, "Customizing the
    termination message").
    """
    if _on_host(spec):
        container.setdefault("command", list(START_AGNHOST))
    container.setdefault("terminationMessagePolicy", "FallbackToLogsOnError")


def prove_listening(spec: Object) -> None:
    """Let each server prove that it listens before its Pod counts as Ready, once and without the network.

    A server that cannot bind one of its ports ends (agnhost, netexec.go: ``assertNoError``): its TCP port stands for all.
    """
    agnhost = AGNHOST if _on_host(spec) else "/agnhost"
    for container in spec["containers"]:
        # samples: ["netexec", "--http-port=18080", "--udp-port=18081"], ["no-snat-test", "--port=18082"]
        flags = (str(word).partition("=") for word in container.get("args") or ())
        for port in (value for flag, _, value in flags if flag in {"--http-port", "--port"}):
            words = [agnhost, "connect", f"--timeout={LISTENING_SECONDS}s", f"127.0.0.1:{port}"]
            container["startupProbe"] = {"exec": {"command": words}, **_UNTIL_IT_LISTENS}


def _on_host(spec: Object) -> bool:
    """Whether a Pod's processes are the node's own: HostProcess containers."""
    options = (spec.get("securityContext") or {}).get("windowsOptions") or {}
    return options.get("hostProcess") is True
