r"""Rules about components that are Windows services, and the machine's variables for them.

Read from the registry, which Windows does not translate; ``sc.exe`` and ``nssm.exe`` write settings
there. Sources: "Intro to Windows support in Kubernetes" (kubelet and kube-proxy as services),
Azure/AgentBaker ``kubeletfunc.ps1`` (the service Kubeproxy), Microsoft's
``SERVICE_FAILURE_ACTIONS``, nssm's documentation.
"""

import re
from collections.abc import Iterator, Sequence

from nettests.model.json_text import Object
from nettests.model.windows_programs import node_argv
from nettests.rules import reduction
from nettests.rules.evidence import (
    Evidence,
    Finding,
    NothingThereError,
    UnreadableError,
    finding,
    rule,
)
from nettests.rules.pods import NETWORK_VARIABLE
from nettests.rules.readings import ToolOutput
from nettests.rules.subjects import KUBE_PROXY_ON_HOST, Subject

SERVICES = r"HKLM\SYSTEM\CurrentControlSet\Services"
PROGRAMS = frozenset({"ImagePath", "Application"})
VARIABLES = frozenset({"AppEnvironmentExtra", "AppEnvironment", "Environment"})
"""Where nssm and the service control manager keep a service's variables."""
NSSM = "nssm.exe"
NSSM_RESTARTS = "Restart"
"""nssm's default action when a program ends (``AppExit``)."""
RESTART = 1
"""``SC_ACTION_RESTART``."""
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY")
_DWORD = 8
"""Hexadecimal digits of a DWORD."""
_HEADER = 5
"""Reset period, message, command, number of actions, offset; after them each action with its delay."""
# samples:     ImagePath    REG_EXPAND_SZ    C:\k\nssm.exe
#              (Default)    REG_SZ    Restart
_VALUE = re.compile(r"(?m)^ {4}(?P<name>\S.*?) {4}REG_(?P<kind>[A-Z_]+)(?: {4}(?P<data>.*))?$")
_KEPT = frozenset({*PROGRAMS, *VARIABLES, "Start", "FailureActions"})
_EXIT = "AppExit"
_DISABLED = 4
KUBE_PROXIES = ("kube-proxy", "kubeproxy")
"""Names of kube-proxy's service: with most installers, and on AKS or with microsoft/SDN. Windows
ignores case."""
_LOOKED_FOR = frozenset({"kubelet", *KUBE_PROXIES})


def _keep(text: str) -> str:
    lines = []
    for key, section in _sections(text):
        lines.append(key)
        for match in _VALUE.finditer(section):
            name, data = match["name"], _reduced(match["name"], (match["data"] or "").strip())
            if name in _KEPT or key.endswith(_EXIT):
                lines.append(f"    {name}    REG_{match['kind']}    {data}")
    return "".join(f"{line}\n" for line in lines)


def _sections(text: str) -> Iterator[tuple[str, str]]:
    # sample: HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\kube-proxy\Parameters\AppExit
    for section in re.split(r"(?m)^(?=HKEY_)", text):
        key, _, values = section.partition("\n")
        if key.startswith("HKEY_"):
            yield key.strip(), values


def _reduced(name: str, data: str) -> str:
    if name in PROGRAMS:
        return _program(data)
    if name in VARIABLES:
        network = _network(data)
        return f"{NETWORK_VARIABLE}={network}" if network else ""
    return data


def _network(data: str) -> str:
    # sample: KUBE_NETWORK=cbr0\0NODE_NAME=win-1
    values = dict(variable.split("=", 1) for variable in data.split(r"\0") if "=" in variable)
    return values.get(NETWORK_VARIABLE, "")


def _program(path: str) -> str:
    # samples: "C:\Program Files\Kubernetes\kubelet.exe" --config=…, C:\k\nssm.exe
    match = re.match(r'"(?P<quoted>[^"]+)"|(?P<bare>\S+)', path)
    whole = (match["quoted"] or match["bare"]) if match else ""
    return whole.replace("/", "\\").rpartition("\\")[2].lower()


def _service(service: str, name: str, only_where: Subject | None = None) -> ToolOutput:
    words = node_argv("reg.exe", "query", rf"{SERVICES}\{service}", "/s")
    return ToolOutput(name=name, words=words, keep=_keep, only_where=only_where)


def _keep_names(text: str) -> str:
    # sample: HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\hns
    names = re.findall(r"(?m)^HKEY_\S*\\Services\\(\S.*?)[ \t]*$", text)
    wanted = [name for name in names if name.lower() in _LOOKED_FOR]
    others = len(names) - len(wanted)
    return "".join(f"{name}\n" for name in (*wanted, *([f"({others} others)"] if others else [])))


def _names(name: str, only_where: Subject | None = None) -> ToolOutput:
    """Return the reading of all services of the node.

    reg.exe fails alike for a missing key and for one without permission, and its messages are
    translated; a list of all services shows what is missing.
    """
    words = node_argv("reg.exe", "query", SERVICES)
    return ToolOutput(name=name, words=words, keep=_keep_names, only_where=only_where)


