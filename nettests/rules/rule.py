"""One rule of configuration, with everything that belongs to it.

A rule is declared on the function that is its demand: a pure function of recorded text, which finds that something
conforms or deviates, or that it cannot be read. Every part but ``beside_pod`` has to be given.
"""

from collections.abc import Callable
from dataclasses import dataclass

from nettests.model.permission import Permission
from nettests.rules.evidence import Evidence, Finding
from nettests.rules.readings import Reading, permission_of
from nettests.rules.subjects import Subject

Demand = Callable[[Evidence], Finding]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One documented rule.

    ``name`` is the label of its case in check ids. ``about`` is all that a node and its cluster have to be for
    the rule to apply there. ``reads`` is what ``demand`` is given. ``remedy`` is what to do where the
    configuration deviates, in the documents' own terms. ``beside_pod`` wants a Pod of the run on the node, to be
    looked at.
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
    name: str,
    *,
    about: tuple[Subject, ...],
    reads: tuple[Reading, ...],
    remedy: str,
    beside_pod: bool = False,
) -> Callable[[Demand], Rule]:
    """Declare a rule on its demand, whose docstring says what the documents demand."""

    def declare(demand: Demand) -> Rule:
        return Rule(
            name=name,
            about=about,
            reads=reads,
            demand=demand,
            remedy=remedy,
            beside_pod=beside_pod,
        )

    return declare
