"""Incidents about large numbers (connections, Services) and large packets. Pure.

Used by ``traits``, for what checks share, by ``phrases`` and by ``steps``.
"""

from collections.abc import Iterator, Sequence
from typing import assert_never

from nettests.model.check import Check
from nettests.model.measured import PathSize, SizeFinding
from nettests.model.service import Crowd
from nettests.report.results import CheckResult

CONNECTIONS = "Many connections from Pods"
SERVICES = "Many Services"
BESIDE = "Connections to a Service among many Services"
REMOVED = "Services that were removed"


def much_of(check: Check) -> str:
    """Return what a check uses many of, as the subject of a sentence; empty for other checks."""
    if not check.action.question.exhausts:
        return ""
    settings = check.target.settings
    crowd = settings.crowd if settings is not None else None
    match crowd:
        case None:
            return CONNECTIONS
        case Crowd.SERVED:
            return SERVICES
        case Crowd.BESIDE:
            return BESIDE
        case Crowd.REMOVED:
            return REMOVED
        case _:
            assert_never(crowd)


def amount_sentence(what: str, node: str, system: str, happens: str, *, judged: bool) -> str:
    """Return the cause as one sentence, about one node or the nodes of one OS."""
    where = f" on {node}" if node else f" on {system.capitalize()} nodes" if system else ""
    if not judged:
        return f"{what}{where} {happens}"
    if what == REMOVED:
        return f"{what} have left rules behind{where}"
    if what == SERVICES:
        return f"Of many Services, some are not served{where}"
    if what == CONNECTIONS:
        return f"Of many connections from Pods{where}, those beyond a limit {happens}"
    return f"{what}{where} {happens}"


_LIMITED = frozenset({SizeFinding.HOLE, SizeFinding.CLAMP})
"""Findings of a path MTU search that a smaller MTU would repair."""


def limits_of(results: Sequence[CheckResult]) -> tuple[int, ...]:
    """Return the largest packet sizes that passed where larger ones did not."""
    searched = (size for size in sizes_of(results) if size.finding in _LIMITED)
    return tuple(size.passes for size in searched)


def sizes_of(results: Sequence[CheckResult]) -> Iterator[PathSize]:
    """Yield the results of path MTU searches."""
    for result in results:
        if result.observation is not None and result.observation.path_size is not None:
            yield result.observation.path_size
