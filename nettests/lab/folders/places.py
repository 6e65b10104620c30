"""Which folder holds the folders of labs: one that only this user owns, even if another user took the usual name.

In this order: ``$XDG_RUNTIME_DIR/nettests-lab``, and then no other, where ``XDG_RUNTIME_DIR`` is this user's;
``nettests-lab-<uid>`` in the folder for temporary files, with the user's own id, outside a user namespace in which they may
be root; ``$XDG_STATE_HOME/nettests-lab`` (``~/.local/state``), where the second belongs to another user. Labs are found in
both of the last two. A folder of this user's that is open to others, or a link, is an error.
"""

import os
import tempfile
from pathlib import Path

from nettests.lab.errors import StateError
from nettests.lab.folders import private

_UID_MAP = Path("/proc/self/uid_map")


def candidates() -> tuple[Path, ...]:
    """Return where labs may be noted, the usual place first."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and _is_ours(Path(runtime)):
        return (Path(runtime) / "nettests-lab",)
    user = real_user(os.geteuid(), _UID_MAP.read_text(encoding="ascii"))
    return (
        Path(tempfile.gettempdir()) / f"nettests-lab-{user}",
        *(home / "nettests-lab" for home in _state_homes()),
    )


def existing() -> tuple[Path, ...]:
    """Return the folders of this user in which labs are noted; those of others are left alone."""
    folders = tuple(place for place in candidates() if private.owner(place) == os.geteuid())
    for place in folders:
        with private.opened(place):
            pass
    return folders


def usable() -> Path:
    """Return where a new lab is noted; it need not exist yet."""
    for place in candidates():
        match private.owner(place):
            case None:
                return place
            case user if user == os.geteuid():
                with private.opened(place):
                    return place
            case _:
                continue
    raise StateError(
        f"There is no place for the lab's files: {' and '.join(map(str, candidates()))} "
        "belong to somebody else.",
        hint="Set XDG_RUNTIME_DIR to a folder of yours.",
    )


def make(place: Path) -> None:
    """Make the folder if it is not there; ``private.opened`` checks what is."""
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.mkdir(mode=0o700, exist_ok=True)
    except FileExistsError:
        return  # it is no folder, and is refused when it is opened
    except OSError as error:
        raise StateError(
            f"Cannot make {place} for the lab's files: {error.strerror}.",
            hint="Set XDG_RUNTIME_DIR to a folder of yours.",
        ) from error


def passed_over() -> str:
    """Return a sentence about the usual place when it belongs to somebody else, else nothing."""
    usual = candidates()[0]
    user = private.owner(usual)
    if user in {None, os.geteuid()}:
        return ""
    return f"{usual} belongs to user {user} and is left alone; labs are noted in {usable()}."


def real_user(user: int, uid_map: str) -> int:
    """Return the id that ``user`` has outside their user namespace (user_namespaces(7)).

    Root of a namespace of their own is an ordinary user to everybody else. A namespace within a namespace
    knows the next one only.
    """
    for row in uid_map.splitlines():
        inside, outside, count = map(int, row.split())
        if inside <= user < inside + count:
            return outside + user - inside
    return user


def _is_ours(folder: Path) -> bool:
    try:
        return folder.is_dir() and folder.stat().st_uid == os.geteuid()
    except OSError:
        return False


def _state_homes() -> tuple[Path, ...]:
    stated = os.environ.get("XDG_STATE_HOME")
    if stated:
        return (Path(stated),)
    try:
        return (Path.home() / ".local" / "state",)
    except RuntimeError:  # this user has no home
        return ()
