"""What rules read: a request to the API server, a tool's output on a node, a Pod's log.

Each reading is a value that says how it is taken, which permission it needs, and what is kept; it
is next to the rules that use it. Only ``probes.configuration`` takes readings. No reading changes
anything.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.model.permission import Permission
from nettests.model.powershell import to_the_end, whole_output
from nettests.model.windows_programs import NodeArgv
from nettests.rules.reduction import Keep
from nettests.rules.subjects import Subject, why_not_about

UNEXPECTED = "(not as expected: "
"""Prefix of what is kept of a text of unexpected form."""
LOG_BYTES = 65_536
"""Bytes of a log: a component prints its flags first, so its start is enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A GET request to the API server."""

    path: str
    query: Mapping[str, str] = field(default_factory=dict)

    @property
    def words(self) -> tuple[str, ...]:
        """The request as the journal records it."""
        query = "&".join(f"{key}={value}" for key, value in self.query.items())
        return ("GET", f"{self.path}?{query}" if query else self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiObjects:
    """Objects from the API server; the request depends on the facts and the inspected node."""

    name: str
    request: Callable[[ClusterFacts, NodeFacts | None], Request]
    permission: Permission | None
    """``None`` if the rule does not apply anyway when the reading is denied."""
    keep: Keep


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """Output of a tool in a HostProcess container, which every Windows Server has.

    ``only_where`` spares other nodes the command: rules find their evidence elsewhere there. Output
    of a failed tool is not read, as it may be incomplete.
    """

    name: str
    words: NodeArgv
    keep: Keep
    only_where: Subject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PodLog:
    """The beginning of the log of the first of ``pods`` whose name begins with ``component``."""

    name: str
    pods: ApiObjects
    component: str
    permission: Permission
    keep: Keep


@dataclass(frozen=True, slots=True, kw_only=True)
class OfPeers:
    """A tool's output on each node of the inspected node's pool, by node, as far as readable."""

    name: str
    of: ToolOutput
    keep: Keep = str

    @property
    def words(self) -> NodeArgv:
        """The command."""
        return self.of.words


Reading = ApiObjects | ToolOutput | PodLog | OfPeers


def printed_if_there(*patterns: str) -> NodeArgv:
    """Return the command that prints files by path or pattern, and nothing if there is none.

    Any other problem is an error: neither exit codes nor messages, which Windows translates,
    distinguish a missing file.
    """
    return to_the_end(
        "; ".join(
            f"if (Test-Path -Path '{pattern}') {{ Get-Content -Path '{pattern}' }}"
            for pattern in patterns
        )
    )


def newest_last(pattern: str, lines: int) -> NodeArgv:
    """Return the command that prints the last lines of logs, newest last; nothing without any.

    Sorted by creation, once per container start: the names count from 0, so 10 sorts before 9, and
    the folder may not know when an open file was last written.
    """
    return to_the_end(
        f"if (Test-Path -Path '{pattern}') "
        f"{{ Get-ChildItem -Path '{pattern}' | Sort-Object -Property CreationTime | Get-Content -Tail {lines} }}"
    )


def permission_of(reading: Reading) -> Permission | None:
    """Return the permission for a reading; ``None`` for tools, as probing a node covers them."""
    match reading:
        case ApiObjects() | PodLog():
            return reading.permission
        case ToolOutput() | OfPeers():
            return None


def is_taken(reading: Reading, facts: ClusterFacts, node: NodeFacts | None) -> bool:
    """Whether a reading applies to this node or cluster."""
    match reading:
        case ApiObjects() | PodLog() | OfPeers():
            return True
        case ToolOutput():
            return reading.only_where is None or not why_not_about(reading.only_where, facts, node)


def log_of(namespace: str, pod: str, container: str) -> Request:
    """Return the request for the start of a container's log."""
    return Request(
        path=f"/api/v1/namespaces/{namespace}/pods/{pod}/log",
        query={"container": container, "limitBytes": str(LOG_BYTES)},
    )


def reduced(reading: Reading, text: str) -> str:
    """Return what is kept of a reading's text; unexpected or truncated text is omitted."""
    text = text.replace("\r\n", "\n")
    whole = whole_output(reading.words, text) if isinstance(reading, ToolOutput) else text
    if whole is None:
        return f"{UNEXPECTED}{len(text)} characters, cut short: the mark of their end is missing)"
    if not whole.strip():
        return ""
    try:
        return reading.keep(whole)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return f"{UNEXPECTED}{len(text)} characters)"
