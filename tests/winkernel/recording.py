"""Recordings of kube-proxy's winkernel proxier: what it was told, and the load balancers that it probed HNS for.

One JSON object a line: ``settings`` of the node, and ``steps`` of Services and EndpointSlices, each with the
``loadBalancers`` after it. Values only; ``planner`` and ``rules`` play them.
"""

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nettests.model.json_text import Object

NEEDED = (
    "networkType",
    "enableDSR",
    "hnsVersion",
    "local",
    "nodeIP",
    "nodeName",
    "sourceVip",
    "remoteSubnets",
)
"""Settings without which a case cannot be played."""
KUBERNETES = "v1.36.2"
"""The release whose proxier is recorded."""
DSR_SINCE = (((9, 3), (10, 0)), ((10, 2), (99, 0)))
"""HNS versions that know DSR, from and below (hcsshim ``DSRVersion``)."""
MODIFY_SINCE = (15, 5)
"""HNS changes load balancers in place (hnslib ``ModifyLoadbalancerVersion``)."""
UNLIMITED = 1 << 16
GONE = "an endpoint that is gone"
"""A reference to an endpoint that was deleted, which a recording gives by its id and a question mark."""


@dataclass(frozen=True, slots=True)
class Balancer:
    """A load balancer as HNS was told for it; ``vip`` is empty for a NodePort."""

    vip: str
    protocol: str
    external_port: int
    internal_port: int
    flags: frozenset[str]
    backends: tuple[str, ...]
    source_vip: str

    def __str__(self) -> str:
        """What a person compares."""
        front = f"{self.vip or 'NodePort'}:{self.external_port}/{self.protocol}"
        flags = ",".join(sorted(self.flags)) or "no flags"
        source = self.source_vip or "no source VIP"
        backends = ", ".join(self.backends)
        return f"{front} to {self.internal_port} [{flags}; {source}] of {backends}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The objects of the cluster at one moment, and what HNS held then."""

    services: tuple[Object, ...]
    slices: tuple[Object, ...]
    balancers: frozenset[Balancer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One recorded case; ``settings`` as they are written."""

    name: str
    settings: Mapping[str, Any]
    steps: tuple[Step, ...]

    @property
    def overlay(self) -> bool:
        """Whether the pod network is an overlay."""
        return str(self.settings["networkType"]).lower() == "overlay"

    @property
    def dsr_capable(self) -> bool:
        """Whether HNS knows DSR."""
        version = tuple(self.settings["hnsVersion"])
        return any(first <= version < end for first, end in DSR_SINCE)

    @property
    def modifies(self) -> bool:
        """Whether HNS changes load balancers in place."""
        return tuple(self.settings["hnsVersion"]) >= MODIFY_SINCE

    @property
    def limit(self) -> int:
        """Destinations that HNS takes in a load balancer."""
        return self.settings.get("limit") or UNLIMITED

    @property
    def pods(self) -> tuple[tuple[str, ...], ...]:
        """The addresses of each local Pod."""
        return tuple(tuple(one) for one in self.settings["local"])

    def __str__(self) -> str:
        """Name the case with its settings."""
        dsr = "DSR" if self.settings["enableDSR"] else "no DSR"
        version = ".".join(map(str, self.settings["hnsVersion"]))
        return f"{self.name} ({self.settings['networkType']}, {dsr}, HNS {version})"


class NoRecordingError(ValueError):
    """A line is no recorded case; the message says which and why."""


def read(path: Path) -> Iterator[Case]:
    """Yield the cases of a file, which may be compressed."""
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield _read(f"{path}:{number}", line)
    except (OSError, UnicodeDecodeError, EOFError) as error:
        raise NoRecordingError(f"{path} cannot be read: {error}") from error


def _read(place: str, line: str) -> Case:
    try:
        return _case(json.loads(line))
    except json.JSONDecodeError as error:
        raise NoRecordingError(f"{place} is not JSON: {error}") from error
    except KeyError as error:
        raise NoRecordingError(f"{place} is no recorded case: it lacks {error}") from error
    except (AttributeError, TypeError) as error:
        raise NoRecordingError(f"{place} is no recorded case: {error}") from error


def _case(item: Object) -> Case:
    steps = tuple(
        Step(
            services=tuple(step.get("services") or ()),
            slices=tuple(step.get("slices") or ()),
            balancers=frozenset(map(_balancer, step.get("loadBalancers") or ())),
        )
        for step in item["steps"]
    )
    settings = item["settings"]
    for key in NEEDED:
        settings[key]
    return Case(name=item["name"], settings=settings, steps=steps)


def _balancer(item: Object) -> Balancer:
    return Balancer(
        vip=item["vip"],
        protocol=item["protocol"].lower(),
        external_port=item["externalPort"],
        internal_port=item["internalPort"],
        flags=frozenset(item["flags"] or ()),
        backends=tuple(sorted(GONE if "?" in one else one for one in item["backends"] or ())),
        source_vip=item["sourceVIP"],
    )
