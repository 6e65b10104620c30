"""``nettests list``: what there is to choose from.

Only ``checks`` needs the facts of a cluster: of the cluster itself, a lab, or a run.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from nettests import terminal
from nettests.cli.discover_commands import read_blueprint, tell_plan
from nettests.cli.help import Command
from nettests.cli.lab_command import carried_out
from nettests.cli.options import (
    CHECKS,
    CLUSTER,
    IDS,
    CommonOptions,
    cluster_options,
    own_options,
    report_dir_option,
)
from nettests.cli.output_options import json_option
from nettests.cluster.profile_file import read_profile, ready_profiles
from nettests.plugin.lab import COMMAND
from nettests.session.blueprint import Blueprint, blueprint, read_manifests
from nettests.session.recorded_runs import started_run

_READY = "cluster-profiles"
_OF_LAB = {"profiles": ("profiles",), "faults": ("fault", "--help")}


@click.command("list", cls=Command, example="nettests list checks --of latest --check 'pod-to-*'")
@click.argument("what", type=click.Choice(["flows", "checks", "limitations", _READY, *_OF_LAB]))
@own_options("list")
@report_dir_option("Where `latest` and `latest~1` are looked for.")
@cluster_options(CLUSTER, CHECKS, IDS)
@json_option("The same as JSON; of checks what nettests plan --json prints.")
def list_(
    *, what: str, run: str | None, report_dir: Path, common: CommonOptions, as_json: bool
) -> None:
    """List flows, checks, limitations, ready cluster profiles, lab profiles or faults.

    Checks are listed for a cluster (--kubeconfig), a lab (--lab) or a finished run (--of), each with its expected outcome.
    """
    if run is not None and what != "checks":
        raise click.UsageError("--of is for checks")
    if what in _OF_LAB:
        form = ["--json"] if as_json and what == "profiles" else []
        sys.exit(carried_out([*COMMAND, *_OF_LAB[what], *form]))
    if what == "checks":
        tell_plan(
            read_blueprint(common) if run is None else _of(run, report_dir, common), as_json=as_json
        )
        return
    rows = list(_ROWS[what](common))
    if as_json:
        terminal.document(rows)
        return
    for row in rows:
        name, kind, text = row.values()
        terminal.line(f"{name:44} {kind:11} {text}")


def _of(word: str, reports: Path, common: CommonOptions) -> Blueprint:
    _, facts = started_run(word, reports)
    read, options = read_manifests(common.options.manifests), common.options
    return blueprint(facts, common.registry().flows, read, options.enabled, options.choice)


def _flows(common: CommonOptions) -> Iterator[dict[str, str]]:
    for flow in common.registry().flows:
        classes = "+".join(check_class.value for check_class in flow.classes)
        yield {"flow": flow.name, "class": classes, "claim": flow.claim}


def _limitations(common: CommonOptions) -> Iterator[dict[str, str]]:
    manifests = read_manifests(common.options.manifests)[0]
    entries = {entry.id: entry for manifest in manifests for entry in manifest.limitations}
    for entry in entries.values():  # an entry with several conditions is read as several
        layer = entry.layer.name.lower()
        yield {"limitation": entry.id, "layer": layer, "summary": entry.summary}


def _ready(_: CommonOptions) -> Iterator[dict[str, str]]:
    for name, file in ready_profiles().items():
        platform = read_profile(file).facts.platform or ""
        yield {"profile": name, "platform": platform, "file": str(file)}


_ROWS = {"flows": _flows, "limitations": _limitations, _READY: _ready}
