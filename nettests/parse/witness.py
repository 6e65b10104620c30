"""Compare two witnesses of a captured connection: the server's answer, and the frames. Pure.

``capture.witnessing`` writes the record: the server's answer, the flow's frames on the nodes of its
path, and what facts say about them. They are compared by subject; which is right is not decided.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nettests.model.json_text import read_json
from nettests.model.observation import Raw, Subject, Witnessed
from nettests.model.words import Outcome
from nettests.parse import curl
from nettests.parse.reading import Reading, one_line, probe_failed
from nettests.parse.sources import same_address

WITNESS = "witness"
"""The name of the tool."""
PLAIN = "plain"
"""A record's encapsulation for a network plugin without one."""
REWRITING = "l2bridge"
"""The driver that rewrites Pods' MAC addresses to the node's (Microsoft, "Windows container network drivers")."""
ITS_SOURCE = frozenset({Subject.SOURCE, Subject.NAT})
"""Every such check compares one of these; without it, the other subjects say too little."""


def read(raw: Raw) -> Reading:
    """Read the server's answer; ``probe_failed`` if the capture has gaps or shows no source."""
    record = _record(raw)
    answer = replace(
        raw,
        exit_code=int(record["exit_code"]),
        stdout=str(record["stdout"]),
        stderr=str(record["stderr"]),
        context={**raw.context, "request": str(record["request"])},
    )
    reading = curl.read(answer)
    if not reading.outcome.positive and not record.get("preserved"):
        return reading
    if record["doubts"]:
        return probe_failed(f"the capture proves nothing: {record['doubts'][0]}")
    comparisons = tuple(_each(_Connection.of(record, reading)))
    if not any(comparison.subject in ITS_SOURCE for comparison in comparisons):
        how = "the server answered" if reading.outcome.positive else "no answer came"
        return probe_failed(f"{how}, and no frame shows the source of its connection")
    return replace(reading, detail=one_line("; ".join(map(str, comparisons))))


def witnessed_in(raws: Sequence[Raw]) -> tuple[Witnessed, ...]:
    """Return the comparisons of the last connection; empty if unanswered or unreadable."""
    try:
        record = _record(raws[-1])
        reading = read(raws[-1])
        if reading.outcome is Outcome.PROBE_FAILED or record["doubts"]:
            return ()
        if not reading.outcome.positive and not record.get("preserved"):
            lost = _lost_tunnel(_Connection.of(record, reading))
            return () if lost is None else (lost,)
        return tuple(_each(_Connection.of(record, reading)))
    except (LookupError, TypeError, ValueError, AttributeError):
        return ()


def _record(raw: Raw) -> Mapping[str, Any]:
    record = read_json(raw.stdout)
    if not isinstance(record, dict):
        raise TypeError("no record of a captured connection")
    return record


Frame = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Connection:
    """The record of one connection, and the source that its server saw."""

    saw: str
    """``address:port`` if the server reported the port."""
    record: Mapping[str, Any]
    requests: tuple[Frame, ...]
    """Requests after the translation of their destination."""
    replies: tuple[Frame, ...]

    @classmethod
    def of(cls, record: Mapping[str, Any], reading: Reading) -> "_Connection":
        port = f":{reading.source_port}" if reading.source_port is not None else ""
        frames: Sequence[Frame] = record["frames"]
        backend = str(record["backend"])
        return cls(
            saw=f"{_bracketed(reading.server_saw)}{port}" if reading.server_saw else "",
            record=record,
            requests=tuple(
                frame
                for frame in frames
                if frame["way"] == "request" and same_address(str(frame["destination"]), backend)
            ),
            replies=tuple(frame for frame in frames if frame["way"] == "reply"),
        )


def _each(connection: _Connection) -> Iterator[Witnessed]:
    comparisons = (
        *(_at_the_backend(connection) if connection.record.get("preserved") else ()),
        *(() if connection.record.get("preserved") else (_source(connection),)),
        _reply(connection),
        _encapsulation(connection),
        _mac(connection),
    )
    return (comparison for comparison in comparisons if comparison is not None)


