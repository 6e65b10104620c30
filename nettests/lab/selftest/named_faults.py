"""Named faults, read from ``faults/*.yaml``: how each is injected, its profiles, the checks that must turn, and the cause to name.

A file has the faults of one topic, each with the fields of ``NamedFault``: ``inject`` lists injections (``kind``, ``after`` in
seconds, and the options of ``nettests lab fault inject``); in ``must`` and ``may`` a mapping is a pattern of checks (``Checks``), in
the terms of the harness' ``results.json``, and a text is a group of ``GROUPS`` with its nodes.

All profiles but ``FLEET`` and ``EMPTY`` have the same four nodes: ``linux-1`` and ``win-1`` are source or target, ``linux-2`` and
``win-2`` answer; the cluster's DNS runs on ``linux-1``. A check may depend on nodes that are neither its source nor its target:
those of its Service's backends, and those of its positive controls.
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

from nettests.lab.data_files import read_yaml
from nettests.lab.errors import LabError
from nettests.lab.selftest.runs import Check


@dataclass(frozen=True, slots=True, kw_only=True)
class Checks:
    """Checks by patterns; fields that are not set match anything.

    ``node`` is the source or the target node; the other fields are as in the results.
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
        """Return the same patterns without nodes: a check with members has none itself."""
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
    """One fault of the lab with its options; with ``after``, injected that many seconds into the run."""

    kind: str
    options: Mapping[str, str] = field(default_factory=dict)
    after: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFault:
    """One fault.

    ``injections`` break a running lab; ``mechanisms`` (``NAME=VALUE``) need a lab of their own. Each of ``must``
    needs a red check; a red check that is in neither ``must`` nor ``may`` is unrelated. ``names``: the leading
    incident has to contain all of these words, each possibly one of several (``win-1|windows``). ``blind`` is the
    reason why nothing can detect the fault yet. ``recovered`` are words of the event by which a run reports that it
    recovered; then no check may turn red. ``harmless`` says why none may turn and nothing is reported. ``enable``
    are classes of checks that are not enabled by default: then only flows that must turn and a few others are run.
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
    """The faults of a combination."""

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
        """Whether no check has to turn red: the fault is undetectable, recovered from, or harmless."""
        return bool(self.blind or self.recovered or self.harmless)


BRIDGE = "win2022-l2bridge-dsr"
OVERLAY = "win2019-overlay"
OLD_BRIDGE = "win2019-l2bridge"
SERVICES = "win2022-overlay-services"
"""kube-proxy is a service of its Windows nodes, whose settings only a node vantage reads."""
FLEET = "fleet"
"""Twelve nodes: two Windows pools of four (``win-1`` to ``win-4``, ``win-5`` to ``win-8``) and four Linux nodes."""
EVERYWHERE = (BRIDGE, OVERLAY, OLD_BRIDGE)
"""One profile of each kind of network: routed with DSR, overlay, and the oldest supported one."""
EMPTY = "hns-ipam-l2bridge"
"""Its third Windows node is cordoned and has only Pods on the host's network."""
PROFILES = (*EVERYWHERE, SERVICES, FLEET, EMPTY)
ALIKE = {"win2022-overlay-dsr": OVERLAY, "antrea-transparent": OVERLAY}
"""Further profiles where a seed may place the faults of another profile."""

NODES = {BRIDGE: {"linux": 2, "win": 2}, FLEET: {"linux": 4, "win": 8}}
"""Numbers of nodes of each system where faults may be placed; other profiles have as many as the first."""
_OF_A_POOL = 4
SEED = "@"
"""Separates the name of a fault and the seed that chose its nodes."""


def slot_of(node: str) -> str:
    """Return the slot of a node, pool and position, as in names of its Pods: ``windows-2-1`` for ``win-5``."""
    system, _, number = node.rpartition("-")
    pool, member = divmod(int(number) - 1, _OF_A_POOL)
    return f"{'windows' if system == 'win' else system}-{pool + 1}-{member + 1}"


_NAMES, _OF_PROXY, _NEGATIVE = map(str.split, read_yaml(__package__, "groups.yaml").values())
_BY_THE_API = ("kubectl-to-pod", "pod-restart", "pod-port-forward")

