"""Load a ruleset into a namespace in one transaction: by the lab's helper, which keeps nft's library, or by ``nft``.

The program is found here in any case, and run where there is no helper or the user names a program; it is the only one
that the lab starts. The rules themselves are rendered by pure modules beside it.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from nettests.lab.errors import StartError
from nettests.lab.interfaces import Namespace
from nettests.lab.network import kernel, tables
from nettests.lab.network.libnftables import Helper, HelperLostError, RefusedError, start_helper

NFT_VARIABLE = "NETTESTS_NFT"
_SYSTEM_DIRECTORIES = ("/usr/sbin", "/sbin")


class NftError(StartError):
    """``nft`` is missing or refused a ruleset; the text says which."""


@cache
def find_nft() -> str:
    """Return the path of ``nft``: ``$NETTESTS_NFT``, ``PATH``, ``/usr/sbin``, ``/sbin``, environment.

    Debian keeps the system directories out of an ordinary user's ``PATH``; set-up without root unpacks
    ``nft`` into the Python environment's own ``bin``.
    """
    stated = os.environ.get(NFT_VARIABLE)
    if stated:
        if os.access(stated, os.X_OK) and Path(stated).is_file():
            return stated
        raise NftError(
            f"{NFT_VARIABLE}={stated}: there is no such program",
            hint="set it to the path of an nft binary, or unset it",
        )
    environment = str(Path(sys.prefix) / "bin")
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), *_SYSTEM_DIRECTORIES, environment))
    program = shutil.which("nft", path=path)
    if program is None:
        raise NftError(
            "nft was not found in PATH, /usr/sbin or /sbin; the lab's Service rules need it",
            hint=f"sudo apt-get install nftables, or name a binary in {NFT_VARIABLE}",
        )
    return program


@dataclass(slots=True)
class _Held:
    """The helper of this process, if one was started."""

    helper: Helper | None = None


_HELD = _Held()


def keep_helper() -> None:
    """Have rulesets loaded by a helper from now on, unless the user names a program; for a process with one thread."""
    if not os.environ.get(NFT_VARIABLE):
        _HELD.helper = start_helper()


def load(fd: int, ruleset: str) -> str:
    """Apply ``ruleset`` atomically in the namespace ``fd``; return what ``nft`` printed, or would.

    The child inherits the calling thread's namespace, so this runs where moving the thread is safe.
    """
    if (helper := _HELD.helper) is not None:
        try:
            return helper.run(fd, ruleset)
        except RefusedError as refused:
            raise NftError(f"nft refused a ruleset: {refused}") from refused
        except HelperLostError:
            _HELD.helper = (
                None  # an unfinished ruleset is loaded again, or is refused because it exists
            )
    with kernel.inside_network(fd):
        done = subprocess.run(
            [find_nft(), "-f", "-"], input=ruleset, capture_output=True, text=True, check=False
        )
    if done.returncode != 0:
        raise NftError(f"nft refused a ruleset: {done.stderr.strip()}")
    return done.stdout


class LoadedTable:
    """One table in one namespace, changed by differences. On the worker thread only."""

    def __init__(self, namespace: Namespace, table: tables.Table) -> None:
        self._namespace = namespace
        self._table = table

    def change_to(self, table: tables.Table) -> None:
        """Bring the kernel's table to ``table``; nothing is loaded when it is unchanged.

        A difference may not fit after somebody changed the table by hand; then it is replaced.
        """
        try:
            self._load(tables.transactions(self._table, table))
        except NftError:
            self._load(tables.replacement(table))
        self._table = table

    def _load(self, transactions: Iterable[str]) -> None:
        for text in transactions:
            load(self._namespace.fd, text)
