"""Jobs for tests: what is wanted, and what a cluster would say of it."""

from typing import Any

from nettests.cli.job_commands import published_roles
from nettests.job.identity import identity
from nettests.job.validation import Wanted, checked
from nettests.job.workload import workload
from nettests.model.json_text import Object

IMAGE = "registry.example/nettests:0.1.0"
ROLES = published_roles()


def wanted(**given: Any) -> Wanted:
    """Return a valid Job."""
    return checked(Wanted(**{"image": IMAGE, **given}))


def objects(**given: Any) -> list[Object]:
    """Return all objects of it."""
    one = wanted(**given)
    return [*identity(one, ROLES), *workload(one)]


def pod_spec(**given: Any) -> Object:
    """Return the spec of its Pod."""
    item = objects(**given)[-1]
    spec = item["spec"]["jobTemplate"]["spec"] if item["kind"] == "CronJob" else item["spec"]
    found: Object = spec["template"]["spec"]
    return found


def pod(state: Object | None = None, **status: Any) -> Object:
    """Return a Pod of the Job, its container in that state."""
    containers = [] if state is None else [{"name": "nettests", "state": state}]
    return {
        "metadata": {"name": "nettests-x7k2p", "uid": "p", "creationTimestamp": "2026-11-25T02:17:00Z"},
        "status": {"phase": "Pending", "containerStatuses": containers, **status},
    }  # fmt: skip


def event(reason: str, message: str, *, name: str = "nettests-x7k2p", uid: str = "p") -> Object:
    """Return an event about an object."""
    return {
        "type": "Warning",
        "reason": reason,
        "message": message,
        "involvedObject": {"name": name, "uid": uid},
        "lastTimestamp": "2026-11-25T02:17:05Z",
    }