SERVICE_NAMES = _names("service-names")
SERVICE_NAMES_BESIDE = _names("service-names-beside-kube-proxy", KUBE_PROXY_ON_HOST)
"""The same for rules that need it only if kube-proxy is not a Pod."""
KUBELET_SERVICE = _service("kubelet", "kubelet-service")
KUBE_PROXY_SERVICES = tuple(
    _service(name, f"{name}-service", KUBE_PROXY_ON_HOST) for name in KUBE_PROXIES
)
MACHINE = ToolOutput(
    name="machine-variables",
    words=node_argv(
        "reg.exe",
        "query",
        r"HKLM\SYSTEM\CurrentControlSet\Control\Session Manager\Environment",
    ),
    # which proxies are set, not their addresses, which may contain a password
    keep=reduction.lines(r"(?im)^ {4}(?:HTTPS?|NO)_PROXY {4}REG_[A-Z_]+ {4}(?=\S)"),
)
ANY_KUBE_PROXY_SERVICES = tuple(_service(name, f"{name}-service-left") for name in KUBE_PROXIES)
"""The same for clusters in which no kube-proxy may run."""


@rule(about=(), reads=(KUBELET_SERVICE, SERVICE_NAMES))
def kubelet_restarts(evidence: Evidence) -> Finding:
    """If the kubelet is a Windows service, it is restarted when it fails."""
    return _restarts(evidence, (KUBELET_SERVICE,), "kubelet")


@rule(about=(KUBE_PROXY_ON_HOST,), reads=(*KUBE_PROXY_SERVICES, SERVICE_NAMES_BESIDE))
def kube_proxy_restarts(evidence: Evidence) -> Finding:
    """If kube-proxy is a Windows service, it is restarted when it fails."""
    return _restarts(evidence, KUBE_PROXY_SERVICES, "kube-proxy")


@rule(about=(), reads=(MACHINE,))
def proxy_variables(evidence: Evidence) -> Finding:
    """A node behind an HTTP proxy has both HTTP_PROXY and HTTPS_PROXY set for the machine."""
    given = {
        match[1].upper()
        for match in re.finditer(
            r"(?im)^ {4}(HTTPS?_PROXY) {4}REG_[A-Z_]+ {4}", evidence.text(MACHINE)
        )
    }
    if not given:
        raise NothingThereError("no HTTP proxy is set for the machine")
    return finding(
        len(given) == len(PROXIES),
        " and ".join(sorted(given)),
        f"{' and '.join(PROXIES)} where the node is behind a proxy",
        of=len(given),
    )


def settings_of(evidence: Evidence, readings: Sequence[ToolOutput]) -> Object:
    """Return a service's settings by any of its names; empty if it certainly does not exist."""
    for reading in readings:
        if settings := _settings(evidence.text(reading) if reading.name in evidence.texts else ""):
            return settings
    for reading in readings:
        _require_absence(evidence, reading)
    return {}


def _settings(text: str) -> Object:
    settings: Object = {}
    for key, section in _sections(text):
        for match in _VALUE.finditer(section):
            name, data = match["name"], (match["data"] or "").strip()
            if key.endswith(_EXIT):
                # the default action has no name, only a word that reg.exe translates
                settings |= {} if name.isdigit() else {_EXIT: data}
            elif name in VARIABLES:
                settings |= {NETWORK_VARIABLE: _network(data)} if _network(data) else {}
            elif name in _KEPT:
                settings[name] = _program(data) if name in PROGRAMS else data
    return settings


def _require_absence(evidence: Evidence, reading: ToolOutput) -> None:
    """Raise ``UnreadableError`` if a service may exist whose settings were not read."""
    # sample of a problem: reg.exe ended with 1: ERROR: Access is denied.
    beside = evidence.was_taken(SERVICE_NAMES_BESIDE)
    read = SERVICE_NAMES_BESIDE if beside else SERVICE_NAMES
    listed = evidence.text(read).lower().splitlines()
    names = {line.rpartition("\\")[2].strip() for line in listed} - {""}
    if not names:
        raise UnreadableError("reg.exe lists no service at all")
    if _name_of(reading) in names:
        why = evidence.problems.get(reading.name, f"{reading.name} holds none of its values")
        raise UnreadableError(why)


def _name_of(reading: ToolOutput) -> str:
    return reading.words[2].rpartition("\\")[2]


def is_enabled(settings: Object) -> bool:
    """Whether a service is not disabled."""
    return bool(settings) and int(str(settings.get("Start", "0")), 16) != _DISABLED


def _restarts(evidence: Evidence, readings: Sequence[ToolOutput], name: str) -> Finding:
    settings = settings_of(evidence, readings)
    if not settings:
        names = " or ".join(map(_name_of, readings))
        raise NothingThereError(f"none of the node's Windows services is called {names}")
    demand = "that it is started again when it fails"
    if settings.get("ImagePath") == NSSM:
        then = str(settings.get(_EXIT) or NSSM_RESTARTS)
        observed = f"nssm, which does this when {name} ends: {then}"
        return finding(then.lower() == NSSM_RESTARTS.lower(), observed, demand, of=1)
    actions = actions_of(str(settings.get("FailureActions", "")))
    observed = f"{actions.count(RESTART)} actions that restart {name} after a failure"
    return finding(RESTART in actions, observed, demand, of=1)


def actions_of(data: str) -> list[int]:
    """Parse ``FailureActions`` (hexadecimal ``SERVICE_FAILURE_ACTIONS``) into action types."""
    # sample: 80510100000000000000000001000000140000000100000010270000
    numbers = [
        int.from_bytes(bytes.fromhex(data[at : at + _DWORD]), "little")
        for at in range(0, len(data) - _DWORD + 1, _DWORD)
    ]
    return numbers[_HEADER::2]
