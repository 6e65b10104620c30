"""Which flows and checks a user chose: by patterns, or those that a former run left red. Pure.

A pattern is a name with ``*`` and ``?`` as in a shell; ``!`` before it leaves out what it matches. ``registry`` chooses
flows by it, ``session.blueprint`` the checks of a plan.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from nettests.errors import PlanError
from nettests.model.check import Check, Plan
from nettests.model.facts import ClusterFacts
from nettests.model.nearest import meant, nearest
from nettests.plan.selection import select

EXCLUDED = "!"
NEAR = 3
"""Near misses that an error names."""


def chosen_of(names: Iterable[str], patterns: Sequence[str], error: str) -> frozenset[str]:
    """Return the names that a pattern matches and none with ``!`` does; without patterns, all.

    ``PlanError`` for a pattern that matches none, beginning with ``error``, with near misses; also if nothing is left.
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
    """Return a hint with the names that are nearest to the letters of a pattern."""
    word = pattern.strip("!*")
    holding = [name for name in names if word and word in name][:NEAR]
    if holding:
        return meant(holding)
    many = "`nettests plan` lists the ids" if any("/" in name for name in names) else ""
    return nearest(word, names, what="there are", otherwise=many, most=NEAR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Checks by patterns of their ids; ``again`` are those of a former run, ``run``, by id, with the members to repeat.

    Of a check without members in it, all are repeated. ``seed`` is that of the former run, so that it had the same members.
    """

    patterns: tuple[str, ...] = ()
    run: str = ""
    again: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    seed: int | None = None

    def require_flows(self, flows: Iterable[str]) -> None:
        """Raise ``PlanError`` for a pattern that matches no check of any of these flows, before there is a plan."""
        listed = sorted(flows)
        for pattern in self.patterns:
            start = re.split(r"[*?[]", pattern.removeprefix(EXCLUDED))[0]
            if not any(flow.startswith(start) or start.startswith(f"{flow}/") for flow in listed):
                raise PlanError(
                    f"--check: no flow has a check that matches {pattern!r}",
                    hint=near(start.partition("/")[0], listed),
                )

    def of(self, plan: Plan, facts: ClusterFacts) -> Plan:
        """Return the chosen part of a plan with what it needs; ``PlanError`` where that is nothing."""
        if not self.patterns and not self.run:
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
        checks = tuple(self._narrowed(check) for check in plan.checks if check.id in chosen)
        return select(replace(plan, checks=checks), facts, chosen)

    def _narrowed(self, check: Check) -> Check:
        wanted = {*self.again.get(check.id, ())}
        members = tuple(member for member in check.members if member.label in wanted)
        return replace(check, members=members or check.members)
