"""A kube-proxy that is not a Pod, read on its node: mode, configuration, version, command line.

No rule is declared here. It serves mode, configuration and metrics at the loopback address
(cmd/kube-proxy/app/server.go, ``serveMetrics``); its command line is that of the process, whether
started by the service control manager, nssm, or a script of AKS or EKS. ``/configz`` shows what is
in effect and takes precedence. ``probes.host_facts`` adds it to the facts; rules about kube-proxy
use it where there is no Pod.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from nettests.model import ports
from nettests.model.flags import flags_in_arguments
from nettests.model.json_text import read_json
from nettests.model.powershell import as_json, read_shown, to_the_end
from nettests.model.windows_programs import node_argv
from nettests.model.words import OS, Family
from nettests.rules import reduction
from nettests.rules.pods import started
from nettests.rules.readings import ToolOutput
from nettests.rules.reduction import Keep
from nettests.rules.subjects import KUBE_PROXY_ON_HOST

SECONDS = 5
"""Seconds until curl times out: a process on the same host answers at once, or does not run."""
GROUP = "kubeproxy.config.k8s.io"
PROCESS, _LINE = "kube-proxy.exe", "CommandLine"
SETTINGS: Mapping[str, tuple[str, ...]] = {
    "proxy-mode": ("mode",),
    "hostname-override": ("hostnameoverride",),
    "network-name": ("winkernel", "networkname"),
    "source-vip": ("winkernel", "sourcevip"),
    "enable-dsr": ("winkernel", "enabledsr"),
    "iptables-localhost-nodeports": ("iptables", "localhostnodeports"),
}
"""Flags and their paths in ``/configz``, with Go's names or, in old releases, those of files."""
GATES = "featuregates"
_KEPT = {GATES, *(key for path in SETTINGS.values() for key in path)}
_MOST_OF_A_MODE = 80


def _keep_configuration(text: str) -> str:
    # sample: {"kubeproxy.config.k8s.io":{"FeatureGates":{"WinDSR":true},"Mode":"kernelspace","Winkernel":{"EnableDSR":true}}}
    return json.dumps({GROUP: _wanted(read_json(text)[GROUP])})


def _wanted(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    wanted = {key: value for key, value in settings.items() if key.lower() in _KEPT}
    return {
        key: _wanted(value) if isinstance(value, dict) and key.lower() != GATES else value
        for key, value in wanted.items()
    }


def _keep_command_line(text: str) -> str:
    if read_shown(text) == []:
        return ""
    return json.dumps({_LINE: " ".join([PROCESS, *started(_line_of(text))])})


def _line_of(text: str) -> str:
    # sample: [{"CommandLine":"C:\\k\\kube-proxy.exe --proxy-mode=kernelspace --enable-dsr=false"}]
    loaded = read_shown(text)
    first = loaded[0] if isinstance(loaded, list) else loaded
    return str(first[_LINE] or "")


def _served(name: str, path: str, keep: Keep, curl: str, host: str) -> ToolOutput:
    address = f"http://{host}:{ports.KUBE_PROXY_METRICS}/{path}"
    words = node_argv(curl, "-sS", "-m", str(SECONDS), address)
    return ToolOutput(name=name, words=words, keep=keep, only_where=KUBE_PROXY_ON_HOST)


def served_at(curl: str, family: Family = Family.IPV4) -> tuple[ToolOutput, ...]:
    """Return the readings at kube-proxy's loopback address, in its metrics' family."""
    host = "[::1]" if family is Family.IPV6 else "127.0.0.1"
    return (
        _served("kube-proxy-mode", "proxyMode", lambda text: text[:_MOST_OF_A_MODE], curl, host),
        _served("kube-proxy-configz", "configz", _keep_configuration, curl, host),
        _served("kube-proxy-version", "metrics", _KEEP_VERSION, curl, host),
    )


# sample: kubernetes_build_info{build_date="…",git_version="v1.29.4",go_version="go1.21.9",minor="29",…} 1
_KEEP_VERSION = reduction.lines(r'(?m)^kubernetes_build_info\{[^}\n]*git_version="[^"\n]*"')
MODE, CONFIGURATION, VERSION = served_at("curl.exe")
COMMAND_LINE = ToolOutput(
    name="kube-proxy-command-line",
    words=to_the_end(
        as_json(
            f"Get-CimInstance Win32_Process -ErrorAction Stop | Where-Object Name -EQ {PROCESS} | Select-Object CommandLine",
            depth=2,
        )
    ),
    keep=_keep_command_line,
    only_where=KUBE_PROXY_ON_HOST,
)
ON_HOST = (CONFIGURATION, COMMAND_LINE)
"""Readings with the settings of a kube-proxy without a Pod."""


def readings_of(os: OS, curl: str, family: Family) -> tuple[ToolOutput, ...]:
    """Return the readings of such a kube-proxy on its node."""
    windows_only = (COMMAND_LINE,) if os is OS.WINDOWS else ()
    return (*served_at(curl, family), *windows_only)


def served_settings(text: str) -> Mapping[str, str] | None:
    """Parse ``/configz`` into settings spelled as flags; ``None`` if it is not kube-proxy's."""
    try:
        settings = _lowered(read_json(text)[GROUP])
        gates = settings.get(GATES) or {}
        flags = {
            "feature-gates": ",".join(f"{key}={_flag(enabled)}" for key, enabled in gates.items())
        }
        for flag, (*outer, last) in SETTINGS.items():
            place = settings
            for key in outer:
                place = _lowered(place.get(key) or {})
            if place.get(last) is not None:
                flags[flag] = _flag(place[last])
    except (ValueError, TypeError, AttributeError, KeyError):
        return None
    return flags


def _lowered(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key.lower(): value for key, value in settings.items()}


def _flag(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def flags_of(text: str) -> Mapping[str, str]:
    """Return the flags of a command line; empty if none was shown."""
    try:
        given = flags_in_arguments(started(_line_of(text)))
    except (ValueError, TypeError, AttributeError, LookupError):
        return {}
    return {key: value.strip("\"'") for key, value in given.items()}


def version_of(text: str) -> str:
    """Return the version in the metrics; empty if there is none."""
    match = re.search(r'git_version="([^"]+)"', text)
    return match[1] if match else ""