def _source(connection: _Connection) -> Witnessed | None:
    """Compare the source the server saw with that of packets that left the client's node."""
    if not connection.saw:
        return None
    source, node = connection.record["source_node"], connection.record["backend_node"]
    relevant = [
        request
        for request in connection.requests
        if (request["node"] == node != source) or (request["node"] == source and _leaves(request))
    ]
    outside = connection.record["outside"]
    return _compared(
        Subject.NAT if outside else Subject.SOURCE,
        "the server outside" if outside else "the server",
        connection.saw,
        relevant,
        lambda frame: _end(frame, "source"),
    )


def _at_the_backend(connection: _Connection) -> Iterator[Witnessed | None]:
    """Compare packets at the backend with what the annotation is documented to preserve.

    If the destination was translated all the same, the server's report is compared.
    """
    node, record = connection.record["backend_node"], connection.record
    reached = [
        frame
        for frame in record["frames"]
        if frame["way"] == "request"
        and (frame["node"], frame["edge"]) == (node, "Pod")
        and frame["direction"] != "in"
    ]
    if connection.saw:
        translated = [
            frame for frame in reached if same_address(str(frame["destination"]), record["backend"])
        ]
        yield _compared(
            Subject.SOURCE,
            "the server",
            connection.saw,
            translated,
            lambda frame: _end(frame, "source"),
        )
        return
    yield _compared(
        Subject.DESTINATION,
        "the annotation preserve-destination",
        str(record["requested"]),
        reached,
        lambda frame: _end(frame, "destination"),
    )
    yield _compared(
        Subject.SOURCE,
        "the client",
        str(record["client"]),
        reached,
        lambda frame: str(frame["source"]),
    )


def _reply(connection: _Connection) -> Witnessed | None:
    """Compare the source the server saw with the reply's destination; not for servers outside."""
    if not connection.saw or connection.record["outside"]:
        return None
    node = connection.record["backend_node"]
    back = [reply for reply in connection.replies if reply["node"] == node and _leaves(reply)]
    return _compared(
        Subject.REPLY, "the server", connection.saw, back, lambda frame: _end(frame, "destination")
    )


def _encapsulation(connection: _Connection) -> Witnessed | None:
    """Compare the configured encapsulation with the frames between the nodes."""
    encapsulation = connection.record["encapsulation"]
    if not encapsulation or connection.record["outside"]:
        return None
    ends = {"request": connection.record["backend_node"], "reply": connection.record["source_node"]}
    crossing = [
        frame
        for frame in (*connection.requests, *connection.replies)
        if frame["tunnel"] or _leaves(frame)
    ]
    if not crossing:
        return None

    def as_configured(frame: Frame) -> bool:
        tunnel = frame["tunnel"]
        if encapsulation == PLAIN or tunnel is None:
            return bool(encapsulation == PLAIN) is (tunnel is None)
        vni = connection.record["vni"]
        towards = ",".join(connection.record["nodes"].get(ends[frame["way"]], ()))
        return (
            tunnel["kind"].lower() == encapsulation
            and vni in {None, tunnel["vni"]}
            and same_address(str(tunnel["destination"]), towards)
        )

    says = "no encapsulation" if encapsulation == PLAIN else _tunnel(connection)
    other = [frame for frame in crossing if not as_configured(frame)]
    shown = (other or crossing)[0]
    return Witnessed(
        subject=Subject.ENCAPSULATION,
        witness=str(connection.record["told_by"]),
        says=says,
        capture=_place(shown),
        shows=_crossing(shown) if other else says,
        agree=not other,
    )


