"""The grammar of check ids; only this module composes and splits them.

    <flow>/<source>/<target>/<placement>/<protocol>[/<detail>…]   if the target is on a node or outside
    <flow>/<source>/<protocol>[/<detail>…]                        if it is on no node
    <flow>/<place>/<case>                                         if there is no path

An end is a node pool or ``external``; requests to the API server have the place ``api``. Histories
are keyed by ids, so no part is a build, version, plugin, node, Pod or address. ``plan.pattern``
explains the same for a flow to people.
"""

EXTERNAL = "external"
"""The place outside the cluster, as source or target."""
API = "api"
"""The place of requests to the API server."""
LEFT_OUT = "left-out"
"""Id suffix of the members of a check that cannot run although others can."""
SAMPLED = "sampled"
"""Id part of the targets that sampling removed from a source's checks."""

_SEPARATOR = "/"
_DETAILS, _DETAILS_ON_NO_NODE = 5, 3
_MEMBER = "#"
"""Separates check id and member label, which names nodes: in journals, never in histories."""


def between(source: str, target: str, placement: str) -> str:
    """Return the place of a check between two ends."""
    return _SEPARATOR.join((source, target, placement))


def check_id(flow: str, place: str, *rest: str) -> str:
    """Return the id of a flow's check; ``rest`` is its case, or protocol and further details."""
    return _SEPARATOR.join((flow, place, *rest))


def parts_of(check: str) -> list[str]:
    """Split an id, or a pattern of ids, into parts."""
    return check.split(_SEPARATOR)


def flow_of(check: str) -> str:
    """Return the flow of a check."""
    return parts_of(check)[0]


def details_of(check: str, *, on_no_node: bool = False) -> list[str]:
    """Return the parts of an id after the protocol: the suite's own details."""
    return parts_of(check)[_DETAILS_ON_NO_NODE if on_no_node else _DETAILS :]


def member_id(check: str, label: str) -> str:
    """Return the id under which a member of a check runs and is recorded."""
    return f"{check}{_MEMBER}{label}"


def parent_of(check: str) -> str:
    """Return the check of a member; other ids are returned unchanged."""
    return check.partition(_MEMBER)[0]


def member_of(check: str) -> str:
    """Return a member's label within its check; empty for any other id."""
    return check.partition(_MEMBER)[2]
