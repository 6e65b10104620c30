"""How containers of a run start, prove that they listen, and report why they ended. Pure.

Used by ``objects``. A container of the probe image needs no command, except on a Windows node,
where the image's entry point does not start as it is (``model.windows_programs``).
"""

from nettests.model.json_text import Object
from nettests.model.windows_programs import AGNHOST, START_AGNHOST

LISTENING_SECONDS = 5
"""Time limit of a server's connection to itself: a refusal takes two seconds on Windows (curl/curl#14144)."""
_UNTIL_IT_LISTENS = {"periodSeconds": 1, "timeoutSeconds": 20, "failureThreshold": 3600}
"""A startup probe ends with its first success. Starting a process takes seconds on a busy Windows node."""


def start(spec: Object, container: Object) -> None:
    """Let a container of the probe image start under this Pod ``spec``, and report why it ends.

    Its termination message is then the end of its log, unless it wrote one (Kubernetes,
    "Customizing the termination message").
    """
    if _on_host(spec):
        container.setdefault("command", list(START_AGNHOST))
    container.setdefault("terminationMessagePolicy", "FallbackToLogsOnError")


def prove_listening(spec: Object) -> None:
    """Add startup probes, so that a Pod is Ready only once its servers listen on loopback.

    A server that cannot bind a port ends (agnhost, netexec.go: ``assertNoError``): one stands for
    all.
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
