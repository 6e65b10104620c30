"""What rules read: the form of a request to the API server, of a tool on a node, of a Pod's log.

Each reading is a value that says how it is taken, what it needs to be allowed, and what is kept of it; it stands
beside the rules that use it. ``probes.configuration`` takes readings and is the only one that does. No reading
changes anything.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.model.permission import Permission
from nettests.model.powershell import to_the_end, whole_output
from nettests.model.windows_programs import NodeArgv
from nettests.rules.kept import Keep
from nettests.rules.subjects import Subject, why_not_about

UNEXPECTED = "(not as expected: "
"""How the kept part of a text of unknown form begins."""
LOG_BYTES = 65_536
"""A component prints its flags first, so the beginning of a log is enough."""


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
    """``None`` if a denied reading leaves the rule out anyway."""
    keep: Keep


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """What a tool that every Windows Server has prints in a HostProcess container.

    ``only_where`` spares other nodes the command: rules that read it find their evidence elsewhere there.
    What a tool printed before it failed may be half of what there is, and is not read.
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
    """What a tool prints on each node of the inspected node's pool, by node, as far as it could be read."""

    name: str
    of: ToolOutput
    keep: Keep = str

    @property
    def words(self) -> NodeArgv:
        """The command."""
        return self.of.words


Reading = ApiObjects | ToolOutput | PodLog | OfPeers


def printed_if_there(*patterns: str) -> NodeArgv:
    """Return the words that print files by paths or patterns, and nothing where there is none.

    What goes wrong otherwise ends it badly: that a file is not there is no matter of an exit code, nor of words that
    Windows translates.
    """
    return to_the_end(
        "; ".join(
            f"if (Test-Path -Path '{pattern}') {{ Get-Content -Path '{pattern}' }}"
            for pattern in patterns
        )
    )


def newest_last(pattern: str, lines: int) -> NodeArgv:
    """Return the words that print the last lines of logs, that of the newest last, and nothing where there is none.

    By when they were created, which a kubelet does for each start of a container: their names are counted from 0, and 10
    sorts before 9; when a file that is open was written last, its folder need not know.
    """
    return to_the_end(
        f"if (Test-Path -Path '{pattern}') "
        f"{{ Get-ChildItem -Path '{pattern}' | Sort-Object -Property CreationTime | Get-Content -Tail {lines} }}"
    )


def permission_of(reading: Reading) -> Permission | None:
    """Return the permissions that a reading needs; tools need those of every question from a node."""
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
    """Return the request for the beginning of a container's log."""
    return Request(
        path=f"/api/v1/namespaces/{namespace}/pods/{pod}/log",
        query={"container": container, "limitBytes": str(LOG_BYTES)},
    )


def reduced(reading: Reading, text: str) -> str:
    """Return what is kept of a reading's text; a text of unexpected form, or cut short, is left out."""
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
