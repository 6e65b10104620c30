"""PowerShell's command line, as nodes and probe images have it. Pure."""

from nettests.model.windows_programs import NodeArgv, node_argv

POWERSHELL = ("powershell.exe", "-NoProfile", "-NonInteractive", "-Command")
"""No user's profile affects a script, and it never prompts."""


def powershell(script: str) -> NodeArgv:
    """Return the argv of a script, which stays readable as the last word; ``ChangedByCmdError`` as of ``node_argv``.

    Its pipes and ``&`` are safe from ``cmd`` in the quotes that a script with blanks gets; it writes ``[char]34`` for its own.
    """
    return node_argv(*POWERSHELL, script)
