"""agnhost 2.63.0, the multi-call test program of Kubernetes, as recorded in the project's transcripts.

``command`` reads the command line; one module per sub-command (or family) does the work. Sub-commands
the lab does not provide are refused by name. Behaviour is taken from the transcript and, where it has no
row, from the documented behaviour of agnhost and Go.
"""

from nettests.lab.programs.agnhost.command import run

__all__ = ["run"]
