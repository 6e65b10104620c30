"""The grammar of check ids: they are made and taken apart here alone.

    <flow>/<source>/<target>/<placement>/<protocol>[/<detail>…]   where the target stands somewhere
    <flow>/<source>/<protocol>[/<detail>…]                        where it stands on no node
    <flow>/<place>/<case>                                         where there is no path

An end is a node pool or ``external``; the place of a question to the API server is ``api``. Histories are keyed by
ids, so no part is a build, a version, a plugin, a node, a pod or an address. ``plan.pattern`` says the same of a flow
to people.
"""

EXTERNAL = "external"
"""The place outside the cluster, as a source and as a target."""
API = "api"
"""The place of requests to the API server."""
LEFT_OUT = "left-out"
"""The id suffix of the members of a check that cannot be run while others can."""
SAMPLED = "sampled"
"""The targets that the sampling rule leaves out of a source's checks."""

_SEPARATOR = "/"
_DETAILS, _DETAILS_ON_NO_NODE = 5, 3
_MEMBER = "#"
"""Separates the id of a check from the label of a member, which names nodes: in journals, never in a history."""


def between(source: str, target: str, placement: str) -> str:
    """Return the place of a check between two ends."""
    return _SEPARATOR.join((source, target, placement))


def check_id(flow: str, place: str, *rest: str) -> str:
    """Return the id of a flow's check at a place; ``rest`` is its case, or its protocol and other distinctions."""
    return _SEPARATOR.join((flow, place, *rest))


def parts_of(check: str) -> list[str]:
    """Return the parts of an id, or of a pattern of ids."""
    return check.split(_SEPARATOR)


def flow_of(check: str) -> str:
    """Return the name of the flow that a check belongs to."""
    return parts_of(check)[0]


def details_of(check: str, *, on_no_node: bool = False) -> list[str]:
    """Return the parts after the protocol in a check's id: the suite's own distinctions."""
    return parts_of(check)[_DETAILS_ON_NO_NODE if on_no_node else _DETAILS :]


def member_id(check: str, label: str) -> str:
    """Return the id under which a member of a check is run and recorded."""
    return f"{check}{_MEMBER}{label}"


def parent_of(check: str) -> str:
    """Return the check of a member; for any other check its own id."""
    return check.partition(_MEMBER)[0]


def member_of(check: str) -> str:
    """Return a member's label in its check; empty if it is no member."""
    return check.partition(_MEMBER)[2]
