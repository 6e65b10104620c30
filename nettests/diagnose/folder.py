"""Write files below one folder and nowhere else, whatever already exists there.

Each part of a path is opened relative to the descriptor of its parent, and no symbolic link is followed, so that a
prepared folder leads nowhere (openat(2), O_NOFOLLOW).

A name that is safe on every file system is kept. Any other is reduced to its safe characters plus a digest. Safe
names contain no ``~``, so the two kinds never collide.

API objects as people read them: YAML, events as lines, Pods as a table; the line that says what was cut.
"""

import hashlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from nettests.model.yaml_writing import write_yaml
from nettests.private import FILE, FOLDER, make_folder

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


def write_below(top: Path, parts: Sequence[str], data: bytes) -> None:
    """Write ``data`` to the file that ``parts`` name below ``top``; ``OSError`` for what leads elsewhere."""
    for part in parts:
        if part in {"", ".", ".."} or "/" in part or "\0" in part:
            raise OSError(0, f"{part!r} is no name of a file")
    make_folder(top)
    with ExitStack() as opened:
        here = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        opened.callback(os.close, here)
        for part in parts[:-1]:
            here = _open_folder(here, part)
            opened.callback(os.close, here)
        descriptor = os.open(parts[-1], _FILE, mode=FILE, dir_fd=here)
        os.fchmod(descriptor, FILE)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)


def _open_folder(parent: int, name: str) -> int:
    created = True
    try:
        os.mkdir(name, mode=FOLDER, dir_fd=parent)
    except FileExistsError:
        created = False
    here = os.open(name, _FOLDER, dir_fd=parent)
    if created:
        os.fchmod(here, FOLDER)  # the umask may have taken the owner's rights too
    return here


LENGTH = 120
"""Characters at most. File systems allow 255 bytes; a suffix such as ``-2`` must have room."""
_HARMLESS = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_OTHERS = re.compile(r"[^A-Za-z0-9._-]+")
_KEPT = 60
_DIGEST = 16


def safe_name(name: str) -> str:
    """Return one path segment for ``name``: equal for equal names, different for different ones.

    samples: ``windows-1`` stays; ``../../etc/cron.d/x`` becomes ``etc_cron.d_x~0f3c…``.
    """
    if _HARMLESS.fullmatch(name) and len(name) <= LENGTH and not name.endswith("."):
        return name
    kept = _OTHERS.sub("_", name).strip("._-")[:_KEPT]
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:_DIGEST]
    return f"{kept}~{digest}"


Object = Mapping[str, Any]

_NOTE = "[cut: "


def cut_note(what: str) -> str:
    """Return the line, first or last in a file, that says that something is missing from it."""
    return f"{_NOTE}{what}]\n"


def is_whole(text: str) -> bool:
    """Whether a file of the diagnostics holds all that was read: of one that was cut no absence says anything."""
    last = text.rstrip("\n").rpartition("\n")[2]
    return not (text.startswith(_NOTE) or last.startswith(_NOTE))


def as_yaml(objects: Sequence[Object]) -> str:
    """Return objects as YAML documents; none at all says so."""
    if not objects:
        return "# there is none\n"
    return "---\n".join(write_yaml(api_object, width=120) for api_object in objects)


def event_lines(events: Iterable[Object]) -> str:
    """Return events, the oldest first, a line each: when, how often, what, why."""
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
    """Return Pods as a table: where, phase, Ready containers, restarts, address."""
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
