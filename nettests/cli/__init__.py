"""The command line: ``nettests run | preflight | plan | render | images | lab`` and more.

Arguments in, text out; no logic. ``run`` is pytest with our plugin; ``lab`` is a separate program.
"""

import click

from nettests import __version__
from nettests.cli.command_group import Commands

__all__ = ["main"]

HOMES = {
    "run": "nettests.cli.run_command",
    "watch": "nettests.cli.watch_command",
    "preflight": "nettests.cli.preflight_command",
    "calibrate": "nettests.cli.calibrate_command",
    "plan": "nettests.cli.discover_commands",
    "render": "nettests.cli.render_command",
    "images": "nettests.cli.images_command",
    "discover": "nettests.cli.discover_commands",
    "explain": "nettests.cli.explain_command",
    "diagnose": "nettests.cli.diagnose_command",
    "trace": "nettests.cli.trace_command",
    "rejudge": "nettests.cli.rejudge_command",
    "export": "nettests.cli.export_command",
    "diff": "nettests.cli.diff_command",
    "forecast": "nettests.cli.forecast_command",
    "history": "nettests.cli.history_command",
    "baseline": "nettests.cli.baseline_commands",
    "conformance": "nettests.cli.conformance_commands",
    "archive": "nettests.cli.archive_command",
    "job": "nettests.cli.job_commands",
    "sonobuoy": "nettests.cli.sonobuoy_commands",
    "catalogue": "nettests.cli.catalogue_commands",
    "lint": "nettests.cli.catalogue_commands",
    "gc": "nettests.cli.gc_command",
    "lab": "nettests.cli.lab_command",
}
"""The module of each command, in the order of ``--help``; the command has its own name there."""


@click.group(cls=Commands, homes=HOMES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="nettests")
@click.option("--debug", is_flag=True, envvar="NETTESTS_DEBUG", help="Show tracebacks.")
def main(*, debug: bool) -> None:
    """Does Windows networking in this Kubernetes cluster behave as documented?

    See it at work on an emulated cluster: nettests run --lab. Then test your own:
    nettests run --kubeconfig FILE.
    """
