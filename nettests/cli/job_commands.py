"""``nettests job render | apply | logs | fetch``: a run inside the cluster that it tests.

Arguments and output only: ``nettests.job`` makes the objects, ``nettests.cluster`` applies and follows them. Files
are read here, and arguments for ``nettests run`` are checked with its own parser, so that a typo shows now and not
during the night.
"""

import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import wraps
from pathlib import Path
from shlex import quote
from typing import Any

import click
import yaml

from nettests import terminal
from nettests.cli.help import Command
from nettests.cli.options import own_options
from nettests.cli.run_command import run
from nettests.cluster import connect
from nettests.cluster.job_objects import (
    Applied,
    apply,
    keeping_taints,
    require_admitted,
    require_namespace,
)
from nettests.cluster.job_pods import find_job, follow, log_from_claim, log_of, look
from nettests.cluster.profile_file import profile_path, read_profile
from nettests.errors import ClusterError, PathError, PlanError
from nettests.job.archive import read_archive, unpack, without_archive
from nettests.job.identity import identity
from nettests.job.state import JobState, Phase, claim_of
from nettests.job.validation import Role, Wanted, checked
from nettests.job.workload import RESULTS_FOLDER, RESULTS_VOLUME, workload
from nettests.model.exit_code import ExitCode
from nettests.model.json_text import Object
from nettests.model.limits import KIB
from nettests.model.run_folder import LATEST
from nettests.model.yaml_text import write_yaml
from nettests.outside_files import read_text
from nettests.resources import manifests_path
from nettests.session.baseline_comparison import read_baseline_file
from nettests.session.report_dir import write_folder

CommandFunction = Callable[..., Any]

CONFIG_MAP_BYTES = 900 * KIB
"""Of the files that are mounted, together: etcd takes no object above 1.5 MiB, and a ConfigMap is 1 MiB at most."""
_OURS = {
    **dict.fromkeys(("kubeconfig", "context"), "the Job uses its ServiceAccount"),
    "lab": "the Job tests the cluster that it stands in",
    "namespace": "use the Job's own option: --namespace, with --role=namespaced",
    "report_dir": "reports go where the Job's volume is",
    "cluster_profile": "use the Job's own option: --cluster-profile",
    "baseline": "use the Job's own option: --baseline",
    "archive": "the Job decides how its report comes back: --claim",
    "webhook": "anyone who may read the Job could read it: name a Secret with --webhook-secret",
}
"""Options of a run that a Job sets itself, and what to do instead."""
_NOT_MOUNTED = ("suite", "limitations")
"""Options that name files; the image does not have them."""


def job_options(command: CommandFunction) -> CommandFunction:
    """Add the options of a Job to a command, which receives them as ``wanted``."""

    @wraps(command)
    def with_job(**given: Any) -> Any:
        job_arguments = {name: given.pop(name) for name in _NAMES}
        return command(wanted=wanted_of(**job_arguments), **given)

    run_args = click.argument("run_args", nargs=-1, type=click.UNPROCESSED)
    return own_options("job-place")(own_options("job")(run_args(with_job)))


_NAMES = (
    *("name", "namespace", "image", "role", "schedule", "claim", "claim_size", "cluster_profile"),
    *("baseline", "pull_secret", "tolerations", "webhook_secret", "deadline", "run_args"),
)


def wanted_of(
    *,
    role: str,
    cluster_profile: Path | None,
    baseline: Path | None,
    deadline: float,
    tolerations: tuple[str, ...],
    run_args: tuple[str, ...],
    **names: str,
) -> Wanted:
    """Return the checked options; ``NettestsError`` for a Job that could not run."""
    require_run_arguments(run_args)
    if cluster_profile is not None:
        cluster_profile = profile_path(cluster_profile)
        read_profile(cluster_profile)
    if baseline is not None:
        read_baseline_file(baseline)
    files = {"cluster-profile.yaml": cluster_profile, "baseline.yaml": baseline}
    texts = tuple((name, _text(path)) for name, path in files.items() if path is not None)
    if sum(len(text.encode()) for _, text in texts) > CONFIG_MAP_BYTES:
        raise PathError("profile and baseline together are larger than a ConfigMap may be (1 MiB)")
    return checked(
        Wanted(
            role=Role(role),
            arguments=run_args,
            files=texts,
            tolerations=tolerations,
            deadline=deadline,
            **names,
        )
    )


def objects_of(wanted: Wanted) -> list[Object]:
    """Return all objects of a Job, in the order in which they are created."""
    return [*identity(wanted, published_roles()), *workload(wanted)]


def published_roles() -> dict[Role, list[Object]]:
    """Read the roles of ``manifests/rbac``."""
    folder = manifests_path() / "rbac"
    return {
        role: list(yaml.safe_load_all((folder / f"{role.value}.yaml").read_text("utf-8")))
        for role in Role
    }


def require_run_arguments(words: tuple[str, ...]) -> None:
    """Raise for arguments that ``nettests run`` does not take, or that the Job sets itself."""
    with run.make_context("nettests run", list(words), resilient_parsing=False) as context:
        given = {
            name
            for name in context.params
            if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        }
    for name in sorted(given):
        option = f"--{name.replace('_', '-')}"
        if name in _OURS:
            raise PlanError(f"{option} is not for the run of a Job", hint=_OURS[name])
        if name in _NOT_MOUNTED:
            raise PlanError(
                f"{option} names files that the image does not hold",
                hint="build an image of your own on top of it, and install your suite as a package",
            )


def _text(path: Path) -> str:
    try:
        return read_text(path)
    except (OSError, ValueError) as error:
        raise PathError(f"{path} cannot be read: {error}") from error


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
