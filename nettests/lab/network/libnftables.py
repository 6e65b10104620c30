"""The library behind ``nft``, called in the lab's own process.

A sweep over hundreds of nodes loads thousands of small changes, and half of what each took was to start a process:
loading libraries, and reading the tables of names in ``/etc/iproute2``. The library does the same with the same texts.
Where it is missing, ``nft`` is run (``network.nft``), which finds and words what is wrong. No rule is known here.
"""

import ctypes
from functools import cache
from typing import Any

_NAME = "libnftables.so.1"
_TEXT, _CONTEXT, _FLAGS, _NUMBER = ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int
# libnftables(3): result and arguments of what is called.
_CALLS: dict[str, tuple[Any, list[Any]]] = {
    "nft_ctx_new": (_CONTEXT, [_FLAGS]),
    "nft_ctx_free": (None, [_CONTEXT]),
    "nft_ctx_buffer_output": (_NUMBER, [_CONTEXT]),
    "nft_ctx_buffer_error": (_NUMBER, [_CONTEXT]),
    "nft_ctx_get_output_buffer": (_TEXT, [_CONTEXT]),
    "nft_ctx_get_error_buffer": (_TEXT, [_CONTEXT]),
    "nft_run_cmd_from_buffer": (_NUMBER, [_CONTEXT, _TEXT]),
}


class RefusedError(Exception):
    """The kernel, or the library, refused a ruleset; the text is the library's."""


class Library:
    """The loaded library; other threads run on while it works."""

    def __init__(self, loaded: ctypes.CDLL) -> None:
        self._calls = loaded
        for name, (result, arguments) in _CALLS.items():
            call = getattr(loaded, name)
            call.restype, call.argtypes = result, arguments

    def run(self, ruleset: str) -> str:
        """Apply a ruleset in the calling thread's network namespace; return what ``nft`` would print.

        A context holds a socket in the namespace, which would keep it: it goes with the call.
        """
        calls = self._calls
        context = calls.nft_ctx_new(0)
        if not context:
            raise RefusedError("libnftables made no context")
        try:
            calls.nft_ctx_buffer_output(context)
            calls.nft_ctx_buffer_error(context)
            if calls.nft_run_cmd_from_buffer(context, ruleset.encode()):
                raise RefusedError(_read(calls.nft_ctx_get_error_buffer(context)))
            return _read(calls.nft_ctx_get_output_buffer(context))
        finally:
            calls.nft_ctx_free(context)


def _read(text: bytes | None) -> str:
    return (text or b"").decode(errors="replace").strip()


@cache
def find_library() -> Library | None:
    """Return the library, if this machine has it where programs look for libraries."""
    try:
        return Library(ctypes.CDLL(_NAME))
    except (OSError, AttributeError):  # it is missing, or is another than its name says
        return None
