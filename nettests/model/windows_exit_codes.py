"""Exit codes of processes on Windows, in words. Values.

A Windows process that the system ends has an NTSTATUS as its exit code, and Kubernetes shows its 32 bits as a signed number:
-1073741515 is 0xc0000135. Names and values: Microsoft, [MS-ERREF] 2.3.1 "NTSTATUS Values"; signed in the API:
kubernetes/kubernetes#72696.
"""

_NTSTATUS = {
    0x40010004: "DBG_TERMINATE_PROCESS: ended by the system, as when its node is shut down",
    0xC0000005: "STATUS_ACCESS_VIOLATION: it accessed memory that is not its own",
    0xC0000017: "STATUS_NO_MEMORY: the node lacks memory",
    0xC000001D: "STATUS_ILLEGAL_INSTRUCTION: it is built for another processor",
    0xC0000022: "STATUS_ACCESS_DENIED: its account may not do that",
    0xC0000034: "STATUS_OBJECT_NAME_NOT_FOUND: a file or an object that it needs is missing",
    0xC000007B: "STATUS_INVALID_IMAGE_FORMAT: it, or a DLL of it, is no program for this system",
    0xC00000FD: "STATUS_STACK_OVERFLOW: its stack is full",
    0xC000012D: "STATUS_COMMITMENT_LIMIT: the node's memory and paging file are used up",
    0xC0000135: "STATUS_DLL_NOT_FOUND: a DLL that it needs is missing, as in an image of another Windows build",
    0xC0000139: "STATUS_ENTRYPOINT_NOT_FOUND: a DLL that it needs is of another version",
    0xC000013A: "STATUS_CONTROL_C_EXIT: it was told to end",
    0xC0000142: "STATUS_DLL_INIT_FAILED: a DLL that it needs does not start",
    0xC0000374: "STATUS_HEAP_CORRUPTION: it destroyed its own memory",
    0xC0000409: "STATUS_STACK_BUFFER_OVERRUN: it ended itself after an error",
}


def is_crash(code: int | None) -> bool:
    """Whether an exit code is a known NTSTATUS: the system ended the process, and its output says nothing."""
    return code is not None and code & 0xFFFFFFFF in _NTSTATUS


def exit_code_in_words(code: int) -> str:
    """Return an exit code; that of a Windows process that did not end by itself in hexadecimal too, with its name if known."""
    unsigned = code & 0xFFFFFFFF
    name = _NTSTATUS.get(unsigned)
    if name is None and unsigned < 0xC0000000:
        return str(code)
    return f"{code} ({unsigned:#010x}{f' {name}' if name else ''})"
