"""Which flows and checks a user chose: by patterns, or as failed in an earlier run. Pure.

A pattern is a name with ``*`` and ``?`` as in a shell; with ``!`` in front it excludes what it
matches. ``registry`` uses it for flows, ``session.blueprint`` for the checks of a plan.
"""

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from nettests.errors import PlanError
from nettests.model.check import Check, Plan
from nettests.model.facts import ClusterFacts
from nettests.model.nearest import meant, nearest
from nettests.model.words import CheckClass
from nettests.plan.selection import select

EXCLUDED = "!"
NEAR = 3
"""How many near misses an error names."""


def chosen_of(names: Iterable[str], patterns: Sequence[str], error: str) -> frozenset[str]:
    """Return the names that a pattern and no ``!`` pattern matches; without patterns, all.

    ``PlanError``, beginning with ``error``, for a pattern without a match, and if nothing is left.
    """
    listed = sorted(names)
    kept = frozenset[str]() if any(not p.startswith(EXCLUDED) for p in patterns) else {*listed}
    left_out: set[str] = set()
    for pattern in patterns:
        matching = {name for name in listed if fnmatchcase(name, pattern.removeprefix(EXCLUDED))}
        if not matching:
            raise PlanError(f"{error} {pattern!r}", hint=_mended(pattern, listed))
        if pattern.startswith(EXCLUDED):
            left_out |= matching
        else:
            kept |= matching
    if listed and not kept - left_out:
        raise PlanError(f"nothing is left of {' '.join(patterns)}", hint="leave less out")
    return frozenset(kept - left_out)


def _mended(pattern: str, names: Sequence[str]) -> str:
    if "," in pattern:
        return f"repeat the option for each one: {' and '.join(pattern.split(','))}"
    return near(pattern, names)


def near(pattern: str, names: Sequence[str]) -> str:
    """Return a hint with the names that are most similar to a pattern."""
    word = pattern.strip("!*")
    holding = [name for name in names if word and word in name][:NEAR]
    if holding:
        return meant(holding)
    many = "`nettests plan` lists the ids" if any("/" in name for name in names) else ""
    return nearest(word, names, what="there are", otherwise=many, most=NEAR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Checks by patterns of their ids, and by the result of an earlier ``run``.

    ``again`` has the ids to repeat with the members, or none to repeat them all. With the earlier
    run's ``seed``, checks have the same members.
    """

    patterns: tuple[str, ...] = ()
    run: str = ""
    again: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    seed: int | None = None
    sample: int | None = None
    """How many members of each check of a class other than ``default`` are run."""

    def require_flows(self, flows: Iterable[str]) -> None:
        """Raise ``PlanError``, before planning, for a pattern that no check of ``flows`` matches."""
        listed = sorted(flows)
        for pattern in self.patterns:
            start = re.split(r"[*?[]", pattern.removeprefix(EXCLUDED))[0]
            if not any(flow.startswith(start) or start.startswith(f"{flow}/") for flow in listed):
                raise PlanError(
                    f"--check: no flow has a check that matches {pattern!r}",
                    hint=near(start.partition("/")[0], listed),
                )

    def of(self, plan: Plan, facts: ClusterFacts) -> Plan:
        """Return the chosen part of a plan with what it needs; ``PlanError`` if that is nothing."""
        if not self.patterns and not self.run and self.sample is None:
            return plan
        ids = [*(check.id for check in plan.checks), *(skip.id for skip in plan.skips)]
        chosen = chosen_of(ids, self.patterns, "--check: this cluster has no check that matches")
        if self.run:
            chosen &= self.again.keys()
            if not chosen:
                raise PlanError(
                    f"no check that failed in {self.run} is planned here",
                    hint="is it the same cluster, with the same --enable, --flow and --suite?",
                )
        checks = tuple(
            self._narrowed(check, facts.fleet.seed) for check in plan.checks if check.id in chosen
        )
        return select(replace(plan, checks=checks), facts, chosen)

    def _narrowed(self, check: Check, seed: int) -> Check:
        wanted = {*self.again.get(check.id, ()), *self._sampled(check, seed)}
        members = tuple(member for member in check.members if member.label in wanted)
        return replace(check, members=members or check.members)

    def _sampled(self, check: Check, seed: int) -> Sequence[str]:
        """Return the members that the run's seed chooses; none if all are run."""
        labels = [member.label for member in check.members]
        optional = check.check_class is not CheckClass.DEFAULT
        if self.run or not optional or self.sample is None or self.sample >= len(labels):
            return ()
        return random.Random(f"{seed} {check.id}").sample(labels, self.sample)  # noqa: S311 - no secret
