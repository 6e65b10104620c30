"""The command line: ``nettests run | preflight | plan | render | images | lab`` and more.

Arguments in, text out; no logic. ``run`` is pytest with our plugin; ``lab`` is a separate program.
"""

import click

import nettests
from nettests.cli.command_group import Commands

__all__ = ["main"]

COMMANDS = {
    "Test": {
        "run": ("run_command", "Test a cluster, judge what it does, write reports."),
        "watch": ("watch_command", "Test a cluster again and again, in rounds."),
        "preflight": ("preflight_command", "Check whether a run can start on a cluster."),
        "calibrate": (
            "calibrate_command",
            "Check whether the tools of a cluster's nodes are understood.",
        ),
        "lab": ("lab_command", "Start and stop emulated clusters, and inject faults."),
    },
    "Understand": {
        "list": (
            "list_command",
            "List flows, checks, limitations, ready cluster profiles, lab profiles or faults.",
        ),
        "plan": (
            "discover_commands",
            "List the checks of a run, and the expected outcome of each.",
        ),
        "discover": ("discover_commands", "Show a cluster's facts, and why some are unknown."),
        "explain": ("explain_command", "Explain the expected outcome of CHECK on a cluster."),
        "open": ("open_command", "Open the report of a run, by default of the latest."),
        "trace": ("trace_command", "Find the hop at which a check's packets are lost, and why."),
        "diagnose": ("trace_command", "Collect diagnostics of a cluster's networking."),
        "export": ("export_command", "Make an anonymous bundle of a run, to send to the project."),
    },
    "Compare": {
        "diff": ("diff_command", "Show what changed between run A and run B, and why."),
        "forecast": ("forecast_command", "Show what an upgrade is expected to change."),
        "history": ("history_command", "Show trends over all runs in DIR."),
        "baseline": ("baseline_commands", "Accept known failures until a date."),
        "rejudge": ("rejudge_command", "Judge a finished run again, with the current manifests."),
        "conformance": (
            "conformance_commands",
            "Check a vendor's claims about a network plugin against a run.",
        ),
    },
    "In the cluster": {
        "render": ("discover_commands", "Print every object that a run would create."),
        "images": ("discover_commands", "List the images that a run pulls, for a mirror."),
        "job": ("job_commands", "Run inside the cluster, as a Job or CronJob."),
        "archive": ("archive_command", "Archive a run's folder as one file."),
        "gc": ("gc_command", "List what killed runs left in a cluster; --yes removes it."),
    },
    "Author": {
        "catalogue": (
            "catalogue_commands",
            "List the documented facts, and the checks that exercise them.",
        ),
        "lint": (
            "catalogue_commands",
            "Check limitation manifests and vendor profiles for mistakes.",
        ),
    },
}
"""The module of each command, and its line in ``--help``, by heading: no command is imported to list them all."""


def _version(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 - click's call
    if wanted:
        # Our own text; the writer of texts of a cluster would take longer to load.
        click.echo(f"nettests, version {nettests.__version__}")  # noqa: TID251
        ctx.exit()


@click.group(
    cls=Commands, commands_of=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Show the version and exit.",
)
@click.option("--debug", is_flag=True, envvar="NETTESTS_DEBUG", help="Show tracebacks.")
def main(*, debug: bool) -> None:
    """Does Windows networking in this Kubernetes cluster behave as documented?

    See it at work on an emulated cluster: nettests run --lab. Then test your own:
    nettests run --kubeconfig FILE.
    """
