"""The command line: ``nettests run | preflight | plan | render | images | lab`` and more.

Only words here: arguments in, text out. A run is pytest with our plugin; the lab is another program.
"""

import click

from nettests import __version__
from nettests.cli.errors import Commands

__all__ = ["main"]

HOMES = {
    "run": "nettests.cli.run",
    "preflight": "nettests.cli.preflight",
    "plan": "nettests.cli.inspect",
    "render": "nettests.cli.render",
    "images": "nettests.cli.images",
    "discover": "nettests.cli.inspect",
    "explain": "nettests.cli.explain",
    "diagnose": "nettests.cli.diagnose",
    "rejudge": "nettests.cli.rejudge",
    "catalogue": "nettests.cli.catalogue",
    "lint": "nettests.cli.catalogue",
    "gc": "nettests.cli.gc",
    "lab": "nettests.cli.lab",
}
"""The module of each command, which has the command's name there; in the order of ``--help``."""


@click.group(cls=Commands, homes=HOMES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="nettests")
def main() -> None:
    """Does Windows networking in this Kubernetes cluster behave as documented?

    See it at work on an emulated cluster: nettests run --lab. Then test your own:
    nettests run --kubeconfig FILE.
    """
