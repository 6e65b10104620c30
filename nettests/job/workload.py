"""The Job or CronJob itself, with what its Pod mounts. Pure.

The Pod meets the Pod Security level ``restricted``. Kubernetes never retries it: an aborted run may
have left objects, which the next run reports.
"""

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from nettests.job.identity import labels
from nettests.job.validation import TAINT, Role, Wanted
from nettests.model.json_text import Object
from nettests.model.labels import OS_LABEL
from nettests.model.yaml_text import plain_yaml

CONTAINER = "nettests"
RESULTS_FOLDER = "/results"
FILES_FOLDER = "/etc/nettests"
RESULTS_VOLUME = "results"
USER = 65532
"""The image's user, not root, stated because the level ``restricted`` demands it in the Pod."""
KEPT_SECONDS = 86400
"""How long Kubernetes keeps an ended Job: without a claim only its log has the report."""
KEPT_JOBS = 3
"""How many successful and failed Jobs of a CronJob are kept, each."""
GRACE_SECONDS = 180
"""After SIGTERM: a run removes what it created."""
OPTION_OF_FILE = {
    "cluster-profile.yaml": "--cluster-profile",
    "baseline.yaml": "--baseline",
}
"""The option of ``nettests run`` for each mounted file."""


_TEMPLATES = Environment(
    loader=PackageLoader("nettests.job"),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    autoescape=False,  # noqa: S701 - not HTML: all texts are rendered as JSON
)
_TEMPLATES.policies["json.dumps_kwargs"] = {"sort_keys": False}


def workload(wanted: Wanted) -> list[Object]:
    """Return the Job or CronJob, after the ConfigMap and claim that its Pod mounts."""
    objects: list[Object] = rendered(
        "objects.yaml.j2",
        wanted=wanted,
        labels=labels(wanted),
        arguments=run_arguments(wanted),
        os_label=OS_LABEL,
        container=CONTAINER,
        results_folder=RESULTS_FOLDER,
        files_folder=FILES_FOLDER,
        results_volume=RESULTS_VOLUME,
        user=USER,
        kept_seconds=KEPT_SECONDS,
        kept_jobs=KEPT_JOBS,
        grace=GRACE_SECONDS,
        tolerations=[toleration(taint) for taint in wanted.tolerations],
    )
    return objects


def toleration(taint: str) -> Object:
    """Return the toleration of a taint; without value or effect, of any."""
    match = TAINT.fullmatch(taint)
    parts = match.groupdict() if match else {}
    exists = {"operator": "Exists"} if parts.get("value") is None else {"operator": "Equal"}
    return {name: part for name, part in (parts | exists).items() if part is not None}


def rendered(template: str, **values: Any) -> Any:
    """Return a rendered template of this package as plain data."""
    return plain_yaml(_TEMPLATES.get_template(template).render(values))


def run_arguments(wanted: Wanted) -> list[str]:
    """Return the arguments of ``nettests``; the user's own come last."""
    place = [f"--namespace={wanted.namespace}"] if wanted.role is Role.NAMESPACED else []
    files = [f"{OPTION_OF_FILE[name]}={FILES_FOLDER}/{name}" for name, _ in wanted.files]
    archive = [] if wanted.claim else ["--archive=-"]
    return [
        "run",
        f"--report-dir={RESULTS_FOLDER}",
        *archive,
        *place,
        *files,
        *wanted.arguments,
    ]
