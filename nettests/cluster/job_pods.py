"""Find one of our Jobs and its Pods, follow its log, and read its PersistentVolumeClaim with a Pod.

``nettests.job.state`` decides what the objects mean. Everything is bounded in time except following
a running Job, which the Job's deadline bounds.
"""

import copy
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from nettests.cluster.connection import ApiError, Connection
from nettests.cluster.job_objects import found, no_namespace, path_of
from nettests.errors import ClusterError
from nettests.job.archive import without_archive
from nettests.job.state import JobState, Phase, pod_state, state_of
from nettests.job.workload import CONTAINER, RESULTS_FOLDER
from nettests.model.json_text import Object
from nettests.model.labels import JOB_NAME_LABEL
from nettests.model.nearest import nearest

POLL_SECONDS = 2.0
"""Between two reads of a followed Job."""
FETCH_SECONDS = 300.0
"""How long a Pod that reads a claim may take, including image pull and volume attachment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundJob:
    """A Job of ours, by its name or as the newest one of a CronJob."""

    job: Object

    @property
    def name(self) -> str:
        """The Job's own name."""
        return str(self.job["metadata"]["name"])

    @property
    def uid(self) -> str:
        """The UID, which differs from that of a later Job of the same name."""
        return str(self.job["metadata"]["uid"])


def find_job(connection: Connection, namespace: str, name: str) -> FoundJob:
    """Return a Job, or the newest one of the CronJob of that name; otherwise ``ClusterError``."""
    job = found(connection, path_of("Job", namespace, name))
    if job is not None:
        return FoundJob(job=job)
    cron = found(connection, path_of("CronJob", namespace, name))
    jobs = connection.items(path_of("Job", namespace))
    if cron is None:
        if found(connection, path_of("Namespace", name=namespace)) is None:
            raise no_namespace(namespace)
        names = sorted(str(job["metadata"]["name"]) for job in jobs)
        raise ClusterError(
            f"there is no Job and no CronJob {name} in namespace {namespace}",
            hint=nearest(name, names, otherwise=f"there is {', '.join(names[:10]) or 'none'}"),
        )
    started = [job for job in jobs if _owned_by(job, cron["metadata"]["uid"])]
    if not started:
        raise ClusterError(
            f"the CronJob {name} has started no Job yet, or none is left of those it started",
            hint=f"start one now: kubectl -n {namespace} create job {name}-now --from=cronjob/{name}",
        )
    return FoundJob(
        job=max(started, key=lambda job: str(job["metadata"].get("creationTimestamp", "")))
    )


def look(connection: Connection, namespace: str, target: FoundJob) -> JobState:
    """Return a Job's current state; ``ClusterError`` if it was deleted or replaced meanwhile."""
    job = found(connection, path_of("Job", namespace, target.name))
    if job is None or job["metadata"]["uid"] != target.uid:
        done = "deleted" if job is None else "replaced by another one of its name"
        raise ClusterError(
            f"the Job {target.name} was {done} meanwhile",
            hint="its log went with it; `nettests gc` finds what its run left in the cluster",
        )
    selector = f"{JOB_NAME_LABEL}={target.name}"
    pods = connection.items(path_of("Pod", namespace), labelSelector=selector)
    job_pods = [pod for pod in pods if _owned_by(pod, target.uid)]
    state = state_of(job, job_pods, ())
    if state.phase in {Phase.RUNNING, Phase.ENDED}:
        return state
    return state_of(job, job_pods, _events(connection, namespace))


def follow(
    connection: Connection,
    namespace: str,
    target: FoundJob,
    say: Callable[[str], None],
    tell: Callable[[str], None],
) -> JobState:
    """Call ``say`` with each log line and ``tell`` with reasons of delays; return the end state."""
    printed, last_reason = 0, ""
    while True:
        state = look(connection, namespace, target)
        if state.phase in {Phase.RUNNING, Phase.ENDED}:
            lines = _whole_lines(log_of(connection, namespace, state.pod), state.phase)
            for line in lines[printed:]:
                say(line)
            printed = max(printed, len(lines))
        if state.phase in {Phase.ENDED, Phase.BROKEN}:
            return state
        if state.reason and state.reason != last_reason:
            last_reason = state.reason
            tell(last_reason)
        time.sleep(POLL_SECONDS)


def _whole_lines(log: str, phase: Phase) -> list[str]:
    """Return the lines before the archive, without an incomplete last line of a running log."""
    lines = log.splitlines(keepends=True)
    if phase is Phase.RUNNING and lines and not lines[-1].endswith("\n"):
        lines.pop()
    return without_archive("".join(lines)).splitlines()


def log_of(connection: Connection, namespace: str, pod: str) -> str:
    """Return the log of our container in a Pod."""
    path = f"{path_of('Pod', namespace, pod)}/log"
    try:
        return connection.text(path, container=CONTAINER)
    except ApiError as error:
        if error.status == 404:
            raise ClusterError(
                f"the Pod {pod} is gone, and its log with it",
                hint="Kubernetes keeps neither; `nettests job fetch` fetches what a claim keeps",
            ) from error
        raise


def log_from_claim(connection: Connection, namespace: str, target: FoundJob, run: str) -> str:
    """Return the report of ``run`` as printed by a temporary Pod that mounts a Job's claim."""
    with _reader(connection, namespace, target, run) as name:
        deadline = time.monotonic() + FETCH_SECONDS
        while True:
            pod = connection.get(path_of("Pod", namespace, name))
            state = pod_state(pod, _events(connection, namespace))
            if state.phase is Phase.ENDED:
                log = log_of(connection, namespace, name)
                if state.exit_code:
                    output = " ".join((log or state.reason).split())
                    raise ClusterError(
                        f"the Pod that reads the claim ended with {state.exit_code}: {output}",
                        hint=state.hint or "is there a run of that name? --run names it",
                    )
                return log
            late = time.monotonic() > deadline
            if state.phase is Phase.BROKEN or late:
                took = f" for {FETCH_SECONDS:.0f} s" if late else ""
                raise ClusterError(f"the claim was not read{took}: {state.reason}", hint=state.hint)
            time.sleep(POLL_SECONDS)


@contextmanager
def _reader(connection: Connection, namespace: str, target: FoundJob, run: str) -> Iterator[str]:
    """Create a Pod like the Job's that prints a report; delete it after the block."""
    name = f"{target.name[:50]}-fetch-{secrets.token_hex(3)}"
    spec = copy.deepcopy(target.job["spec"]["template"]["spec"])
    spec["automountServiceAccountToken"] = False
    spec["activeDeadlineSeconds"] = int(FETCH_SECONDS)
    (container,) = [container for container in spec["containers"] if container["name"] == CONTAINER]
    container["args"] = ["archive", run, f"--report-dir={RESULTS_FOLDER}", "--to=-"]
    container.pop("env", None)
    spec["containers"] = [container]
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": target.name, "uid": target.uid}
    metadata: Object = {"name": name, "namespace": namespace, "ownerReferences": [owner]}
    collection = path_of("Pod", namespace)
    connection.create(
        collection, {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    )
    try:
        yield name
    finally:
        connection.delete(f"{collection}/{name}")


def _events(connection: Connection, namespace: str) -> list[Object]:
    try:
        return connection.items(f"/api/v1/namespaces/{namespace}/events")
    except ApiError as error:
        if error.status != 403:
            raise
        return []


def _owned_by(item: Object, uid: str) -> bool:
    return any(
        reference.get("uid") == uid for reference in item["metadata"].get("ownerReferences") or ()
    )
