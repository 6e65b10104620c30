"""The command line: ``nettests run | preflight | plan | render | images | lab`` and more.

Only words here: arguments in, text out. A run is pytest with our plugin; the lab is another program.
"""

import click

from nettests import __version__
from nettests.cli.catalogue import catalogue, lint
from nettests.cli.diagnose import diagnose
from nettests.cli.errors import Commands
from nettests.cli.explain import explain
from nettests.cli.gc import gc
from nettests.cli.images import images
from nettests.cli.inspect import discover, plan
from nettests.cli.lab import lab
from nettests.cli.preflight import preflight
from nettests.cli.rejudge import rejudge
from nettests.cli.render import render
from nettests.cli.run import run

__all__ = ["main"]


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="nettests")
def main() -> None:
    """Does Windows networking in this Kubernetes cluster behave as documented?

    See it at work on an emulated cluster: nettests run --lab. Then ask your own:
    nettests run --kubeconfig FILE.
    """


COMMANDS = (
    *(run, preflight, plan, render, images, discover, explain, diagnose, rejudge),
    *(catalogue, lint, gc, lab),
)
for command in COMMANDS:
    main.add_command(command)