def _lost_tunnel(connection: _Connection) -> Witnessed | None:
    """Report a tunnel that a request entered at the source's node and never left.

    An underlay network that uses the tunnel's port drops such packets, and so does a firewall. If
    the backend's node shows the request without a tunnel, its NIC may have decapsulated it.
    """
    record = connection.record
    source, node = record["source_node"], record["backend_node"]
    requests = [frame for frame in record["frames"] if frame["way"] == "request"]
    leaving = [frame for frame in requests if frame["node"] == source and frame["tunnel"]]
    sent = [frame for frame in leaving if frame["direction"] != "in"]
    arrived = any(frame["node"] == node for frame in requests)
    if not sent or arrived or record["outside"] or source == node:
        return None
    port = f" (UDP {record['tunnel_port']})" if record.get("tunnel_port") else ""
    return Witnessed(
        subject=Subject.TUNNEL,
        witness=f"the capture on {_place(sent[0])}",
        says=f"{_crossing(sent[0])}{port}",
        capture=str(node),
        shows="none of it",
        agree=False,
    )


def _tunnel(connection: _Connection) -> str:
    vni, kind = connection.record["vni"], str(connection.record["encapsulation"]).upper()
    number = f" {vni}" if vni is not None else ""
    return f"{kind}{number} between the nodes of both ends"


def _crossing(frame: Frame) -> str:
    tunnel = frame["tunnel"]
    if tunnel is None:
        return f"{_end(frame, 'source')} → {_end(frame, 'destination')} without encapsulation"
    return f"{tunnel['kind']} {tunnel['vni']} to {tunnel['destination']}"


def _mac(connection: _Connection) -> Witnessed | None:
    """Compare the driver's rewriting with a packet's MAC address as it leaves the node."""
    if connection.record["driver"] != REWRITING:
        return None
    pod_frames = [
        frame for frame in connection.record["frames"] if _of_pod(frame) and frame["source_mac"]
    ]
    out = [
        request
        for request in connection.requests
        if request["edge"] == "wire" and request["direction"] != "in" and request["source_mac"]
    ]
    same_node = [frame for frame in out if pod_frames and frame["node"] == pod_frames[0]["node"]]
    if not pod_frames or not same_node:
        return None
    kept = [frame for frame in same_node if frame["source_mac"] == pod_frames[0]["source_mac"]]
    shown = (kept or same_node)[0]
    mac, pod = shown["source_mac"], pod_frames[0]["source_mac"]
    return Witnessed(
        subject=Subject.MAC,
        witness=f"the driver {REWRITING}",
        says=f"the node's own instead of the Pod's ({pod})",
        capture=_place(shown),
        shows=f"the Pod's ({mac})" if kept else str(mac),
        agree=not kept,
    )


def _of_pod(frame: Frame) -> bool:
    return bool(frame["way"] == "request" and frame["edge"] == "Pod" and frame["direction"] == "in")


def _leaves(frame: Frame) -> bool:
    if frame["direction"] == "in" or frame["edge"] == "Pod":
        return False
    return bool(frame["edge"] == "wire" or frame["tunnel"])


def _compared(
    subject: Subject,
    witness: str,
    says: str,
    frames: Sequence[Frame],
    shown_by: Callable[[Frame], str],
) -> Witnessed | None:
    """Return both witnesses' statements; the first frame that differs speaks for the capture."""
    if not frames:
        return None
    other = [frame for frame in frames if shown_by(frame) != says]
    shown = (other or frames)[0]
    return Witnessed(
        subject=subject,
        witness=witness,
        says=says,
        capture=_place(shown),
        shows=shown_by(shown),
        agree=not other,
    )


def _place(frame: Frame) -> str:
    return f"{frame['node']}, {frame['interface']}" if frame["interface"] else str(frame["node"])


def _end(frame: Frame, end: str) -> str:
    port = frame[f"{end}_port"]
    return f"{_bracketed(str(frame[end]))}:{port}" if port is not None else str(frame[end])


def _bracketed(address: str | None) -> str:
    return f"[{address}]" if address and ":" in address else address or ""
