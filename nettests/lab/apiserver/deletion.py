"""Deletion: grace periods of pods, finalizers, preconditions, terminating namespaces.

A pod that runs on a node is marked with ``deletionTimestamp`` and stays until its kubelet deletes it
with a grace period of zero. An object with finalizers stays until they are removed. ``background`` empties
terminating namespaces and collects the dependents of deleted objects.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from nettests.lab.apiserver import patch, resources, status
from nettests.lab.apiserver.generic_registry import Objects, now
from nettests.lab.apiserver.resources import Resource
from nettests.lab.apiserver.store import Record
from nettests.lab.interfaces import Json

_IMMORTAL = frozenset({"default", "kube-system", "kube-public"})
_DONE = frozenset({"Succeeded", "Failed"})
_FINALIZER = {"Foreground": "foregroundDeletion", "Orphan": "orphan"}
_BY_DEFAULT = {"jobs.batch": "Orphan"}
"""The default propagation policy, which orphans the Pods of a Job (``pkg/registry/batch/job/strategy.go``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteOptions:
    """Options of a client; ``None`` means the default of the kind."""

    grace: int | None = None
    propagation: str | None = None
    uid: str | None = None
    version: str | None = None
    dry_run: bool = False


def read_options(query: Mapping[str, str], body: Json) -> DeleteOptions:
    """Read ``DeleteOptions`` from query and body; the body's values take precedence."""
    grace = body.get("gracePeriodSeconds", query.get("gracePeriodSeconds"))
    conditions = body.get("preconditions") or {}
    try:
        seconds = None if grace is None else int(grace)
    except ValueError as error:
        raise status.bad_request(f'invalid gracePeriodSeconds: "{grace}"') from error
    policy = body.get("propagationPolicy") or query.get("propagationPolicy")
    if body.get("orphanDependents") or query.get("orphanDependents") == "true":
        policy = "Orphan"
    dry_run = body.get("dryRun") or query.get("dryRun")
    return DeleteOptions(
        grace=seconds,
        propagation=policy,
        uid=conditions.get("uid"),
        version=conditions.get("resourceVersion"),
        dry_run=bool(dry_run),
    )


def delete(
    objects: Objects, resource: Resource, namespace: str, name: str, options: DeleteOptions
) -> tuple[Record, bool]:
    """Delete an object, or mark it for deletion; return its last state, and whether it was removed."""
    record = objects.require(resource, namespace, name)
    _check(resource, record, options)
    body = patch.copied(record.body)
    meta = body["metadata"]
    propagation = options.propagation or _BY_DEFAULT.get(resource.key, "Background")
    if (finalizer := _FINALIZER.get(propagation)) is not None:
        meta["finalizers"] = list(dict.fromkeys([*(meta.get("finalizers") or ()), finalizer]))
    grace = _grace(resource, body, options)
    stays = bool(grace or meta.get("finalizers") or (body.get("spec") or {}).get("finalizers"))
    if resource is resources.PODS or stays:
        _mark(resource, body, grace)
    if options.dry_run:
        return Record(body, record.version), not stays
    if stays:
        if body == record.body:
            return record, False
        return objects.store.update(resource.key, body), False
    if resource is resources.PODS:
        objects.store.update(resource.key, body)
    return objects.store.delete(resource.key, namespace, name), True


def _check(resource: Resource, record: Record, options: DeleteOptions) -> None:
    meta = record.body["metadata"]
    name = meta["name"]
    if resource is resources.NAMESPACES and name in _IMMORTAL:
        raise status.forbidden(resource, name, "this namespace may not be deleted")
    for what, wanted, stored, guess in (
        ("UID", options.uid, meta["uid"], "deleted and then recreated"),
        ("ResourceVersion", options.version, meta["resourceVersion"], "modified"),
    ):
        why = (
            f"the {what} in the precondition ({wanted}) does not match the {what} in record ({stored}). "
            f"The object might have been {guess}"
        )
        if resource is resources.NAMESPACES:  # their storage has its own check, with other messages
            why = (
                f"Precondition failed: {what} in precondition: {wanted}, "
                f"{what} in object meta: {stored}"
            )
        if wanted is not None and wanted != stored:
            raise status.conflict(resource, name, why)


def _grace(resource: Resource, body: Json, options: DeleteOptions) -> int:
    if resource is not resources.PODS:
        return 0
    spec = body["spec"]
    if not spec.get("nodeName") or (body.get("status") or {}).get("phase") in _DONE:
        return 0
    running: int | None = body["metadata"].get("deletionGracePeriodSeconds")
    usual = spec.get("terminationGracePeriodSeconds", 30) if running is None else running
    wanted = int(usual if options.grace is None else options.grace)
    return wanted if running is None else min(running, wanted)


def _mark(resource: Resource, body: Json, grace: int) -> None:
    meta = body["metadata"]
    if meta.get("deletionGracePeriodSeconds") == grace:
        return
    if resource is resources.NAMESPACES:
        meta.setdefault("deletionTimestamp", now())
        body["status"] = {**(body.get("status") or {}), "phase": "Terminating"}
        return
    if "generation" in meta and "deletionTimestamp" not in meta:
        meta["generation"] += 1
    meta["deletionTimestamp"] = now(grace)
    meta["deletionGracePeriodSeconds"] = grace
