"""Load a ruleset into a namespace in one transaction: by a helper process with libnftables, or by ``nft``.

An update of hundreds of nodes loads thousands of small changes, and half of the time of each would be spent on
starting a program: loading libraries, and reading name tables in ``/etc/iproute2``. The helper is forked from the lab
while that has one thread, and enters the namespace whose descriptor comes with a ruleset. It is not a thread, because
the library waits by ``select``, which aborts the process at a descriptor above 1023, and a lab has thousands. ``nft``
is run if the library is missing or the user names a program; it is the only program that the lab starts. Pure
modules beside this one render the rules.
"""

import ctypes
import os
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from nettests.lab.errors import StartError
from nettests.lab.interfaces import Namespace
from nettests.lab.network import kernel, tables

_NAME = "libnftables.so.1"
_TEXT, _CONTEXT, _FLAGS, _NUMBER = ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int
# libnftables(3): result and arguments of the functions used.
_CALLS: dict[str, tuple[Any, list[Any]]] = {
    "nft_ctx_new": (_CONTEXT, [_FLAGS]),
    "nft_ctx_free": (None, [_CONTEXT]),
    "nft_ctx_buffer_output": (_NUMBER, [_CONTEXT]),
    "nft_ctx_buffer_error": (_NUMBER, [_CONTEXT]),
    "nft_ctx_get_output_buffer": (_TEXT, [_CONTEXT]),
    "nft_ctx_get_error_buffer": (_TEXT, [_CONTEXT]),
    "nft_run_cmd_from_buffer": (_NUMBER, [_CONTEXT, _TEXT]),
}
_HEAD = struct.Struct("=?Q")
"""The head of a message: whether it is a refusal, and the length of the text."""


class _RefusedError(Exception):
    """The kernel, or the library, refused a ruleset; the text is the library's."""


@dataclass(frozen=True, slots=True)
class _Helper:
    """The lab's end of the helper, for one thread at a time; the helper ends when it is closed."""

    channel: socket.socket

    def run(self, namespace: int, ruleset: str) -> str:
        """Apply a ruleset in the namespace of a descriptor; return the output of ``nft``, ``OSError`` without an answer."""
        _send(self.channel, ruleset, namespace=namespace)
        head = self.channel.recv(_HEAD.size, socket.MSG_WAITALL)
        if len(head) < _HEAD.size:
            raise ConnectionResetError("the helper for rules has ended")
        refused, length = _HEAD.unpack(head)
        output = _read(self.channel, length)
        if refused:
            raise NftError(f"nft refused a ruleset: {output}")
        return output


def _start_helper() -> _Helper | None:
    """Fork the helper if the library is installed; only while the process has one thread."""
    if find_library() is None:
        return None
    ours, theirs = socket.socketpair()
    if os.fork() != 0:
        theirs.close()
        return _Helper(ours)
    try:
        kernel.keep_open(theirs.fileno())
        _serve(theirs)
    finally:
        os._exit(0)


def _serve(channel: socket.socket) -> None:
    """Load rulesets until the other end is closed; no namespace is kept open between them."""
    library = find_library()
    assert library is not None
    while True:
        try:
            head, descriptors, _, _ = socket.recv_fds(channel, _HEAD.size, 1, socket.MSG_WAITALL)
            text = _read(channel, _HEAD.unpack(head)[1])
        except (OSError, struct.error):
            return
        namespace = descriptors[0]
        try:
            with kernel.inside_network(namespace):
                output, refused = run(library, text), False
        except _RefusedError as error:
            output, refused = str(error), True
        finally:
            os.close(namespace)
        _send(channel, output, refused=refused)


def _send(
    channel: socket.socket, text: str, *, refused: bool = False, namespace: int | None = None
) -> None:
    data = text.encode()
    head = _HEAD.pack(refused, len(data))
    socket.send_fds(channel, [head], [] if namespace is None else [namespace])
    channel.sendall(data)


def _read(channel: socket.socket, length: int) -> str:
    data = channel.recv(length, socket.MSG_WAITALL) if length else b""
    if len(data) < length:
        raise ConnectionResetError("the other end of the helper for rules is gone")
    return data.decode(errors="replace")


def run(library: ctypes.CDLL, ruleset: str) -> str:
    """Apply a ruleset in the calling thread's network namespace; return the output of ``nft``.

    A context has a socket, which would keep the namespace alive, so each call uses its own.
    """
    context = library.nft_ctx_new(0)
    if not context:
        raise _RefusedError("libnftables made no context")
    try:
        library.nft_ctx_buffer_output(context)
        library.nft_ctx_buffer_error(context)
        if library.nft_run_cmd_from_buffer(context, ruleset.encode()):
            raise _RefusedError(_decoded(library.nft_ctx_get_error_buffer(context)))
        return _decoded(library.nft_ctx_get_output_buffer(context))
    finally:
        library.nft_ctx_free(context)


def _decoded(text: bytes | None) -> str:
    return (text or b"").decode(errors="replace").strip()


@cache
def find_library() -> ctypes.CDLL | None:
    """Return libnftables, or ``None`` if it is not on the library path."""
    try:
        loaded = ctypes.CDLL(_NAME)
        for name, (result, arguments) in _CALLS.items():
            call = getattr(loaded, name)
            call.restype, call.argtypes = result, arguments
    except (OSError, AttributeError):  # missing, or another library of that name
        return None
    return loaded


NFT_VARIABLE = "NETTESTS_NFT"
_SYSTEM_DIRECTORIES = ("/usr/sbin", "/sbin")


class NftError(StartError):
    """``nft`` is missing or refused a ruleset; the text says which."""


@cache
def find_nft() -> str:
    """Return the path of ``nft``: ``$NETTESTS_NFT``, or in ``PATH``, ``/usr/sbin``, ``/sbin``, ``sys.prefix/bin``.

    Debian keeps the system directories out of an ordinary user's ``PATH``; set-up without root unpacks
    ``nft`` into the Python environment's ``bin``.
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

    helper: _Helper | None = None


_HELD = _Held()


def keep_helper() -> None:
    """Load rulesets by a helper from now on, unless ``$NETTESTS_NFT`` is set; for a process with one thread."""
    if not os.environ.get(NFT_VARIABLE):
        _HELD.helper = _start_helper()


def load(fd: int, ruleset: str) -> str:
    """Apply ``ruleset`` atomically in the namespace ``fd``; return the output of ``nft``.

    ``nft`` inherits the calling thread's namespace, so call this where the thread may change it.
    """
    if (helper := _HELD.helper) is not None:
        try:
            return helper.run(fd, ruleset)
        except OSError:
            _HELD.helper = None  # the ruleset is loaded again; a refusal means that it was complete
    with kernel.inside_network(fd):
        done = subprocess.run(
            [find_nft(), "-f", "-"], input=ruleset, capture_output=True, text=True, check=False
        )
    if done.returncode != 0:
        raise NftError(f"nft refused a ruleset: {done.stderr.strip()}")
    return done.stdout


class LoadedTable:
    """One table in one namespace, updated by differences. On the worker thread only."""

    def __init__(self, namespace: Namespace, table: tables.Table) -> None:
        self._namespace = namespace
        self._table = table

    def change_to(self, table: tables.Table) -> None:
        """Bring the kernel's table to ``table``; nothing is loaded if it is unchanged.

        If the difference is refused, because the table was changed by hand, the table is replaced.
        """
        try:
            self._load(tables.transactions(self._table, table))
        except NftError:
            self._load(tables.replacement(table))
        self._table = table

    def _load(self, transactions: Iterable[str]) -> None:
        for text in transactions:
            load(self._namespace.fd, text)
