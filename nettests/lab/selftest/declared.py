"""What a named fault is: its mechanism, where it makes sense, what must turn, and what it must be called.

Frozen values. A declaration speaks of checks as the harness' ``results.json`` does: by flow, ends, protocol.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

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
        """Whether a check is one of these."""
        wanted = (
            (self.source, check.source),
            (self.target, check.target),
            (self.protocol, check.protocol),
            (self.placement, check.placement),
            (self.service, check.service),
            (self.verdict, check.verdict),
        )
        return (
            fnmatchcase(check.flow, self.flow)
            and fnmatchcase(check.id, self.id)
            and (not self.node or self.node in {check.source, check.target})
            and all(fnmatchcase(actual, pattern) for pattern, actual in wanted if pattern)
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
