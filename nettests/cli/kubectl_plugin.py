"""``kubectl nettests``: the same command line as a kubectl plugin, with completion.

kubectl runs the program ``kubectl-nettests`` for ``kubectl nettests …``, and ``kubectl_complete-nettests`` with the
words before the cursor for completion. Commands, options and kubeconfig are those of ``nettests``.
"""

import sys
from enum import IntFlag

from click.shell_completion import CompletionItem, ShellComplete

from nettests import terminal
from nettests.cli import main

NAME = "kubectl nettests"


class Directive(IntFlag):
    """What kubectl's own completion (cobra) does with the candidates; its numbers."""

    FILES = 0
    NO_FILES = 4
    FOLDERS = 16


def plugin() -> None:
    """Run the command line; usage and errors say ``kubectl nettests``."""
    main(prog_name=NAME)


def complete() -> None:
    """Print the candidates for the last word; the last line says what else may be completed."""
    terminal.guard()
    words = sys.argv[1:] or [""]
    completions = ShellComplete(main, {}, NAME, "").get_completions(words[:-1], words[-1])
    for item in completions:
        if item.type == "plain":
            description = f"\t{item.help}" if item.help else ""
            terminal.block(f"{item.value}{description}")
    terminal.line(f":{directive(completions).value}")


def directive(completions: list[CompletionItem]) -> Directive:
    """Return whether kubectl adds files or folders to the completions."""
    kinds = {item.type for item in completions}
    if "file" in kinds:
        return Directive.FILES
    return Directive.FOLDERS if "dir" in kinds else Directive.NO_FILES
