"""``nettests job render | apply | logs | fetch``: a run inside the cluster that it tests.

Arguments and output only: ``nettests.job`` makes the objects, ``nettests.cluster`` applies and follows them.
"""

import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from shlex import quote

import click

from nettests import terminal
from nettests.cli.help import Command
from nettests.cli.job_options import job_options, objects_of
from nettests.cli.options import own_options
from nettests.cluster import connect
from nettests.cluster.job_objects import (
    Applied,
    apply,
    keeping_taints,
    require_admitted,
    require_namespace,
)
from nettests.cluster.job_pods import find_job, follow, log_from_claim, log_of, look
from nettests.errors import ClusterError
from nettests.job.archive import read_archive, unpack, without_archive
from nettests.job.state import JobState, Phase, claim_of
from nettests.job.validation import Wanted
from nettests.job.workload import RESULTS_FOLDER, RESULTS_VOLUME
from nettests.model.exit_code import ExitCode
from nettests.model.run_folder import LATEST
from nettests.model.yaml_text import write_yaml
from nettests.session.run_archive import write_folder


@click.group()
def job() -> None:
    """Run inside the cluster, as a Job or CronJob.

    The image of nettests is built from the Dockerfile of its repository.
    """


_which_cluster = own_options("job-cluster")


@job.command(
    cls=Command,
    example='nettests job render --image registry.example/nettests:0.1.0 --schedule "17 2 * * *" -- --enable=costly',
)
@job_options
def render(*, wanted: Wanted) -> None:
    """Print the objects of a Job or CronJob as YAML.

    RUN_ARGS, after --, are those of `nettests run`. No cluster is contacted.
    """
    for item in objects_of(wanted):
        terminal.line("---")
        terminal.block(write_yaml(item, ascii_only=True))


@job.command(
    name="apply",
    cls=Command,
    example="nettests job apply --image registry.example/nettests:0.1.0 --role namespaced --namespace staging",
)
@job_options
@_which_cluster
@own_options("job-apply")
def apply_job(
    *, wanted: Wanted, kubeconfig: Path | None, context: str | None, replace: bool
) -> None:
    """Create the objects of a Job or, with --schedule, a CronJob.

    Existing objects are updated if nettests created them, and left alone otherwise. A dry run checks first whether the
    Job's Pod would be admitted.
    """
    items = objects_of(wanted)
    spec = items[-1]["spec"]
    template = (spec["jobTemplate"]["spec"] if wanted.schedule else spec)["template"]
    with closing(connect(kubeconfig, context)) as connection:
        if not wanted.own_namespace:
            require_namespace(connection, wanted.namespace)
        apply(connection, items[:-1], replace=False, say=_print_applied)
        require_admitted(connection, wanted.namespace, template)
        apply(connection, items[-1:], replace=replace, say=_print_applied)
        taints = keeping_taints(connection, template)
    if taints:
        terminal.line(_without_node(wanted, taints), err=True)
    place = f"--namespace {wanted.namespace}"
    if wanted.schedule:
        now = f"kubectl -n {wanted.namespace} create job {wanted.name}-now --from=cronjob/{wanted.name}"
        terminal.line(f"It runs at {wanted.schedule}; at once: {now}")
    terminal.line(f"Follow it: nettests job logs {wanted.name} {place} --follow")


@job.command(cls=Command, example="nettests job logs nettests --follow")
@click.argument("name")
@own_options("job-logs")
@_which_cluster
def logs(
    *, name: str, namespace: str, kubeconfig: Path | None, context: str | None, following: bool
) -> None:
    """Print a Job's log, or why there is none.

    NAME is a Job, or a CronJob for its newest Job. Exit code: that of the run in the Job; 7 if it has not ended, or did
    not start.
    """
    with closing(connect(kubeconfig, context)) as connection:
        found_job = find_job(connection, namespace, name)
        if following:
            state = follow(connection, namespace, found_job, terminal.line, _print_reason)
        else:
            state = look(connection, namespace, found_job)
            if state.phase in {Phase.RUNNING, Phase.ENDED}:
                log = without_archive(log_of(connection, namespace, state.pod))
                terminal.lines(log.splitlines())
    sys.exit(_ended(found_job.name, state))


@job.command(cls=Command, example="nettests job fetch nettests --to reports")
@click.argument("name")
@own_options("job-fetch")
@_which_cluster
def fetch(
    *,
    name: str,
    namespace: str,
    kubeconfig: Path | None,
    context: str | None,
    to: Path,
    run: str,
) -> None:
    """Download the report of a Job.

    From its log, or from its claim by a short-lived Pod that mounts it. NAME is a Job, or a CronJob for its newest Job.
    """
    with closing(connect(kubeconfig, context)) as connection:
        found_job = find_job(connection, namespace, name)
        claim = claim_of(found_job.job["spec"]["template"]["spec"], RESULTS_VOLUME)
        if claim:
            word = run if run.startswith(LATEST) else f"{RESULTS_FOLDER}/{run}"
            log = log_from_claim(connection, namespace, found_job, word)
        else:
            state = look(connection, namespace, found_job)
            if state.phase is not Phase.ENDED:
                raise ClusterError(_not_ended(found_job.name, state), hint=state.hint or _WAIT)
            log = log_of(connection, namespace, state.pod)
    archive = read_archive(log)
    folder = write_folder(to, *unpack(archive))
    if archive.left_out:
        terminal.line(f"Left out, because a log does not hold it: {', '.join(archive.left_out)}")
    terminal.line(f"report: {folder}")


def _without_node(wanted: Wanted, taints: Sequence[str]) -> str:
    tolerate = " ".join(f"--tolerate {quote(taint)}" for taint in taints)
    delete = f"kubectl -n {wanted.namespace} delete job {wanted.name}"
    first = "apply it again" if wanted.schedule else f"{delete}, then apply it"
    return f"Warning: its Pod finds no node, because every Linux node is tainted: {first} with {tolerate}"


_WAIT = "follow it with `nettests job logs --follow`"


def _print_applied(applied: Applied) -> None:
    terminal.line(f"{applied.what}: {applied.done}")


def _print_reason(reason: str) -> None:
    terminal.line(f"… {reason}", err=True)


def _ended(name: str, state: JobState) -> int:
    """Return the exit code of the run; ``ClusterError`` where there is none."""
    if state.phase is Phase.ENDED and state.exit_code is not None:
        if state.reason:
            terminal.paragraph(f"{state.pod}: {state.reason}", err=True)
        if state.hint:
            terminal.paragraph(f"  → {state.hint}", err=True)
        return state.exit_code
    if state.phase is Phase.RUNNING:
        terminal.line(f"{state.pod} is running", err=True)
        return ExitCode.NOTHING_JUDGED
    raise ClusterError(_not_ended(name, state), hint=state.hint)


def _not_ended(name: str, state: JobState) -> str:
    return state.reason or f"the Job {name} has not ended"
