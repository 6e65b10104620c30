"""The parent folder of labs' folders: one that this user owns, even if another user took the usual name.

If ``XDG_RUNTIME_DIR`` is this user's, it is ``$XDG_RUNTIME_DIR/nettests-lab``. Otherwise it is ``nettests-lab-<uid>`` in the
folder for temporary files, with the user's id outside of user namespaces, or, if that belongs to another user,
``$XDG_STATE_HOME/nettests-lab`` (``~/.local/state``); existing labs are found in both. A folder of this user's that is open to
others, or is a link, is an error.
"""

import os
import tempfile
from pathlib import Path

from nettests.lab.errors import StateError
from nettests.lab.folders import private

_UID_MAP = Path("/proc/self/uid_map")


def candidates() -> tuple[Path, ...]:
    """Return the possible parent folders, the usual one first."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and _is_ours(Path(runtime)):
        return (Path(runtime) / "nettests-lab",)
    user = real_user(os.geteuid(), _UID_MAP.read_text(encoding="ascii"))
    return (
        Path(tempfile.gettempdir()) / f"nettests-lab-{user}",
        *(home / "nettests-lab" for home in _state_homes()),
    )


def existing() -> tuple[Path, ...]:
    """Return the existing parent folders that this user owns; ``NotPrivateError`` if one is not private."""
    folders = tuple(place for place in candidates() if private.owner(place) == os.geteuid())
    for place in folders:
        with private.opened(place):
            pass
    return folders


def usable() -> Path:
    """Return the parent folder for a new lab, which need not exist yet."""
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
    """Create the folder if it does not exist; ``private.opened`` checks an existing one."""
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.mkdir(mode=0o700, exist_ok=True)
    except FileExistsError:
        return  # it is not a folder; opening it fails later
    except OSError as error:
        raise StateError(
            f"Cannot make {place} for the lab's files: {error.strerror}.",
            hint="Set XDG_RUNTIME_DIR to a folder of yours.",
        ) from error


def passed_over() -> str:
    """Return a warning if the usual folder belongs to another user, else ``""``."""
    usual = candidates()[0]
    user = private.owner(usual)
    if user in {None, os.geteuid()}:
        return ""
    return f"{usual} belongs to user {user} and is left alone; labs are noted in {usable()}."


def real_user(user: int, uid_map: str) -> int:
    """Return the id of ``user`` outside of their user namespace (user_namespaces(7)).

    Root in a user namespace is an ordinary user outside. In nested namespaces the result is the id in the
    next outer one.
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
