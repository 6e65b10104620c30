"""API objects as text: YAML, events as lines, Pods as a table, and notes about cuts. Pure."""

from collections.abc import Iterable, Sequence

from nettests.model.json_text import Object
from nettests.model.yaml_text import write_yaml

_NOTE = "[cut: "


def cut_note(what: str) -> str:
    """Return the first or last line of a file from which something is missing."""
    return f"{_NOTE}{what}]\n"


def is_whole(text: str) -> bool:
    """Whether a diagnostics file is complete: in a truncated one, an absence means nothing."""
    last = text.rstrip("\n").rpartition("\n")[2]
    return not (text.startswith(_NOTE) or last.startswith(_NOTE))


def as_yaml(objects: Sequence[Object]) -> str:
    """Return objects as YAML documents, or a line that there is none."""
    if not objects:
        return "# there is none\n"
    return "---\n".join(write_yaml(api_object, width=120) for api_object in objects)


def event_lines(events: Iterable[Object]) -> str:
    """Return events, the oldest first, one per line: when, how often, what, why."""
    rows = sorted(
        (
            _moment(event),
            f"×{event.get('count') or 1}",
            str(event.get("type", "")),
            str(event.get("reason", "")),
            " ".join(str(event.get("message", "")).split()),
        )
        for event in events
    )
    return "\n".join("  ".join(row) for row in rows) + "\n" if rows else "there is no event\n"


def _moment(event: Object) -> str:
    for key in ("lastTimestamp", "eventTime", "firstTimestamp"):
        if event.get(key):
            return str(event[key])
    return str(event.get("metadata", {}).get("creationTimestamp", ""))


def pod_lines(pods: Iterable[Object]) -> str:
    """Return Pods as a table: name, phase, Ready containers, restarts, address."""
    rows = [("NAMESPACE", "NAME", "PHASE", "READY", "RESTARTS", "ADDRESS")]
    for pod in pods:
        status = pod.get("status", {})
        containers = status.get("containerStatuses") or []
        ready = sum(bool(container.get("ready")) for container in containers)
        restarts = sum(int(container.get("restartCount", 0)) for container in containers)
        rows.append(
            (
                str(pod["metadata"].get("namespace", "")),
                str(pod["metadata"]["name"]),
                str(status.get("phase", "")),
                f"{ready}/{len(containers)}",
                str(restarts),
                str(status.get("podIP", "")),
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        + "\n"
        for row in rows
    )
