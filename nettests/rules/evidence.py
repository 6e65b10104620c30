"""A configuration rule, its evidence and its finding: recorded texts, known facts, a result.

A rule is declared on the function that is its demand: a pure function of ``Evidence``. Nothing is
guessed: a reading that was not taken, invalid JSON and unknown facts raise ``UnreadableError``, and
the check becomes ``unknown``.
"""

import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any

from nettests.errors import NettestsError
from nettests.model import ports
from nettests.model.facts import Network
from nettests.model.json_text import Object, read_json
from nettests.model.permission import Permission
from nettests.model.versions import KubernetesVersion
from nettests.rules.readings import UNEXPECTED, Reading, permission_of
from nettests.rules.subjects import Subject


class UnreadableError(NettestsError):
    """The evidence does not show what the rule tests."""


class NothingThereError(UnreadableError):
    """What the rule is about does not exist here: its check is skipped and never passes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of a rule: whether the demand is met, with both sides in ``detail``."""

    conforms: bool
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Reduced readings by name, problems of missing ones, and ``facts`` from discovery."""

    texts: Mapping[str, str]
    problems: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)

    def text(self, reading: Reading) -> str:
        """Return a reading's text."""
        if reading.name in self.texts:
            text = self.texts[reading.name]
            if text.startswith(UNEXPECTED):
                raise UnreadableError(f"{reading.name} has an unknown form {text}")
            return text
        raise UnreadableError(self.problems.get(reading.name, f"{reading.name} was not read"))

    def was_taken(self, reading: Reading) -> bool:
        """Whether the reading was tried here, successfully or not."""
        return reading.name in self.texts or reading.name in self.problems

    def object(self, reading: Reading) -> Object:
        """Return a reading that is one JSON object."""
        loaded = self._json(reading)
        if not isinstance(loaded, dict):
            raise UnreadableError(f"{reading.name} is not a JSON object")
        return loaded

    def items(self, reading: Reading) -> list[Object]:
        """Return the items of a list from the API server."""
        listed = self.object(reading).get("items")
        if not isinstance(listed, list):
            raise UnreadableError(f"{reading.name} is not a list from the API server")
        return listed

    def fact(self, name: str) -> str:
        """Return a fact."""
        if name in self.facts:
            return self.facts[name]
        raise UnreadableError(f"{name} is not known")

    def networks(self, name: str) -> tuple[Network, ...]:
        """Return a fact that is a list of networks."""
        return tuple(ipaddress.ip_network(text) for text in self.fact(name).split(","))

    def version(self, name: str) -> KubernetesVersion:
        """Return a fact that is a version."""
        return KubernetesVersion.parse(self.fact(name))

    def _json(self, reading: Reading) -> Any:
        text = self.text(reading)
        try:
            return _loaded(text)
        except ValueError as error:
            raise UnreadableError(f"{reading.name} is not JSON: {text[:80]!r}") from error


@lru_cache(maxsize=16)
def _loaded(text: str) -> Any:
    """Parse once what several rules, and one rule for each Service, look at."""
    return read_json(text)


def finding(
    conforms: bool,  # noqa: FBT001
    observed: str,
    demand: str,
    *,
    of: int,
    by: str = "the documents demand",
) -> Finding:
    """Return a finding that says what was found and what the documents demand.

    ``of`` is the number of objects that the rule looked at, or 1 for one object that may be
    missing. A rule that looked at none must not pass. ``by`` names who demands it, if no document
    does.
    """
    if conforms and not of:
        raise NothingThereError(f"there is nothing to compare: {demand}")
    return Finding(conforms=conforms, detail=f"found {observed}; {by} {demand}")


def name_of(item: Object) -> str:
    """Return namespace and name of an object."""
    return f"{item['metadata'].get('namespace', '')}/{item['metadata']['name']}"


Demand = Callable[[Evidence], Finding]


@dataclass(frozen=True, slots=True)
class Rule:
    """One documented rule.

    ``name`` is the label of its case in check ids. ``about`` is what a node and its cluster must
    all be for the rule to apply. ``reads`` is the evidence for ``demand``. ``remedy`` says what to
    do if the configuration deviates, in the documents' terms. ``beside_pod`` wants a Pod of the run
    on the node.
    """

    name: str
    about: tuple[Subject, ...]
    reads: tuple[Reading, ...]
    demand: Demand
    remedy: str
    beside_pod: bool = False

    @property
    def permissions(self) -> tuple[Permission, ...]:
        """The permissions that its readings need, each once."""
        needed = map(permission_of, self.reads)
        return tuple(dict.fromkeys(permission for permission in needed if permission is not None))


def rule(
    *, about: tuple[Subject, ...], reads: tuple[Reading, ...], beside_pod: bool = False
) -> Callable[[Demand], Rule]:
    """Declare a rule on its demand, whose docstring states it and whose name the rule gets."""

    def declare(demand: Demand) -> Rule:
        name = demand.__name__.replace("_", "-")
        remedy = _REMEDIES[name].format(ports=ports)
        return Rule(name, about, reads, demand, remedy, beside_pod)

    return declare


_LINES = (files("nettests.rules") / "remedies.txt").read_text("utf-8").splitlines()
_REMEDIES = dict(line.split(": ", 1) for line in _LINES if not line.startswith("#"))
"""What repairs the configuration, by rule name."""
