"""The grammar of check ids: they are made and taken apart here alone.

    <flow>/<source>/<target>/<placement>/<protocol>[/<detail>…]   where the target stands somewhere
    <flow>/<source>/<protocol>[/<detail>…]                        where it stands on no node
    <flow>/<place>/<case>                                         where there is no path
    <flow>/<source OS>[/<target OS>]/<protocol>[/<detail>…]       of the fleet: every node of a system is a member

An end is a node pool or ``external``; the place of a question to the API server is ``api``. Histories are keyed by
ids, so no part is a build, a version, a plugin, a node, a pod or an address. ``plan.pattern`` says the same of a flow
to people.
"""

from collections.abc import Iterable

EXTERNAL = "external"
"""What is not in the cluster, as a source and as a target."""
API = "api"
"""The place of questions to the API server."""
LEFT_OUT = "left-out"
"""The members of a check that cannot be run where others can."""
SAMPLED = "sampled"
"""The targets that the sampling rule leaves out of a source's checks."""

_SEPARATOR = "/"
_DETAILS, _DETAILS_ON_NO_NODE = 5, 3
_MEMBER = "#"
"""Between the id of a check and the label of one of its members, which names nodes: in journals, never in a history."""


def between(source: str, target: str, placement: str) -> str:
    """Return the place of a check between two ends."""
    return _SEPARATOR.join((source, target, placement))


def across(systems: Iterable[str]) -> str:
    """Return the place of a check of the fleet: the source's system, and the target's where it has one."""
    return _SEPARATOR.join(systems)


def check_id(flow: str, place: str, *rest: str) -> str:
    """Return the id of a flow's check at a place; ``rest`` is its case, or its protocol and what else tells it apart."""
    return _SEPARATOR.join((flow, place, *rest))


def parts_of(check: str) -> list[str]:
    """Return the parts of an id, or of a pattern of ids."""
    return check.split(_SEPARATOR)


def flow_of(check: str) -> str:
    """Return the name of the flow that a check belongs to."""
    return parts_of(check)[0]


def details_of(check: str, *, on_no_node: bool = False) -> list[str]:
    """Return what follows the protocol in the id of a check: the suite's own distinctions."""
    return parts_of(check)[_DETAILS_ON_NO_NODE if on_no_node else _DETAILS :]


def member_id(check: str, label: str) -> str:
    """Return by which name a member of a check is run and recorded."""
    return f"{check}{_MEMBER}{label}"


def parent_of(check: str) -> str:
    """Return the check that a member belongs to; every other check is its own."""
    return check.partition(_MEMBER)[0]


def member_of(check: str) -> str:
    """Return a member's label in its check, empty for what is no member."""
    return check.partition(_MEMBER)[2]
