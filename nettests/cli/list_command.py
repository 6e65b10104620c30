"""``nettests list | open | lab``: what there is to choose from, the page of a run, and the lab, a separate program.

Of what is listed only ``checks`` needs the facts of a cluster: of the cluster itself, a lab, or a run. ``open`` only reads, and
``lab`` passes its arguments on.
"""

import os
import signal
import subprocess
import sys
import webbrowser
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from nettests import terminal
from nettests.cli.completion import runs
from nettests.cli.discover_commands import read_blueprint, tell_plan
from nettests.cli.help import Command
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
from nettests.compare.reading import read_results
from nettests.errors import PathError
from nettests.model.run_folder import HTML
from nettests.plugin.lab import COMMAND
from nettests.session.blueprint import Blueprint, blueprint, read_manifests
from nettests.session.recorded_runs import folder_of, read_document, results_of
from nettests.session.signals import ENDING

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
    path = results_of(word, reports)
    facts = read_results(read_document(path), str(path)).facts
    if facts is None:
        raise PathError(f"{path} has no facts: that run could not start", hint="name another run")
    read, options = read_manifests(common.options.manifests), common.options
    return blueprint(facts, common.registry().flows, read, options.enabled, options.choice)


def _flows(common: CommonOptions) -> Iterator[dict[str, str]]:
    for flow in common.registry().flows:
        classes = "+".join(check_class.value for check_class in flow.classes)
        yield {"flow": flow.name, "class": classes, "claim": flow.claim}


def _limitations(common: CommonOptions) -> Iterator[dict[str, str]]:
    for manifest in read_manifests(common.options.manifests)[0]:
        for entry in manifest.limitations:
            layer = entry.layer.name.lower()
            yield {"limitation": entry.id, "layer": layer, "summary": entry.summary}


def _ready(_: CommonOptions) -> Iterator[dict[str, str]]:
    for name, file in ready_profiles().items():
        platform = read_profile(file).facts.platform or ""
        yield {"profile": name, "platform": platform, "file": str(file)}


_ROWS = {"flows": _flows, "limitations": _limitations, _READY: _ready}


@click.command(
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def lab(*, arguments: tuple[str, ...]) -> None:
    """Start and stop emulated clusters, and inject faults.

    lab up | down | status | profiles | kubeconfig | fault; each has its own --help.
    """
    sys.exit(carried_out([*COMMAND, *(arguments or ("--help",))]))


def carried_out(words: Sequence[str]) -> int:
    """Run a program to its end and return its exit code.

    SIGTERM and SIGHUP are passed on as SIGTERM. An interrupt at the terminal reaches the program too: this process waits until it has cleaned up.
    """
    with subprocess.Popen(words) as program:
        former = {
            number: signal.signal(number, lambda *_: program.terminate())
            for number in ENDING
            if signal.getsignal(number) is not signal.SIG_IGN
        }
        former[signal.SIGINT] = signal.signal(signal.SIGINT, lambda *_: None)
        try:
            return program.wait()
        finally:
            for number, handler in former.items():
                signal.signal(number, handler)


@click.command("open", cls=Command, example="nettests open latest~1")
@click.argument("run", metavar="[RUN]", default="latest", shell_complete=runs)
@report_dir_option("Where `latest` and `latest~1` are looked for.")
def open_(*, run: str, report_dir: Path) -> None:
    """Open the report of a run, by default of the latest.

    RUN is a folder of a run, or latest, latest~1 …. The path is printed, too; if the output is no terminal, nothing else
    happens.
    """
    page = folder_of(run, report_dir) / HTML
    if not page.is_file():
        raise PathError(
            f"{page.parent} has no {HTML}: its run is going on, or was killed",
            hint=f"make it with `nettests rejudge {page.parent}`",
        )
    terminal.line(str(page))
    if os.isatty(1):
        webbrowser.open(page.resolve().as_uri())