UNPROVEN = tuple(Checks(flow=flow, verdict="unknown") for flow in _NEGATIVE)
"""Checks that expect no answer, or one of several backends, and are unknown after a failed control."""
_DNS_ITSELF = Checks(flow="pod-to-existing-service", id="*/kube-system.kube-dns")
NAMES = (_DNS_ITSELF, *(Checks(flow=flow) for flow in _NAMES))
"""Checks that need the cluster's DNS."""
PROXIES = tuple(Checks(flow=flow) for flow in (*_OF_PROXY, "*nodeport*"))
"""Checks that need Service proxies."""


def names_from(node: str) -> tuple[Checks, ...]:
    """Return the checks from a node that need the cluster's DNS."""
    return tuple(replace(checks, source=node) for checks in NAMES)


def through_proxy_of(node: str) -> tuple[Checks, ...]:
    """Return the checks that need a node's Service proxy, without those of names."""
    return (
        *(Checks(flow=flow, source=node) for flow in _OF_PROXY),
        Checks(flow="*nodeport*", target=node),
        Checks(flow="etp-*", target=node),
        *UNPROVEN,
    )


def answering(node: str, source: str = "") -> tuple[Checks, ...]:
    """Return the checks that a node or its Pods answer, through Services too."""
    pod = slot_of(node)
    pool = pod.rpartition("-")[0]
    affine = ("session-affinity",) if pool == "linux-1" else ()  # it has backends there
    return (
        Checks(target=node, source=source),
        *(Checks(flow=flow, source=source) for flow in affine),
        Checks(service=f"*-{pod}", source=source),
        Checks(service=f"*-{pool}", source=source),  # one of several backends is there
        Checks(flow="dns-headless-service", source=source),  # dials the addresses of the name
    )


def crossing(node: str) -> tuple[Checks, ...]:
    """Return the checks whose packets pass between a node and other nodes or the outside."""
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
    """Return the checks from one node to another, through its Services and NodePorts too."""
    pod = slot_of(end)
    api = _BY_THE_API if start == "linux-1" else ()
    queries = (
        [*names_from(end if start == "linux-1" else start)] if "linux-1" in {start, end} else []
    )
    return (
        *queries,
        *answering(end, source=start),
        Checks(flow="pod-to-service-*", target=end),  # convergence is awaited from there, too
        *(Checks(flow=flow, target=end) for flow in api),  # the API server proxies from there
        Checks(flow="*nodeport-*", target=start, service=f"*-{pod}"),
        Checks(flow="etp-*", target=start, service=f"*-{pod}"),
        Checks(flow="session-affinity", source=start),  # one of several backends is there
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
"""Groups of checks by their name in the files; the words after a name are nodes."""


TOPICS = (
    *("packet", "path", "size_and_time", "service", "change", "name", "node", "setting"),
    *("configuration", "pod", "fleet", "scale", "witness"),
)
"""The files, in the order in which their faults are run."""


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
    """Return a fault at nodes of a profile that a seed chooses, instead of those in its file.

    Nodes of the same system are permuted in the injections, in ``must`` and ``may``, and in the words of the cause; the nodes of
    the API server and of the cluster's DNS, and the cordoned node, stay. The seed is appended to the name.
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
    """Whether a fault may be placed at other nodes: it breaks a running lab, and is for this profile."""
    return bool(fault.injections) and ALIKE.get(profile, profile) in fault.profiles


def _moved(value: Any, key: str, places: Mapping[str, str], slots: Mapping[str, str]) -> Any:
    """Return a part of an entry with other nodes, also in the names of Pods and Services."""
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
"""Every named fault of a cluster, in the order in which they are run."""
ASSUMPTIONS = of_topic("assumption")
"""Faults that break an assumption of the harness about tools, and nothing in the network."""


def chosen(names: Sequence[str], faults: tuple[NamedFault, ...] = FAULTS) -> tuple[NamedFault, ...]:
    """Return the faults of these names, or all without names; ``LabError`` suggests the nearest name."""
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
    """Return the profiles of the faults, only those in ``names`` if there are any; ``alike`` are further ones."""
    every = (*PROFILES, *alike)
    for name in names:
        if name not in every:
            hint = f"Profiles: {', '.join(every)}."
            raise LabError(f'No named fault is for the profile "{name}".', hint=hint)
    concerned = {profile for fault in faults for profile in fault.profiles}
    return tuple(name for name in names or every if ALIKE.get(name, name) in concerned)
