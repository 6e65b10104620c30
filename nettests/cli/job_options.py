"""The options of a Job, shared by ``nettests job render`` and ``apply``.

Files are read here, and arguments for ``nettests run`` are checked with its own parser, so that a typo shows now and
not during the night.
"""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click
import yaml

from nettests.cli.options import own_options
from nettests.cli.run_command import run
from nettests.cluster.profile_file import profile_path, read_profile
from nettests.errors import PathError, PlanError
from nettests.job.identity import identity
from nettests.job.validation import Role, Wanted, checked
from nettests.job.workload import workload
from nettests.model.json_text import Object
from nettests.model.limits import KIB
from nettests.outside_files import read_text
from nettests.resources import manifests_path
from nettests.session.baseline_comparison import read_baseline_file

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
