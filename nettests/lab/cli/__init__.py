"""``nettests lab``: start, stop, list and break emulated clusters.

Thin: it reads arguments, calls ``lifecycle``, ``folders`` and ``topology``, and prints; ``--json`` prints one
object on standard output and nothing else. ``group`` is the command itself; the other modules add to it.
"""

from collections.abc import Sequence

from nettests.lab.cli import clusters, faults
from nettests.lab.cli.group import lab

__all__ = ["clusters", "faults", "lab", "main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line (``python -m nettests.lab``)."""
    lab.main(args=arguments, prog_name="nettests lab")
