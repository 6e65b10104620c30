"""Experiments: a fact, the mechanism of the lab that makes it true, and the checks that must notice.

An experiment switches one mechanism to the other behaviour, not a manifest; exactly the checks that
match its patterns then change their verdict. The table is ``experiments.txt``. Used by
``test_mechanisms`` (several at once, where their checks are apart) and by ``scripts/mechanisms.py``
(each by itself).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """One fact of the catalogue, what to switch on which profile, and patterns of the checks' ids.

    The fact decides those of them whose verdict ``was`` that; ``becomes`` is what it is then.
    """

    fact: str
    profile: str
    switch: str
    checks: tuple[str, ...]
    was: str
    becomes: str
    apart: bool = False
    """Other switches of the profile would disturb it: it is shown in a run of its flows alone."""
    enable: str = ""
    """The class of its flows, where they are not run by default."""
    beside: tuple[str, ...] = ()
    """Flows that are run in the same run apart, for the Pods that they bring; they are not compared."""

    @property
    def flows(self) -> frozenset[str]:
        """The flows of its checks."""
        return frozenset(pattern.partition("/")[0] for pattern in self.checks)

    def concerns(self, check: str, verdict: str) -> bool:
        """Whether the fact decides this check, which had this verdict."""
        return verdict == self.was and any(fnmatchcase(check, name) for name in self.checks)


def changed(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """Return the checks whose verdict is another one, with the new verdict."""
    return {check: after[check] for check in before if after.get(check) != before[check]}


def _row(line: str) -> Experiment:
    fact, profile, switch, verdicts, marks, checks = line.split("; ")
    marked = dict(mark.partition("=")[::2] for mark in marks.split())
    was, becomes = verdicts.split()
    return Experiment(
        fact=fact,
        profile=profile,
        switch=switch,
        checks=tuple(checks.split()),
        was=was,
        becomes=becomes,
        apart="apart" in marked,
        enable=marked.get("enable", ""),
        beside=tuple(filter(None, marked.get("beside", "").split(","))),
    )


EXPERIMENTS = tuple(
    _row(line)
    for line in Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
)
