"""What a named fault is, and all of them, read from ``faults/*.yaml``: mechanism, where it makes sense, what must turn, and its name.

A file holds the faults of one topic, each with the fields of ``NamedFault``: ``inject`` lists injections (``kind``, ``after`` in
seconds, and the options of ``nettests lab fault inject``); in ``must`` and ``may`` a mapping is a pattern of checks (``Checks``), as
the harness' ``results.json`` names them, and a word, with the nodes that it is about, a group of ``GROUPS``.

All profiles but ``FLEET`` and ``EMPTY`` have the same four nodes: ``linux-1`` and ``win-1`` are source or target, ``linux-2`` and
``win-2`` answer; the cluster's DNS runs on ``linux-1``. A check may cross nodes that are no end of it: those of the backends behind its
Service, and those of its positive controls.
"""

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from ruamel.yaml import YAML

from nettests.lab.errors import LabError
from nettests.lab.selftest.runs import Check


@dataclass(frozen=True, slots=True, kw_only=True)
class Checks:
    """Checks by patterns; fields that are not set match anything.

    ``node`` is either end; ``source`` and ``target`` are nodes too; all others are as in the results.
    """

    flow: str = "*"
    id: str = "*"
    node: str = ""
    source: str = ""
    target: str = ""
    protocol: str = ""
    placement: str = ""
    service: str = ""
    verdict: str = ""

    def __contains__(self, check: Check) -> bool:
        names = ("flow", "id", "source", "target", "protocol", "placement", "service", "verdict")
        return (not self.node or self.node in {check.source, check.target}) and all(
            fnmatchcase(getattr(check, name), pattern)
            for name in names
            if (pattern := getattr(self, name))
        )

    @property
    def anywhere(self) -> "Checks":
        """Return the same patterns for any node: a check with members has no nodes of its own."""
        return replace(self, node="", source="", target="")

    def __str__(self) -> str:
        ends = f" {self.source or '*'} → {self.target or '*'}" if self.source or self.target else ""
        others = (
            *(f"at {self.node}" if self.node else "", self.protocol, self.placement),
            *(f"of Service {self.service}" if self.service else "", self.verdict),
        )
        name = self.flow if self.id == "*" else self.id
        return " ".join((f"{name}{ends}", *filter(None, others)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """One fault of the lab with its options; injected ``after`` so many seconds of the run, if set."""

    kind: str
    options: Mapping[str, str] = field(default_factory=dict)
    after: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFault:
    """One fault.

    ``injections`` break a lab that runs; ``mechanisms`` make one of its own (``NAME=VALUE``). Each of ``must`` has
    to have a red check; a red check that is in neither ``must`` nor ``may`` is unrelated. ``names``: the leading
    incident has to say all of these words, each possibly one of several (``win-1|windows``). ``blind`` is the
    reason why nothing can detect it yet. ``recovered`` are words of the event in which a run reports that it
    recovered: then no check may turn red. ``harmless`` says why none may turn, and nothing need be told. ``enable`` are classes of checks that a run has to be told to enable:
    then it is a run of the flows that must turn, and of a few others.
    """

    name: str
    summary: str
    profiles: tuple[str, ...]
    injections: tuple[Injection, ...] = ()
    mechanisms: tuple[str, ...] = ()
    must: tuple[Checks, ...] = ()
    may: tuple[Checks, ...] = ()
    names: tuple[str, ...] = ()
    blind: str = ""
    recovered: str = ""
    harmless: str = ""
    enable: tuple[str, ...] = ()
    parts: "tuple[NamedFault, ...]" = ()
    """The faults that are in force together, where there are several."""

    def __post_init__(self) -> None:
        if bool(self.injections) == bool(self.mechanisms):
            raise ValueError(f"{self.name}: either injections or mechanisms")
        if (self.recovered or self.harmless) and (
            self.must or self.may or self.names or self.blind
        ):
            raise ValueError(
                f"{self.name}: nothing may turn where a run recovers or nothing is wrong"
            )
        if not self.need_not_turn and not (self.must and self.names):
            raise ValueError(f"{self.name}: what must turn, and what must it be called?")

    @property
    def need_not_turn(self) -> bool:
        """Whether no check has to turn red: nothing can detect the fault, a run recovers from it, or it does no harm."""
        return bool(self.blind or self.recovered or self.harmless)


BRIDGE = "win2022-l2bridge-dsr"
OVERLAY = "win2019-overlay"
OLD_BRIDGE = "win2019-l2bridge"
SERVICES = "win2022-overlay-services"
"""kube-proxy is a service of its Windows nodes, which only a vantage there reads."""
FLEET = "fleet"
"""Twelve nodes: two Windows pools of four (``win-1`` to ``win-4``, ``win-5`` to ``win-8``) and four Linux nodes."""
EVERYWHERE = (BRIDGE, OVERLAY, OLD_BRIDGE)
"""Of each kind of network one: routed with DSR, overlay, and the oldest that is supported."""
EMPTY = "hns-ipam-l2bridge"
"""Its third Windows node is cordoned and has no Pods but those of the host's network."""
PROFILES = (*EVERYWHERE, SERVICES, FLEET, EMPTY)
ALIKE = {"win2022-overlay-dsr": OVERLAY, "antrea-transparent": OVERLAY}
"""Further profiles where a seed may put the faults of another one."""

NODES = {BRIDGE: {"linux": 2, "win": 2}, FLEET: {"linux": 4, "win": 8}}
"""How many nodes of each system a profile has where faults may be; profiles that are not listed have as many as the first."""
_OF_A_POOL = 4
SEED = "@"
"""Between the name of a fault and the seed that chose its nodes."""


def slot_of(node: str) -> str:
    """Return the node pool and the place in it by which Pods on a node are named: ``windows-2-1`` of ``win-5``."""
    system, _, number = node.rpartition("-")
    pool, member = divmod(int(number) - 1, _OF_A_POOL)
    return f"{'windows' if system == 'win' else system}-{pool + 1}-{member + 1}"


_NAMES = (
    "dns-* pod-a-record pod-to-pod-name pod-to-external-dns node-to-external-name pod-to-service-fqdn pod-to-service-pqdn "
    "pod-to-service-partial-name service-external-name service-headless stateful-set-names new-pod-first-packets"
)
_OF_PROXY = (
    "pod-to-service-* payload-*-service connection-loss service-* session-affinity dsr-source-address etp-* itp-* "
    "node-to-service-* icmp-pod-to-service nodeport-localhost new-pod-first-packets pod-to-service-pqdn dns-via-service"
)
_NEGATIVE = (
    "etp-local-no-local-backend itp-local-no-local-backend service-no-endpoints nodeport-no-endpoints nodeport-localhost "
    "icmp-pod-to-service icmp-egress service-terminating-backends service-unready-backend service-two-target-ports "
    "service-topology-hints service-host-process-backend *session-affinity "
    # Documented limitations of Windows nodes: the silence counts only where another node's question was answered.
    "node-to-pod node-to-service-* nodeport-from-local-node nodeport-from-node-source-address hostport-bound-* "
    "pod-to-node-closed-port pod-to-closed-port icmp-packet-beyond-mtu"
)
_BY_THE_API = ("kubectl-to-pod", "pod-restart", "pod-port-forward")

UNPROVEN = tuple(Checks(flow=flow, verdict="unknown") for flow in _NEGATIVE.split())
"""What expects silence, or one backend of several, where a control that would show more has failed."""
NAMES = tuple(Checks(flow=flow) for flow in _NAMES.split())
"""What needs an answer of the cluster's DNS."""
PROXIES = tuple(Checks(flow=flow) for flow in (*_OF_PROXY.split(), "*nodeport*"))
"""What needs Service proxies."""


def names_from(node: str) -> tuple[Checks, ...]:
    """Return what needs an answer of the cluster's DNS on a node."""
    return tuple(Checks(flow=flow, source=node) for flow in _NAMES.split())


def through_proxy_of(node: str) -> tuple[Checks, ...]:
    """Return what the Service proxy of a node translates, beside names."""
    return (
        *(Checks(flow=flow, source=node) for flow in _OF_PROXY.split()),
        Checks(flow="*nodeport*", target=node),
        Checks(flow="etp-*", target=node),
        *UNPROVEN,
    )


def answering(node: str, source: str = "") -> tuple[Checks, ...]:
    """Return what something on a node answers: its Pods, behind Services too, and itself."""
    pod = slot_of(node)
    pool = pod.rpartition("-")[0]
    affine = ("session-affinity",) if pool == "linux-1" else ()  # it has backends there
    return (
        Checks(target=node, source=source),
        *(Checks(flow=flow, source=source) for flow in affine),
        Checks(service=f"*-{pod}", source=source),
        Checks(service=f"*-{pool}", source=source),  # several backends, one of them there
        Checks(flow="dns-headless-service", source=source),  # dials what the name stands for
    )


def crossing(node: str) -> tuple[Checks, ...]:
    """Return what passes between a node and the others."""
    return (
        *(
            Checks(node=node, placement=placement)
            for placement in ("other-node", "outside", "nowhere")
        ),
        Checks(node=node, flow="*nodeport*"),
        Checks(source=node, flow="service-*"),
        Checks(source=node, flow="session-affinity"),
        *answering(node),
        *(names_from(node) if node != "linux-1" else NAMES),
        *UNPROVEN,
    )


def between(start: str, end: str) -> tuple[Checks, ...]:
    """Return what is tested from one node of another, by its Services and NodePorts too."""
    pod = slot_of(end)
    api = _BY_THE_API if start == "linux-1" else ()
    queries = (
        [*names_from(end if start == "linux-1" else start)] if "linux-1" in {start, end} else []
    )
    return (
        *queries,
        *answering(end, source=start),
        Checks(flow="pod-to-service-*", target=end),  # waited for from there, too
        *(Checks(flow=flow, target=end) for flow in api),  # the API server proxies from there
        Checks(flow="*nodeport-*", target=start, service=f"*-{pod}"),
        Checks(flow="etp-*", target=start, service=f"*-{pod}"),
        Checks(flow="session-affinity", source=start),  # of several backends one is there
        *UNPROVEN,
    )


GROUPS: Mapping[str, Callable[..., tuple[Checks, ...]]] = {
    "unproven": lambda: UNPROVEN,
    "names": lambda: NAMES,
    "proxies": lambda: PROXIES,
    "names-from": names_from,
    "through-proxy-of": through_proxy_of,
    "answering": answering,
    "crossing": crossing,
    "between": between,
}
"""What files of named faults call these groups; the words behind are nodes."""


TOPICS = (
    *("packet", "path", "size_and_time", "service", "change", "name", "node", "setting"),
    *("configuration", "pod", "fleet", "scale", "witness"),
)
"""The files, in the order in which their faults are tried."""


Entry = Mapping[str, Any]


@cache
def _entries(topic: str) -> list[Entry]:
    text = files("nettests.lab.selftest").joinpath(f"faults/{topic}.yaml").read_text("utf-8")
    listed: list[Entry] = YAML(typ="safe").load(text)
    return listed


def of_topic(topic: str) -> tuple[NamedFault, ...]:
    """Return the named faults of one file."""
    return tuple(map(_fault, _entries(topic)))


# samples: win-1, linux-12; server-windows-1-2, svc-server-linux-1-1, but no node pool alone
_NODE = re.compile(r"(?<![\w-])(win|linux)-\d+(?![\w-])")
_SLOT = re.compile(r"\b(windows|linux)-(\d)-(\d+)\b")


def placed(name: str, profile: str, seed: int) -> NamedFault:
    """Return a fault at nodes that a seed chooses among those of a profile, instead of those that its file names.

    Nodes of a system change places with each other, in what is injected, in what must and may turn, and in what it is called;
    where the API server and the cluster's DNS run, and which node is cordoned, is the profile's. The seed is behind its name.
    """
    name, _, _ = name.partition(SEED)
    places: dict[str, str] = {}
    for system, count in NODES.get(profile, NODES[BRIDGE]).items():
        nodes = [f"{system}-{number}" for number in range(1, count + 1)]
        chosen = sorted(nodes, key=lambda node: sha256(f"{seed} {name} {node}".encode()).digest())
        places |= zip(nodes, chosen, strict=True)
    slots = {slot_of(node): slot_of(place) for node, place in places.items()}
    entry = next(entry for topic in TOPICS for entry in _entries(topic) if entry["name"] == name)
    kept = {"name": f"{name}{SEED}{seed}", "profiles": (profile,)}
    return _fault({**_moved(entry, "", places, slots), **kept})


def placeable(fault: NamedFault, profile: str) -> bool:
    """Whether a fault may be put at other nodes of a profile: it breaks a lab that runs, and makes sense there."""
    return bool(fault.injections) and ALIKE.get(profile, profile) in fault.profiles


def _moved(value: Any, key: str, places: Mapping[str, str], slots: Mapping[str, str]) -> Any:
    """Return a part of an entry with other nodes: as nodes, and in the names of Pods and Services."""
    if isinstance(value, list):
        return [_moved(item, key, places, slots) for item in value]
    if isinstance(value, Mapping):
        return {name: _moved(item, name, places, slots) for name, item in value.items()}
    if not isinstance(value, str):
        return value
    text = _SLOT.sub(lambda match: slots.get(match[0], match[0]), value)
    if key in {"service", "pod", "id"}:
        return text
    return _NODE.sub(lambda match: places.get(match[0], match[0]), text)


def _fault(entry: Entry) -> NamedFault:
    fields: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in entry.items()
        if key not in {"inject", "must", "may"}
    }
    injections = tuple(
        Injection(
            kind=each["kind"],
            options={k: str(value) for k, value in each.items() if k not in {"kind", "after"}},
            after=each.get("after", 0),
        )
        for each in entry.get("inject", ())
    )
    must, may = (
        tuple(checks for each in entry.get(key, ()) for checks in _checks(each))
        for key in ("must", "may")
    )
    return NamedFault(**fields, injections=injections, must=must, may=may)


def _checks(entry: str | Mapping[str, str]) -> tuple[Checks, ...]:
    if not isinstance(entry, str):
        return (Checks(**entry),)
    group, *nodes = entry.split()
    return GROUPS[group](*nodes)


FAULTS: tuple[NamedFault, ...] = tuple(fault for topic in TOPICS for fault in of_topic(topic))
"""Every named fault of a cluster, in the order in which they are tried."""
ASSUMPTIONS = of_topic("assumption")
"""What breaks an assumption of the harness about tools, and nothing of the network."""


def chosen(names: Sequence[str], faults: tuple[NamedFault, ...] = FAULTS) -> tuple[NamedFault, ...]:
    """Return those of these names, all of them for none; ``LabError`` names the nearest."""
    by_name = {fault.name: fault for fault in faults}
    for name in names:
        if name not in by_name:
            near = difflib.get_close_matches(name, by_name, n=1, cutoff=0.5)
            meant = f'Did you mean "{near[0]}"?' if near else "nettests lab selftest --list"
            raise LabError(f'There is no named fault "{name}".', hint=meant)
    return tuple(by_name[name] for name in dict.fromkeys(names)) if names else faults


def profiles_of(
    names: Sequence[str], faults: Sequence[NamedFault], alike: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the profiles to run, those that are named or all that the faults are for; ``alike`` are further ones."""
    every = (*PROFILES, *alike)
    for name in names:
        if name not in every:
            hint = f"Profiles: {', '.join(every)}."
            raise LabError(f'No named fault is for the profile "{name}".', hint=hint)
    concerned = {profile for fault in faults for profile in fault.profiles}
    return tuple(name for name in names or every if ALIKE.get(name, name) in concerned)
